"""torch, CuPy and JAX on a GPU. Skipped where torch finds none."""

import os
import threading
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is missing") from None
if not torch.cuda.is_available():
    raise unittest.SkipTest("torch finds no GPU")

import torch.nn.functional as F

import swage
from support import RMS_NORM, STATISTICS, TestCase

TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=torch.float64).to(dtype)


class Gpu(TestCase):
    def assertNear(self, found, reference, *inputs):
        """`reference` of the inputs in float64, up to a unit in the last place and float32 arithmetic."""
        expected = reference(*(i.double() for i in inputs))
        work = 2.0**-19 if found.dtype != torch.float64 else 2.0**-44
        torch.testing.assert_close(
            found.double(), expected, rtol=torch.finfo(found.dtype).eps + work, atol=work * max(1, float(expected.abs().max()))
        )

    def test_operations(self):
        for dtype in TYPES:
            for rows, row in ((1, 1), (7, 33), (64, 768), (300, 1024), (5, 5003), (2, 40000)):
                with self.subTest(f"{dtype} {rows}x{row}"):
                    x, w, b = random(rows, row, dtype=dtype), random(row, dtype=dtype), random(row, dtype=dtype)
                    ops = swage.ops
                    self.assertNear(ops.layer_norm(x, row, w, b), lambda x, w, b: F.layer_norm(x, (row,), w, b), x, w, b)
                    self.assertNear(ops.rms_norm(x, row, w, 1e-6), lambda x, w: F.rms_norm(x, (row,), w, 1e-6), x, w)
                    self.assertNear(ops.softmax(x, 1), lambda x: x.softmax(1), x)
                    self.assertNear(ops.log_softmax(x, 1), lambda x: x.log_softmax(1), x)
                    self.assertNear(ops.mean(x, 1), lambda x: x.mean(1), x)
                    self.assertTrue(torch.equal(ops.amax(x, (0, 1)), x.amax((0, 1))))
                    self.assertTrue(torch.equal(ops.permute(x, (1, 0)), x.T.contiguous()))
                    self.assertNear(ops.silu(x), F.silu, x)
                    self.assertNear(ops.gelu(x), F.gelu, x)
        x = random(3, 17, 5, 64, dtype=torch.float16)
        self.assertTrue(torch.equal(swage.ops.permute(x, (0, 2, 1, 3)), x.permute(0, 2, 1, 3)))
        self.assertNear(swage.ops.sum(x, (0, 2)), lambda x: x.sum((0, 2)), x)

    def test_misaligned_views(self):
        f = swage.compile(RMS_NORM)
        flat, g = random(5 * 64 + 8), random(64)
        for start in range(8):
            x = flat[start : start + 5 * 64].view(5, 64)
            self.assertNear(f(x, g), lambda x, g: F.rms_norm(x, (64,), g, 1e-6), x, g)
        with self.assertRefused("input", "row-major without gaps"):
            f(random(64, 5).T, g)
        with self.assertRefused("input", "input 1 is in memory of the host"):
            f(random(5, 64), g.cpu())
        with self.assertRefused("input", "input 0 is on CUDA device 0", "the simulator"):
            swage.compile(RMS_NORM, device="sim")(random(5, 64), g)

    @unittest.skipIf(torch.cuda.device_count() < 2, "needs two GPUs")
    def test_several_gpus(self):
        f = swage.compile(RMS_NORM)
        wait = threading.Barrier(2)
        outcomes = {}

        def work(ordinal):
            x, g = random(40, 64).to(f"cuda:{ordinal}"), random(64).to(f"cuda:{ordinal}")
            wait.wait()
            for rows in range(1, 41):
                self.assertNear(f(x[:rows], g), lambda x, g: F.rms_norm(x, (64,), g, 1e-6), x[:rows], g)
            outcomes[ordinal] = True

        threads = [threading.Thread(target=work, args=(ordinal,)) for ordinal in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(outcomes), 2)
        with self.assertRefused("input", "input 1 is on CUDA device 1", "device 0"):
            f(random(5, 64), random(64).to("cuda:1"))

    def test_current_stream(self):
        f = swage.compile(RMS_NORM)
        x, g = torch.zeros(400, 64, device="cuda"), random(64)
        f(x, g)
        side = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(100_000_000)
            x.fill_(3)
            y = f(x, g)
        side.synchronize()
        self.assertNear(y, lambda x, g: F.rms_norm(x, (64,), g, 1e-6), x, g)
        with torch.cuda.stream(side):
            torch.cuda._sleep(100_000_000)
            x.fill_(-3)
        y = f(x, g, out=torch.empty_like(x), stream=side)
        side.synchronize()
        self.assertNear(y, lambda x, g: F.rms_norm(x, (64,), g, 1e-6), x, g)

    def test_record_stream(self):
        """The caching allocator owns what we return."""
        f = swage.compile(RMS_NORM)
        x, g = random(5000, 64), random(64)
        y, side = f(x, g), torch.cuda.Stream()
        address = y.data_ptr()
        with torch.cuda.stream(side):
            torch.cuda._sleep(100_000_000)
        y.record_stream(side)
        del y
        self.assertNotEqual(f(x, g).data_ptr(), address)

    def test_graphs(self):
        f, statistics = swage.compile(RMS_NORM), swage.compile(STATISTICS)
        x, g, z = random(9, 64), random(64), random(9, 48)
        f(x, g), statistics(z)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = f(x, g)
            sums, powers = statistics(z)
        x.copy_(random(9, 64))
        z.copy_(random(9, 48))
        graph.replay()
        self.assertNear(y, lambda x, g: F.rms_norm(x, (64,), g, 1e-6), x, g)
        self.assertNear(sums, lambda z: (z - z.amax(1, keepdim=True)).exp().sum(1), z)
        self.assertNear(powers, lambda z: (z - z.amax(1, keepdim=True)).exp(), z)

        fresh = swage.compile(RMS_NORM.replace("1.0e-6", "2.0e-6"))
        with self.assertRefused("launch", "not ready for 9x64xf32", "warmup"):
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                fresh(x, g)
        fresh(x, g)

    def test_threads(self):
        f, g = swage.compile(RMS_NORM), random(64)
        failures = []

        def work():
            try:
                for rows in range(1, 50):
                    x = random(rows, 64)
                    self.assertNear(f(x, g), lambda x, g: F.rms_norm(x, (64,), g, 1e-6), x, g)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        x, results = random(3, 64), []  # a thread that has not used CUDA
        thread = threading.Thread(target=lambda: results.append(f(x, g)))
        thread.start()
        thread.join()
        self.assertNear(results[0], lambda x, g: F.rms_norm(x, (64,), g, 1e-6), x, g)

    def test_compile(self):
        w = random(256, dtype=torch.float16)

        def model(x):
            h = swage.ops.rms_norm(x * 2, (256,), w, 1e-6)
            return swage.ops.softmax(h, -1) + swage.ops.sum(h, -1, keepdim=True)

        compiled = torch.compile(model, fullgraph=True)
        for rows in (4, 9, 33):
            x = random(rows, 256, dtype=torch.float16)
            torch.testing.assert_close(compiled(x), model(x))

    def test_fork(self):
        f = swage.compile(RMS_NORM)
        x, g = random(2, 64), random(64)
        f(x, g)
        read, write = os.pipe()
        if os.fork() == 0:
            try:
                f(x, g, out=x)
            except BaseException as error:
                os.write(write, f"{type(error).__name__} {error}".encode())
            os._exit(0)
        os.wait()
        self.assertRegex(os.read(read, 4096).decode(), "Error .*fork")

    def test_cupy(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("CuPy is missing")
        f = swage.compile(RMS_NORM)
        x, g = random(6, 64), random(64)
        y = f(cupy.asarray(x), cupy.asarray(g))
        self.assertIsInstance(y, cupy.ndarray)
        self.assertNear(torch.as_tensor(y, device="cuda"), lambda x, g: F.rms_norm(x, (64,), g, 1e-6), x, g)
        sums, powers = swage.compile(STATISTICS)(cupy.asarray(random(6, 48)))
        self.assertEqual((sums.dtype, powers.dtype), ("float32", "float16"))
        with cupy.cuda.Stream(non_blocking=True):
            f(cupy.asarray(x), g, out=y)
        cupy.cuda.Device().synchronize()
        self.assertIsInstance(swage.ops.softmax(cupy.asarray(x), 1), cupy.ndarray)

    def test_numba(self):
        try:
            from numba import cuda

            x = cuda.as_cuda_array(random(6, 64))
        except Exception as problem:
            self.skipTest(f"Numba: {problem}")
        y = swage.ops.softmax(x, 1)
        self.assertNear(torch.as_tensor(y, device="cuda"), lambda x: x.softmax(1), torch.as_tensor(x, device="cuda"))

    def test_jax(self):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        try:
            import jax

            x = jax.random.normal(jax.random.key(0), (6, 64))
        except Exception as problem:
            self.skipTest(f"JAX: {problem}")
        f, g, out = swage.compile(RMS_NORM), random(64), torch.empty(6, 64, device="cuda")
        f(x, g, out=out)
        self.assertNear(out, lambda x, g: F.rms_norm(x, (64,), g, 1e-6), torch.from_dlpack(x), g)
        with self.assertRefused("input", "needed: out="):
            swage.ops.softmax(x, 1)
