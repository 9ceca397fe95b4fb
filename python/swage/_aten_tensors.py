"""ATen ops that move elements, that go along rows, and products, as text."""

import math

from ._lowering import axis_of, binary, known, lowers, scaled, wide
from ._text import FLOATS, Type, Unsupported, decimal, product

# ----------------------------------------------------------------------------------------------------------------------
# Places
# ----------------------------------------------------------------------------------------------------------------------


@lowers("aten.view.default", "aten.reshape", "aten._unsafe_view", "aten.unsqueeze", "aten.squeeze", "aten.flatten")
@lowers("aten.unflatten", "aten.view_as", "aten.reshape_as", "aten._reshape_alias")
def _view(text, node, self, *_, **__):
    return text.reshape(self, node.shape, node.name)


@lowers("aten.expand", "aten.expand_as", "aten.broadcast_to")
def _expand(text, node, self, *_):
    return text.broadcast(self, node.shape, name=node.name)


@lowers("aten.permute")
def _permute(text, node, self, dims):
    return text.permute(self, [axis_of(dim, self) for dim in dims], node.name)


@lowers("aten.transpose.int")
def _transpose(text, node, self, dim0, dim1):
    dims = list(range(len(self.shape)))
    a, b = axis_of(dim0, self), axis_of(dim1, self)
    if dims:
        dims[a], dims[b] = b, a
    return text.permute(self, dims, node.name) if a != b else self


@lowers("aten.t", "aten.mT", "aten.numpy_T")
def _t(text, node, self):
    return _transpose(text, node, self, -2, -1) if len(self.shape) > 1 else self


@lowers("aten.slice.Tensor", "aten.narrow")
def _slice(text, node, self, dim=0, start=None, end=None, step=1):
    axis = axis_of(dim, self)
    if self.type == node.type and step == 1:
        return self
    if not isinstance(node.shape[axis], int) or not isinstance(start or 0, int):
        raise Unsupported("a part whose place or extent is dynamic")
    first = start or 0
    if first < 0 and isinstance(self.shape[axis], int):
        first = max(first + self.shape[axis], 0)
    return text.slice(self, axis, first, node.shape[axis], step, node.name)


@lowers("aten.select.int")
def _select(text, node, self, dim, index):
    axis = axis_of(dim, self)
    if not isinstance(index, int) or not isinstance(self.shape[axis], int):
        raise Unsupported("an element whose place is dynamic")
    return text.reshape(text.slice(self, axis, index % self.shape[axis], 1), node.shape, node.name)


@lowers("aten.split", "aten.split_with_sizes", "aten.chunk", "aten.unbind")
def _split(text, node, self, *arguments, dim=None):
    if dim is None:
        place = 0 if ".unbind" in node.target else 1
        dim = arguments[place] if len(arguments) > place else 0
    axis, first, parts = axis_of(dim, self), 0, []
    for number, type in enumerate(node.types):
        size = 1 if ".unbind" in node.target else type.shape[axis]
        if not isinstance(size, int):
            raise Unsupported("parts of a dynamic extent")
        part = text.slice(self, axis, first, size, name=f"{node.name}.{number}")
        parts.append(text.reshape(part, type.shape))
        first += size
    return parts


@lowers("getitem")
def _getitem(text, node, values, index):
    return values[index]


@lowers("aten.cat")
def _cat(text, node, tensors, dim=0):
    return text.concat([text.cast(x, node.element) for x in tensors], axis_of(dim, tensors[0]), node.name)


@lowers("aten.stack")
def _stack(text, node, tensors, dim=0):
    axis = dim % len(node.shape)
    parts = [text.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:])) for x in tensors]
    return text.concat(parts, axis, node.name)


@lowers("aten.repeat_interleave.self_int")
def _repeat_interleave(text, node, self, repeats, dim=None, output_size=None):
    if dim is None or not isinstance(repeats, int):
        raise Unsupported("a repetition of all elements, or of a dynamic number")
    axis = axis_of(dim, self)
    dims = [k + (k > axis) for k in range(len(self.shape))]
    between = (*self.shape[: axis + 1], repeats, *self.shape[axis + 1 :])
    return text.reshape(text.broadcast(self, between, dims), node.shape, node.name)


