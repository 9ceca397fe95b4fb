"""Ready functions, each of the meaning of torch's function of the same name, computed forward only.

They take what `swage.compile` takes: torch tensors, arrays with DLPack or `__cuda_array_interface__`, and with
`device="sim"` arrays of numpy. Inputs are row-major without gaps; float16, bfloat16, float32 and float64 unless it says
otherwise; evaluated in float32 (float64 for float64) and rounded once. Results are new tensors, or `out`.

Under torch.compile and torch.export they are the operators `torch.ops.swage.*`, which see fake tensors as well.

Each is one graph for any outer extents. The extents of a row are part of its kernels for the first few rows that a
process meets; from then on one graph serves rows of any length.
"""

import functools
import sys
import threading

from . import _function
from ._errors import Error
from ._swage import Operation

__all__ = [
    *("amax", "amin", "dropout", "dropout_with_mask", "gelu", "layer_norm", "log_softmax", "mean", "permute", "rms_norm"),
    *("silu", "softmax", "sum"),
]

_EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}

# ----------------------------------------------------------------------------------------------------------------------
# Functions by what their text depends on
# ----------------------------------------------------------------------------------------------------------------------

#: Rows that get kernels of their own, for each operation, type and rank.
_OWN_ROWS = 8

_functions = {}
_own_rows = {}
_lock = threading.Lock()


def _function_for(build, element, rank, row, device, *details, names=("x",), is_fixed=False):
    """The function of `build(element, extents, *details)`: the last extents are `row`, those before any.

    `is_fixed`: there is no graph for any row.
    """
    with _lock:
        function = _functions.get((build, element, rank, row, device, details))
        if function is not None:
            return function
        own = _own_rows.setdefault((build, element, rank, device, details), set())
        fixed = (None,) * len(row)
        if is_fixed or row in own or len(own) < _OWN_ROWS:
            own.add(row)
            fixed = row
        function = _functions.get((build, element, rank, fixed, device, details))
        if function is None:
            text = build(element, (None,) * (rank - len(row)) + fixed, *details)
            function = _function.compile(text, device=device, names=names)
            _functions[build, element, rank, fixed, device, details] = function
        _functions[build, element, rank, row, device, details] = function
    return function


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


def _main(arguments, lines, results):
    """A module with one function, which returns the `results`, each a name and its type."""
    signature = ", ".join(f"%{name}: {type}" for name, type in arguments)
    body = "".join(f"  {line}\n" for line in lines)
    values, types = (", ".join(words) for words in zip(*((f"%{name}", type) for name, type in results)))
    return f"func.func @main({signature}) -> ({types}) {{\n{body}  return {values} : {types}\n}}\n"


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

    def main(self, value, others=(), second=()):
        """The module that returns `value` in the type of %x, its first argument; and `second`, a name and its type."""
        if self.type != self.stored:
            value = self.line("y", f"arith.truncf %{value} : {self.type} to {self.stored}")
        results = [(value, self.stored)] + ([second] if second else [])
        return _main([("x", self.stored), *others], self.lines, results)


def _norm(element, extents, op, axis, epsilon, has_weight, has_bias):
    arguments = [("x", _tensor(element, extents))]
    words = [f"swage.{op} %x"]
    for name, word, is_there in (("weight", "gamma", has_weight), ("bias", "beta", has_bias)):
        if is_there:
            arguments.append((name, _tensor(element, extents[axis:])))
            words.append(f"{word} %{name}")
    types = ", ".join(type for _, type in arguments)
    result = arguments[0][1]
    return _main(arguments, [f"%y = {' '.join(words)} axis {axis} eps {_number(epsilon)} : ({types}) -> {result}"], [("y", result)])


