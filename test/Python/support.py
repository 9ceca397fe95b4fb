"""What the tests share."""

import unittest

import numpy

import swage

RMS_NORM = """
func.func @main(%x: tensor<?x64xf32>, %g: tensor<64xf32>) -> tensor<?x64xf32> {
  %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
"""

# Two results of other shapes and types than the input, and a workspace between two kernels.
STATISTICS = """
func.func @main(%x: tensor<?x48xf32>) -> (tensor<?xf32>, tensor<?x48xf16>) {
  %m = swage.reduce max %x dims [1] : tensor<?x48xf32> -> tensor<?xf32>
  %mb = swage.broadcast %m dims [0] : tensor<?xf32> -> tensor<?x48xf32>
  %d = arith.subf %x, %mb : tensor<?x48xf32>
  %e = math.exp %d : tensor<?x48xf32>
  %s = swage.reduce sum %e dims [1] : tensor<?x48xf32> -> tensor<?xf32>
  %h = arith.truncf %e : tensor<?x48xf32> to tensor<?x48xf16>
  return %s, %h : tensor<?xf32>, tensor<?x48xf16>
}
"""


def rms_norm(x, g, eps=1e-6):
    x = x.astype(numpy.float64)
    return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + eps) * g.astype(numpy.float64)


def random(*shape, dtype=numpy.float32, seed=0):
    return numpy.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def philox(state, count):
    """The first words of the stream (seed, offset): philox4x32-10, four words a counter."""
    seed, offset = (int(number) & 2**64 - 1 for number in state)
    counters = (numpy.arange((count + 3) // 4, dtype=numpy.uint64) + numpy.uint64(offset)).astype(object)
    a, b, c, d = counters & 0xFFFFFFFF, counters >> 32, counters * 0, counters * 0
    for round in range(10):
        keys = (seed + round * 0x9E3779B9) & 0xFFFFFFFF, ((seed >> 32) + round * 0xBB67AE85) & 0xFFFFFFFF
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ keys[0], q & 0xFFFFFFFF, (p >> 32) ^ d ^ keys[1], p & 0xFFFFFFFF
    return numpy.stack([a, b, c, d], 1).ravel()[:count].astype(numpy.uint32)


class TestCase(unittest.TestCase):
    def assertClose(self, found, expected):
        """Within one unit in the last place of the type, and what float32 arithmetic (float64's for float64) leaves."""
        found = numpy.asarray(found)
        precision = float(numpy.finfo(found.dtype).eps)
        work = 16 * min(precision, 2.0**-23)
        expected = numpy.asarray(expected, numpy.float64)
        self.assertEqual(found.shape, expected.shape)
        scale = max(1.0, float(numpy.abs(expected).max(initial=0)))
        limit = precision * numpy.abs(expected) + work * scale
        error = numpy.abs(found.astype(numpy.float64) - expected)
        if not (error <= limit).all():
            worst = (error - limit).argmax()
            self.fail(f"found {found.flat[worst]}, needed {expected.flat[worst]} up to {limit.flat[worst]}")

    def assertRefused(self, stage, *words):
        """A swage.Error of this stage whose message holds the words."""
        return _Refused(self, stage, words)


class _Refused:
    def __init__(self, test, stage, words):
        self.test, self.stage, self.words = test, stage, words

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.test.assertIsInstance(error, swage.Error, "swage.Error was not raised")
        self.test.assertEqual(error.stage, self.stage, str(error))
        for word in self.words:
            self.test.assertIn(word, error.message)
        self.error = error
        return True
