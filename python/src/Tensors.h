//===- Tensors.h - Arrays of other libraries ------------------------------===//
//
// Reads the tensors of a call, wherever they come from, and has results allocated by the library
// that an input belongs to.  How a type is read is found out once per type:
//
//   torch.Tensor        the functions behind `__dlpack_c_exchange_api__`: no Python call, no object
//   older torch         a DLPack capsule without the checks of Tensor.__dlpack__
//   numpy               `__array_interface__`, which also describes arrays that are read-only
//   CuPy, JAX, ...      `__dlpack__`, which orders the producer's work before our stream
//   Numba, ...          `__cuda_array_interface__`
//
// All functions need the GIL.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_PYTHON_TENSORS_H
#define SWAGE_PYTHON_TENSORS_H

#include "DLPack.h"
#include "Support.h"

#include <vector>

namespace swage::python {

enum class Access { ExchangeApi, TorchCapsule, Capsule, HostInterface, CudaInterface };

struct ArrayType {
  PyTypeObject *type = nullptr;
  Access access = Access::Capsule;
  bool isTorch = false;
  bool canAllocate = false; ///< results and workspace can be made by its library
  const dlpack::ExchangeApi *api = nullptr;
};

/// A tensor of a caller while a call lasts.
struct View {
  PyObject *object = nullptr; ///< borrowed
  ArrayType type;
  void *data = nullptr;
  SwageElementType element = 0;
  bool isOnHost = false;
  int ordinal = 0;
  bool isReadOnly = false;
  unsigned rank = 0;
  const int64_t *shape = nullptr;
  const int64_t *strides = nullptr; ///< in elements; null: row-major without gaps

  bool isContiguous() const;
  /// What the address is a multiple of: 1, 2, 4, 8 or 16 bytes.
  uint8_t alignment() const;

  Ref owner;                    ///< keeps memory and shape alive where `object` does not
  std::vector<int64_t> extents; ///< what `shape` and `strides` point to, for the interfaces
  bool hasStream = false;       ///< of an interface: the work on `stream` must come first
  uintptr_t stream = 0;
};

/// "input 1 (weight)": which tensor a message is about.
struct ArgumentName {
  const char *kind;
  size_t index;
  PyObject *names; ///< a tuple of str, or null
  std::string str() const;
};

/// How tensors of this type are read; false after an exception.
bool arrayTypeOf(PyObject *object, const ArgumentName &name, ArrayType &type);

/// Reads a tensor.  A GPU's Capsule is asked of the producer for `stream`: without one (null) only
/// the device is read, and `readCapsule` does the rest.
bool readTensor(PyObject *object, const ArgumentName &name, View &view);
bool readCapsule(const ArgumentName &name, SwageStream stream, View &view);
/// Reads a tensor whose type and shape alone are looked at.
bool readTypeAndShape(PyObject *object, const ArgumentName &name, View &view);

/// The stream that the library of `view` works on at present.
bool currentStream(const View &view, SwageStream &stream);

/// A new tensor by the library of `like` on its device.
Ref allocate(const View &like, SwageElementType element, const int64_t *shape, unsigned rank);

/// False after an exception: a gradient would be needed, and Swage has none.
bool checkNoGradient(const View &view, const ArgumentName &name);

/// "f16[8, 768]".
std::string describe(SwageElementType element, const int64_t *shape, unsigned rank);

Ref toTuple(const int64_t *shape, unsigned rank);

} // namespace swage::python

#endif // SWAGE_PYTHON_TENSORS_H
