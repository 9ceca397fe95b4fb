"""What a call costs the CPU, beside torch's own: python bench.py, on a GPU."""

import statistics
import time

import torch
import torch.nn.functional as F

import swage

LAYER_NORM = """
func.func @main(%x: tensor<?x768xf16>, %g: tensor<768xf16>, %b: tensor<768xf16>) -> tensor<?x768xf16> {
  %y = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5
      : (tensor<?x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<?x768xf16>
  return %y : tensor<?x768xf16>
}
"""


def main():
    x, g, b = (torch.randn(*shape, device="cuda", dtype=torch.float16) for shape in ((64, 768), (768,), (768,)))
    f = swage.compile(LAYER_NORM)
    out = torch.empty_like(x)
    swage.ops.layer_norm(x, (768,), g, b)
    from swage import _torch

    operator = _torch.operators.layer_norm.default
    cases = [
        ("f(x, g, b)", lambda: f(x, g, b)),
        ("f(x, g, b, out=out)", lambda: f(x, g, b, out=out)),
        ("swage.ops.layer_norm", lambda: swage.ops.layer_norm(x, (768,), g, b)),
        ("torch.ops.swage.layer_norm", lambda: operator(x, [768], g, b)),
        ("torch.nn.functional.layer_norm", lambda: F.layer_norm(x, (768,), g, b)),
        ("torch.empty_like", lambda: torch.empty_like(x)),
    ]
    # In turns, so that a change of the clock meets all of them.
    times = {name: [] for name, _ in cases}
    for _ in range(60):
        for name, call in cases:
            for _ in range(20):
                call()
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(100):
                call()
            times[name].append((time.perf_counter() - begin) * 1e4)
            torch.cuda.synchronize()
    for name, samples in times.items():
        print(f"{name:32} {min(samples):6.2f} us at best, {statistics.median(samples):6.2f} us in the middle")


if __name__ == "__main__":
    main()
