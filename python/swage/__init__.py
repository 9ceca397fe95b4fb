"""Op graphs to CUDA kernels, specialised to shapes, types and the GPU at hand.

    import swage, torch

    f = swage.compile('''
        func.func @main(%x: tensor<?x768xf16>, %g: tensor<768xf16>) -> tensor<?x768xf16> {
          %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6
              : (tensor<?x768xf16>, tensor<768xf16>) -> tensor<?x768xf16>
          return %y : tensor<?x768xf16>
        }''')
    y = f(x, g)                       # torch tensors: on torch's current stream, allocated by torch
    y = swage.ops.rms_norm(x, (768,), g)

Arrays with DLPack or `__cuda_array_interface__` work as well, and arrays of numpy with `device="sim"`, the simulator.
Everything may be called from several threads. A process that was forked after its parent used Swage cannot use it.
"""

import sys as _sys

from . import ops
from ._errors import Error
from ._function import Artifact, Explanation, Function, Kernel, compile, load, set_default_device
from ._swage import stats as _stats
from ._swage import version as __version__

if "torch" in _sys.modules:
    from . import _torch  # torch.ops.swage; where torch comes later, the first use of swage.ops registers them

__all__ = [
    "Artifact",
    "Error",
    "Explanation",
    "Function",
    "Kernel",
    "__version__",
    "compile",
    "load",
    "ops",
    "set_default_device",
    "stats",
]


def stats():
    """Counters of this process, as a dict: cache hits and misses, kernels compiled and loaded, launches, times."""
    return _stats()