@lowers("aten.repeat")
def _repeat(text, node, self, repeats):
    if not all(isinstance(number, int) for number in repeats):
        raise Unsupported("a repetition of a dynamic number")
    own = (1,) * (len(repeats) - len(self.shape)) + self.shape
    between = tuple(extent for pair in zip(repeats, own) for extent in pair)
    dims = range(1, len(between), 2)
    return text.reshape(text.broadcast(text.reshape(self, own), between, dims), node.shape, node.name)


# ----------------------------------------------------------------------------------------------------------------------
# Rows
# ----------------------------------------------------------------------------------------------------------------------


def _dims(dim, x):
    if dim is None or dim == []:
        return list(range(len(x.shape)))
    return [axis_of(one, x) for one in (dim if isinstance(dim, (list, tuple)) else [dim])]


def _reduced(text, node, kind, x, dims):
    if not dims:
        return x
    return text.reshape(text.reduce(kind, x, dims, node.name), node.shape)


@lowers("aten.sum", "aten.mean", "aten.amax", "aten.amin", "aten.max.default", "aten.min.default")
def _reduce(text, node, self, dim=None, keepdim=False, dtype=None):
    kind = node.target.split(".")[1].removeprefix("a")
    if node.element not in FLOATS and node.element != "i32":
        raise Unsupported(f"a reduction of {node.element}")
    return _reduced(text, node, kind, text.cast(self, node.element), _dims(dim, self))


@lowers("aten.any", "aten.all")
def _any(text, node, self, dim=None, keepdim=False):
    whole = text.cast(text.cast(self, "i1"), "i32")
    found = _reduced(text, node, "max" if ".any" in node.target else "min", whole, _dims(dim, self))
    return text.cast(found, "i1", node.name)


@lowers("aten.var.correction", "aten.var.dim", "aten.var.default")
def _var(text, node, self, dim=None, unbiased=True, keepdim=False, correction=None):
    dims = _dims(None if isinstance(dim, bool) else dim, self)
    less = known(correction if correction is not None else int(unbiased), "the correction")
    mean = text.reduce("mean", self, dims, f"{node.name}.mean")
    kept = [k for k in range(len(self.shape)) if k not in dims]
    distance = text.op(f"{node.name}.distance", "arith.subf", self, text.broadcast(mean, self.shape, kept))
    square = text.op(f"{node.name}.square", "arith.mulf", distance, distance)
    if less == 0:
        return _reduced(text, node, "mean", square, dims)
    count = product(self.shape[k] for k in dims)
    if not isinstance(count, int):
        raise Unsupported("a corrected variance of a dynamic extent")
    total = _reduced(text, node, "sum", square, dims)
    return text.op(node.name, "arith.divf", total, text.constant(count - less, total.type))


@lowers("aten.std.correction", "aten.std.dim", "aten.std.default")
def _std(text, node, *arguments, **keywords):
    return text.op(node.name, "math.sqrt", _var(text, node, *arguments, **keywords))


@lowers("aten.linalg_vector_norm")
def _vector_norm(text, node, self, ord=2, dim=None, keepdim=False, dtype=None):
    x, dims = wide(text, self), _dims(dim, self)
    if not dims:
        value = text.op(node.name, "math.absf", x)
    elif ord == 2:
        total = text.reduce("sum", text.op(f"{node.name}.square", "arith.mulf", x, x), dims, node.name)
        value = text.op(node.name, "math.sqrt", total)
    elif ord in (1, math.inf, -math.inf):
        kind = {1: "sum", math.inf: "max", -math.inf: "min"}[ord]
        value = text.reduce(kind, text.op(f"{node.name}.abs", "math.absf", x), dims, node.name)
    else:
        raise Unsupported(f"a norm of order {ord}")
    return text.cast(text.reshape(value, node.shape), node.element)


