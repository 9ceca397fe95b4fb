//===- Error.h - Values that may be errors --------------------------------===//
//
// What every layer of Swage returns instead of throwing: an Expected<T> holds a value or an Error,
// and an Error says at which stage it arose, what was found and needed, and how to see it again.
// Support, the runtime and NVRTC use it without LLVM, which keeps the runtime free of MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_ERROR_H
#define SWAGE_SUPPORT_ERROR_H

#include "swage/Support/Api.h"

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace swage {

enum class Stage {
  Input,   ///< arguments of an API call, a command line, a buffer
  Parse,   ///< text to IR
  Verify,  ///< IR that is not valid
  Lower,   ///< passes and emission
  Compile, ///< CUDA source to machine code
  Cache,   ///< the kernel cache
  Load,    ///< libraries, devices, machine code onto a device
  Launch,  ///< putting work on a stream
  Run,     ///< work that was launched, and memory
};

/// "compile", "launch", ...
SWAGE_API const char *stageName(Stage stage);

struct [[nodiscard]] Error {
  Stage stage = Stage::Input;
  /// Lower case, no period, the value found and the value needed.
  std::string message;
  /// What the compiler printed, if one was involved.
  std::string log;
  /// Where the failing source was written.
  std::string sourcePath;
  /// A command line that shows the failure again.
  std::string reproduce;

  /// Everything, as printed for a person: "<stage> error: <message>" and then the other fields that
  /// are set.
  SWAGE_API std::string str() const;
};

inline Error makeError(Stage stage, std::string message, std::string log = {}) {
  return Error{stage, std::move(message), std::move(log), {}, {}};
}

/// A value or an Error.  Using the value of an error is a bug of the caller and asserts.
///
///   Expected<Device> device = Device::open(0);
///   if (!device)
///     return device.takeError();
template <class T> class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() & { return *value(); }
  const T &operator*() const & { return *const_cast<Expected *>(this)->value(); }
  T &&operator*() && { return std::move(*value()); }
  T *operator->() { return value(); }
  const T *operator->() const { return const_cast<Expected *>(this)->value(); }

  const Error &error() const {
    const Error *error = std::get_if<1>(&state);
    assert(error && "this Expected holds a value");
    return *error;
  }
  Error takeError() {
    Error *error = std::get_if<1>(&state);
    assert(error && "this Expected holds a value");
    return std::move(*error);
  }

private:
  T *value() {
    T *value = std::get_if<0>(&state);
    assert(value && "this Expected holds an error");
    return value;
  }
  std::variant<T, Error> state;
};

/// Success, or an Error.  `return success();` is `return {};`.
template <> class [[nodiscard]] Expected<void> {
public:
  Expected() : failed(false) {}
  Expected(Error error) : failure(std::move(error)), failed(true) {}

  explicit operator bool() const { return !failed; }
  const Error &error() const {
    assert(failed && "this Expected holds success");
    return failure;
  }
  Error takeError() {
    assert(failed && "this Expected holds success");
    return std::move(failure);
  }

private:
  Error failure;
  bool failed;
};

using Status = Expected<void>;

} // namespace swage

#endif // SWAGE_SUPPORT_ERROR_H
