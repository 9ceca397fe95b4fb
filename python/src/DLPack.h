//===- DLPack.h - DLPack's binary interface -------------------------------===//
//
// How array libraries hand out their tensors: the structs of DLPack 1, whose layout never changes,
// and the table of functions that a tensor type offers as `__dlpack_c_exchange_api__`, through
// which a tensor is read without a Python call.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_PYTHON_DLPACK_H
#define SWAGE_PYTHON_DLPACK_H

#include <cstdint>

namespace swage::python::dlpack {

struct Version {
  uint32_t major, minor;
};
constexpr uint32_t kMajorVersion = 1;

enum DeviceType : int32_t {
  kCpu = 1,
  kCuda = 2,
  kCudaHost = 3,
  kCudaManaged = 13,
};
struct Device {
  int32_t type;
  int32_t ordinal;
};

enum TypeCode : uint8_t {
  kInt = 0,
  kUnsigned = 1,
  kFloat = 2,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8E4M3FN = 10,
  kFloat8E5M2 = 12
};
struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType type;
  int64_t *shape;
  int64_t *strides; ///< in elements; null: row-major without gaps
  uint64_t byteOffset;
};

/// In a capsule named "dltensor".
struct ManagedTensor {
  Tensor tensor;
  void *owner;
  void (*deleter)(ManagedTensor *self);
};

/// In a capsule named "dltensor_versioned".
struct ManagedTensorVersioned {
  Version version;
  void *owner;
  void (*deleter)(ManagedTensorVersioned *self);
  uint64_t flags;
  Tensor tensor;
};
constexpr uint64_t kReadOnly = 1;

/// In a capsule named "dlpack_exchange_api".  Functions return 0, or -1 with a Python exception
/// set; they need the GIL and synchronise nothing.
struct ExchangeApi {
  Version version;
  const ExchangeApi *previous; ///< the table of an earlier major version
  int (*allocate)(Tensor *prototype, ManagedTensorVersioned **out, void *context,
                  void (*setError)(void *context, const char *kind, const char *message));
  int (*fromPython)(void *object, ManagedTensorVersioned **out);
  int (*toPython)(ManagedTensorVersioned *tensor, void **object);
  /// What `out` points to lives as long as `object` is not changed; may be null.
  int (*borrow)(void *object, Tensor *out);
  int (*currentStream)(int32_t deviceType, int32_t ordinal, void **stream);
};

} // namespace swage::python::dlpack

#endif // SWAGE_PYTHON_DLPACK_H
