"""torch tensors in memory of the host, on the simulator, and the operators of torch. Skipped without torch."""

import subprocess
import sys
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is missing") from None

import swage
from support import RMS_NORM, STATISTICS, TestCase, philox


class Torch(TestCase):
    @classmethod
    def setUpClass(cls):
        swage.set_default_device("sim")
        cls.f = staticmethod(swage.compile(RMS_NORM))
        cls.x, cls.g = torch.randn(5, 64), torch.randn(64)
        cls.y = torch.nn.functional.rms_norm(cls.x, (64,), cls.g, 1e-6)

    @classmethod
    def tearDownClass(cls):
        swage.set_default_device(None)

    def test_call(self):
        y = self.f(self.x, self.g)
        self.assertIs(type(y), torch.Tensor)
        torch.testing.assert_close(y, self.y)
        sums, powers = swage.compile(STATISTICS)(torch.randn(3, 48))
        self.assertEqual((sums.dtype, powers.dtype), (torch.float32, torch.float16))
        x = self.x.to(torch.bfloat16)
        torch.testing.assert_close(swage.ops.softmax(x, 1), x.softmax(1))

    def test_numpy_beside_torch(self):
        torch.testing.assert_close(self.f(self.x, self.g.numpy()), self.y)

    def test_out_and_autograd_versions(self):
        out = torch.empty_like(self.x)
        version = out._version
        self.assertIs(self.f(self.x, self.g, out=out), out)
        self.assertGreater(out._version, version)
        with torch.inference_mode():
            self.f(self.x, self.g, out=torch.empty(5, 64))

    def test_gradients_are_refused(self):
        parameter = torch.nn.Parameter(self.g)
        with self.assertRefused("input", "input 1 requires a gradient", "torch.no_grad()"):
            self.f(self.x, parameter)
        with self.assertRefused("input", "out 0 requires a gradient"):
            self.f(self.x, self.g, out=torch.empty(5, 64, requires_grad=True))
        with torch.no_grad():
            torch.testing.assert_close(self.f(self.x, parameter), self.y)
        torch.testing.assert_close(self.f(self.x, parameter.detach()), self.y)
        with self.assertRefused("input", "gradient of swage::rms_norm"):
            torch.ops.swage.rms_norm(self.x, [64], parameter)

    def test_what_the_arguments_must_be(self):
        class Mine(torch.Tensor):
            pass

        with self.assertRefused("input", "input 0 is a test_torch", "needed: a plain torch.Tensor"):
            self.f(self.x.as_subclass(Mine), self.g)
        with self.assertRefused("input", "row-major without gaps"):
            self.f(torch.randn(64, 5).T, self.g)
        with self.assertRefused("input", "f16[5, 64]; needed: f32[?, 64]"):
            self.f(self.x.half(), self.g)
        with self.assertRaises((swage.Error, BufferError, RuntimeError)):
            self.f(self.x.to(torch.complex64), self.g)

    def test_operators(self):
        x = torch.randn(3, 4, 24)
        w, b = torch.randn(24), torch.randn(24)
        keep, state = torch.arange(24) < 7, torch.tensor([5, 6])
        bits = torch.from_numpy(philox(state.numpy(), x.numel()).astype("int64")).view(x.shape)
        words = bits.flatten()[:96].view(3, 32)
        packed = ((words >= 2**31).long() << torch.arange(32)).sum(1, keepdim=True).to(torch.int32)
        cases = [
            ("layer_norm", (x, [24], w, b, 1e-5), torch.nn.functional.layer_norm),
            ("layer_norm", (x, [4, 24]), torch.nn.functional.layer_norm),
            ("rms_norm", (x, [24], w), torch.nn.functional.rms_norm),
            ("softmax", (x, 1), torch.softmax),
            ("softmax", (x, 2, keep), lambda x, dim, keep: x.masked_fill(~keep, -torch.inf).softmax(dim)),
            ("log_softmax", (x, -1), torch.log_softmax),
            ("dropout", (x, 0.5, state), lambda x, p, state: torch.where(bits >= 2**31, 2 * x, 0.0)),
            (
                "dropout_with_mask",
                (x[..., :8].reshape(3, 32), 0.5, state),
                lambda x, p, state: (torch.where(words >= 2**31, 2 * x, 0.0), packed),
            ),
            ("permute", (x, [2, 0, -2]), torch.permute),
            ("sum", (x, [0, 2], True), torch.sum),
            ("sum", (x, []), lambda x, dim: torch.sum(x)),
            ("mean", (x, [-1]), torch.mean),
            ("amax", (x, [1]), torch.amax),
            ("amin", (x, [1, 2]), torch.amin),
            ("gelu", (x,), torch.nn.functional.gelu),
            ("gelu", (x, "tanh"), lambda x, _: torch.nn.functional.gelu(x, approximate="tanh")),
            ("silu", (x,), torch.nn.functional.silu),
        ]
        from swage import _torch

        operators = _torch.operators
        self.assertEqual({name for name, _, _ in cases}, set(_torch._SCHEMAS))
        self.assertEqual(set(_torch._SCHEMAS), set(swage.ops.__all__))
        for name, arguments, reference in cases:
            with self.subTest(name):
                operator = getattr(operators, name).default
                torch.testing.assert_close(operator(*arguments), reference(*arguments))
                torch.library.opcheck(operator, arguments)

    def test_fake_tensors(self):
        with torch._subclasses.fake_tensor.FakeTensorMode():
            y = swage.ops.sum(torch.empty(3, 5), 1, keepdim=True)
        self.assertEqual((type(y).__name__, y.shape), ("FakeTensor", (3, 1)))

    def test_compile(self):
        weight = self.g

        def model(x):
            h = swage.ops.rms_norm(x * 2, (64,), weight)
            return swage.ops.sum(swage.ops.gelu(h), -1, keepdim=True) + swage.ops.softmax(h, -1)

        expected = model(self.x)
        for backend in ("eager", "aot_eager"):
            torch._dynamo.reset()
            compiled = torch.compile(model, fullgraph=True, backend=backend)
            torch.testing.assert_close(compiled(self.x), expected)
            compiled = torch.compile(model, fullgraph=True, backend=backend, dynamic=True)
            torch.testing.assert_close(compiled(self.x), expected)

    def test_compile_refuses_gradients(self):
        torch._dynamo.reset()
        parameter = torch.nn.Parameter(self.g)
        compiled = torch.compile(lambda x: swage.ops.rms_norm(x, (64,), parameter), fullgraph=True, backend="aot_eager")
        with self.assertRaisesRegex(Exception, "computes forward only"):
            compiled(self.x)
        with torch.no_grad():
            torch.testing.assert_close(compiled(self.x), swage.ops.rms_norm(self.x, (64,), parameter))

    def test_export(self):
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.ones(64))

            def forward(self, x):
                return swage.ops.layer_norm(x, (64,), self.weight)

        rows = torch.export.Dim("rows", min=2, max=100)
        for strict in (False, True):
            with torch.no_grad():
                program = torch.export.export(Model(), (self.x,), dynamic_shapes=({0: rows},), strict=strict)
                self.assertIn("swage.layer_norm", program.graph_module.code)
                x = torch.randn(9, 64)
                torch.testing.assert_close(program.module()(x), torch.nn.functional.layer_norm(x, (64,)))

    def test_imports_in_both_orders(self):
        for first, second in (("torch", "swage"), ("swage", "torch")):
            text = (
                f"import {first}, {second}\n"
                "swage.set_default_device('sim')\n"
                "torch.compile(lambda x: swage.ops.softmax(x, 1), fullgraph=True, backend='eager')(torch.randn(2, 9))\n"
                "swage.ops.softmax(torch.randn(2, 9), 1)\n"
            )
            done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
