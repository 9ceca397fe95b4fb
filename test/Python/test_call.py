"""A program as a Python function, on the simulator with arrays of numpy."""

import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import textwrap
import threading

import numpy

import swage
from support import RMS_NORM, STATISTICS, TestCase, random, rms_norm


class Call(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = staticmethod(swage.compile(RMS_NORM, device="sim", names=("x", "weight")))
        cls.x, cls.g = random(5, 64), random(64)

    def test_many_sizes(self):
        for rows in (1, 7, 64, 129, 0):
            x = random(rows, 64)
            y = self.f(x, self.g)
            self.assertIs(type(y), numpy.ndarray)
            self.assertEqual(y.dtype, numpy.float32)
            self.assertClose(y, rms_norm(x, self.g))

    def test_types(self):
        self.assertEqual(self.f.inputs, [("f32", (None, 64)), ("f32", (64,))])
        self.assertEqual(self.f.results, [("f32", (None, 64))])

    def test_several_results_and_a_workspace(self):
        x = random(9, 48)
        sums, powers = swage.compile(STATISTICS, device="sim")(x)
        e = numpy.exp(x.astype(numpy.float64) - x.max(-1, keepdims=True))
        self.assertClose(sums, e.sum(-1))
        self.assertEqual(powers.dtype, numpy.float16)
        self.assertClose(powers, e)

    def test_out(self):
        out = numpy.full((5, 64), numpy.nan, numpy.float32)
        self.assertIs(self.f(self.x, self.g, out=out), out)
        self.assertClose(out, rms_norm(self.x, self.g))
        f = swage.compile(STATISTICS, device="sim")
        outs = (numpy.empty(3, numpy.float32), numpy.empty((3, 48), numpy.float16))
        results = f(random(3, 48), out=outs)
        self.assertIs(results[0], outs[0])
        self.assertIs(results[1], outs[1])

    def test_misaligned_views(self):
        flat = random(5 * 64 + 3)
        for start in range(4):
            x = flat[start : start + 5 * 64].reshape(5, 64)
            self.assertClose(self.f(x, self.g), rms_norm(x, self.g))
        out = numpy.empty(5 * 64 + 1, numpy.float32)[1:].reshape(5, 64)
        self.assertClose(self.f(self.x, self.g, out=out), rms_norm(self.x, self.g))

    def test_long_rows_out_of_step(self):
        f = swage.compile(RMS_NORM.replace("64", "40001"), device="sim")
        x, g = random(3 * 40001 + 1), random(40001 + 2)[2:]
        for start in range(1, 4):
            out = numpy.empty(3 * 40001 + 4, numpy.float32)[start : start + 3 * 40001].reshape(3, 40001)
            f(x[1:].reshape(3, 40001), g, out=out)
            self.assertClose(out, rms_norm(x[1:].reshape(3, 40001), g))

    def test_read_only_inputs(self):
        x = self.x.copy()
        x.flags.writeable = False
        self.assertClose(self.f(x, self.g), rms_norm(x, self.g))

    def test_what_the_arguments_must_be(self):
        x, g = self.x, self.g
        with self.assertRefused("input", "1 inputs; needed: 2"):
            self.f(x)
        with self.assertRefused("input", "input 1 ('weight')", "f64[64]", "needed: f32[64]"):
            self.f(x, g.astype(numpy.float64))
        with self.assertRefused("input", "input 0 ('x')", "f32[64]", "needed: f32[?, 64]"):
            self.f(g, g)
        with self.assertRefused("input", "input 0 ('x') is f32[5, 65]; needed: f32[?, 64]"):
            self.f(random(5, 65), g)
        with self.assertRefused("input", "input 0 ('x')", "row-major without gaps"):
            self.f(random(64, 5).T, g)
        with self.assertRefused("input", "input 1 ('weight')", "row-major without gaps"):
            self.f(x, random(128)[::2])
        with self.assertRefused("input", "input 0 ('x') is a list"):
            self.f([1.0], g)
        with self.assertRefused("input", "input 0 ('x') has elements of type '<u2'", "needed: bool"):
            self.f(x.astype(numpy.uint16), g)
        with self.assertRefused("input", "input 0 ('x') has elements of type '>f4'"):
            self.f(x.astype(">f4"), g)
        with self.assertRefused("input", "a stream was given", "the simulator"):
            self.f(x, g, stream=1)
        with self.assertRaisesRegex(TypeError, "'output'; needed: out or stream"):
            self.f(x, g, output=x)
        odd = swage.compile(RMS_NORM, device="sim", names=(1, "\udc80"))
        with self.assertRefused("input", "input 1 is f64[64]"):  # without a name
            odd(x, g.astype(numpy.float64))

    def test_what_out_must_be(self):
        x, g = self.x, self.g
        with self.assertRefused("input", "out 0 is f32[6, 64]; needed: f32[5, 64]"):
            self.f(x, g, out=random(6, 64))
        with self.assertRefused("input", "out 0 is f16[5, 64]"):
            self.f(x, g, out=x.astype(numpy.float16))
        with self.assertRefused("input", "out has 2 tensors; needed: 1"):
            self.f(x, g, out=(x, x))
        with self.assertRefused("input", "out 0 has gaps"):
            self.f(x, g, out=random(64, 5).T)
        out = random(5, 64)
        out.flags.writeable = False
        with self.assertRefused("input", "out 0 is read-only"):
            self.f(x, g, out=out)
        y = x.copy()
        with self.assertRefused("launch", "overlap"):
            self.f(y, g, out=y)

    def test_host_memory_without_the_simulator(self):
        with self.assertRefused("input", "input 0", "memory of the host", "device='sim'"):
            swage.compile(RMS_NORM)(self.x, self.g)

    def test_devices(self):
        for device in ("gpu", "cuda:x", "sim,check", -1, "cuda:12345"):
            with self.assertRefused("input", f"the device is '{device}'; needed: 'cuda'"):
                swage.compile(RMS_NORM, device=device)
        checked = swage.compile(RMS_NORM, device="sim:check,order=random")
        self.assertClose(checked(self.x, self.g), rms_norm(self.x, self.g))
        with self.assertRefused("input", "chekc"):
            swage.compile(RMS_NORM, device="sim:chekc")
        swage.set_default_device("sim")
        try:
            self.assertClose(swage.compile(RMS_NORM)(self.x, self.g), rms_norm(self.x, self.g))
        finally:
            swage.set_default_device(None)


class Texts(TestCase):
    def test_errors_of_the_text(self):
        with self.assertRefused("parse", "line.mlir:2") as refused:
            with tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "line.mlir")
                with open(path, "w") as file:
                    file.write("func.func @main() {\n  nonsense\n}\n")
                swage.compile(path)
        copy = pickle.loads(pickle.dumps(refused.error))
        self.assertEqual((copy.stage, copy.message, str(copy)), ("parse", refused.error.message, str(refused.error)))
        with self.assertRefused("verify", "axis"):
            swage.compile(RMS_NORM.replace("axis 1", "axis 2"))
        with self.assertRefused("input", "cannot read 'nowhere.mlir'"):
            swage.compile("nowhere.mlir")
        with self.assertRaises(swage.Error):
            swage.compile(RMS_NORM, entry="other")

    def test_paths(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "norm.mlir")
            path.write_text(RMS_NORM.replace("@main", "@norm"))
            x, g = random(3, 64), random(64)
            for given in (path, str(path)):
                f = swage.compile(given, entry="norm", device="sim")
                self.assertClose(f(x, g), rms_norm(x, g))


