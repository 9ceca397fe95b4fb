"""ATen ops that compute each element by itself, and constants, as text."""

import math

from ._lowering import arithmetic, axis_of, binary, known, lowers, operand, scaled, wide
from ._text import FLOATS, Type, Unsupported, Value, is_exact


@lowers("aten.mul", "aten.multiply")
def _mul(text, node, self, other):
    if node.element == "i1":
        return text.op(node.name, "arith.andi", *(operand(text, x, node.type) for x in (self, other)))
    return binary(text, node, "mul", self, other)


@lowers("aten.add", "aten.sub", "aten.subtract", "aten.rsub")
def _add(text, node, self, other, alpha=1):
    if alpha != 1:
        other = scaled(text, operand(text, other, Type(getattr(other, "shape", ()), node.element)), alpha)
    if ".rsub" in node.target:
        self, other = other, self
    return binary(text, node, "add" if ".add" in node.target else "sub", self, other)


@lowers("aten.div", "aten.divide", "aten.true_divide")
def _div(text, node, self, other, rounding_mode=None):
    if rounding_mode is not None or node.element not in FLOATS:
        raise Unsupported("a division that rounds")
    return binary(text, node, "div", self, other)


@lowers("aten.reciprocal")
def _reciprocal(text, node, self):
    return binary(text, node, "div", 1.0, self)


@lowers("aten.maximum", "aten.minimum", "aten.max.other", "aten.min.other")
def _maximum(text, node, self, other):
    return binary(text, node, "maximum" if ".max" in node.target else "minimum", self, other)


@lowers("aten.clamp", "aten.clamp_min", "aten.clamp_max", "aten.clip")
def _clamp(text, node, self, min=None, max=None):
    if node.target.startswith("aten.clamp_max"):
        min, max = None, min
    value = self
    if min is not None:
        value = binary(text, node, "maximum", value, min)
    return value if max is None else binary(text, node, "minimum", value, max)


@lowers("aten.hardtanh", "aten.relu6")
def _hardtanh(text, node, self, min_val=-1.0, max_val=1.0):
    bounds = (0.0, 6.0) if ".relu6" in node.target else (min_val, max_val)
    return _clamp(text, node, self, *bounds)


@lowers("aten.relu")
def _relu(text, node, self):
    return binary(text, node, "maximum", self, 0)


_FUNCTIONS = {"abs": "absf", "sqrt": "sqrt", "round": "roundeven", "neg": None} | {
    name: name
    for name in (
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "erf", "erfc", "rsqrt", "sin", "cos", "tan"),
        *("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc"),
    )
}


@lowers(*(f"aten.{name}.default" for name in _FUNCTIONS))
def _function(text, node, self):
    name = node.target.split(".")[1]
    x = text.cast(self, node.element)
    if node.element in FLOATS:
        return text.op(node.name, "arith.negf" if name == "neg" else f"math.{_FUNCTIONS[name]}", x)
    if name == "neg":
        return binary(text, node, "sub", 0, x)
    if name == "abs" and node.element != "u8":
        return text.op(node.name, "math.absi", x)
    return x  # whole numbers, rounded


@lowers("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar", "aten.square")
def _pow(text, node, self, exponent=2):
    if isinstance(self, Value) and not isinstance(exponent, Value):
        x = text.cast(self, node.element)
        if exponent == 1:
            return x
        if exponent in (2, 3):
            square = binary(text, node, "mul", x, x)
            return square if exponent == 2 else binary(text, node, "mul", square, x)
        if exponent == -1:
            return _reciprocal(text, node, x)
        if exponent in (0.5, -0.5) and node.element in FLOATS:
            return text.op(node.name, "math.sqrt" if exponent == 0.5 else "math.rsqrt", x)
    if node.element not in FLOATS:
        raise Unsupported("a power of whole numbers but the second and the third")
    return arithmetic(text, node, (self, exponent), lambda x, y: text.op(node.name, "math.powf", x, y))


@lowers("aten.sigmoid", "aten.silu")
def _sigmoid(text, node, self):
    """x / (1 + exp(-x)), or 1 for x above."""
    x = wide(text, text.cast(self, node.element))
    one = text.constant(1.0, x.type)
    power = text.op(f"{node.name}.exp", "math.exp", text.op(f"{node.name}.neg", "arith.negf", x))
    below = text.op(f"{node.name}.below", "arith.addf", power, one)
    above = x if ".silu" in node.target else one
    return text.cast(text.op(node.name, "arith.divf", above, below), node.element, node.name)


