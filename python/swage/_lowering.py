"""What the files of ATen ops share: nodes of a graph, the table of lowerings, and operands in one type.

A lowering takes the graph's text, the node, and the arguments of the ATen op by its own names, of which tensors are
Values. It returns a Value of the node's type, or a list of them.
"""

from typing import Any, Dict, NamedTuple, Tuple

from ._text import FLOATS, Type, Unsupported, Value, is_exact


class Reference(NamedTuple):
    """An argument that another node computes."""

    name: str


class Node(NamedTuple):
    """An op of a graph: `types` holds a Type for each tensor that it computes, or the name of a type Swage lacks."""

    name: str
    target: str
    arguments: Tuple[Any, ...]
    keywords: Dict[str, Any]
    types: Tuple[Any, ...]
    source: str = ""

    @property
    def type(self):
        return self.types[0]

    @property
    def shape(self):
        return self.type.shape

    @property
    def element(self):
        return self.type.element


#: Functions by the name of the op, with its overload ("aten.max.other") or for all of them ("aten.mul").
lowerings = {}


def lowers(*names):
    """Enters a function in the table."""

    def register(function):
        for name in names:
            lowerings[name] = function
        return function

    return register


def axis_of(dim, x):
    return dim % len(x.shape) if x.shape else 0


def known(number, what):
    """`number`, which is one and no size that only a call knows."""
    if not isinstance(number, (bool, int, float)):
        raise Unsupported(f"{what} is no number when the text is written")
    return number


def operand(text, x, type):
    """`x`, a tensor or a number, with all elements of `type`."""
    if not isinstance(x, Value):
        return text.constant(known(x, "an operand"), type)
    return text.broadcast(text.cast(x, type.element), type.shape)


def arithmetic(text, node, operands, compute):
    """`compute` of operands in the node's type; in f32, as torch does it, where that cannot hold a number."""
    numbers = [x for x in operands if not isinstance(x, Value)]
    exact = all(is_exact(known(x, "an operand"), node.element) for x in numbers)
    type = node.type if exact else Type(node.shape, "f32")
    return text.cast(compute(*(operand(text, x, type) for x in operands)), node.element, node.name)


def wide(text, x):
    """`x` in the type in which torch evaluates functions of several steps."""
    return text.cast(x, "f64" if x.element == "f64" else "f32")


_OF_INTEGERS = {"add": "addi", "sub": "subi", "mul": "muli", "maximum": "maxsi", "minimum": "minsi"}
_OF_UNSIGNED = {**_OF_INTEGERS, "maximum": "maxui", "minimum": "minui"}


def binary(text, node, op, a, b):
    """`op` is add, sub, mul, div, maximum or minimum; in the node's type."""
    if node.element == "i1":
        raise Unsupported("arithmetic of booleans")
    names = _OF_UNSIGNED if node.element == "u8" else _OF_INTEGERS
    op = "arith." + (f"{op}f" if node.element in FLOATS else names[op])
    return arithmetic(text, node, (a, b), lambda x, y: text.op(node.name, op, x, y))


def scaled(text, x, factor):
    op = "arith.mulf" if x.element in FLOATS else "arith.muli"
    return text.op(f"{x.name}.scaled", op, x, text.constant(factor, x.type))