def _lower_right(extents, sizes):
    """Lines for %causal: columns up to the row's number and as many more as there are more columns than rows."""
    rank, rows, columns = len(extents), extents[-2], extents[-1]
    positions = _tensor("i32", extents)
    if rows is not None:
        return [
            f"%more = arith.constant dense<{columns - rows}> : tensor<i32>",
            f"%beyond = swage.broadcast %more dims []{sizes} : tensor<i32> -> {positions}",
            f"%shifted = arith.addi %row, %beyond : {positions}",
            f"%causal = arith.cmpi sle, %column, %shifted : {positions}",
        ]
    lines, wide = [], _tensor("i64", extents)
    for name, dim in (("rows", rank - 2), ("columns", rank - 1)):
        lines.append(f"%{name}_all = swage.iota dim 0 sizes(%size{dim}) : tensor<?xi32>")
        lines.append(f"%{name}_last = swage.reduce max %{name}_all dims [0] : tensor<?xi32> -> tensor<i32>")
        lines.append(f"%{name} = arith.extsi %{name}_last : tensor<i32> to tensor<i64>")
    # In 64 bits nothing wraps, so that the mask bounds what is read.
    lines.append("%more = arith.subi %columns, %rows : tensor<i64>")
    lines.append(f"%beyond = swage.broadcast %more dims []{sizes} : tensor<i64> -> {wide}")
    lines += [f"%{name}_wide = arith.extsi %{name} : {positions} to {wide}" for name in ("row", "column")]
    lines.append(f"%shifted = arith.addi %row_wide, %beyond : {wide}")
    return lines + [f"%causal = arith.cmpi sle, %column_wide, %shifted : {wide}"]


def _softmax(element, extents, axis, mask_ones, is_causal, lower_right, log=False):
    type, keep, rank = _tensor(element, extents), _tensor("i1", extents), len(extents)
    arguments, lines, masks = [("x", type)], [], []
    dynamic = [dim for dim, extent in enumerate(extents) if extent is None]
    if mask_ones is not None or is_causal:
        for dim in dynamic:
            lines.append(f"%dim{dim} = arith.constant {dim} : index")
            lines.append(f"%size{dim} = tensor.dim %x, %dim{dim} : {type}")
    sizes = f" sizes({', '.join(f'%size{dim}' for dim in dynamic)})" if dynamic else ""
    if mask_ones is not None:
        first = rank - len(mask_ones)
        given = _tensor("i1", [1 if one else extents[first + k] for k, one in enumerate(mask_ones)])
        arguments.append(("mask", given))
        masks.append("given")
        lines.append(f"%given = swage.broadcast %mask dims {list(range(first, rank))}{sizes} : {given} -> {keep}")
    if is_causal:
        positions = _tensor("i32", extents)
        lines.append(f"%row = swage.iota dim {rank - 2}{sizes} : {positions}")
        lines.append(f"%column = swage.iota dim {rank - 1}{sizes} : {positions}")
        if lower_right:
            lines += _lower_right(extents, sizes)
        else:
            lines.append(f"%causal = arith.cmpi sle, %column, %row : {positions}")
        masks.append("causal")
    if len(masks) == 2:
        lines.append(f"%both = arith.andi %given, %causal : {keep}")
        masks = ["both"]
    mask, types = (f" mask %{masks[0]}", f"{type}, {keep}") if masks else ("", type)
    lines.append(f"%y = swage.softmax %x{mask} axis {axis}{' log' if log else ''} : {types} -> {type}")
    return _main(arguments, lines, [("y", type)])


def _log_softmax(*details):
    return _softmax(*details, log=True)


def _dropout(element, extents, p, with_mask=False):
    graph = _Graph(element, extents)
    positions = _tensor("i32", extents)
    sizes = f" sizes({', '.join(f'%size{dim}' for dim in graph.sizes)})" if graph.sizes else ""
    threshold = min(round(p * 2.0**32), 2**32 - 1)
    graph.line("bits", f"swage.random %state{sizes} : tensor<2xi64> -> {positions}")
    graph.line("least0", f"arith.constant dense<{threshold - 2**32 if threshold >= 2**31 else threshold}> : tensor<i32>")
    graph.line("least", f"swage.broadcast %least0 dims []{sizes} : tensor<i32> -> {positions}")
    graph.line("keep", f"arith.cmpi uge, %bits, %least : {positions}")
    raised = graph.op("raised", "arith.mulf", graph.x, graph.constant("factor", 1 / (1 - p)))
    zero = graph.constant("zero", 0.0)
    kept = graph.line("kept", f"arith.select %keep, %{raised}, %{zero} : {_tensor('i1', extents)}, {graph.type}")
    mask = _packed(graph, extents) if with_mask else ()
    return graph.main(kept, [("state", "tensor<2xi64>")], mask)


