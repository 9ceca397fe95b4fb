"""Arrays of other libraries, by stand-ins for them."""

import ctypes

import numpy

import swage
from support import RMS_NORM, TestCase, random, rms_norm


class Interface:
    """`__array_interface__` and nothing else."""

    def __init__(self, array, **changes):
        self.array = array
        self.__array_interface__ = dict(array.__array_interface__, **changes)


class Capsule:
    """`__dlpack__` and nothing else."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device, self.streams = array, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()


class OnGpu:
    """What a GPU array without DLPack looks like; its address is none."""

    def __init__(self, array):
        self.__cuda_array_interface__ = dict(array.__array_interface__, version=3, stream=None)


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("ordinal", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("offset", ctypes.c_uint64),
    ]


Borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
Stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Api(ctypes.Structure):
    _fields_ = [
        ("version", Version),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("from_python", ctypes.c_void_p),
        ("to_python", ctypes.c_void_p),
        ("borrow", Borrow),
        ("stream", Stream),
    ]


@Borrow
def borrow(array, out):
    out[0] = Tensor(array.data, 1, 0, len(array.shape), array.code, array.bits, 1, ctypes.addressof(array.shape), None, 0)
    array.borrowed += 1
    return 0


@Stream
def current_stream(device_type, ordinal, out):
    out[0] = None
    return 0


api = Api(Version(1, 3), None, None, None, None, borrow, current_stream)
later = Api(Version(2, 0), ctypes.addressof(api), None, None, None, borrow, current_stream)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


CAPSULE_NAME = b"dlpack_exchange_api"  # a capsule does not copy its name


class Exchanged:
    """DLPack's exchange functions, of a later version with a table for this one."""

    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(later), CAPSULE_NAME, None)

    def __init__(self, array, code=2):
        self.array, self.data, self.borrowed = array, array.ctypes.data, 0
        self.code, self.bits = code, 8 * array.itemsize
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)


class Interfaces(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = staticmethod(swage.compile(RMS_NORM, device="sim"))
        cls.x, cls.g = random(5, 64), random(64)

    def test_array_interface(self):
        out = numpy.empty_like(self.x)
        self.f(Interface(self.x), Interface(self.g), out=Interface(out))
        self.assertClose(out, rms_norm(self.x, self.g))
        self.assertClose(self.f(Interface(self.x), self.g), rms_norm(self.x, self.g))  # numpy allocates
        with self.assertRefused("input", "no way to allocate the results", "Interface", "needed: out="):
            self.f(Interface(self.x), Interface(self.g))

    def test_broken_array_interface(self):
        for changes in ({"shape": None}, {"data": None}, {"typestr": None}, {"shape": 5}, {"strides": 5}):
            with self.assertRefused("input", "input 0: the array interface"):
                self.f(Interface(self.x, **changes), self.g)
        with self.assertRefused("input", "a stride of 255 bytes"):
            self.f(Interface(self.x, strides=(255, 4)), self.g)
        with self.assertRefused("input", "another number of strides"):
            self.f(Interface(self.x, strides=(4,)), self.g)

    def test_dlpack(self):
        x = Capsule(self.x)
        self.assertClose(self.f(x, self.g), rms_norm(self.x, self.g))
        self.assertEqual(x.streams, [None])
        out = numpy.empty_like(self.x)
        self.f(x, Capsule(self.g), out=Capsule(out))
        self.assertClose(out, rms_norm(self.x, self.g))
        with self.assertRefused("input", "input 0 is on CUDA device 3", "the simulator"):
            self.f(Capsule(self.x, (2, 3)), self.g)
        with self.assertRefused("input", "input 0 is on a device of DLPack's type 8"):
            self.f(Capsule(self.x, (8, 0)), self.g)

    def test_exchange_functions(self):
        x = Exchanged(self.x)
        self.assertClose(self.f(x, self.g), rms_norm(self.x, self.g))
        self.assertEqual(x.borrowed, 1)

    def test_float8(self):
        for code, element, expected in ((10, "f8E4M3FN", [0x38, 0xFE, 0x7F]), (12, "f8E5M2", [0x3C, 0xDF, 0x60])):
            narrow = swage.compile(
                f"""func.func @main(%x: tensor<?xf32>) -> tensor<?x{element}> {{
                  %y = arith.truncf %x : tensor<?xf32> to tensor<?x{element}>
                  return %y : tensor<?x{element}> }}""",
                device="sim",
            )
            widen = swage.compile(
                f"""func.func @main(%x: tensor<?x{element}>) -> tensor<?xf32> {{
                  %y = arith.extf %x : tensor<?x{element}> to tensor<?xf32>
                  return %y : tensor<?xf32> }}""",
                device="sim",
            )
            y = numpy.zeros(3, numpy.uint8)
            narrow(numpy.float32([1, -464, 480]), out=Exchanged(y, code))
            self.assertEqual(y.tolist(), expected)
            back = widen(Exchanged(y, code), out=numpy.empty(3, numpy.float32))
            numpy.testing.assert_array_equal(back, [1, -448, 512 if code == 12 else numpy.nan])
        with self.assertRefused("input", "elements of type code 14 with 8 bits", "float8_e4m3fn or float8_e5m2"):
            self.f(Exchanged(numpy.zeros((5, 64), numpy.uint8), 14), self.g)

    def test_cuda_array_interface(self):
        with self.assertRefused("input", "input 0 is on CUDA device 0", "the simulator"):
            self.f(OnGpu(self.x), self.g)

    def test_streams(self):
        class WithProtocol:
            def __cuda_stream__(self):
                return (0, 0)

        self.f(self.x, self.g, stream=0)
        self.f(self.x, self.g, stream=WithProtocol())
        with self.assertRefused("input", "stream is a str"):
            self.f(self.x, self.g, stream="0")