class Questions(TestCase):
    def test_ready_explain_warmup(self):
        f = swage.compile(RMS_NORM, device="sim")
        x, g = random(4, 64), random(64)
        self.assertFalse(f.is_ready(x, g))
        explanation = f.explain(x, g)
        self.assertFalse(explanation.has_variant)
        self.assertTrue(explanation.reason)
        f.warmup([((4, 64), (64,)), (random(9, 64), g)])
        self.assertTrue(f.is_ready((4, 64), (64,)))
        explanation = f.explain((4, 64), (64,))
        self.assertTrue(explanation.has_plan and explanation.has_variant)
        self.assertEqual(explanation.reason, "")
        self.assertIn("row", str(explanation))
        before = swage.stats()
        f(x, g)
        after = swage.stats()
        self.assertEqual(after["kernels_compiled"], before["kernels_compiled"])
        self.assertEqual(after["launches"], before["launches"] + 1)
        with self.assertRefused("input", "1 shapes; needed: 2"):
            f.is_ready((4, 64))
        with self.assertRaises(swage.Error):
            f.warmup([((4, 65), (64,))])

    def test_artifact(self):
        artifact = swage.compile(RMS_NORM, device="sim").artifact((4, 64), (64,))
        self.assertTrue(any("swage.rms_norm" in ir for _, ir in artifact.passes))
        (kernel,) = artifact.kernels
        self.assertIn("__global__", kernel.source)
        self.assertIn("row", kernel.family)
        self.assertGreater(kernel.threads, 0)
        self.assertIsInstance(kernel.image, bytes)

    def test_save_and_load(self):
        x, g = random(6, 64), random(64)
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "norm.swage")
            swage.compile(RMS_NORM, device="sim").save(path, "sim:sm_90a", [((6, 64), (64,))])
            f = swage.load(path, device="sim")
            self.assertClose(f(x, g), rms_norm(x, g))
            path.write_bytes(path.read_bytes()[:-1])
            with self.assertRefused("load", "norm.swage"):
                swage.load(path, device="sim")

    def test_version(self):
        self.assertRegex(swage.__version__, r"^\d+\.\d+\.\d+$")


class Processes(TestCase):
    def test_threads(self):
        f = swage.compile(RMS_NORM, device="sim")
        g = random(64)
        failures = []

        def work(seed):
            try:
                for rows in range(1, 20):
                    x = random(rows, 64, seed=seed)
                    self.assertClose(f(x, g), rms_norm(x, g))
            except BaseException as failure:  # also a failed assertion
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def run_python(self, text):
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, cwd=os.path.dirname(__file__)
        )

    def test_fork(self):
        done = self.run_python(
            """
            import os, swage
            from support import RMS_NORM, random
            f = swage.compile(RMS_NORM, device="sim")
            f(random(2, 64), random(64))
            if os.fork() == 0:
                try:
                    f(random(2, 64), random(64))
                except swage.Error as error:
                    print(error.stage, error.message, flush=True)
                os._exit(0)
            os.wait()
            f(random(3, 64), random(64))
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("input this process was forked", done.stdout)

    def test_ends_while_threads_run(self):
        done = self.run_python(
            """
            import threading, swage
            from support import RMS_NORM, random
            f = swage.compile(RMS_NORM, device="sim")
            for rows in range(4):
                threading.Thread(target=f, args=(random(rows + 1, 64), random(64)), daemon=True).start()
            """
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_memory(self):
        """A thousand calls leave nothing behind."""
        f = swage.compile(RMS_NORM, device="sim")
        x, g = random(1, 64), random(64)
        f(x, g)
        counts = sys.getrefcount(x), sys.getrefcount(g), sys.getrefcount(numpy.ndarray)
        for _ in range(1000):
            f(x, g)
            try:
                f(g, g)
            except swage.Error:
                pass
        self.assertEqual((sys.getrefcount(x), sys.getrefcount(g), sys.getrefcount(numpy.ndarray)), counts)