@lowers("aten.logsumexp")
def _log_sum_exp(text, node, self, dim, keepdim=False):
    """log(sum of exp(x - m)) + m with the largest number m, or 0 for it where that is infinite."""
    x, dims, name = wide(text, self), _dims(dim, self), node.name
    if not dims:
        return text.cast(x, node.element)
    kept = [k for k in range(len(x.shape)) if k not in dims]
    largest = text.reduce("max", x, dims, f"{name}.max")
    size = text.op(f"{name}.size", "math.absf", largest)
    infinite = text.compare(f"{name}.infinite", "eq", size, text.constant(math.inf, size.type))
    finite = text.select(f"{name}.finite", infinite, text.constant(0, largest.type), largest)
    distance = text.op(f"{name}.distance", "arith.subf", x, text.broadcast(finite, x.shape, kept))
    total = text.reduce("sum", text.op(f"{name}.exp", "math.exp", distance), dims, f"{name}.sum")
    value = text.op(name, "arith.addf", text.op(name, "math.log", total), finite)
    return text.cast(text.reshape(value, node.shape), node.element)


@lowers("aten.softmax", "aten._softmax", "aten.log_softmax", "aten._log_softmax", "aten._safe_softmax")
def _softmax(text, node, self, dim, dtype=None):
    x = self if dtype is None or isinstance(dtype, bool) and not dtype else text.cast(self, node.element)
    mask, types = "", str(x.type)
    if "safe" in node.target:
        keep = text.compare(f"{node.name}.keep", "ne", x, text.constant(-math.inf, x.type))
        mask, types = f" mask {keep}", f"{x.type}, {keep.type}"
    log = " log" if "log" in node.target else ""
    words = f"swage.softmax {x}{mask} axis {axis_of(dim, x)}{log} : {types} -> {node.type}"
    return text.line(node.name, words, node.type)


def _norm(text, node, op, x, shape, weights, epsilon):
    """The norm, with statistics where the node has more results than one; `weights` by their words in the text."""
    weights = {word: value for word, value in weights.items() if value is not None}
    axis = len(x.shape) - len(shape)
    types = [x.type] + [Type(x.shape[:axis], "f64" if x.element == "f64" else "f32")] * (len(node.types) - 1)
    values = [text.declare(f"{node.name}.{k}" if k else node.name, type) for k, type in enumerate(types)]
    words = "".join(f" {word} {value}" for word, value in weights.items())
    operands = ", ".join(str(value.type) for value in (x, *weights.values()))
    text.lines.append(
        f"{', '.join(map(str, values))} = swage.{op} {x}{words} axis {axis} eps {decimal(epsilon)} : "
        f"({operands}) -> ({', '.join(map(str, types))})"
    )
    found = [text.cast(text.reshape(value, type.shape), type.element) for value, type in zip(values, node.types)]
    return found if len(found) > 1 else found[0]


@lowers("aten.layer_norm", "aten.native_layer_norm")
def _layer_norm(text, node, input, normalized_shape, weight=None, bias=None, eps=1e-5, _=None):
    return _norm(text, node, "layer_norm", input, normalized_shape, {"gamma": weight, "beta": bias}, eps)


@lowers("aten.rms_norm", "aten._fused_rms_norm")
def _rms_norm(text, node, input, normalized_shape, weight=None, eps=None):
    if eps is None:
        eps = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}[input.element]
    return _norm(text, node, "rms_norm", input, normalized_shape, {"gamma": weight}, eps)


def _per_channel(text, x, value):
    """What dimension 1 of x has one number for, in the type that x is computed in."""
    return text.broadcast(text.cast(value, x.element), x.shape, [1])


def _of_channels(text, node, x, weight, bias):
    """x times weights plus biases, which may be left out, one for each channel, in dimension 1."""
    for op, parameter in (("mulf", weight), ("addf", bias)):
        if parameter is not None:
            x = text.op(node.name, f"arith.{op}", x, _per_channel(text, x, parameter))
    return text.cast(x, node.element, node.name)


def _with_statistics(text, node, found, back, weight, bias):
    """What a norm gives, its first result brought back to the shape of its operand and weighted."""
    normed, *statistics = found if isinstance(found, list) else [found]
    value = _of_channels(text, node, wide(text, back(normed)), weight, bias)
    return [value, *statistics] if statistics else value


