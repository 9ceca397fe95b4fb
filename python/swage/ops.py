"""Ready functions, each of the meaning of torch's function of the same name, computed forward only.

They take what `swage.compile` takes: torch tensors, arrays with DLPack or `__cuda_array_interface__`, and with
`device="sim"` arrays of numpy. Inputs are row-major without gaps; float16, bfloat16, float32 and float64 unless it says
otherwise; evaluated in float32 (float64 for float64) and rounded once. Results are new tensors, or `out`.

Under torch.compile and torch.export they are the operators `torch.ops.swage.*`, which see fake tensors as well.

Each is one graph for any outer extents. The extents of a row are part of its kernels for the first few rows that a
process meets; from then on one graph serves rows of any length.
"""

import sys
import threading

from . import _function
from ._errors import Error
from ._swage import signature

__all__ = ["amax", "amin", "gelu", "layer_norm", "log_softmax", "mean", "permute", "rms_norm", "silu", "softmax", "sum"]

_EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}

# ----------------------------------------------------------------------------------------------------------------------
# Functions by what their text depends on
# ----------------------------------------------------------------------------------------------------------------------

#: Rows that get kernels of their own, for each operation, type and rank.
_OWN_ROWS = 8

_functions = {}
_own_rows = {}
_lock = threading.Lock()


def _function_for(build, element, rank, row, device, *details, names=("x",)):
    """The function of `build(element, extents, *details)`: the last extents are `row`, those before any."""
    if device is None:
        device = _function.default_device()
    function = _functions.get((build, element, rank, row, device, details))
    return function or _make_function(build, element, rank, row, device, details, names)


def _make_function(build, element, rank, row, device, details, names):
    with _lock:
        own = _own_rows.setdefault((build, element, rank, device, details), set())
        fixed = (None,) * len(row)
        if row in own or len(own) < _OWN_ROWS:
            own.add(row)
            fixed = row
        function = _functions.get((build, element, rank, fixed, device, details))
        if function is None:
            text = build(element, (None,) * (rank - len(row)) + fixed, *details)
            function = _function.compile(text, device=device, names=names)
            _functions[build, element, rank, fixed, device, details] = function
        _functions[build, element, rank, row, device, details] = function
    return function


def _run(function, inputs, out, stream):
    if out is None and stream is None:
        return function(*inputs)
    return function(*inputs, out=out, stream=stream)