@lowers("aten.gelu")
def _gelu(text, node, self, approximate="none"):
    x, name = wide(text, self), node.name

    def times(a, number):
        return text.op(name, "arith.mulf", a, text.constant(number, x.type))

    half = times(x, 0.5)
    if approximate == "none":
        bell = text.op(name, "math.erf", times(x, math.sqrt(0.5)))
    else:
        cube = text.op(name, "arith.mulf", text.op(name, "arith.mulf", x, x), x)
        inner = text.op(name, "arith.addf", x, times(cube, 0.044715))
        bell = text.op(name, "math.tanh", times(inner, math.sqrt(2 / math.pi)))
    above = text.op(name, "arith.addf", bell, text.constant(1.0, x.type))
    return text.cast(text.op(name, "arith.mulf", half, above), node.element, name)


@lowers("aten.glu")
def _glu(text, node, self, dim=-1):
    axis = axis_of(dim, self)
    half = self.shape[axis] // 2 if isinstance(self.shape[axis], int) else None
    if half is None:
        raise Unsupported("halves of a dynamic extent")
    value, gate = (text.slice(self, axis, first, half) for first in (0, half))
    factor = _sigmoid(text, node._replace(target="aten.sigmoid"), gate)
    return binary(text, node, "mul", value, factor)


@lowers("aten.leaky_relu")
def _leaky_relu(text, node, self, negative_slope=0.01):
    below = binary(text, node, "mul", self, negative_slope)
    return text.select(node.name, text.compare(node.name, "gt", self, text.constant(0, self.type)), self, below)


@lowers("aten.elu")
def _elu(text, node, self, alpha=1.0, scale=1.0, input_scale=1.0):
    """scale * x, or scale * alpha * (exp(input_scale * x) - 1) where x is negative."""
    x, name = wide(text, self), node.name
    power = text.op(name, "math.expm1", x if input_scale == 1 else scaled(text, x, input_scale))
    below = power if alpha * scale == 1 else scaled(text, power, alpha * scale)
    above = x if scale == 1 else scaled(text, x, scale)
    chosen = text.select(name, text.compare(name, "gt", x, text.constant(0, x.type)), above, below)
    return text.cast(chosen, node.element, name)


def _softplus_of(text, name, x, beta, threshold):
    y = x if beta == 1 else scaled(text, x, beta)
    logarithm = text.op(name, "math.log1p", text.op(name, "math.exp", y))
    bend = logarithm if beta == 1 else scaled(text, logarithm, 1 / beta)
    return text.select(name, text.compare(name, "gt", y, text.constant(threshold, y.type)), x, bend)


@lowers("aten.softplus")
def _softplus(text, node, self, beta=1.0, threshold=20.0):
    return text.cast(_softplus_of(text, node.name, wide(text, self), beta, threshold), node.element, node.name)


@lowers("aten.log_sigmoid")
def _log_sigmoid(text, node, self):
    """min(x, 0) - log(1 + exp(-|x|))."""
    x, name = wide(text, self), node.name
    power = text.op(name, "math.exp", text.op(name, "arith.negf", text.op(name, "math.absf", x)))
    low = text.op(name, "arith.minimumf", x, text.constant(0.0, x.type))
    return text.cast(text.op(name, "arith.subf", low, text.op(name, "math.log1p", power)), node.element, name)


@lowers("aten.mish")
def _mish(text, node, self):
    x, name = wide(text, self), node.name
    factor = text.op(name, "math.tanh", _softplus_of(text, name, x, 1.0, 20.0))
    return text.cast(text.op(name, "arith.mulf", x, factor), node.element, name)


@lowers("aten.hardsigmoid", "aten.hardswish")
def _hardsigmoid(text, node, self):
    """min(max(x + 3, 0), 6) / 6, or x times that."""
    x, name = wide(text, self), node.name
    value = text.op(name, "arith.addf", x, text.constant(3.0, x.type))
    value = text.op(name, "arith.maximumf", value, text.constant(0.0, x.type))
    value = text.op(name, "arith.minimumf", value, text.constant(6.0, x.type))
    if ".hardswish" in node.target:
        value = text.op(name, "arith.mulf", x, value)
    return text.cast(text.op(name, "arith.divf", value, text.constant(6.0, x.type)), node.element, name)


