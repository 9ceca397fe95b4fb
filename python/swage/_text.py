"""Graphs as text, line by line: types, names, constants and sizes, for `_aten`.

The extent of a dynamic dimension is a string, such as "s0" or "2*s0": equal strings are equal extents. In the text it is
`?`, and where an op wants it, it is the `tensor.dim` of the first value that has it.
"""

import math
import struct
from typing import NamedTuple, Tuple, Union

__all__ = ["FLOATS", "Text", "Type", "Unsupported", "Value", "decimal", "is_exact", "product"]

#: Floating-point types and their bits.
FLOATS = {"f8E4M3FN": 8, "f8E5M2": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}

#: Whole numbers and their bits. u8 is i8 in the text, whose ops say what the bits mean.
_INTEGERS = {"i1": 1, "i8": 8, "u8": 8, "i32": 32, "i64": 64}
_UNSIGNED = ("i1", "u8")
_INFINITY = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}
_NAN = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}

#: What regions call their own values, which no value around them is called.
REGION_NAMES = (*"shijtm", "bias", "wide", *(f"b{dim}" for dim in range(8)))


class Unsupported(Exception):
    """What the dialect, or this importer, has no words for."""


class Type(NamedTuple):
    shape: Tuple[Union[int, str], ...]
    element: str

    def __str__(self):
        extents = "".join(f"{extent}x" if isinstance(extent, int) else "?x" for extent in self.shape)
        return f"tensor<{extents}{'i8' if self.element == 'u8' else self.element}>"


class Value(NamedTuple):
    name: str
    type: Type

    def __str__(self):
        return "%" + self.name

    @property
    def shape(self):
        return self.type.shape

    @property
    def element(self):
        return self.type.element


def product(extents):
    """Of extents that may be dynamic."""
    extents = tuple(extents)
    number = math.prod(extent for extent in extents if isinstance(extent, int))
    names = [extent if extent.isidentifier() else f"({extent})" for extent in extents if isinstance(extent, str)]
    return "*".join(names if number == 1 else [str(number), *names]) if names else number


def is_exact(number, element):
    """Whether the type holds the number as it is; true of f32 and wider, to which torch rounds numbers as well."""
    if element not in ("f16", "bf16") or not math.isfinite(number):
        return True
    try:
        if element == "f16":
            return struct.unpack("<e", struct.pack("<e", number))[0] == number
        (bits,) = struct.unpack("<I", struct.pack("<f", number))
        return bits & 0xFFFF == 0 and struct.unpack("<f", struct.pack("<f", number))[0] == number
    except OverflowError:
        return False


def decimal(number):
    """The shortest text that is this float64, with the point that a float of MLIR has."""
    digits, e, exponent = repr(float(number)).partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{e}{exponent}"


def _literal(number, element):
    if element == "i1":
        return "true" if number else "false"
    if element == "u8":
        return str((int(number) + 128) % 256 - 128)
    if element in _INTEGERS:
        return str(int(number))
    number = float(number)
    if math.isfinite(number):
        return decimal(number)
    if element not in _INFINITY:
        raise Unsupported(f"{number} of type {element}")
    bits = _NAN[element] if math.isnan(number) else _INFINITY[element]
    if number < 0:
        bits |= 1 << (FLOATS[element] - 1)
    return f"0x{bits:0{FLOATS[element] // 4}X}"