def _torch_operators(x):
    """torch.ops.swage where torch traces, or hands in a tensor that stands for one; else None."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "compiler"):
        return None
    kind = type(x)
    is_plain = kind is torch.Tensor or kind is torch.nn.Parameter or not isinstance(x, torch.Tensor)
    if is_plain and not torch.compiler.is_compiling():
        return None
    from . import _torch

    return _torch.operators


def _no_out(out):
    if out is not None:
        raise Error("out= was given while torch traces; needed: none, the operators return new tensors")


def _axis(dim, rank):
    if not -rank <= dim < rank:
        raise Error(f"dim is {dim}; needed: {-rank} to {rank - 1} for a tensor of rank {rank}")
    return dim % rank


# ----------------------------------------------------------------------------------------------------------------------
# Graphs
# ----------------------------------------------------------------------------------------------------------------------


def _tensor(element, extents):
    return "tensor<" + "".join("?x" if extent is None else f"{extent}x" for extent in extents) + f"{element}>"


def _number(value):
    return f"{value:.17e}"


def _main(arguments, result, lines, value="y"):
    """A module with one function, which returns %value of type `result`."""
    signature = ", ".join(f"%{name}: {type}" for name, type in arguments)
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @main({signature}) -> {result} {{\n{body}  return %{value} : {result}\n}}\n"


class _Graph:
    """Lines of elementwise work on tensors of one shape, evaluated in float32 or float64, from %x on."""

    def __init__(self, element, extents):
        compute = "f64" if element == "f64" else "f32"
        self.element = compute
        self.stored = _tensor(element, extents)
        self.type = _tensor(compute, extents)
        self.lines = []
        self.x = "x"
        if compute != element:
            self.x = self.line("wide", f"arith.extf %x : {self.stored} to {self.type}")
        self.sizes = [dim for dim, extent in enumerate(extents) if extent is None]
        for dim in self.sizes:
            self.line(f"dim{dim}", f"arith.constant {dim} : index")
            self.line(f"size{dim}", f"tensor.dim %x, %dim{dim} : {self.stored}")

    def line(self, name, text):
        self.lines.append(f"%{name} = {text}")
        return name

    def op(self, name, op, *operands):
        return self.line(name, f"{op} {', '.join('%' + operand for operand in operands)} : {self.type}")

    def constant(self, name, value):
        self.line(f"{name}0", f"arith.constant dense<{_number(value)}> : tensor<{self.element}>")
        sizes = f" sizes({', '.join(f'%size{dim}' for dim in self.sizes)})" if self.sizes else ""
        return self.line(name, f"swage.broadcast %{name}0 dims []{sizes} : tensor<{self.element}> -> {self.type}")

    def main(self, value):
        """The module that returns `value` in the type of %x."""
        if self.type != self.stored:
            value = self.line("y", f"arith.truncf %{value} : {self.type} to {self.stored}")
        return _main([("x", self.stored)], self.stored, self.lines, value)


def _norm(element, extents, op, axis, epsilon, has_weight, has_bias):
    arguments = [("x", _tensor(element, extents))]
    words = [f"swage.{op} %x"]
    for name, word, is_there in (("weight", "gamma", has_weight), ("bias", "beta", has_bias)):
        if is_there:
            arguments.append((name, _tensor(element, extents[axis:])))
            words.append(f"{word} %{name}")
    types = ", ".join(type for _, type in arguments)
    result = arguments[0][1]
    return _main(arguments, result, [f"%y = {' '.join(words)} axis {axis} eps {_number(epsilon)} : ({types}) -> {result}"])


def _softmax(element, extents, axis):
    type = _tensor(element, extents)
    return _main([("x", type)], type, [f"%y = swage.softmax %x axis {axis} : {type} -> {type}"])


def _log_softmax(element, extents, axis):
    graph = _Graph(element, extents)
    others = [dim for dim in range(len(extents)) if dim != axis]
    row = _tensor(graph.element, [extents[dim] for dim in others])
    size = f" sizes(%size{axis})" if extents[axis] is None else ""
    # With `sizes` for one dynamic extent, all of them are given.
    if size:
        size = f" sizes({', '.join(f'%size{dim}' for dim in graph.sizes)})"

    def reduce(name, kind, value):
        return graph.line(name, f"swage.reduce {kind} %{value} dims [{axis}] : {graph.type} -> {row}")

    def spread(name, value):
        return graph.line(name, f"swage.broadcast %{value} dims {others}{size} : {row} -> {graph.type}")

    shifted = graph.op("shifted", "arith.subf", graph.x, spread("peaks", reduce("peak", "max", graph.x)))
    total = reduce("total", "sum", graph.op("powers", "math.exp", shifted))
    graph.line("log", f"math.log %{total} : {row}")
    return graph.main(graph.op("result", "arith.subf", shifted, spread("logs", "log")))


def _reduce(element, extents, kind, dims):
    type = _tensor(element, extents)
    result = _tensor(element, [extent for dim, extent in enumerate(extents) if dim not in dims])
    return _main([("x", type)], result, [f"%y = swage.reduce {kind} %x dims {list(dims)} : {type} -> {result}"])


def _permute(element, extents, dims):
    type = _tensor(element, extents)
    result = _tensor(element, [extents[dim] for dim in dims])
    return _main([("x", type)], result, [f"%y = swage.permute %x {list(dims)} : {type} -> {result}"])


def _gelu(element, extents, approximate):
    graph = _Graph(element, extents)
    x = graph.x
    half = graph.op("half", "arith.mulf", x, graph.constant("one_half", 0.5))
    if approximate == "none":
        inner = graph.op("inner", "arith.mulf", x, graph.constant("scale", 0.5**0.5))
        bell = graph.op("bell", "math.erf", inner)
    else:
        square = graph.op("square", "arith.mulf", x, x)
        cube = graph.op("cube", "arith.mulf", square, x)
        part = graph.op("part", "arith.mulf", cube, graph.constant("coefficient", 0.044715))
        inner = graph.op("inner", "arith.addf", x, part)
        scaled = graph.op("scaled", "arith.mulf", inner, graph.constant("scale", 0.7978845608028654))
        bell = graph.op("bell", "math.tanh", scaled)
    return graph.main(graph.op("result", "arith.addf", half, graph.op("bent", "arith.mulf", half, bell)))


def _silu(element, extents):
    graph = _Graph(element, extents)
    power = graph.op("power", "math.exp", graph.op("negative", "arith.negf", graph.x))
    below = graph.op("below", "arith.addf", power, graph.constant("one", 1.0))
    return graph.main(graph.op("result", "arith.divf", graph.x, below))


# ----------------------------------------------------------------------------------------------------------------------
# Operations
# ----------------------------------------------------------------------------------------------------------------------


def _normalize(op, x, normalized_shape, weight, bias, epsilon, out, device, stream):
    element, shape = signature(x)
    row = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    axis = len(shape) - len(row)
    if not row or shape[axis:] != row:
        raise Error(f"normalized_shape is {row} and x is {shape}; needed: its last extents, at least one")
    names, inputs = ("x",), (x,)
    if weight is not None:
        names, inputs = names + ("weight",), inputs + (weight,)
    if bias is not None:
        names, inputs = names + ("bias",), inputs + (bias,)
    epsilon = _EPSILON.get(element, 0.0) if epsilon is None else epsilon
    function = _function_for(
        _norm, element, len(shape), row, device, op, axis, epsilon, weight is not None, bias is not None, names=names
    )
    return _run(function, inputs, out, stream)


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5, *, out=None, device=None, stream=None):
    """torch.nn.functional.layer_norm: trailing dimensions to zero mean and unit variance.

    x: [..., *normalized_shape], weight and bias: normalized_shape, of the type of x. Returns the shape of x.
    """
    operators = _torch_operators(x)
    if operators is not None:
        _no_out(out)
        return operators.layer_norm(x, _list(normalized_shape), weight, bias, eps)
    return _normalize("layer_norm", x, normalized_shape, weight, bias, eps, out, device, stream)


def rms_norm(x, normalized_shape, weight=None, eps=None, *, out=None, device=None, stream=None):
    """torch.nn.functional.rms_norm: divides trailing dimensions by their root mean square.

    x: [..., *normalized_shape], weight: normalized_shape, of the type of x. `eps` None is the epsilon of that type.
    Returns the shape of x.
    """
    operators = _torch_operators(x)
    if operators is not None:
        _no_out(out)
        return operators.rms_norm(x, _list(normalized_shape), weight, eps)
    return _normalize("rms_norm", x, normalized_shape, weight, None, eps, out, device, stream)


def _list(value):
    return [value] if isinstance(value, int) else list(value)


def softmax(x, dim, *, out=None, device=None, stream=None):
    """torch.softmax: exponentials along `dim`, divided by their sum. Returns the shape of x."""
    operators = _torch_operators(x)
    if operators is not None:
        _no_out(out)
        return operators.softmax(x, dim)
    element, shape = signature(x)
    axis = _axis(dim, len(shape))
    return _run(_function_for(_softmax, element, len(shape), shape[axis:], device, axis), (x,), out, stream)


def log_softmax(x, dim, *, out=None, device=None, stream=None):
    """torch.log_softmax: the logarithm of softmax, without its underflow. Returns the shape of x."""
    operators = _torch_operators(x)
    if operators is not None:
        _no_out(out)
        return operators.log_softmax(x, dim)
    element, shape = signature(x)
    axis = _axis(dim, len(shape))
    return _run(_function_for(_log_softmax, element, len(shape), shape[axis:], device, axis), (x,), out, stream)


def permute(x, dims, *, out=None, device=None, stream=None):
    """torch.permute(x, dims).contiguous(): the result's dimension k is x's dimension dims[k]. Also bool, int8, int32."""
    operators = _torch_operators(x)
    if operators is not None:
        _no_out(out)
        return operators.permute(x, list(dims))
    element, shape = signature(x)
    axes = tuple(_axis(dim, len(shape)) for dim in dims)
    if sorted(axes) != list(range(len(shape))):
        raise Error(f"dims is {tuple(dims)}; needed: each dimension of x once, and it has {len(shape)}")
    return _run(_function_for(_permute, element, len(shape), shape[-1:], device, axes), (x,), out, stream)


def _reduce_over(op, kind, x, dim, keepdim, out, device, stream):
    operators = _torch_operators(x)
    if operators is not None:
        _no_out(out)
        return getattr(operators, op)(x, [] if dim is None else _list(dim), keepdim)
    element, shape = signature(x)
    dims = range(len(shape)) if dim is None or dim == () or dim == [] else _list(dim)
    axes = tuple(sorted({_axis(dim, len(shape)) for dim in dims}))
    if len(axes) != len(dims) or not axes:
        raise Error(f"dim is {dim}; needed: different dimensions, at least one")
    # A first dimension that is reduced beside others is often a batch.
    first = max(axes[0], 1) if len(shape) > 1 else 0
    function = _function_for(_reduce, element, len(shape), shape[first:], device, kind, axes)
    kept = tuple(1 if i in axes else extent for i, extent in enumerate(shape))
    if out is not None and keepdim:
        if tuple(out.shape) != kept:
            raise Error(f"out is {tuple(out.shape)}; needed: {kept}")
        function(x, out=out.reshape([extent for i, extent in enumerate(shape) if i not in axes]), stream=stream)
        return out
    result = _run(function, (x,), out, stream)
    return result.reshape(kept) if keepdim else result


def sum(x, dim=None, keepdim=False, *, out=None, device=None, stream=None):
    """torch.sum over `dim`: an int, several, or None for all. Also int32, which stays int32."""
    return _reduce_over("sum", "sum", x, dim, keepdim, out, device, stream)


def mean(x, dim=None, keepdim=False, *, out=None, device=None, stream=None):
    """torch.mean over `dim`: an int, several, or None for all."""
    return _reduce_over("mean", "mean", x, dim, keepdim, out, device, stream)


def amax(x, dim=None, keepdim=False, *, out=None, device=None, stream=None):
    """torch.amax over `dim`: an int, several, or None for all; NaN wins. Also int32."""
    return _reduce_over("amax", "max", x, dim, keepdim, out, device, stream)


def amin(x, dim=None, keepdim=False, *, out=None, device=None, stream=None):
    """torch.amin over `dim`: an int, several, or None for all; NaN wins. Also int32."""
    return _reduce_over("amin", "min", x, dim, keepdim, out, device, stream)


def gelu(x, approximate="none", *, out=None, device=None, stream=None):
    """torch.nn.functional.gelu: x times the normal distribution at x, or with approximate="tanh" close to it."""
    if approximate not in ("none", "tanh"):
        raise Error(f"approximate is {approximate!r}; needed: 'none' or 'tanh'")
    operators = _torch_operators(x)
    if operators is not None:
        _no_out(out)
        return operators.gelu(x, approximate)
    element, shape = signature(x)
    return _run(_function_for(_gelu, element, len(shape), (), device, approximate), (x,), out, stream)


def silu(x, *, out=None, device=None, stream=None):
    """torch.nn.functional.silu: x / (1 + exp(-x))."""
    operators = _torch_operators(x)
    if operators is not None:
        _no_out(out)
        return operators.silu(x)
    element, shape = signature(x)
    return _run(_function_for(_silu, element, len(shape), (), device), (x,), out, stream)
