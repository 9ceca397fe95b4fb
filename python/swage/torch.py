"""Models of torch as Swage graphs: `swage.torch.import_exported`.

    import swage, swage.torch, torch

    program = torch.export.export(model.eval(), (x,), dynamic_shapes={"x": {0: torch.export.Dim("batch")}})
    imported = swage.torch.import_exported(program)
    f = swage.compile(imported.text)
    y = f(x, *imported.weights.values())
"""

import operator
import os
import re

from . import _aten
from ._aten import Node, Reference
from ._errors import Error
from ._text import Type, Value

__all__ = ["ImportedProgram", "import_exported"]

_ELEMENTS = {
    "torch.float16": "f16",
    "torch.bfloat16": "bf16",
    "torch.float32": "f32",
    "torch.float64": "f64",
    "torch.float8_e4m3fn": "f8E4M3FN",
    "torch.float8_e5m2": "f8E5M2",
    "torch.bool": "i1",
    "torch.int8": "i8",
    "torch.uint8": "u8",
    "torch.int32": "i32",
    "torch.int64": "i64",
}


class ImportedProgram:
    """A graph of torch as the text of a Swage function.

    text      a module with the function @main. Its arguments are the inputs, then the weights; its results are the
              tensors that the model returns, in order. Lines of the model stand as comments above what they became.
    inputs    the names of the arguments that a call gives, in order
    weights   parameters, then buffers, then constants: a dict of tensors by their names in the model ("attn.c_attn.bias"),
              in the order of the arguments; only those that the graph uses, and no constants of one element
    """

    def __init__(self, text, inputs, weights):
        self.text = text
        self.inputs = tuple(inputs)
        self.weights = dict(weights)

    def __repr__(self):
        return f"ImportedProgram(inputs={list(self.inputs)}, weights={list(self.weights)})"


def import_exported(program):
    """The torch.export.ExportedProgram as an ImportedProgram; `text` goes to swage.compile.

    Takes graphs as torch.export gives them and after run_decompositions. Shapes and types are those of the graph: an
    extent that was exported as a Dim is `?`. float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, bool, int8,
    uint8, int32 and int64. A uint8 is i8 in the text: results of it come back as int8, of the same bits, which
    `.view(torch.uint8)` reads. Attention in one piece (scaled_dot_product_attention) becomes swage.attention, written as
    products and a softmax it becomes these. An op that the dialect has no words for is taken apart as torch does it, if it has
    words for the pieces.

    Elementwise work is evaluated in float32 (float64 for float64) and rounded where it is stored or where the model casts;
    torch rounds after each op.

    Raises swage.Error, and gives nothing, where the graph has ops that Swage cannot say: it lists each with its line in the
    model. So it does for a model that writes its buffers or inputs.
    """
    graph = program.graph
    if any(_writes(node) for node in graph.nodes):
        program = program.run_decompositions({})  # ops in place as ops with results, and nothing else
    program = _decompose_missing(program)
    graph = program.graph
    signature = program.graph_signature
    _refuse_writes(signature)

    inputs, weights, constants, arguments, of_weights = [], {}, {}, {}, {}
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    for spec in signature.input_specs:
        kind, name = spec.kind.name, getattr(spec.arg, "name", None)
        node = placeholders.get(name)
        if kind == "USER_INPUT":
            if node is not None and hasattr(node.meta.get("val"), "dtype"):
                inputs.append(name)
                arguments[name] = Value(name, _type(node.meta["val"]))
            elif node is not None and node.users:
                raise Error(f"the input {name} is no tensor; needed: a number that the model was exported with")
            continue
        if kind not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            raise Error(f"the graph has an input of the kind {kind}, {name}; needed: tensors")
        if not node.users:
            continue
        tensor = program.state_dict.get(spec.target)
        tensor = program.constants.get(spec.target) if tensor is None else tensor
        if kind == "CONSTANT_TENSOR" and tensor.numel() == 1:
            constants[name] = _type(node.meta["val"]), tensor.item()
        else:
            weights[spec.target] = tensor.detach()
            of_weights[name] = Value(spec.target, _type(node.meta["val"]))
    arguments.update(of_weights)  # after the inputs, in the graph's order
    for value in arguments.values():
        if not isinstance(value.type, Type):
            raise Error(f"the argument {value.name} is a tensor of {value.type}; needed: {', '.join(_ELEMENTS)}")

    nodes = [_node(node) for node in graph.nodes if node.op == "call_function" and not _is_of_sizes(node)]
    results = [spec.arg.name for spec in signature.output_specs if type(spec.arg).__name__ == "TensorArgument"]
    text = _aten.to_text(arguments, nodes, constants, results)
    return ImportedProgram(text, inputs, weights)


def _decompose_missing(program):
    """The program with ops that have no lowering taken apart, those whose pieces have one."""
    missing = {node.target for node in program.graph.nodes if node.op == "call_function" and not _is_known(node)}
    if not missing:
        return program
    from torch.export import default_decompositions

    table = default_decompositions()
    for op in sorted((op for op in missing if op in table), key=str):
        taken = program.run_decompositions({op: table[op]})
        unknown = {node.target for node in taken.graph.nodes if node.op == "call_function" and not _is_known(node)}
        if unknown < missing:
            program, missing = taken, unknown
    return program


def _is_known(node):
    return node.target is operator.getitem or _is_of_sizes(node) or _aten.has_lowering(str(node.target))


def _writes(node):
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def _refuse_writes(signature):
    for spec in signature.output_specs:
        if spec.kind.name != "USER_OUTPUT":
            raise Error(f"the model writes {spec.target} ({spec.kind.name}); needed: one that only returns tensors")


def _is_of_sizes(node):
    """Whether the node computes or checks sizes and types, which those of the tensors say."""
    value = node.meta.get("val")
    if value is None:
        return str(node.target).startswith(("aten._assert", "aten.sym_constrain"))
    return not isinstance(value, (list, tuple)) and not hasattr(value, "dtype")


def _type(fake):
    element = _ELEMENTS.get(str(fake.dtype))
    if element is None:
        return str(fake.dtype)
    return Type(tuple(_extent(extent) for extent in fake.shape), element)


def _extent(extent):
    if isinstance(extent, int):
        return extent
    text = str(extent)
    return int(text) if text.isdigit() else text


def _argument(argument):
    if hasattr(argument, "op"):
        value = argument.meta.get("val")
        return Reference(argument.name) if hasattr(value, "dtype") or isinstance(value, (list, tuple)) else str(value)
    return [_argument(item) for item in argument] if isinstance(argument, (list, tuple)) else argument


def _node(node):
    target = "getitem" if node.target is operator.getitem else str(node.target)
    value = node.meta.get("val")
    types = tuple(_type(one) for one in (value if isinstance(value, (list, tuple)) else [value]) if one is not None)
    keywords = {name: _argument(argument) for name, argument in node.kwargs.items()}
    return Node(node.name, target, tuple(map(_argument, node.args)), keywords, types, _source(node))


def _source(node):
    """The line of the model: "model.py:12: y = self.norm(x)"."""
    places = re.findall(r'File "([^"]*)", line (\d+)[^\n]*\n\s*([^\n]*)', node.meta.get("stack_trace") or "")
    if not places:
        return ""
    # A layer of torch's own says less than the line that calls it.
    own = [place for place in places if "/torch/" not in place[0].replace("\\", "/")]
    path, line, code = (own or places)[-1]
    return f"{os.path.basename(path)}:{line}: {code.strip()}"