def _packed(graph, extents):
    """The name and the type of %keep with 32 elements of a row in a word, the first one in the lowest bit."""
    rank, words = len(extents), extents[-1] // 32
    ones = _tensor("i32", extents)
    split, packed = (_tensor("i32", [*extents[:-1], words, *rest]) for rest in ([32], []))
    given = f" sizes({', '.join(f'%size{dim}' for dim in graph.sizes)})" if graph.sizes else ""
    graph.line("ones", f"arith.extui %keep : {_tensor('i1', extents)} to {ones}")
    graph.line("split", f"swage.reshape %ones{given} : {ones} -> {split}")
    graph.line("place", f"swage.iota dim {rank}{given} : {split}")
    graph.line("placed", f"arith.shli %split, %place : {split}")
    return graph.line("mask", f"swage.reduce sum %placed dims [{rank}] : {split} -> {packed}"), packed


def _reduce(element, extents, kind, dims, keepdim):
    type = _tensor(element, extents)
    result = _tensor(element, [extent for dim, extent in enumerate(extents) if dim not in dims])
    lines = [f"%y = swage.reduce {kind} %x dims {list(dims)} : {type} -> {result}"]
    if not keepdim:
        return _main([("x", type)], lines, [("y", result)])
    kept = _tensor(element, [1 if dim in dims else extent for dim, extent in enumerate(extents)])
    return _main([("x", type)], lines + [f"%kept = swage.reshape %y : {result} -> {kept}"], [("kept", kept)])


def _permute(element, extents, dims):
    type = _tensor(element, extents)
    result = _tensor(element, [extents[dim] for dim in dims])
    return _main([("x", type)], [f"%y = swage.permute %x {list(dims)} : {type} -> {result}"], [("y", result)])


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
# Under torch.compile and torch.export
# ----------------------------------------------------------------------------------------------------------------------


