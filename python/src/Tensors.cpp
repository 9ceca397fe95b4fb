//===- Tensors.cpp - Arrays of other libraries ----------------------------===//
#include "Tensors.h"

#include <cstring>

using namespace swage::python;

bool View::isContiguous() const {
  if (!strides)
    return true;
  int64_t expected = 1;
  bool isRowMajor = true;
  for (unsigned dim = rank; dim-- > 0; expected *= shape[dim]) {
    if (shape[dim] == 0)
      return true;
    isRowMajor &= shape[dim] == 1 || strides[dim] == expected;
  }
  return isRowMajor;
}

uint8_t View::alignment() const {
  uintptr_t address = reinterpret_cast<uintptr_t>(data);
  return uint8_t((address | 16) & -(address | 16));
}

std::string ArgumentName::str() const {
  std::string text = std::string(kind) + " " + std::to_string(index);
  std::string name;
  if (names && Py_ssize_t(index) < PyTuple_Size(names) &&
      toString(PyTuple_GetItem(names, Py_ssize_t(index)), name))
    text += " ('" + name + "')";
  PyErr_Clear(); // a name that is no text is left out of the message
  return text;
}

std::string swage::python::describe(SwageElementType element, const int64_t *shape, unsigned rank) {
  std::string text = swageElementGetName(element).data;
  text += "[";
  for (unsigned dim = 0; dim < rank; ++dim) {
    text += dim ? ", " : "";
    text += shape[dim] == SWAGE_DYNAMIC ? "?" : std::to_string(shape[dim]);
  }
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Types of arrays
//===----------------------------------------------------------------------===//

static const dlpack::ExchangeApi *findExchangeApi(PyObject *type) {
  Ref capsule{PyObject_GetAttrString(type, "__dlpack_c_exchange_api__")};
  const dlpack::ExchangeApi *api = nullptr;
  if (capsule && PyCapsule_IsValid(capsule.get(), "dlpack_exchange_api"))
    api = static_cast<const dlpack::ExchangeApi *>(
        PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
  PyErr_Clear();
  while (api && api->version.major != dlpack::kMajorVersion)
    api = api->previous;
  return api && api->borrow && api->currentStream ? api : nullptr;
}

static bool hasAttribute(PyObject *object, const char *name) {
  Ref value{PyObject_GetAttrString(object, name)};
  PyErr_Clear();
  return bool(value);
}

/// torch, where the program has imported it; borrowed.
static PyObject *findTorch() {
  PyObject *modules = PyImport_GetModuleDict();
  return PyDict_GetItemString(modules, "torch");
}

/// Whether `object` is a torch.Tensor; `isPlain` if it is no subclass with a meaning of its own.
static bool isTorchTensor(PyObject *object, bool &isPlain) {
  PyObject *torch = findTorch();
  if (!torch)
    return false;
  Ref tensor{PyObject_GetAttrString(torch, "Tensor")};
  Ref nn{PyObject_GetAttrString(torch, "nn")};
  Ref parameter{nn ? PyObject_GetAttrString(nn.get(), "Parameter") : nullptr};
  PyErr_Clear(); // torch is being imported: then `object` is none of its tensors
  if (!tensor || !parameter || PyObject_IsInstance(object, tensor.get()) != 1) {
    PyErr_Clear();
    return false;
  }
  PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  isPlain = type == tensor.get() || type == parameter.get();
  return true;
}

/// Whether "swage._arrays" can make arrays like this one.
static bool canAllocateLike(PyObject *object) {
  static PyObject *function;
  if (!packageFunction("swage._arrays", "can_allocate", function))
    return false;
  Ref answer{PyObject_CallFunctionObjArgs(function, object, nullptr)};
  return answer && answer.get() == Py_True;
}

static bool findArrayType(PyObject *object, const ArgumentName &name, ArrayType &type) {
  bool isPlain = false;
  type.isTorch = isTorchTensor(object, isPlain);
  if (type.isTorch && !isPlain)
    return raiseInput(name.str() + " is a " + typeName(object) +
                      "; needed: a plain torch.Tensor, as .as_subclass(torch.Tensor) gives where "
                      "the class holds its data itself");
  type.api = findExchangeApi(reinterpret_cast<PyObject *>(type.type));
  if (type.api || type.isTorch) {
    type.access = type.api ? Access::ExchangeApi : Access::TorchCapsule;
    type.canAllocate = type.isTorch || (type.api->allocate && type.api->toPython);
    return true;
  }
  if (hasAttribute(object, "__array_interface__"))
    type.access = Access::HostInterface;
  else if (hasAttribute(object, "__dlpack__") && hasAttribute(object, "__dlpack_device__"))
    type.access = Access::Capsule;
  else if (hasAttribute(object, "__cuda_array_interface__"))
    type.access = Access::CudaInterface;
  else
    return raiseInput(name.str() + " is a " + typeName(object) +
                      "; needed: a torch tensor, or an array with __dlpack__, "
                      "__cuda_array_interface__ or __array_interface__");
  type.canAllocate = canAllocateLike(object);
  return !PyErr_Occurred();
}

bool swage::python::arrayTypeOf(PyObject *object, const ArgumentName &name, ArrayType &type) {
  // Types stay alive while they are here, so that an address names one type.
  static auto *known = new std::vector<ArrayType>;
  constexpr size_t kMaxKnown = 64;
  for (const ArrayType &candidate : *known)
    if (candidate.type == Py_TYPE(object)) {
      type = candidate;
      return true;
    }
  type = {};
  type.type = Py_TYPE(object);
  if (!findArrayType(object, name, type))
    return false;
  if (known->size() < kMaxKnown) {
    Py_IncRef(reinterpret_cast<PyObject *>(type.type));
    known->push_back(type);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

static bool toElementType(dlpack::DataType type, SwageElementType &element) {
  if (type.lanes != 1)
    return false;
  switch (type.code << 8 | type.bits) {
  case dlpack::kBool << 8 | 8:
    element = SwageElementI1;
    return true;
  case dlpack::kInt << 8 | 8:
  case dlpack::kUnsigned << 8 | 8: // what bits mean is said by the graph's ops
    element = SwageElementI8;
    return true;
  case dlpack::kInt << 8 | 32:
    element = SwageElementI32;
    return true;
  case dlpack::kInt << 8 | 64:
    element = SwageElementI64;
    return true;
  case dlpack::kFloat << 8 | 16:
    element = SwageElementF16;
    return true;
  case dlpack::kBfloat << 8 | 16:
    element = SwageElementBF16;
    return true;
  case dlpack::kFloat8E4M3FN << 8 | 8:
    element = SwageElementF8E4M3FN;
    return true;
  case dlpack::kFloat8E5M2 << 8 | 8:
    element = SwageElementF8E5M2;
    return true;
  case dlpack::kFloat << 8 | 32:
    element = SwageElementF32;
    return true;
  case dlpack::kFloat << 8 | 64:
    element = SwageElementF64;
    return true;
  }
  return false;
}

static dlpack::DataType toDataType(SwageElementType element) {
  static const uint8_t codes[] = {
      dlpack::kBool,   dlpack::kInt,   dlpack::kInt,   dlpack::kInt,          dlpack::kFloat,
      dlpack::kBfloat, dlpack::kFloat, dlpack::kFloat, dlpack::kFloat8E4M3FN, dlpack::kFloat8E5M2};
  return {codes[element], uint8_t(8 * swageElementGetBytes(element)), 1};
}

static bool badElement(const ArgumentName &name, const std::string &found) {
  return raiseInput(
      name.str() + " has elements of type " + found +
      "; needed: bool, int8, uint8, int32, int64, float16, bfloat16, float32, float64, "
      "float8_e4m3fn or float8_e5m2");
}

static bool setDevice(const dlpack::Device &device, const ArgumentName &name, View &view) {
  view.isOnHost = device.type == dlpack::kCpu;
  view.ordinal = view.isOnHost ? 0 : device.ordinal;
  if (view.isOnHost || device.type == dlpack::kCuda || device.type == dlpack::kCudaHost ||
      device.type == dlpack::kCudaManaged)
    return true;
  return raiseInput(name.str() + " is on a device of DLPack's type " + std::to_string(device.type) +
                    "; needed: a CUDA device");
}

static bool setTensor(const dlpack::Tensor &tensor, const ArgumentName &name, View &view) {
  if (!setDevice(tensor.device, name, view))
    return false;
  if (!toElementType(tensor.type, view.element))
    return badElement(name, "code " + std::to_string(tensor.type.code) + " with " +
                                std::to_string(tensor.type.bits) + " bits");
  view.data = static_cast<char *>(tensor.data) + tensor.byteOffset;
  view.rank = unsigned(tensor.rank);
  view.shape = tensor.shape;
  view.strides = tensor.strides;
  return true;
}

/// Reads what a capsule holds and keeps the capsule in `view.owner`: it is not marked as consumed,
/// so that its own destructor frees what it holds.
static bool setCapsule(Ref capsule, const ArgumentName &name, View &view) {
  if (!capsule)
    return false;
  if (PyCapsule_IsValid(capsule.get(), "dltensor")) {
    auto *managed =
        static_cast<dlpack::ManagedTensor *>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
    view.owner = std::move(capsule);
    return setTensor(managed->tensor, name, view);
  }
  if (PyCapsule_IsValid(capsule.get(), "dltensor_versioned")) {
    auto *managed = static_cast<dlpack::ManagedTensorVersioned *>(
        PyCapsule_GetPointer(capsule.get(), "dltensor_versioned"));
    if (managed->version.major != dlpack::kMajorVersion)
      return raiseInput(name.str() + " comes with version " +
                        std::to_string(managed->version.major) + " of DLPack; needed: 1");
    view.isReadOnly = (managed->flags & dlpack::kReadOnly) != 0;
    view.owner = std::move(capsule);
    return setTensor(managed->tensor, name, view);
  }
  return raiseInput(name.str() + ": __dlpack__ of " + typeName(view.object) +
                    " gives no DLPack capsule");
}

static bool readTorchCapsule(const ArgumentName &name, View &view) {
  static PyObject *toCapsule;
  if (!packageFunction("torch.utils.dlpack", "to_dlpack", toCapsule))
    return false;
  return setCapsule(Ref(PyObject_CallFunctionObjArgs(toCapsule, view.object, nullptr)), name, view);
}

static bool readDevice(const ArgumentName &name, View &view) {
  Ref pair{PyObject_CallMethod(view.object, "__dlpack_device__", nullptr)};
  dlpack::Device device;
  if (!pair || !PyArg_ParseTuple(pair.get(), "ii;a DLPack device", &device.type, &device.ordinal))
    return false;
  return setDevice(device, name, view);
}

bool swage::python::readCapsule(const ArgumentName &name, SwageStream stream, View &view) {
  Ref method{PyObject_GetAttrString(view.object, "__dlpack__")};
  Ref none{PyTuple_New(0)};
  if (!method || !none)
    return false;
  // DLPack's number of the legacy default stream is 1; memory of the host has no stream.
  auto number = reinterpret_cast<uintptr_t>(stream);
  Ref streamNumber{PyLong_FromUnsignedLongLong(number ? number : 1)};
  Ref options{view.isOnHost ? PyDict_New() : Py_BuildValue("{sO}", "stream", streamNumber.get())};
  if (!options)
    return false;
  return setCapsule(Ref(PyObject_Call(method.get(), none.get(), options.get())), name, view);
}

//===----------------------------------------------------------------------===//
// __array_interface__ and __cuda_array_interface__
//===----------------------------------------------------------------------===//

/// Borrowed; null without an exception where the key is missing or None.
static PyObject *lookUp(PyObject *dict, const char *key) {
  PyObject *value = PyDict_GetItemString(dict, key);
  return value == Py_None ? nullptr : value;
}

static bool appendIntegers(PyObject *tuple, std::vector<int64_t> &integers) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
    integers.push_back(PyLong_AsLongLong(PyTuple_GetItem(tuple, i)));
    if (PyErr_Occurred())
      return false;
  }
  return true;
}

/// "<f4", "|b1"; what numpy has no letter for is known by the name of its dtype.
static bool toElementType(PyObject *object, const std::string &code, SwageElementType &element) {
  struct Code {
    const char *text;
    SwageElementType element;
  };
  static const Code codes[] = {{"b1", SwageElementI1},  {"i1", SwageElementI8},
                               {"u1", SwageElementI8},  {"i4", SwageElementI32},
                               {"i8", SwageElementI64}, {"f2", SwageElementF16},
                               {"f4", SwageElementF32}, {"f8", SwageElementF64}};
  if (code.size() != 3 || code[0] == '>')
    return false;
  for (const Code &candidate : codes)
    if (code.compare(1, 2, candidate.text) == 0) {
      element = candidate.element;
      return true;
    }
  Ref dtype{PyObject_GetAttrString(object, "dtype")};
  Ref name{dtype ? PyObject_Str(dtype.get()) : nullptr};
  std::string text;
  bool isNamed = name && toString(name.get(), text);
  PyErr_Clear();
  element = text == "bfloat16"        ? SwageElementBF16
            : text == "float8_e4m3fn" ? SwageElementF8E4M3FN
                                      : SwageElementF8E5M2;
  return isNamed && (element != SwageElementF8E5M2 || text == "float8_e5m2");
}

static bool readInterface(const ArgumentName &name, View &view) {
  bool isCuda = view.type.access == Access::CudaInterface;
  view.isOnHost = !isCuda;
  Ref dict{PyObject_GetAttrString(view.object,
                                  isCuda ? "__cuda_array_interface__" : "__array_interface__")};
  if (!dict)
    return false;
  PyObject *shape = lookUp(dict.get(), "shape"), *type = lookUp(dict.get(), "typestr"),
           *data = lookUp(dict.get(), "data"), *strides = lookUp(dict.get(), "strides"),
           *stream = lookUp(dict.get(), "stream");
  if (!shape || !PyTuple_Check(shape) || !type || !data || !PyTuple_Check(data) ||
      PyTuple_Size(data) != 2 || (strides && !PyTuple_Check(strides)))
    return raiseInput(name.str() + ": the array interface of " + typeName(view.object) +
                      " lacks a tuple 'shape', 'typestr' or a pair 'data'");
  std::string code;
  if (!toString(type, code))
    return false;
  if (!toElementType(view.object, code, view.element))
    return badElement(name, "'" + code + "'");
  view.data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
  view.isReadOnly = PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1;
  view.rank = unsigned(PyTuple_Size(shape));
  if (stream) {
    view.hasStream = true;
    view.stream = uintptr_t(PyLong_AsUnsignedLongLong(stream));
  }
  if (PyErr_Occurred() || !appendIntegers(shape, view.extents) ||
      (strides && !appendIntegers(strides, view.extents)))
    return false;
  if (view.extents.size() != (strides ? 2 : 1) * size_t(view.rank))
    return raiseInput(name.str() + " has " + std::to_string(view.rank) +
                      " extents and another number of strides");
  auto bytes = int64_t(swageElementGetBytes(view.element));
  for (size_t i = view.rank; i < view.extents.size(); ++i) {
    if (view.extents[i] % bytes != 0)
      return raiseInput(name.str() + " has a stride of " + std::to_string(view.extents[i]) +
                        " bytes; needed: a multiple of the " + std::to_string(bytes) +
                        " bytes of an element");
    view.extents[i] /= bytes;
  }
  view.shape = view.extents.data();
  view.strides = strides ? view.shape + view.rank : nullptr;
  // It may hold the memory: that of a numpy scalar lives no longer.
  view.owner = std::move(dict);
  if (!isCuda)
    return true;
  // The interface does not tell the device; the object may.
  static PyObject *ordinalOf;
  if (!packageFunction("swage._arrays", "ordinal", ordinalOf))
    return false;
  Ref ordinal{PyObject_CallFunctionObjArgs(ordinalOf, view.object, nullptr)};
  view.ordinal = ordinal ? int(PyLong_AsLong(ordinal.get())) : 0;
  return !PyErr_Occurred();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool swage::python::readTensor(PyObject *object, const ArgumentName &name, View &view) {
  view.object = object;
  if (!arrayTypeOf(object, name, view.type))
    return false;
  switch (view.type.access) {
  case Access::ExchangeApi: {
    dlpack::Tensor tensor;
    return view.type.api->borrow(object, &tensor) == 0 && setTensor(tensor, name, view);
  }
  case Access::TorchCapsule:
    return readTorchCapsule(name, view);
  case Access::HostInterface:
  case Access::CudaInterface:
    return readInterface(name, view);
  case Access::Capsule:
    return readDevice(name, view) && (!view.isOnHost || readCapsule(name, nullptr, view));
  }
  return false;
}

bool swage::python::currentStream(const View &view, SwageStream &stream) {
  if (view.type.access == Access::ExchangeApi)
    return view.type.api->currentStream(dlpack::kCuda, view.ordinal,
                                        reinterpret_cast<void **>(&stream)) == 0;
  static PyObject *current;
  if (!packageFunction("swage._arrays", "current_stream", current))
    return false;
  Ref address{PyObject_CallFunction(current, "Oi", view.object, view.ordinal)};
  stream = address ? static_cast<SwageStream>(PyLong_AsVoidPtr(address.get())) : nullptr;
  return !PyErr_Occurred();
}

bool swage::python::checkNoGradient(const View &view, const ArgumentName &name) {
  if (!view.type.isTorch)
    return true;
  static PyObject *attribute, *isEnabled;
  if (!attribute)
    attribute = PyUnicode_InternFromString("requires_grad");
  Ref needed{PyObject_GetAttr(view.object, attribute)};
  if (!needed || needed.get() != Py_True)
    return bool(needed);
  if (!packageFunction("torch", "is_grad_enabled", isEnabled))
    return false;
  Ref enabled{PyObject_CallFunctionObjArgs(isEnabled, nullptr)};
  if (!enabled || enabled.get() != Py_True)
    return bool(enabled);
  return raiseInput(name.str() + " requires a gradient, and Swage computes forward only; call it "
                                 "under torch.no_grad() or with .detach()");
}

bool swage::python::readTypeAndShape(PyObject *object, const ArgumentName &name, View &view) {
  return readTensor(object, name, view) &&
         (view.type.access != Access::Capsule || view.isOnHost || readCapsule(name, nullptr, view));
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

Ref swage::python::toTuple(const int64_t *shape, unsigned rank) {
  Ref tuple{PyTuple_New(Py_ssize_t(rank))};
  for (unsigned dim = 0; tuple && dim < rank; ++dim)
    PyTuple_SetItem(tuple.get(), Py_ssize_t(dim), PyLong_FromLongLong(shape[dim]));
  return tuple;
}

/// Through torch's own functions and not its exchange API: memory that comes from there is unknown
/// to Tensor.record_stream, which would let the allocator reuse it while another stream reads it.
static Ref allocateTorch(const View &like, SwageElementType element, const int64_t *shape,
                         unsigned rank) {
  static PyObject *emptyLike, *dtypes[SwageElementF8E5M2 + 1];
  static const char *const names[] = {"bool",          "int8",       "int32",   "int64",
                                      "float16",       "bfloat16",   "float32", "float64",
                                      "float8_e4m3fn", "float8_e5m2"};
  if (element == like.element && rank == like.rank &&
      std::memcmp(shape, like.shape, rank * sizeof *shape) == 0)
    return packageFunction("torch", "empty_like", emptyLike)
               ? Ref(PyObject_CallFunctionObjArgs(emptyLike, like.object, nullptr))
               : Ref();
  Ref extents = toTuple(shape, rank);
  Ref newEmpty{PyObject_GetAttrString(like.object, "new_empty")};
  if (!extents || !newEmpty)
    return {};
  if (element == like.element)
    return Ref(PyObject_CallFunctionObjArgs(newEmpty.get(), extents.get(), nullptr));
  Ref arguments{PyTuple_Pack(1, extents.get())};
  Ref options{PyDict_New()};
  if (!arguments || !options || !packageFunction("torch", names[element], dtypes[element]) ||
      PyDict_SetItemString(options.get(), "dtype", dtypes[element]) != 0)
    return {};
  return Ref(PyObject_Call(newEmpty.get(), arguments.get(), options.get()));
}

static Ref allocateByApi(const View &like, SwageElementType element, const int64_t *shape,
                         unsigned rank) {
  dlpack::Tensor prototype = {};
  prototype.device = {like.isOnHost ? dlpack::kCpu : dlpack::kCuda, like.ordinal};
  prototype.rank = int32_t(rank);
  prototype.type = toDataType(element);
  prototype.shape = const_cast<int64_t *>(shape);
  dlpack::ManagedTensorVersioned *managed = nullptr;
  std::string problem;
  auto setError = [](void *context, const char *, const char *message) {
    *static_cast<std::string *>(context) = message;
  };
  if (like.type.api->allocate(&prototype, &managed, &problem, setError) != 0) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_RuntimeError, problem.c_str());
    return {};
  }
  void *object = nullptr;
  if (like.type.api->toPython(managed, &object) != 0)
    return {};
  return Ref(static_cast<PyObject *>(object));
}

Ref swage::python::allocate(const View &like, SwageElementType element, const int64_t *shape,
                            unsigned rank) {
  if (like.type.isTorch)
    return allocateTorch(like, element, shape, rank);
  if (like.type.access == Access::ExchangeApi)
    return allocateByApi(like, element, shape, rank);
  static PyObject *empty;
  Ref extents = toTuple(shape, rank);
  if (!extents || !packageFunction("swage._arrays", "empty", empty))
    return {};
  return Ref(PyObject_CallFunction(empty, "OOsi", like.object, extents.get(),
                                   swageElementGetName(element).data, like.ordinal));
}
