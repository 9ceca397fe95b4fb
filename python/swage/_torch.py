"""The operations as operators of torch, for torch.compile and torch.export; imported only beside torch.

They are registered by the import and not by a function, because torch.compile executes an import that it meets and
traces everything else.
"""

import torch

from . import ops
from ._errors import Error

_SCHEMAS = {
    "layer_norm": "(Tensor x, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
    "rms_norm": "(Tensor x, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    "softmax": "(Tensor x, int dim, Tensor? mask=None, bool is_causal=False, bool lower_right=False) -> Tensor",
    "log_softmax": "(Tensor x, int dim, Tensor? mask=None, bool is_causal=False, bool lower_right=False) -> Tensor",
    "dropout": "(Tensor x, float p, Tensor state) -> Tensor",
    "dropout_with_mask": "(Tensor x, float p, Tensor state) -> (Tensor, Tensor)",
    "permute": "(Tensor x, int[] dims) -> Tensor",
    "sum": "(Tensor x, int[] dim, bool keepdim=False) -> Tensor",
    "mean": "(Tensor x, int[] dim, bool keepdim=False) -> Tensor",
    "amax": "(Tensor x, int[] dim, bool keepdim=False) -> Tensor",
    "amin": "(Tensor x, int[] dim, bool keepdim=False) -> Tensor",
    "gelu": "(Tensor x, str approximate='none') -> Tensor",
    "silu": "(Tensor x) -> Tensor",
}


def _same_shape(x, *_):
    return x.new_empty(x.shape)


def _permuted(x, dims):
    return x.new_empty([x.shape[dim] for dim in dims])


def _reduced(x, dim, keepdim=False):
    dims = {d % x.dim() for d in dim} or set(range(x.dim()))
    shape = [1 if i in dims else extent for i, extent in enumerate(x.shape) if keepdim or i not in dims]
    return x.new_empty(shape)


def _with_mask(x, *_):
    return x.new_empty(x.shape), x.new_empty([*x.shape[:-1], x.shape[-1] // 32], dtype=torch.int32)


def _fake(name):
    if name == "dropout_with_mask":
        return _with_mask
    return _permuted if name == "permute" else _reduced if name in ("sum", "mean", "amax", "amin") else _same_shape


def _refuse_gradient(name):
    def setup_context(ctx, inputs, output):
        raise Error(
            f"a gradient of swage::{name} is needed, and Swage computes forward only; call it under torch.no_grad() or "
            "with .detach()"
        )

    return setup_context


_library = torch.library.Library("swage", "DEF")  # the operators live as long as it does
for _name, _schema in _SCHEMAS.items():
    _library.define(_name + _schema)
    # On the CPU for the simulator; without it that is an error which says so.
    for _key in ("CUDA", "CPU"):
        _library.impl(_name, getattr(ops, _name), _key)
    torch.library.register_fake(f"swage::{_name}", _fake(_name), lib=_library)
    torch.library.register_autograd(
        f"swage::{_name}", lambda ctx, *gradients: None, setup_context=_refuse_gradient(_name), lib=_library
    )

operators = torch.ops.swage
