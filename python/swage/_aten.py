"""Graphs of ATen ops as text. Needs no torch.

Where ATen and the dialect have an op of the same meaning it is that op; rows that a model normalises by itself stay as
they are, for swage-recognize.
"""

import inspect
from typing import Any, Dict, List

from . import _aten_elementwise, _aten_tensors  # noqa: F401, they fill the table
from ._errors import Error
from ._lowering import Node, Reference, lowerings
from ._text import Text, Type, Unsupported, Value

__all__ = ["Node", "Reference", "has_lowering", "to_text"]

#: Arguments that say where and how a tensor lies in memory, which Swage decides.
_IGNORED = {"device", "layout", "memory_format", "pin_memory", "non_blocking", "copy", "implicit", "cudnn_enable"}


def to_text(arguments: Dict[str, Value], nodes: List[Node], constants: Dict[str, Any], results: List[str]) -> str:
    """The function @main of the graph; an Error that lists every op without a lowering.

    `arguments`: each by the name that references use; the Value has that in the text, if no other has it.
    `constants`: likewise, the type and the number of each. `results`: names of nodes or arguments.
    """
    text, values, missing = Text(), {}, []
    for name, argument in arguments.items():
        values[name] = text.declare(argument.name, argument.type)
    arguments = list(values.values())
    for name, (type, number) in constants.items():
        values[name] = text.constant(number, type)
    source = None
    for node in nodes:
        if node.source and node.source != source:
            source = node.source
            if text.lines and text.lines[-1].startswith("//"):
                text.lines.pop()  # nothing came of that line
            text.lines.append("// " + source.split(": ", 1)[-1])
        try:
            values[node.name] = _lower(text, node, values)
        except Unsupported as why:
            missing.append((node, str(why)))
            # Its type is known, so that what comes after it is looked at too.
            found = [text.declare(node.name, type) for type in node.types if isinstance(type, Type)]
            values[node.name] = found[0] if len(found) == 1 else found
    if missing:
        lines = [f"{node.target}{' at ' + node.source if node.source else ''}\n    {why}" for node, why in missing]
        number = f"{len(missing)} op{'s' if len(missing) > 1 else ''}"
        raise Error(f"{number} of the graph cannot be said in Swage:\n  " + "\n  ".join(lines))
    signature = ",\n".join(f"    {value}: {value.type}" for value in arguments)
    returned = [values[name] for name in results]
    types = ", ".join(str(value.type) for value in returned)
    body = "".join(f"  {line}\n" for line in text.lines)
    names = ", ".join(map(str, returned))
    return f"func.func @main(\n{signature}\n) -> ({types}) {{\n{body}  return {names} : {types}\n}}\n"


def _lowering_of(target):
    return lowerings.get(target) or lowerings.get(target.rsplit(".", 1)[0])


def has_lowering(target):
    """Whether an op, by its name with the overload, has words in the dialect, for some arguments at least."""
    return _lowering_of(target) is not None


def _lower(text, node, values):
    def resolve(argument):
        if isinstance(argument, Reference):
            return values[argument.name]
        return [resolve(item) for item in argument] if isinstance(argument, (list, tuple)) else argument

    for type in node.types:
        if not isinstance(type, Type):
            raise Unsupported(f"a tensor of {type}")
    function = _lowering_of(node.target)
    if function is None:
        raise Unsupported("no op of the dialect does this")
    arguments = [resolve(argument) for argument in node.arguments]
    keywords = {name: resolve(value) for name, value in node.keywords.items() if name not in _IGNORED}
    try:
        inspect.signature(function).bind(text, node, *arguments, **keywords)
    except TypeError as mismatch:
        raise Unsupported(f"arguments of another form: {mismatch}") from None
    value = function(text, node, *arguments, **keywords)
    found = value if isinstance(value, list) else [value]
    for one, type in zip(found, node.types):
        if one.type != type and node.target != "getitem":
            raise Unsupported(f"the result would be {one.type}; needed: {type}")
    return value
