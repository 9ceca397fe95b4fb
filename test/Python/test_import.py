"""Graphs of torch as text: recorded ones without torch, exported ones with it, run on the simulator."""

import os
import subprocess
import tempfile
import unittest

import numpy

try:
    import torch
    from torch import nn
    from torch.export import Dim, export
    from torch.nn import functional
except ImportError:
    torch = None

import swage
from support import TestCase, random
from swage._aten import Node, Reference, to_text
from swage._text import Type, Value


def record(shape, *nodes, results=None, element="f32"):
    """A graph of %x, of `element`, and nodes, each a name, a target, arguments, its shape, and its type if not f32."""
    made = []
    for name, target, arguments, extents, *own in nodes:
        arguments = tuple(Reference(word[1:]) if str(word).startswith("%") else word for word in arguments)
        made.append(Node(name, target, arguments, {}, (Type(extents, *(own or ["f32"])),), f"m.py:{len(made)}: {name}"))
    return to_text({"x": Value("x", Type(shape, element))}, made, {}, results or [made[-1].name])


class Recorded(TestCase):
    def test_rows_of_any_number(self):
        text = record(
            ("s0", 48),
            ("mean", "aten.mean.dim", ("%x", [-1], True), ("s0", 1)),
            ("less", "aten.sub.Tensor", ("%x", "%mean"), ("s0", 48)),
            ("twice", "aten.mul.Tensor", ("%less", 2.0), ("s0", 48)),
            ("flat", "aten.view.default", ("%twice", None), ("s0", 4, 12)),
            ("turned", "aten.permute.default", ("%flat", [1, 0, 2]), (4, "s0", 12)),
        )
        f = swage.compile(text, device="sim")
        for rows in (3, 5):
            x = random(rows, 48)
            expected = (2 * (x - x.mean(-1, keepdims=True, dtype="f8"))).reshape(rows, 4, 12).transpose(1, 0, 2)
            self.assertClose(f(x), expected)

    def test_positions(self):
        text = record(
            (4, 4),
            ("i", "aten.arange.default", (4,), (4,), "i64"),
            ("row", "aten.unsqueeze.default", ("%i", 1), (4, 1), "i64"),
            ("later", "aten.gt.Tensor", ("%i", "%row"), (4, 4), "i1"),
            ("masked", "aten.masked_fill.Scalar", ("%x", "%later", -float("inf")), (4, 4)),
            ("weights", "aten._softmax.default", ("%masked", -1, False), (4, 4)),
            ("upper", "aten.triu.default", ("%x", 1), (4, 4)),
            results=["weights", "upper"],
        )
        x = random(4, 4)
        weights, upper = swage.compile(text, device="sim")(x)
        powers = numpy.tril(numpy.exp(x.astype("f8")))
        self.assertClose(weights, powers / powers.sum(1, keepdims=True))
        self.assertClose(upper, numpy.triu(x, 1))

    def test_every_op_that_is_missing_is_told(self):
        with self.assertRefused("input", "2 ops", "aten.cumsum.default at m.py:0", "aten.sort.default at m.py:2") as refused:
            record(
                (4, 4),
                ("sums", "aten.cumsum.default", ("%x", 1), (4, 4)),
                ("fine", "aten.neg.default", ("%sums",), (4, 4)),
                ("order", "aten.sort.default", ("%fine",), (4, 4)),
            )
        self.assertNotIn("aten.neg", refused.error.message)
        with self.assertRefused("input", "1 op ", "a tensor of torch.int16"):
            to_text({}, [Node("y", "aten.neg.default", (), {}, ("torch.int16",))], {}, [])
        with self.assertRefused("input", "a part of a dynamic extent"):
            record(("s0", 4), ("y", "aten.select.int", ("%x", 1, 0), ("s0",)), ("z", "aten.split.Tensor", ("%x", 2), (2, 4)))

    def test_activations(self):
        shape = (5, 24)
        softplus = lambda x, beta=1.0: numpy.log1p(numpy.exp(beta * x)) / beta
        functions = {
            ("leaky_relu", 0.1): lambda x: numpy.where(x > 0, x, 0.1 * x),
            ("elu", 2.0, 1.5, 0.5): lambda x: 1.5 * numpy.where(x > 0, x, 2 * numpy.expm1(0.5 * x)),
            ("softplus", 2.0, 20.0): lambda x: softplus(x, 2.0),
            ("mish",): lambda x: x * numpy.tanh(softplus(x)),
            ("hardsigmoid",): lambda x: numpy.clip(x + 3, 0, 6) / 6,
            ("hardswish",): lambda x: x * numpy.clip(x + 3, 0, 6) / 6,
            ("hardtanh", -0.5, 2.0): lambda x: numpy.clip(x, -0.5, 2),
            ("relu6",): lambda x: numpy.clip(x, 0, 6),
            ("log_sigmoid",): lambda x: -softplus(-x),
        }
        nodes = [(name, f"aten.{name}.default", ("%x", *rest), shape) for name, *rest in functions]
        glu = ("glu", "aten.glu.default", ("%x", 1), (5, 12))
        f = swage.compile(record(shape, *nodes, glu, results=[*(node[0] for node in nodes), "glu"]), device="sim")
        x = random(*shape)
        wide = x.astype(numpy.float64)
        *found, gated = f(x)
        for one, reference in zip(found, functions.values()):
            self.assertClose(one, reference(wide))
        self.assertClose(gated, wide[:, :12] / (1 + numpy.exp(-wide[:, 12:])))
        with self.assertRefused("input", "halves of a dynamic extent"):
            record((4, "s0"), ("y", "aten.glu.default", ("%x", 1), (4, "s1")))

    def test_norms(self):
        shape = (3, 8, 5, 2)
        nodes = [
            ("w", "aten.full.default", ((8,), 3.0), (8,)),
            ("b", "aten.full.default", ((8,), 0.5), (8,)),
            ("groups", "aten.group_norm.default", ("%x", 2, "%w", "%b", 1e-5), shape),
            ("instances", "aten.instance_norm.default", ("%x", None, None, None, None, True, 0.1, 1e-5, True), shape),
            ("batch", "aten.batch_norm.default", ("%x", "%w", None, None, None, True, 0.1, 1e-5, True), shape),
            ("known", "aten.batch_norm.default", ("%x", "%w", "%b", "%b", "%w", False, 0.1, 1e-5, True), shape),
            ("lengths", "aten.linalg_vector_norm.default", ("%x", 2, [1], True), (3, 1, 5, 2)),
            ("sums", "aten.linalg_vector_norm.default", ("%x", 1, [-1]), (3, 8, 5)),
            ("logsum", "aten.logsumexp.default", ("%x", [1]), (3, 5, 2)),
            ("spread", "aten.std.correction", ("%x", [1]), (3, 5, 2)),
        ]
        f = swage.compile(record(shape, *nodes, results=[node[0] for node in nodes[2:]]), device="sim")
        x = random(*shape)
        wide = x.astype(numpy.float64)

        def normed(axes, x=wide):
            centred = x - x.mean(axes, keepdims=True)
            return centred / numpy.sqrt((centred**2).mean(axes, keepdims=True) + 1e-5)

        expected = [
            3 * normed((2, 3, 4), wide.reshape(3, 2, 4, 5, 2)).reshape(shape) + 0.5,
            normed((2, 3)),
            3 * normed((0, 2, 3)),
            3 * (wide - 0.5) / numpy.sqrt(3 + 1e-5) + 0.5,
            numpy.sqrt((wide**2).sum(1, keepdims=True)),
            abs(wide).sum(-1),
            numpy.log(numpy.exp(wide).sum(1)),
            wide.std(1, ddof=1),
        ]
        for one, other in zip(f(x), expected):
            self.assertClose(one, other)
        x = numpy.array([[-numpy.inf] * 4, [1, numpy.inf, 2, 3], [1, numpy.nan, 2, 3]], numpy.float32)
        found = swage.compile(record((3, 4), ("y", "aten.logsumexp.default", ("%x", [1]), (3,))), device="sim")(x)
        self.assertEqual([repr(float(number)) for number in found], ["-inf", "inf", "nan"])
        with self.assertRefused("input", "a corrected variance of a dynamic extent"):
            record(("s0", 4), ("y", "aten.std.correction", ("%x", [0]), (4,)))
        for why, node in {
            "updates its running moments": ("aten.batch_norm.default", ("%x", None, None, "%x", "%x", True, 0.1, 1e-5, True)),
            "a norm of order 3": ("aten.linalg_vector_norm.default", ("%x", 3, [1])),
        }.items():
            with self.assertRefused("input", why):
                record(shape, ("y", *node, shape))

    def test_bytes(self):
        """uint8 is i8 by other ops, wherever signs tell."""
        shape = (4, 64)
        nodes = [
            ("image", "aten.clone.default", ("%x",), shape, "u8"),
            ("float", "aten._to_copy.default", ("%image",), shape),
            ("wide", "aten._to_copy.default", ("%image",), shape, "i32"),
            ("signed", "aten._to_copy.default", ("%image",), shape, "i8"),
            ("bright", "aten.gt.Scalar", ("%image", 127), shape, "i1"),
            ("all", "aten.lt.Scalar", ("%image", 300), shape, "i1"),
            ("most", "aten.clamp.default", ("%image", 100, 200), shape, "u8"),
            ("turned", "aten.rsub.Scalar", ("%image", 255), shape, "u8"),
            ("abs", "aten.abs.default", ("%image",), shape, "u8"),
            ("half", "aten.mul.Tensor", ("%float", 0.5), shape),
            ("back", "aten._to_copy.default", ("%half",), shape, "u8"),
        ]
        results = [name for name, *_ in nodes[1:]]
        x = numpy.arange(256, dtype=numpy.uint8).reshape(shape)
        f = swage.compile(record(shape, *nodes, results=results, element="u8"), device="sim")
        found = dict(zip(results, f(x)))
        for name, expected in {
            "float": x.astype("f4"),
            "wide": x.astype("i4"),
            "signed": x.view("i1"),
            "bright": x > 127,
            "all": x < 300,
            "most": numpy.clip(x, 100, 200).view("i1"),
            "turned": (255 - x).view("i1"),
            "abs": x.view("i1"),
            "back": (x // 2).view("i1"),
        }.items():
            numpy.testing.assert_array_equal(found[name], expected, name)

    def test_numbers_are_exact_or_wide(self):
        half = Type((4,), "f16")
        node = Node("y", "aten.mul.Tensor", (Reference("x"), 0.1), {}, (half,))
        text = to_text({"x": Value("x", half)}, [node], {}, ["y"])
        self.assertIn("dense<0.1> : tensor<4xf32>", text)
        text = to_text({"x": Value("x", half)}, [node._replace(arguments=(Reference("x"), 0.125))], {}, ["y"])
        self.assertIn("dense<0.125> : tensor<4xf16>", text)


@unittest.skipIf(torch is None, "torch is missing")
class Exported(TestCase):
    def imported(self, model, inputs, **options):
        import swage.torch

        model = model.eval() if isinstance(model, nn.Module) else _Call(model)
        with torch.no_grad():
            program = export(model, inputs, **options)
            imported = swage.torch.import_exported(program)
            decomposed = swage.torch.import_exported(program.run_decompositions())
        return model, imported, decomposed

    def check(self, model, *inputs, others=(), **options):
        """What the model gives for the inputs, and for others, on the simulator; before and after decomposition."""
        model, *programs = self.imported(model, inputs, **options)
        for imported in {program.text: program for program in programs}.values():
            f = swage.compile(imported.text, device="sim")
            for given in (inputs, *others):
                with torch.no_grad():
                    expected = model(*given)
                found = f(*given, *imported.weights.values())
                found, expected = (x if isinstance(x, (list, tuple)) else (x,) for x in (found, expected))
                self.assertEqual(len(found), len(expected))
                for one, other in zip(found, expected):
                    if other.dtype == torch.uint8:  # which comes back as int8
                        one, other = one.view(torch.uint8).int(), other.int()
                    self.assertEqual(one.dtype, other.dtype)
                    torch.testing.assert_close(one, other, equal_nan=True)

    def test_elementwise(self):
        x, y = torch.randn(5, 24), torch.randn(24)
        unary = (torch.neg, torch.exp, torch.tanh, torch.sigmoid, functional.silu, functional.gelu, torch.relu, torch.abs)
        for dtype in (torch.float32, torch.float64):
            a, b = x.to(dtype), y.to(dtype)
            self.check(lambda a: [f(a) for f in unary] + [functional.gelu(a, approximate="tanh")], a)
            self.check(lambda a: [a.abs().rsqrt(), a.abs().sqrt(), a**2, a**3, a.abs() ** 0.5, a.abs() ** 1.7], a)
            self.check(lambda a, b: [a + b, a - b, a * b, a / b, a + 2, 3 - a, 1 / b, torch.add(a, b, alpha=0.5)], a, b)
            self.check(lambda a, b: [torch.maximum(a, b), torch.minimum(a, b), a.clamp(-1, 0.5), a.clamp(max=b)], a, b)
            self.check(lambda a, b: [a < b, a >= b, a == a, a != 0.5, (a > 0) & ~(b > 0), torch.where(a > b, a, 0.0)], a, b)
            self.check(lambda a, b: [a.masked_fill(b > 0, -1e4), torch.logical_or(a > 0, b), a.isnan()], a, b)

    def test_types(self):
        x, n = torch.randn(4, 8) * 3, torch.arange(8, dtype=torch.int32)
        self.check(lambda x, n: [x.half(), x.bfloat16(), x.double(), x.int(), x.bool(), x * n, n / 2, n > 2.5, x.half().bfloat16()], x, n)
        self.check(lambda x, n: [(n > 3).float(), (n > 3).int() + n, n * 2 + 1, n == 3, -n, (x > 0) * x], x, n)
        self.check(lambda x: [x * 0.1 + 1e-3, x.float().pow(2).mean(-1)], x.half())
        image = torch.randint(0, 256, (2, 6, 5, 3), dtype=torch.uint8)
        self.check(lambda x: [((x.permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.25).half(), x.flatten(1), x > 200, x == 7], image)
        self.check(lambda x: [x + x, 255 - x, x.clamp(50, 180), torch.maximum(x, x * 3), x.int() - 128, x.bool()], image)
        self.check(lambda x: (x.clamp(0, 1) * 255).round().to(torch.uint8).permute(0, 2, 3, 1), torch.rand(2, 3, 6, 5))

    def test_rows(self):
        x = torch.randn(3, 4, 24)
        self.check(nn.LayerNorm(24), x)
        self.check(nn.LayerNorm((4, 24), elementwise_affine=False), x)
        self.check(nn.RMSNorm(24, eps=1e-6), x)
        self.check(lambda x: [x.softmax(-1), x.softmax(1), x.log_softmax(2), x.half().softmax(-1, dtype=torch.float32)], x)
        self.check(lambda x: [x.sum(1), x.mean((0, 2), keepdim=True), x.amax(-1), x.amin(0), x.sum(), x.var(-1)], x)
        self.check(lambda x: [(x > 2).any(-1), (x > -2).all(1, keepdim=True), x.var(-1, correction=0)], x)
        self.check(lambda x: (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5), x)

    def test_more_of_torch(self):
        x, image = torch.randn(5, 24), torch.randn(3, 8, 6, 10)
        names = "leaky_relu elu selu celu softplus mish hardswish hardsigmoid hardtanh logsigmoid relu6 softsign glu"
        self.check(lambda x: [getattr(functional, name)(x) for name in names.split()], x)
        self.check(lambda x: [functional.normalize(x, dim=-1), x.norm(dim=0), x.norm(p=1, dim=1), x.logsumexp(1), x.std(1)], x)
        self.check(nn.GroupNorm(4, 8), image)
        self.check(nn.BatchNorm2d(8), image)
        self.check(lambda x: [functional.instance_norm(x), functional.batch_norm(x, None, None, training=True)], image)
        self.check(lambda x: [functional.pixel_shuffle(x, 2), functional.group_norm(x, 2)], image)

    def test_places(self):
        x = torch.randn(3, 4, 24)
        self.check(lambda x: [x.permute(2, 0, 1), x.transpose(0, 2), x[0].t(), x.view(12, 24), x.flatten(1) + 0], x)
        self.check(lambda x: [x.unsqueeze(1) * 2, x[:, 1:3], x[..., ::2], x[:, -1], x[:, None].expand(3, 5, 4, 24)], x)
        self.check(lambda x: [*x.split(12, -1), *x.chunk(2, 1), *x.unbind(0), *x.split([1, 3], 1)], x)
        self.check(lambda x: [torch.cat([x, -x], 1), torch.cat([x[..., :8], x], -1), torch.stack([x, x + 1], 2)], x)
        self.check(lambda x: [x.repeat_interleave(2, 1), x.repeat(2, 1, 3), x[:1].repeat_interleave(3, dim=0)], x)
        self.check(lambda x: [torch.arange(24) * x, x.tril(), x.triu(2), torch.arange(1, 9, 2) + x[0, 0, :4].int()], x)
        self.check(lambda x: [torch.full((4, 24), 0.5) * x, torch.zeros_like(x) + x, torch.ones(24) - x], x)

    def test_ops_in_place(self):
        self.check(lambda x: (x * 2).add_(1).mul_(x).relu_(), torch.randn(4, 8))

    def test_weights(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.dropout = nn.LayerNorm(8), nn.Dropout(0.5)
                self.register_buffer("shift", torch.randn(8))
                self.register_buffer("mask", torch.arange(8) < 5, persistent=False)
                self.unused = nn.Parameter(torch.randn(8))
                self.table = torch.randn(8)

            def forward(self, x, shift):
                return torch.where(self.mask, self.dropout(self.norm(x + shift)) + self.shift, self.table) * torch.tensor(2.0)

        inputs = torch.randn(4, 8), torch.randn(8)
        self.check(Model(), *inputs)
        _, imported, _ = self.imported(Model(), inputs)
        self.assertEqual(imported.inputs, ("x", "shift"))
        self.assertEqual(list(imported.weights)[:4], ["norm.weight", "norm.bias", "shift", "mask"])
        self.assertEqual(len(imported.weights), 5)
        self.assertIn("// return torch.where(self.mask", imported.text)

    def test_dynamic_extents(self):
        def model(x, bias):
            batch, rows, width = x.shape
            heads = x.view(batch, rows, 4, -1).transpose(1, 2) * 2
            weights = torch.softmax(heads.sum(-1, keepdim=True) + bias[:, None, None, :], -1)
            keep = torch.arange(rows)[None, :] <= torch.arange(rows)[:, None]
            scores = torch.where(keep, weights.transpose(2, 3)[:, :, :1].expand(-1, -1, rows, -1).mean(-1, keepdim=True), 0.0)
            return heads.transpose(1, 2).reshape(batch, rows, width) + 1, scores

        def inputs(batch, rows):
            return torch.randn(batch, rows, 24), torch.randn(batch, 7)

        shapes = ({0: Dim("batch"), 1: Dim("rows")}, {0: Dim("batch")})
        self.check(model, *inputs(2, 5), others=[inputs(3, 4), inputs(4, 9)], dynamic_shapes=(shapes,))

    def test_what_cannot_be_said(self):
        import swage.torch

        class Counter(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros(1))

            def forward(self, x):
                self.calls.add_(1)
                return x + self.calls

        class Sorted(nn.Module):
            def forward(self, x):
                sums = x.cumsum(0)
                return torch.sort(sums * 2).values

        x = torch.randn(4, 4)
        with self.assertRefused("input", "2 ops", "aten.cumsum.default at test_import.py", "sums = x.cumsum(0)", "aten.sort"):
            swage.torch.import_exported(export(Sorted(), (x,)))
        with self.assertRefused("input", "the model writes calls"):
            swage.torch.import_exported(export(Counter(), (x,)))
        with self.assertRefused("input", "dropout while training"):
            swage.torch.import_exported(export(nn.Dropout(0.5), (x,)))


@unittest.skipIf(torch is None, "torch is missing")
@unittest.skipIf("TEST_SWAGE_RUN" not in os.environ, "TEST_SWAGE_RUN does not name swage-run")
class Products(TestCase):
    """Graphs with products, which have no kernels, by the f64 reference."""

    def reference(self, text, arguments):
        with tempfile.TemporaryDirectory() as folder:
            command = [os.environ["TEST_SWAGE_RUN"], f"{folder}/graph.mlir", "--device=reference", f"--save-outputs={folder}"]
            with open(command[1], "w") as file:
                file.write(text)
            for number, tensor in enumerate(arguments):
                numpy.save(f"{folder}/input{number}.npy", tensor.numpy())
                command.append(f"--input={folder}/input{number}.npy")
            subprocess.run(command, check=True, capture_output=True)
            return torch.from_numpy(numpy.load(f"{folder}/result0.npy"))

    def check(self, model, *inputs, others=(), decompose=True, **options):
        import swage.torch

        model = model.eval().requires_grad_(False)
        program = export(model, inputs, **options)
        for form in (program, program.run_decompositions()) if decompose else (program,):
            imported = swage.torch.import_exported(form)
            for given in (inputs, *others):
                found = self.reference(imported.text, [*given, *imported.weights.values()])
                expected = model.double()(*(x.double() if x.is_floating_point() else x for x in given)).float()
                model.float()
                # Constants of the graph are float32, and so are the weights, but what torch computes of them is not.
                torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)

    def test_blocks(self):
        for fused in (False, True):
            # torch cannot decompose the fused form: a view of this model does not fit the layout that it chooses then.
            self.check(blocks.Gpt2Block(fused=fused), torch.randn(2, 32, 64), decompose=not fused)
            self.check(blocks.LlamaBlock(fused=fused), *blocks.llama_inputs(2, 32, torch.float32))

    def test_dynamic_batch_and_length(self):
        shapes = ({0: Dim("batch"), 1: Dim("tokens")},)
        others = [(torch.randn(1, 7, 64),), (torch.randn(3, 21, 64),)]
        options = {"decompose": False, "dynamic_shapes": shapes}
        self.check(blocks.Gpt2Block(fused=True), torch.randn(2, 16, 64), others=others, **options)

    def test_forms_of_products(self):
        class Forms(nn.Module):
            def forward(self, x, y, v):
                a = x @ y + (torch.matmul(y.unsqueeze(1), y) @ v).unsqueeze(2)
                b = torch.baddbmm(a[0], x[0], y, beta=0.5, alpha=2.0)
                return b + torch.bmm(x[1], y) + (x @ v).unsqueeze(-1)[1] + functional.linear(x, y[0].t())[0]

        self.check(Forms(), torch.randn(2, 2, 4, 6), torch.randn(2, 6, 6), torch.randn(6))

    def test_masks_of_attention(self):
        class Attention(nn.Module):
            def __init__(self, **options):
                super().__init__()
                self.options = options

            def forward(self, q, k, v, mask=None):
                return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.options)

        q, k, v = torch.randn(2, 4, 5, 8), torch.randn(2, 2, 7, 8), torch.randn(2, 2, 7, 8)
        self.check(Attention(enable_gqa=True, scale=0.3), q, k, v)
        k, v = torch.randn(2, 4, 7, 8), torch.randn(2, 4, 7, 8)
        keep = torch.rand(2, 1, 5, 7) < 0.6
        keep[1, 0, 2] = False  # a row without a key
        self.check(Attention(), q, k, v, keep)
        self.check(Attention(), q, k, v, torch.randn(5, 7))
        self.check(Attention(is_causal=True), q[0], k[0], v[0])


if torch is not None:
    import blocks

    class _Call(nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, *inputs):
            return self.function(*inputs)
