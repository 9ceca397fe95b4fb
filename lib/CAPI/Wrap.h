//===- Wrap.h - Between the C API and the C++ API -------------------------===//
//
// What every file here needs: handles to objects and back, errors, and structs whose size the
// caller states.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_CAPI_WRAP_H
#define SWAGE_LIB_CAPI_WRAP_H

#include "swage-c/Swage.h"
#include "swage/Runtime/Program.h"

#include <cstring>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace swage::capi {

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

struct ContextObject {
  Context context;
  std::string warnings;
  std::string cacheDirectory;
  bool isOfProcess; ///< destroyed by nobody
};

struct DeviceObject {
  Device device;
  std::string arch; ///< of kernels for it: "sim:sm_90a"
};

inline ContextObject *unwrap(SwageContext handle) {
  return static_cast<ContextObject *>(handle.ptr);
}
inline Device *unwrap(SwageDevice handle) {
  return &static_cast<DeviceObject *>(handle.ptr)->device;
}
inline Program *unwrap(SwageProgram handle) { return static_cast<Program *>(handle.ptr); }
inline Plan *unwrap(SwagePlan handle) { return static_cast<Plan *>(handle.ptr); }

inline SwageStringRef wrap(const std::string &text) { return {text.c_str(), text.size()}; }
inline std::string_view unwrap(SwageStringRef text) {
  return text.data ? std::string_view(text.data, text.length) : std::string_view();
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

inline SwageError succeed() { return {nullptr}; }
SwageError fail(Error error);

/// An error about an argument of the API function that calls this.
inline SwageError invalid(const std::string &message, const char *function = __builtin_FUNCTION()) {
  return fail(makeError(Stage::Input, fmt::format("{}: {}", function, message)));
}
inline SwageError isNull(const char *argument, const char *function = __builtin_FUNCTION()) {
  return invalid(fmt::format("'{}' is null", argument), function);
}
inline SwageError outOfRange(size_t index, size_t count,
                             const char *function = __builtin_FUNCTION()) {
  return invalid(fmt::format("'index' is {}, needed: less than {}", index, count), function);
}

inline SwageError finish(Status status) { return status ? succeed() : fail(status.takeError()); }

/// Moves the value into a handle of its own, or returns the error.
template <class T, class Handle> SwageError finish(Expected<T> value, Handle *handle) {
  if (!value)
    return fail(value.takeError());
  handle->ptr = new T(std::move(*value));
  return succeed();
}

//===----------------------------------------------------------------------===//
// Structs that grow
//===----------------------------------------------------------------------===//

/// No struct of a later version is larger: a `size` beyond was never set.
constexpr size_t kLargestStruct = 4096;

template <class T> Status checkSize(const T &of, const char *name) {
  if (of.size >= sizeof(T) && of.size <= kLargestStruct)
    return {};
  return makeError(Stage::Input, fmt::format("'size' of {} is {}, needed: its sizeof, here {}",
                                             name, of.size, sizeof(T)));
}

/// The options of a caller, whose header may be newer: what this version does not know must be
/// zero.  Null asks for defaults.
template <class T> Expected<T> readOptions(const T *options, const char *name) {
  T result{};
  if (!options)
    return result;
  if (Status size = checkSize(*options, name); !size)
    return size.takeError();
  const char *bytes = reinterpret_cast<const char *>(options);
  for (size_t i = sizeof(T); i < options->size; ++i)
    if (bytes[i] != 0)
      return makeError(Stage::Input,
                       fmt::format("byte {} of {} is set, an option that this version ({}) does "
                                   "not have",
                                   i, name, unwrap(swageGetVersion())));
  std::memcpy(&result, options, sizeof(T));
  return result;
}

/// Fills the caller's struct; what a newer header has in addition becomes zero.
template <class T> SwageError writeStruct(T value, T *to, const char *name) {
  if (Status size = checkSize(*to, name); !size)
    return fail(size.takeError());
  value.size = to->size;
  std::memset(reinterpret_cast<char *>(to) + sizeof(T), 0, to->size - sizeof(T));
  std::memcpy(to, &value, sizeof(T));
  return succeed();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// One shape for each input of the program.
Expected<std::vector<Dims>> unwrapShapes(const Program &program, const SwageShape *shapes,
                                         size_t count);
/// `setCount` times one shape for each input.
Expected<std::vector<std::vector<Dims>>> unwrapShapeSets(const Program &program,
                                                         const SwageShape *shapes, size_t setCount);

} // namespace swage::capi

#endif // SWAGE_LIB_CAPI_WRAP_H
