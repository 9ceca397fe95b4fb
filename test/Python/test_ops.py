"""Every operation against a reference in float64."""

import math

import numpy

import swage
from support import RMS_NORM, TestCase, philox, random, rms_norm

erf = numpy.vectorize(math.erf, otypes=[numpy.float64])


def layer_norm(x, row, weight, bias, eps):
    x = x.astype(numpy.float64)
    axes = tuple(range(x.ndim - len(row), x.ndim))
    y = (x - x.mean(axes, keepdims=True)) / numpy.sqrt(x.var(axes, keepdims=True) + eps)
    return y * (1 if weight is None else weight.astype(numpy.float64)) + (0 if bias is None else bias)


def softmax(x, dim):
    x = x.astype(numpy.float64)
    e = numpy.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


class Ops(TestCase):
    @classmethod
    def setUpClass(cls):
        swage.set_default_device("sim")

    @classmethod
    def tearDownClass(cls):
        swage.set_default_device(None)

    def test_layer_norm(self):
        for dtype in (numpy.float16, numpy.float32, numpy.float64):
            x, w, b = random(3, 5, 40, dtype=dtype), random(40, dtype=dtype), random(40, dtype=dtype, seed=1)
            self.assertClose(swage.ops.layer_norm(x, 40, w, b), layer_norm(x, (40,), w, b, 1e-5))
        x = random(3, 5, 40)
        self.assertClose(swage.ops.layer_norm(x, (5, 40), eps=0.5), layer_norm(x, (5, 40), None, None, 0.5))
        self.assertClose(swage.ops.layer_norm(x, (40,), bias=random(40)), layer_norm(x, (40,), None, random(40), 1e-5))
        with self.assertRefused("input", "normalized_shape is (39,) and x is (3, 5, 40)"):
            swage.ops.layer_norm(x, 39)
        with self.assertRefused("input", "normalized_shape is (1, 3, 5, 40)"):
            swage.ops.layer_norm(x, (1, 3, 5, 40))
        with self.assertRefused("input", "input 1 ('weight') is f64[40]; needed: f32[40]"):
            swage.ops.layer_norm(x, 40, random(40, dtype=numpy.float64))
        with self.assertRefused("input", "input 1 ('bias') is f32[41]; needed: f32[40]"):
            swage.ops.layer_norm(x, 40, bias=random(41))

    def test_rms_norm(self):
        for dtype, eps in ((numpy.float16, 2.0**-10), (numpy.float32, 2.0**-23)):
            x, w = random(6, 33, dtype=dtype), random(33, dtype=dtype)
            self.assertClose(swage.ops.rms_norm(x, (33,), w), rms_norm(x, w, eps))
        x = random(6, 33)
        self.assertClose(swage.ops.rms_norm(x, 33, eps=0.1), rms_norm(x, numpy.ones(33), 0.1))

    def test_softmax(self):
        for dtype in (numpy.float16, numpy.float32):
            x = random(4, 3, 50, dtype=dtype)
            self.assertClose(swage.ops.softmax(x, -1), softmax(x, -1))
        self.assertClose(swage.ops.softmax(x, 1), softmax(x, 1))
        self.assertClose(swage.ops.log_softmax(x, -1), numpy.log(softmax(x, -1)))
        self.assertClose(swage.ops.log_softmax(x, 1), numpy.log(softmax(x, 1)))
        far = numpy.array([[0, -1000, 80], [0, -200, -300]], numpy.float32)
        self.assertClose(swage.ops.log_softmax(far, 1), [[-80, -1080, 0], [0, -200, -300]])
        with self.assertRefused("input", "dim is 3; needed: -3 to 2 for a tensor of rank 3"):
            swage.ops.softmax(x, 3)

    def test_masked_softmax(self):
        def masked(x, dim, keep):
            e = numpy.where(keep, numpy.exp(x.astype(numpy.float64)), 0)
            total = e.sum(dim, keepdims=True)
            return e / numpy.where(total == 0, 1, total)

        x = random(2, 3, 5, 19)
        mask = random(2, 1, 1, 19) > 0
        mask[1] = False  # rows of which nothing is left
        below = numpy.arange(19) <= numpy.arange(5)[:, None]
        self.assertClose(swage.ops.softmax(x, -1, mask), masked(x, -1, mask))
        self.assertClose(swage.ops.softmax(x, 1, mask[0, 0]), masked(x, 1, mask[0, 0]))
        self.assertClose(swage.ops.softmax(x, 3, is_causal=True), masked(x, -1, below))
        self.assertClose(swage.ops.softmax(x, 3, mask, True), masked(x, -1, below & mask))
        logarithm = swage.ops.log_softmax(x, -1, is_causal=True)
        self.assertTrue((numpy.isneginf(logarithm) == ~numpy.broadcast_to(below, x.shape)).all())
        self.assertClose(numpy.exp(logarithm), masked(x, -1, below))
        with self.assertRefused("input", "is_causal was given with dim 1 of 4"):
            swage.ops.softmax(x, 1, is_causal=True)
        with self.assertRefused("input", "mask has 5 dimensions and x 4"):
            swage.ops.softmax(x, 1, mask[None])
        with self.assertRefused("input", "lower_right was given without is_causal"):
            swage.ops.softmax(x, -1, lower_right=True)

    def test_lower_right_causal_softmax(self):
        def reference(x):
            rows, columns = x.shape[-2:]
            keep = numpy.arange(columns) <= numpy.arange(rows)[:, None] + (columns - rows)
            e = numpy.where(keep, numpy.exp(x.astype(numpy.float64)), 0)
            total = e.sum(-1, keepdims=True)
            return e / numpy.where(total == 0, 1, total)

        # Enough shapes that the later ones share a graph without fixed extents; with more rows than columns the first
        # rows keep nothing.
        for rows, columns in ((5, 19), (19, 5), (1, 40), (7, 7), *((3, 16 + k) for k in range(8)), (9, 4)):
            x = random(2, rows, columns)
            x[:, 0, -1] = numpy.nan if rows > 1 else 0  # behind the diagonal
            y = swage.ops.softmax(x, -1, is_causal=True, lower_right=True)
            self.assertClose(y, reference(numpy.nan_to_num(x)))
            logarithm = swage.ops.log_softmax(x, -1, is_causal=True, lower_right=True)
            self.assertClose(numpy.exp(logarithm), reference(numpy.nan_to_num(x)))

    def test_dropout(self):
        x, state = random(7, 13), numpy.array([123456789012, 77], numpy.int64)
        for p in (0, 0.25, 0.9):
            keep = philox(state, x.size).reshape(x.shape) >= p * 2.0**32
            self.assertClose(swage.ops.dropout(x, p, state), numpy.where(keep, x / (1 - p), 0))
        with self.assertRefused("input", "p is 1; needed: at least 0 and less than 1"):
            swage.ops.dropout(x, 1, state)

    def test_dropout_with_mask(self):
        state = numpy.array([123456789012, 77], numpy.int64)
        for shape in ((3, 64), (32,), (2, 3, 96), (5, 64), (0, 32)):
            x = random(*shape, dtype=numpy.float16)
            keep = philox(state, x.size).reshape(shape) >= 0.25 * 2.0**32
            y, mask = swage.ops.dropout_with_mask(x, 0.25, state)
            self.assertClose(y, numpy.where(keep, x.astype(numpy.float64) / 0.75, 0))
            self.assertEqual(mask.dtype, numpy.int32)
            bits = mask[..., None] >> numpy.arange(32, dtype=numpy.int32) & 1
            self.assertTrue((bits.reshape(shape) == keep).all())
        with self.assertRefused("input", "needed: a last extent that is a multiple of 32"):
            swage.ops.dropout_with_mask(random(2, 33), 0.25, state)

    def test_permute(self):
        x = random(4, 6, 10, dtype=numpy.float16)
        for dims in ((1, 0, 2), (2, 1, 0), (0, -1, 1), (0, 1, 2)):
            y = swage.ops.permute(x, dims)
            self.assertTrue(y.flags.c_contiguous)
            self.assertTrue((y == x.transpose([d % 3 for d in dims])).all())
        for dtype in (numpy.int32, numpy.int8, numpy.bool_):
            x = (random(7, 9) * 3).astype(dtype)
            self.assertTrue((swage.ops.permute(x, (1, 0)) == x.T).all())
        with self.assertRefused("input", "dims is (0, 0)"):
            swage.ops.permute(x, (0, 0))

    def test_reductions(self):
        x = random(4, 6, 30)
        wide = x.astype(numpy.float64)
        for dim in (-1, 1, 0, (0, 2), (1, 2), None):
            self.assertClose(swage.ops.sum(x, dim), wide.sum(dim))
        self.assertClose(swage.ops.mean(x, -1, keepdim=True), wide.mean(-1, keepdims=True))
        self.assertClose(swage.ops.amax(x, -1), wide.max(-1))
        self.assertClose(swage.ops.amin(x, (1, 2)), wide.min((1, 2)))
        out = numpy.empty((4, 6, 1), numpy.float32)
        self.assertIs(swage.ops.sum(x, 2, keepdim=True, out=out), out)
        self.assertClose(out, wide.sum(2, keepdims=True))
        i = numpy.arange(60, dtype=numpy.int32).reshape(5, 12)
        self.assertEqual(swage.ops.sum(i, 1).tolist(), i.sum(1).tolist())
        self.assertEqual(swage.ops.amax(i, 0).tolist(), i.max(0).tolist())
        with self.assertRefused("input", "dim is (0, 0)"):
            swage.ops.sum(x, (0, 0))
        with self.assertRefused("input", "out 0 is f32[4, 6]; needed: f32[?, ?, 1]"):
            swage.ops.sum(x, 2, keepdim=True, out=numpy.empty((4, 6), numpy.float32))
        for dim in (0, (0, 2), None):
            self.assertClose(swage.ops.sum(x, dim, keepdim=True), wide.sum(dim, keepdims=True))

    def test_elementwise(self):
        for dtype in (numpy.float16, numpy.float32, numpy.float64):
            x = random(3, 70, dtype=dtype) * dtype(3)
            wide = x.astype(numpy.float64)
            self.assertClose(swage.ops.gelu(x), wide * 0.5 * (1 + erf(wide / math.sqrt(2))))
        inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
        self.assertClose(swage.ops.gelu(x, "tanh"), 0.5 * wide * (1 + numpy.tanh(inner)))
        x = random(3, 70)
        self.assertClose(swage.ops.silu(x), x.astype(numpy.float64) / (1 + numpy.exp(-x.astype(numpy.float64))))
        self.assertClose(swage.ops.silu(numpy.array([-200.0, 0, 200], numpy.float32)), [0, 0, 200])
        with self.assertRefused("input", "approximate is 'erf'"):
            swage.ops.gelu(x, "erf")

    def test_what_a_function_is_found_by(self):
        """Nothing that the graph depends on is mistaken for what an earlier call had."""
        x, w = random(6, 6), random(6)
        for _ in range(2):
            for dim in (0, 1, -1):
                self.assertClose(swage.ops.softmax(x, dim), softmax(x, dim))
            for eps in (0.1, 0.5):
                self.assertClose(swage.ops.layer_norm(x, [6], w, eps=eps), layer_norm(x, (6,), w, None, eps))
                self.assertClose(swage.ops.layer_norm(x, [6], None, w, eps), layer_norm(x, (6,), None, w, eps))
            self.assertEqual(swage.ops.amax(x, 1).shape, (6,))
            self.assertEqual(swage.ops.amax(x, 1, True).shape, (6, 1))
        x = random(2, 3, 4)
        dims = [2, 0, 1]
        self.assertEqual(swage.ops.permute(x, dims).shape, (4, 2, 3))
        dims[:] = [1, 0, 2]
        self.assertEqual(swage.ops.permute(x, dims).shape, (3, 2, 4))
        # What has no hash is not remembered.
        dims = numpy.array([2, 0, 1])
        self.assertEqual(swage.ops.permute(x, dims).shape, (4, 2, 3))
        dims[:] = [1, 0, 2]
        self.assertEqual(swage.ops.permute(x, dims).shape, (3, 2, 4))

    def test_default_device_changes(self):
        x = random(3, 8)
        self.assertClose(swage.ops.silu(x), swage.ops.silu(x, device="sim:check"))
        try:
            swage.set_default_device(None)
            with self.assertRefused("input", "in memory of the host"):
                swage.ops.silu(x)
            with self.assertRefused("input", "in memory of the host"):
                swage.compile(RMS_NORM)(random(3, 64), random(64))
        finally:
            swage.set_default_device("sim")
        swage.ops.silu(x)

    def test_more_shapes_than_are_remembered(self):
        for _ in range(2):
            for rows in range(1, 400):
                x = random(rows, 1)
                self.assertEqual(swage.ops.permute(x, (1, 0)).shape, (1, rows))

    def test_the_type_of_operations(self):
        operation = swage._swage.Operation(lambda element, shape, y, device: (element, shape), inputs=2)
        with self.assertRaisesRegex(TypeError, "5 arguments or more, not 4"):
            operation(None, None, None, None)
        with self.assertRaisesRegex(TypeError, "no function"):
            operation(random(3), None, None, None, None)
        with self.assertRaisesRegex(ValueError, "inputs is 0"):
            swage._swage.Operation(print, inputs=0)

    def test_rows_of_any_length(self):
        """After the first few lengths one graph serves all."""
        for length in list(range(17, 29)) + [300, 17]:
            x = random(3, length)
            self.assertClose(swage.ops.softmax(x, 1), softmax(x, 1))
            w = random(length)
            self.assertClose(swage.ops.rms_norm(x, length, w, eps=1e-6), rms_norm(x, w))
        graphs = {
            id(function)
            for key, function in swage.ops._functions.items()
            if key[:3] == (swage.ops._softmax, "f32", 2)
        }
        self.assertEqual(len(graphs), 9)

    def test_bfloat16(self):
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            self.skipTest("ml_dtypes is missing")
        x = random(4, 64).astype(bfloat16)
        y = swage.ops.softmax(x, 1)
        self.assertEqual(y.dtype, bfloat16)
        self.assertLess(numpy.abs(y.astype(numpy.float64) - softmax(x, 1)).max(), 2.0**-8)