def _promoted(a, b):
    """The type in which torch compares the two: a float before whole numbers, several dimensions before none, the wider."""
    values = [x for x in (a, b) if isinstance(x, Value)]
    elements = [x.element for x in values if x.shape or all(not y.shape for y in values)]
    others = [x.element for x in values] + ["f32" for x in (a, b) if isinstance(x, float)]
    if not any(element in FLOATS for element in elements):
        elements = [element for element in others if element in FLOATS] or [x for x in elements if x != "i1"] or others
    else:
        elements = [element for element in elements if element in FLOATS]
    if set(elements) == {"f16", "bf16"}:
        return "f32"
    return max(elements, key=lambda element: FLOATS.get(element) or int(element[1:]))


def _with_number(number, element):
    """The type for a comparison with a number: a boolean is no number, and not all numbers are of 8 bits."""
    if element == "u8" and isinstance(number, int) and not 0 <= number < 256:
        return "i32"
    return "i32" if element == "i1" and isinstance(number, int) and not isinstance(number, bool) else element


@lowers(*(f"aten.{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge")))
def _compare(text, node, self, other):
    element = _with_number(other, _promoted(self, other))
    if not isinstance(other, Value) and not is_exact(known(other, "an operand"), element):
        element = "f32"
    type = Type(node.shape, element)
    a, b = (operand(text, x, type) for x in (self, other))
    return text.compare(node.name, node.target.split(".")[1], a, b)


@lowers("aten.isnan")
def _isnan(text, node, self):
    return text.compare(node.name, "ne", self, self)


@lowers("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def _where(text, node, condition, self, other):
    condition = operand(text, condition, Type(node.shape, "i1"))
    return text.select(node.name, condition, *(operand(text, x, node.type) for x in (self, other)))


@lowers("aten.masked_fill")
def _masked_fill(text, node, self, mask, value):
    return _where(text, node, mask, value, self)


@lowers(*(f"aten.{form.format(name)}" for name in ("and", "or", "xor") for form in ("logical_{}", "bitwise_{}", "__{}__")))
def _logical(text, node, self, other):
    op = "arith." + node.target.split(".")[1].strip("_").split("_")[-1] + "i"
    return text.op(node.name, op, *(operand(text, x, node.type) for x in (self, other)))


@lowers("aten.logical_not", "aten.bitwise_not")
def _not(text, node, self):
    return text.op(node.name, "arith.xori", text.cast(self, node.element), text.constant(-1, node.type))


@lowers("aten.to", "aten._to_copy", "aten.type_as", "aten.clone", "aten.contiguous", "aten.alias", "aten.detach", "aten.detach_")
@lowers("aten.lift_fresh_copy", "aten.lift_fresh")
def _cast(text, node, self, *_, dtype=None):
    return text.cast(self, node.element, node.name)


@lowers("aten.dropout")
def _dropout(text, node, input, p, train):
    if train and p:
        raise Unsupported("dropout while training; export the model after .eval()")
    return input


# ----------------------------------------------------------------------------------------------------------------------
# Constants
# ----------------------------------------------------------------------------------------------------------------------


@lowers("aten.full", "aten.full_like", "aten.new_full", "aten.scalar_tensor")
def _full(text, node, *arguments, dtype=None, fill_value=None):
    return text.constant(known(arguments[-1] if fill_value is None else fill_value, "what it is filled with"), node.type)


@lowers("aten.zeros", "aten.zeros_like", "aten.new_zeros", "aten.ones", "aten.ones_like", "aten.new_ones")
def _zeros(text, node, *_, dtype=None):
    return text.constant(int("ones" in node.target), node.type)


@lowers("aten.arange")
def _arange(text, node, *range, dtype=None):
    start, step = (range[0] if len(range) > 1 else 0), (range[2] if len(range) > 2 else 1)
    value = text.cast(text.iota(0, node.shape), node.element)
    if known(step, "the step") != 1:
        value = scaled(text, value, step)
    return value if start == 0 else binary(text, node, "add", value, known(start, "the first number"))


@lowers("aten.tril", "aten.triu")
def _tril(text, node, self, diagonal=0):
    rank = len(node.shape)
    row, column = text.iota(rank - 2, node.shape), text.iota(rank - 1, node.shape)
    if diagonal:
        row = text.op(f"{node.name}.row", "arith.addi", row, text.constant(diagonal, row.type))
    keep = text.compare(f"{node.name}.keep", "le" if ".tril" in node.target else "ge", column, row)
    return text.select(node.name, keep, self, text.constant(0, node.type))