class Text:
    """The body of a function as it grows. Methods that return a Value append the lines that compute it."""

    def __init__(self):
        self.lines = []
        self._names = set(REGION_NAMES)
        self._known = {}  # lines that may be used again, and the name of each
        self._extents = {}  # dynamic extents: the first value that has one, and where

    def declare(self, name, type):
        """A value that is there: an argument, or what the next line defines."""
        unique, number = name, 0
        while unique in self._names:
            number += 1
            unique = f"{name}_{number}"
        self._names.add(unique)
        value = Value(unique, type)
        for dim, extent in enumerate(type.shape if isinstance(type, Type) else ()):
            if isinstance(extent, str):
                self._extents.setdefault(extent, (value, dim))
        return value

    def line(self, name, text, type):
        value = self.declare(name, type)
        self.lines.append(f"{value} = {text}")
        return value

    def _once(self, name, text, type):
        if (text, type) not in self._known:
            self._known[text, type] = self.line(name, text, type)
        return self._known[text, type]

    def index(self, number):
        return self._once(f"c{number}", f"arith.constant {number} : index", "index")

    def size(self, extent):
        """The name of a dynamic extent as an index."""
        if extent not in self._extents:
            raise Unsupported(f"the extent {extent}, which no tensor before has")
        value, dim = self._extents[extent]
        number = self.index(dim)
        return str(self._once(f"{value.name}.size{dim}", f"tensor.dim {value}, {number} : {value.type}", "index"))

    def sizes(self, shape):
        names = [self.size(extent) for extent in shape if isinstance(extent, str)]
        return f" sizes({', '.join(names)})" if names else ""

    # Elementwise

    def op(self, name, op, *operands):
        """An elementwise op whose operands and result have one type."""
        type = operands[0].type
        return self.line(name, f"{op} {', '.join(map(str, operands))} : {type}", type)

    def constant(self, number, type):
        """The number throughout."""
        if any(isinstance(extent, str) for extent in type.shape):
            return self.broadcast(self.constant(number, Type((), type.element)), type.shape)
        return self._once("constant", f"arith.constant dense<{_literal(number, type.element)}> : {type}", type)

    def compare(self, name, predicate, a, b):
        """`predicate` is eq, ne, lt, le, gt or ge; NaN compares as in Python."""
        is_equality = predicate in ("eq", "ne")
        if a.element in FLOATS:
            op = f"arith.cmpf {'u' if predicate == 'ne' else 'o'}{predicate}"
        else:
            op = f"arith.cmpi {predicate if is_equality else ('u' if a.element in _UNSIGNED else 's') + predicate}"
        return self.line(name, f"{op}, {a}, {b} : {a.type}", Type(a.shape, "i1"))

    def select(self, name, condition, a, b):
        return self.line(name, f"arith.select {condition}, {a}, {b} : {condition.type}, {a.type}", a.type)

    def cast(self, x, element, name=None):
        """The elements as those of another type, as torch converts them."""
        name = name or f"{x.name}.{element}"
        if x.element == element:
            return x
        if element == "i1":
            return self.compare(name, "ne", x, self.constant(0, x.type))
        if x.element in FLOATS and element in FLOATS:
            have, need = FLOATS[x.element], FLOATS[element]
            if have == need:
                return self.cast(self.cast(x, "f32"), element, name)
            op = "extf" if have < need else "truncf"
        elif element in FLOATS:
            op = "uitofp" if x.element in _UNSIGNED else "sitofp"
        elif x.element in FLOATS:
            op = "fptoui" if element == "u8" else "fptosi"
        elif _INTEGERS[x.element] == _INTEGERS[element]:
            return Value(x.name, Type(x.shape, element))
        elif _INTEGERS[x.element] < _INTEGERS[element]:
            op = "extui" if x.element in _UNSIGNED else "extsi"
        else:
            op = "trunci"
        type = Type(x.shape, element)
        return self._once(name, f"arith.{op} {x} : {x.type} to {type}", type)

    # Index ops

    def broadcast(self, x, shape, dims=None, name=None):
        """`x` repeated; its dimensions are `dims` of the result, the last ones if not given, of its extent or 1."""
        if x.shape == tuple(shape):
            return x
        dims = list(range(len(shape) - len(x.shape), len(shape)) if dims is None else dims)
        type = Type(tuple(shape), x.element)
        # Left out where each dynamic extent is the operand's own.
        own = {dims[k] for k, extent in enumerate(x.shape) if isinstance(extent, str)}
        is_own = all(dim in own for dim, extent in enumerate(shape) if isinstance(extent, str))
        sizes = "" if is_own else self.sizes(shape)
        return self._once(name or f"{x.name}.all", f"swage.broadcast {x} dims {dims}{sizes} : {x.type} -> {type}", type)

    def reshape(self, x, shape, name=None):
        if x.shape == tuple(shape):
            return x
        type = Type(tuple(shape), x.element)
        dynamic = [extent for extent in shape if isinstance(extent, str)]
        sizes = "" if len(dynamic) < 2 or _runs(x.shape) == _runs(shape) else self.sizes(shape)
        return self.line(name or f"{x.name}.view", f"swage.reshape {x}{sizes} : {x.type} -> {type}", type)

    def permute(self, x, dims, name=None):
        type = Type(tuple(x.shape[dim] for dim in dims), x.element)
        return self.line(name or f"{x.name}.permuted", f"swage.permute {x} {list(dims)} : {x.type} -> {type}", type)

    def slice(self, x, axis, first, size, step=1, name=None):
        if not isinstance(x.shape[axis], int):
            raise Unsupported(f"a part of a dynamic extent ({x.shape[axis]})")
        type = Type((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.element)
        if type == x.type and step == 1:
            return x
        steps = f" step {step}" if step != 1 else ""
        words = f"swage.slice {x} axis {axis} from {first} size {size}{steps} : {x.type} -> {type}"
        return self.line(name or f"{x.name}.part", words, type)

    def concat(self, parts, axis, name):
        """Parts of different extents along the axis are cut into equal ones."""
        extents = [part.shape[axis] for part in parts]
        if not all(isinstance(extent, int) for extent in extents):
            raise Unsupported("joining along a dynamic extent")
        piece = math.gcd(*extents)
        if not piece or sum(extents) // piece > 16:
            raise Unsupported(f"joining extents {extents}, which are not a few equal pieces")
        pieces = [self.slice(part, axis, first, piece) for part in parts for first in range(0, part.shape[axis], piece)]
        type = Type((*parts[0].shape[:axis], sum(extents), *parts[0].shape[axis + 1 :]), parts[0].element)
        names, types = (", ".join(words) for words in zip(*((str(value), str(value.type)) for value in pieces)))
        return self.line(name, f"swage.concat {names} axis {axis} : ({types}) -> {type}", type)

    def iota(self, dim, shape):
        type = Type(tuple(shape), "i32")
        return self._once("iota", f"swage.iota dim {dim}{self.sizes(shape)} : {type}", type)

    # Rows

    def reduce(self, kind, x, dims, name):
        type = Type(tuple(extent for dim, extent in enumerate(x.shape) if dim not in dims), x.element)
        return self.line(name, f"swage.reduce {kind} {x} dims {sorted(dims)} : {x.type} -> {type}", type)

    def matmul(self, a, b, name, transpose_b=False):
        type = Type((*a.shape[:-1], b.shape[-2 if transpose_b else -1]), a.element)
        word = " transpose_b" if transpose_b else ""
        return self.line(name, f"swage.matmul {a}, {b}{word} : ({a.type}, {b.type}) -> {type}", type)


def _runs(shape):
    """The dynamic extents in order, with the product of the static ones before each and after the last."""
    runs = [1]
    for extent in shape:
        if isinstance(extent, str):
            runs += [extent, 1]
        else:
            runs[-1] *= extent
    return runs