def _is_compiling():
    """torch.compiler.is_dynamo_compiling, which comes in this place once a tensor of torch was met."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "compiler") and torch.compiler.is_dynamo_compiling()


#: Types of arrays that hold their data.
_plain_types = set()


def _is_traced(x):
    """Whether torch traces, or x is a tensor that stands for one."""
    return _is_compiling() or type(x) not in _plain_types and _is_stand_in(x)


def _is_stand_in(x):
    global _is_compiling
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "compiler") or not isinstance(x, torch.Tensor):
        return False
    _is_compiling = torch.compiler.is_dynamo_compiling
    _plain_types.update((torch.Tensor, torch.nn.Parameter))
    return type(x) not in _plain_types


def _operators(out):
    if out is not None:
        raise Error("out= was given while torch traces; needed: none, the operators return new tensors")
    from . import _torch

    return _torch.operators


def _list(value):
    return [value] if isinstance(value, int) else list(value)


# ----------------------------------------------------------------------------------------------------------------------
# Operations: what finds the function, and what the user calls
# ----------------------------------------------------------------------------------------------------------------------


def _find_norm(op, element, shape, weight, bias, normalized_shape, epsilon, device):
    row = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    axis = len(shape) - len(row)
    if not row or shape[axis:] != row:
        raise Error(f"normalized_shape is {row} and x is {shape}; needed: its last extents, at least one")
    has_weight, has_bias = weight is not None, bias is not None
    names = ("x",) + ("weight",) * has_weight + ("bias",) * has_bias
    epsilon = _EPSILON.get(element, 0.0) if epsilon is None else epsilon
    return _function_for(_norm, element, len(shape), row, device, op, axis, epsilon, has_weight, has_bias, names=names)


_run_layer_norm = Operation(functools.partial(_find_norm, "layer_norm"), inputs=3)


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5, *, out=None, device=None, stream=None):
    """torch.nn.functional.layer_norm: trailing dimensions to zero mean and unit variance.

    x: [..., *normalized_shape], weight and bias: normalized_shape, of the type of x. Returns the shape of x.
    """
    if _is_traced(x):
        return _operators(out).layer_norm(x, _list(normalized_shape), weight, bias, eps)
    return _run_layer_norm(x, weight, bias, normalized_shape, eps, device, out, stream)


_run_rms_norm = Operation(functools.partial(_find_norm, "rms_norm"), inputs=3)


def rms_norm(x, normalized_shape, weight=None, eps=None, *, out=None, device=None, stream=None):
    """torch.nn.functional.rms_norm: divides trailing dimensions by their root mean square.

    x: [..., *normalized_shape], weight: normalized_shape, of the type of x. `eps` None is the epsilon of that type.
    Returns the shape of x.
    """
    if _is_traced(x):
        return _operators(out).rms_norm(x, _list(normalized_shape), weight, eps)
    return _run_rms_norm(x, weight, None, normalized_shape, eps, device, out, stream)


def _find_softmax(build, element, shape, mask, dim, is_causal, lower_right, mask_ones, device):
    rank = len(shape)
    axis = _axis(dim, rank)
    if is_causal and (rank < 2 or axis != rank - 1):
        raise Error(f"is_causal was given with dim {dim} of {rank}; needed: the last of at least two dimensions")
    if lower_right and not is_causal:
        raise Error("lower_right was given without is_causal; needed: both")
    if mask is not None and len(mask_ones) > rank:
        raise Error(f"mask has {len(mask_ones)} dimensions and x {rank}; needed: a mask that broadcasts to x")
    names = ("x",) if mask is None else ("x", "mask")
    row = shape[axis - 1 :] if lower_right else shape[axis:]
    return _function_for(build, element, rank, row, device, axis, mask_ones, bool(is_causal), bool(lower_right), names=names)


def _ones(mask):
    """The dimensions that a mask repeats, which its graph depends on."""
    return None if mask is None else tuple(extent == 1 for extent in mask.shape)


_run_softmax = Operation(functools.partial(_find_softmax, _softmax), inputs=2)


def softmax(x, dim, mask=None, is_causal=False, lower_right=False, *, out=None, device=None, stream=None):
    """torch.softmax: exponentials along `dim`, divided by their sum. Returns the shape of x.

    `mask`, of bool, broadcasts to x: where it is False the element is left out. `is_causal` leaves out what comes behind
    the diagonal of the last two dimensions, and does not read it: the diagonal that begins with their first element, or
    with `lower_right` the one that ends with their last, as for the newest queries of a longer cache. Both may be given.
    What is left out gives 0, and so does a row of which nothing is left.
    """
    if _is_traced(x):
        return _operators(out).softmax(x, dim, mask, is_causal, lower_right)
    return _run_softmax(x, mask, dim, is_causal, lower_right, _ones(mask), device, out, stream)


_run_log_softmax = Operation(functools.partial(_find_softmax, _log_softmax), inputs=2)


def log_softmax(x, dim, mask=None, is_causal=False, lower_right=False, *, out=None, device=None, stream=None):
    """torch.log_softmax: the logarithm of softmax, without its underflow. Returns the shape of x.

    `mask`, `is_causal` and `lower_right` as in softmax; what is left out gives -inf.
    """
    if _is_traced(x):
        return _operators(out).log_softmax(x, dim, mask, is_causal, lower_right)
    return _run_log_softmax(x, mask, dim, is_causal, lower_right, _ones(mask), device, out, stream)


def _find_dropout(element, shape, state, p, device, build=_dropout, is_fixed=False):
    if not 0 <= p < 1:
        raise Error(f"p is {p}; needed: at least 0 and less than 1")
    return _function_for(build, element, len(shape), shape[-1:], device, float(p), names=("x", "state"), is_fixed=is_fixed)


_run_dropout = Operation(_find_dropout, inputs=2)


def dropout(x, p, state, *, out=None, device=None, stream=None):
    """torch.nn.functional.dropout: zeros with probability `p`, what is kept times 1 / (1 - p). Returns the shape of x.

    `state`: two int64, the seed and the offset of a Philox stream. Element n, row-major, is kept where word n of the
    stream, as an unsigned number, is at least p * 2^32; word n is number n % 4 of philox4x32-10 of the counter
    offset + n // 4 under the key seed. The next call must begin (x.size + 3) // 4 counters later.
    """
    if _is_traced(x):
        return _operators(out).dropout(x, p, state)
    return _run_dropout(x, state, p, device, out, stream)


def _dropout_with_mask(element, extents, p):
    return _dropout(element, extents, p, with_mask=True)


def _find_dropout_with_mask(element, shape, state, p, device):
    if not shape or shape[-1] % 32 != 0:
        raise Error(f"x has the shape {shape}; needed: a last extent that is a multiple of 32, for words of the mask")
    return _find_dropout(element, shape, state, p, device, build=_dropout_with_mask, is_fixed=True)


_run_dropout_with_mask = Operation(_find_dropout_with_mask, inputs=2)


def dropout_with_mask(x, p, state, *, out=None, device=None, stream=None):
    """What `dropout` returns, and what it kept: int32 [..., last extent / 32], bit i of word j for element 32 j + i.

    The last extent is a multiple of 32; each has kernels of its own. The mask is made of the stream and reads no memory.
    """
    if _is_traced(x):
        return _operators(out).dropout_with_mask(x, p, state)
    return _run_dropout_with_mask(x, state, p, device, out, stream)


@Operation
def _run_permute(element, shape, dims, device):
    axes = tuple(_axis(dim, len(shape)) for dim in dims)
    if sorted(axes) != list(range(len(shape))):
        raise Error(f"dims is {tuple(dims)}; needed: each dimension of x once, and it has {len(shape)}")
    return _function_for(_permute, element, len(shape), shape[-1:], device, axes)


def permute(x, dims, *, out=None, device=None, stream=None):
    """torch.permute(x, dims).contiguous(): the result's dimension k is x's dimension dims[k]. Also bool, int8, int32."""
    if _is_traced(x):
        return _operators(out).permute(x, list(dims))
    return _run_permute(x, dims, device, out, stream)


@Operation
def _run_reduce(element, shape, kind, dim, keepdim, device):
    dims = range(len(shape)) if dim is None or dim == () else _list(dim)
    axes = tuple(sorted({_axis(dim, len(shape)) for dim in dims}))
    if len(axes) != len(dims) or not axes:
        raise Error(f"dim is {dim}; needed: different dimensions, at least one")
    # A first dimension that is reduced beside others is often a batch.
    first = max(axes[0], 1) if len(shape) > 1 else 0
    return _function_for(_reduce, element, len(shape), shape[first:], device, kind, axes, bool(keepdim))


def _dims(dim):
    return [] if dim is None else _list(dim)


def sum(x, dim=None, keepdim=False, *, out=None, device=None, stream=None):
    """torch.sum over `dim`: an int, several, or None for all. Also int32, which stays int32."""
    if _is_traced(x):
        return _operators(out).sum(x, _dims(dim), keepdim)
    return _run_reduce(x, "sum", dim, keepdim, device, out, stream)


def mean(x, dim=None, keepdim=False, *, out=None, device=None, stream=None):
    """torch.mean over `dim`: an int, several, or None for all."""
    if _is_traced(x):
        return _operators(out).mean(x, _dims(dim), keepdim)
    return _run_reduce(x, "mean", dim, keepdim, device, out, stream)


def amax(x, dim=None, keepdim=False, *, out=None, device=None, stream=None):
    """torch.amax over `dim`: an int, several, or None for all; NaN wins. Also int32."""
    if _is_traced(x):
        return _operators(out).amax(x, _dims(dim), keepdim)
    return _run_reduce(x, "max", dim, keepdim, device, out, stream)


def amin(x, dim=None, keepdim=False, *, out=None, device=None, stream=None):
    """torch.amin over `dim`: an int, several, or None for all; NaN wins. Also int32."""
    if _is_traced(x):
        return _operators(out).amin(x, _dims(dim), keepdim)
    return _run_reduce(x, "min", dim, keepdim, device, out, stream)


def _find_pointwise(build, element, shape, *details):
    *details, device = details
    return _function_for(build, element, len(shape), (), device, *details)


_run_gelu = Operation(functools.partial(_find_pointwise, _gelu))


def gelu(x, approximate="none", *, out=None, device=None, stream=None):
    """torch.nn.functional.gelu: x times the normal distribution at x, or with approximate="tanh" close to it."""
    if approximate not in ("none", "tanh"):
        raise Error(f"approximate is {approximate!r}; needed: 'none' or 'tanh'")
    if _is_traced(x):
        return _operators(out).gelu(x, approximate)
    return _run_gelu(x, approximate, device, out, stream)


_run_silu = Operation(functools.partial(_find_pointwise, _silu))


def silu(x, *, out=None, device=None, stream=None):
    """torch.nn.functional.silu: x / (1 + exp(-x))."""
    if _is_traced(x):
        return _operators(out).silu(x)
    return _run_silu(x, device, out, stream)
