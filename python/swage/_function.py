"""swage.compile and what it returns."""

import os
from typing import NamedTuple

from . import _arrays, _swage
from ._errors import Error


def set_default_device(device):
    """What `device=None` means from now on: None, "cuda", "cuda:1", "sim" or "sim:check,order=random"."""
    _swage.set_default_device(None if device is None else str(device))


class Explanation(NamedTuple):
    """Which kernels serve some shapes, and what it would take."""

    has_plan: bool  #: the next call costs a lookup
    has_variant: bool  #: no kernel would be compiled
    guards: str  #: what the kernels that serve, or would be made, rely on
    reason: str  #: why none serves; else ""
    text: str  #: all of it, for people

    def __str__(self):
        return self.text


class Kernel(NamedTuple):
    """A compiled kernel: its CUDA source, PTX, machine code and what it takes of the GPU."""

    name: str
    family: str
    schedule: str
    source: str
    ptx: str
    sass: str
    sass_problem: str
    log: str
    image: bytes
    key: str
    threads: int
    index_bits: int
    registers: int
    spill_bytes: int
    shared_bytes: int


class Artifact(NamedTuple):
    """How the kernels for some shapes came to be."""

    passes: list  #: (name, the IR after it)
    kernels: list  #: of Kernel
    lower_ms: float
    compile_ms: float


def _shape(value):
    """The shape of an array, or a shape."""
    return tuple(value.shape if hasattr(value, "shape") else value)


class Function(_swage.Function):
    """A program that runs with any shapes its types allow; see `compile`.

    `f(*inputs, out=None, stream=None)` checks the inputs, launches the kernels and returns the result, or a tuple of
    them. Inputs are row-major without gaps, on one device. Results are allocated by the library of the first input
    that can (torch, CuPy, Numba, numpy, any with DLPack's exchange functions), or are `out`: a tensor, or one for each
    result. An i8 is given as int8 or uint8, and allocated as int8. The work goes onto the current stream of the library
    of the first input, or onto `stream`. What has to be compiled first is; under CUDA graph capture that is an error
    instead.
    """

    __slots__ = ()

    @property
    def inputs(self):
        """[(element type, shape), ...] with None for dynamic extents."""
        return self._types()[0]

    @property
    def results(self):
        return self._types()[1]

    def _question(self, inputs):
        return _arrays.current_ordinal(), (tuple(map(_shape, inputs)),)

    def is_ready(self, *inputs):
        """Whether a call with arrays of these shapes, aligned to 16 bytes, would compile nothing."""
        return self._is_ready(*self._question(inputs))

    def explain(self, *inputs):
        """Which kernels serve these arrays or shapes, or why none does yet."""
        return Explanation(*self._explain(*self._question(inputs)))

    def artifact(self, *inputs):
        """IR after each pass, CUDA, PTX, machine code and resources of the kernels for these arrays or shapes."""
        passes, kernels, lower, compile_ = self._artifact(*self._question(inputs))
        return Artifact(passes, [Kernel(**kernel) for kernel in kernels], lower, compile_)

    def warmup(self, shapes):
        """Compiles, loads and plans for a list of cases, each with a shape (or an array) for each input."""
        self._warmup(_arrays.current_ordinal(), _cases(shapes))

    def save(self, path, archs, shapes):
        """Writes a bundle for `load`: kernels for architectures such as "sm_90a", "sm_80" or "sim:sm_90a", and for
        cases of shapes as in `warmup`. Loading and running it takes neither MLIR nor NVRTC."""
        archs = (archs,) if isinstance(archs, str) else tuple(archs)
        self._save(os.fspath(path), archs, _cases(shapes))


def _cases(shapes):
    return tuple(tuple(map(_shape, case)) for case in shapes)


def compile(text_or_path, entry="main", device=None, *, names=None):
    """Parses and verifies a graph and returns it as a `Function`; kernels are compiled when shapes are known.

    text_or_path  MLIR text, or the path of a file with it (os.PathLike, or a str without a line break that ends in
                  ".mlir")
    entry         the function in it
    device        None: the GPU of the inputs; "cuda:1": only that one; "sim": the simulator, for arrays of numpy and
                  tensors in memory of the host; "sim:check,order=random": with options that `swage-run --help` lists
    names         names of the inputs, for messages
    """
    filename = "<input>"
    text = text_or_path
    is_path = isinstance(text_or_path, os.PathLike)
    if is_path or (isinstance(text_or_path, str) and text_or_path.endswith(".mlir") and "\n" not in text_or_path):
        filename = os.fspath(text_or_path)
        try:
            with open(filename, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise Error(f"cannot read '{filename}': {error}") from error
    for what, value in (("text_or_path", text), ("entry", entry)):
        if not isinstance(value, str):
            raise Error(f"{what} is a {type(value).__name__}; needed: a str")
    return Function(text, filename, entry, None, device, None if names is None else tuple(names))


def load(path, device=None):
    """A program saved by `Function.save`. Shapes outside of what it was saved for are errors."""
    return Function(None, None, None, os.fspath(path), device, None)