def _norm_of_groups(text, node, x, groups, weight, bias, epsilon):
    """Channels, which are dimension 1, in groups that are rows with all that is behind them."""
    if not isinstance(x.shape[1], int):
        raise Unsupported("groups of a dynamic number of channels")
    rows = (x.shape[0], groups, product((x.shape[1] // groups, *x.shape[2:])))
    flat = text.reshape(x, rows)
    found = _norm(text, node._replace(types=(flat.type, *node.types[1:])), "layer_norm", flat, rows[2:], {}, epsilon)
    return _with_statistics(text, node, found, lambda normed: text.reshape(normed, x.shape), weight, bias)


@lowers("aten.group_norm")
def _group_norm(text, node, input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    return _norm_of_groups(text, node, input, num_groups, weight, bias, eps)


@lowers("aten.native_group_norm")
def _native_group_norm(text, node, input, weight, bias, N, C, HxW, group, eps):
    return _norm_of_groups(text, node, input, group, weight, bias, eps)


@lowers("aten.instance_norm")
def _instance_norm(text, node, input, weight, bias, mean, variance, use_input_stats, momentum, eps, cudnn_enabled=True):
    if not use_input_stats:
        return _with_known_moments(text, node, input, weight, bias, mean, variance, eps)
    return _norm_of_groups(text, node, input, input.shape[1], weight, bias, eps)


@lowers("aten.batch_norm")
def _batch_norm(text, node, input, weight, bias, mean, variance, training, momentum, eps, cudnn_enabled=True):
    if not training:
        return _with_known_moments(text, node, input, weight, bias, mean, variance, eps)
    if mean is not None:
        raise Unsupported("a batch norm that updates its running moments; export the model after .eval()")
    return _norm_of_batch(text, node, input, weight, bias, eps)


@lowers("aten._native_batch_norm_legit.no_stats")
def _native_batch_norm_of_batch(text, node, input, weight, bias, training, momentum, eps):
    return _norm_of_batch(text, node, input, weight, bias, eps)


def _norm_of_batch(text, node, x, weight, bias, epsilon):
    """Each channel is a row with all images."""
    order = [1, 0, *range(2, len(x.shape))]
    channels = text.permute(x, order)
    types = (channels.type, *node.types[1:])
    found = _norm(text, node._replace(types=types), "layer_norm", channels, channels.shape[1:], {}, epsilon)
    return _with_statistics(text, node, found, lambda normed: text.permute(normed, order), weight, bias)


@lowers("aten._native_batch_norm_legit_no_training")
def _native_batch_norm(text, node, input, weight, bias, mean, variance, momentum, eps):
    return [_with_known_moments(text, node, input, weight, bias, mean, variance, eps)]


def _with_known_moments(text, node, input, weight, bias, mean, variance, epsilon):
    """(x - mean) / sqrt(variance + epsilon), with moments for each channel."""
    x, name = wide(text, input), node.name
    spread = wide(text, variance)
    spread = text.op(name, "arith.addf", spread, text.constant(epsilon, spread.type))
    centred = text.op(name, "arith.subf", x, _per_channel(text, x, mean))
    normed = text.op(name, "arith.mulf", centred, _per_channel(text, x, text.op(name, "math.rsqrt", spread)))
    return _of_channels(text, node, normed, weight, bias)


# ----------------------------------------------------------------------------------------------------------------------
# Products and attention
# ----------------------------------------------------------------------------------------------------------------------


def _product(text, name, a, b, transpose_b=False):
    """A product of matrices; where b has no leading dimensions, those of a are rows."""
    if a.element not in FLOATS:
        raise Unsupported(f"a product of {a.element} matrices")
    if len(b.shape) == 2 and len(a.shape) > 2:
        rows = text.reshape(a, (product(a.shape[:-1]), a.shape[-1]))
        flat = text.matmul(rows, b, name, transpose_b)
        return text.reshape(flat, (*a.shape[:-1], flat.shape[-1]))
    leading = max(a.shape[:-2], b.shape[:-2], key=len)
    if a.shape[:-2] != b.shape[:-2]:
        pairs = zip(*(((1,) * (len(leading) - len(x.shape) + 2) + x.shape)[: len(leading)] for x in (a, b)))
        leading = tuple(right if left == 1 else left for left, right in pairs)
    a, b = (text.broadcast(x, (*leading, *x.shape[-2:])) for x in (a, b))
    return text.matmul(a, b, name, transpose_b)


@lowers("aten.matmul", "aten.mm", "aten.bmm")
def _matmul(text, node, self, mat2):
    a = text.reshape(self, (1, *self.shape)) if len(self.shape) == 1 else self
    b = text.reshape(mat2, (*mat2.shape, 1)) if len(mat2.shape) == 1 else mat2
    return text.reshape(_product(text, node.name, a, b), node.shape)


@lowers("aten.addmm", "aten.baddbmm")
def _addmm(text, node, self, mat1, mat2, beta=1, alpha=1):
    value = _product(text, f"{node.name}.product", mat1, mat2)
    if alpha != 1:
        value = scaled(text, value, alpha)
    return binary(text, node, "add", value, self if beta == 1 else scaled(text, self, beta))


@lowers("aten.linear")
def _linear(text, node, input, weight, bias=None):
    x = text.reshape(input, (1, *input.shape)) if len(input.shape) == 1 else input
    value = _product(text, node.name if bias is None else f"{node.name}.product", x, weight, transpose_b=True)
    value = text.reshape(value, node.shape)
    return value if bias is None else binary(text, node, "add", value, bias)


@lowers("aten.scaled_dot_product_attention")
def _attention(text, node, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """swage.attention itself and no products: as there, scores are not rounded, and a row without a key gives 0."""
    q, k, v = query, key, value
    if dropout_p:
        raise Unsupported("attention with dropout; export the model after .eval()")
    if len(q.shape) < 3 or q.shape[:-3] != k.shape[:-3] or (q.shape[-3] != k.shape[-3] and not enable_gqa):
        raise Unsupported(f"attention of {q.type}, {k.type}; needed: rank 3 or more and equal leading dimensions")
    if not isinstance(q.shape[-1], int):
        raise Unsupported("attention with a dynamic last extent")
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else known(scale, "the scale")
    coordinates = [f"%b{dim}" for dim in range(len(q.shape) - 3)] + ["%h", "%i", "%j"]
    places = ", ".join(f"{name}: index" for name in coordinates)
    score, types = "f64" if q.element == "f64" else "f32", ", ".join(str(x.type) for x in (q, k, v))
    lines = [f"swage.attention {q}, {k}, {v} scale {decimal(factor)}"]
    if attn_mask is not None and attn_mask.element != "i1":
        lines[-1] += " score {"
        lines.append(f"^bb0(%s: {score}, {places}):")
        lines.append(f"  %bias = {_element(text, attn_mask, coordinates, q.shape)}")
        wide = "%bias"
        if FLOATS[attn_mask.element] < FLOATS[score]:
            wide = "%wide"
            lines.append(f"  %wide = arith.extf %bias : {attn_mask.element} to {score}")
        lines += [f"  %t = arith.addf %s, {wide} : {score}", f"  swage.yield %t : {score}", "}"]
    keep = []
    if is_causal:
        keep.append("arith.cmpi sle, %j, %i : index")
    if attn_mask is not None and attn_mask.element == "i1":
        keep.append(_element(text, attn_mask, coordinates, q.shape))
    if len(keep) == 2:
        raise Unsupported("attention with a mask that is also causal")
    if keep:
        lines[-1] += " mask {"
        lines += [f"^bb0({places}):", f"  %m = {keep[0]}", "  swage.yield %m : i1", "}"]
    lines[-1] += f" : ({types}) -> {node.type}"
    return text.line(node.name, "\n  ".join(lines), node.type)


def _element(text, tensor, coordinates, shape):
    """What the mask says of a score: its dimensions are the last ones, of extent 1 where it says the same for all."""
    own = coordinates[len(coordinates) - len(tensor.shape) :]
    names = [str(text.index(0)) if extent == 1 else name for name, extent in zip(own, tensor.shape)]
    return f"tensor.extract {tensor}[{', '.join(names)}] : {tensor.type}"
