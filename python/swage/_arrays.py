"""What differs between array libraries; called by the extension, and never imports one of them itself."""

import sys

from ._errors import Error

_NUMPY_NAMES = {"i1": "bool", "i8": "int8", "i32": "int32", "i64": "int64", "f16": "float16", "f32": "float32", "f64": "float64"}
_ML_NAMES = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}


def _library(array):
    """The name of the library that `array` belongs to, if it is one that makes arrays for us."""
    root = type(array).__module__.partition(".")[0]
    return root if root in ("numpy", "cupy", "numba") and root in sys.modules else None


def can_allocate(like):
    return _library(like) is not None


def _dtype(element):
    if name := _ML_NAMES.get(element):  # numpy has none of its own
        try:
            import ml_dtypes
        except ImportError:
            raise Error(f"a {name} array of numpy needs the package ml_dtypes; install it or pass out=") from None
        return getattr(ml_dtypes, name)
    return _NUMPY_NAMES[element]


def empty(like, shape, element, ordinal):
    """A new array by the library of `like`, on its device."""
    library = _library(like)
    if library == "numpy":
        return sys.modules["numpy"].empty(shape, _dtype(element))
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(ordinal):
            return cupy.empty(shape, _dtype(element))
    from numba import cuda

    with cuda.gpus[ordinal]:
        return cuda.device_array(shape, _dtype(element))


def ordinal(array):
    """The GPU of an array that has only `__cuda_array_interface__`."""
    device = getattr(array, "device", None)  # CuPy
    if device is None:
        device = getattr(getattr(array, "gpu_data", None), "context", None)  # Numba
        device = getattr(device, "device", None)
    return int(getattr(device, "id", 0))


def current_stream(array, ordinal):
    """The stream that the library of `array` works on, as an address; 0 is the default stream."""
    root = type(array).__module__.partition(".")[0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch.cuda.current_stream(ordinal).cuda_stream
    if root == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream(ordinal).ptr
    return 0


def stream_address(stream):
    """From an address or a stream of torch, CuPy, Numba or anything with `__cuda_stream__`."""
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "handle"):
        address = getattr(stream, name, None)
        if address is not None:
            return int(getattr(address, "value", address) or 0)
    raise Error(f"stream is a {type(stream).__name__}; needed: an address or a stream of torch, CuPy or Numba")


def mark_written(tensor):
    """Tells autograd that a torch tensor was written, as operations of torch itself do."""
    if not tensor.is_inference():
        sys.modules["torch"].autograd.graph.increment_version(tensor)


def current_ordinal():
    """The GPU for questions about shapes alone."""
    torch = sys.modules.get("torch")
    return torch.cuda.current_device() if torch is not None and torch.cuda.is_initialized() else 0
