//===- Support.h - References, errors and the GIL -------------------------===//
#ifndef SWAGE_PYTHON_SUPPORT_H
#define SWAGE_PYTHON_SUPPORT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "swage-c/Swage.h"

#include <string>
#include <string_view>
#include <utility>

namespace swage::python {

/// Owns a reference; null after a Python exception.  Counts through functions: the macros of an
/// older Python than the one that runs do not know objects that are immortal.
class Ref {
public:
  Ref() = default;
  explicit Ref(PyObject *owned) : object(owned) {}
  static Ref share(PyObject *borrowed) {
    Py_IncRef(borrowed);
    return Ref(borrowed);
  }
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() { Py_DecRef(object); }

  PyObject *get() const { return object; }
  PyObject *release() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object != nullptr; }

private:
  PyObject *object = nullptr;
};

/// Lets other Python threads run while it lives.
class Unlocked {
public:
  Unlocked() : state(PyEval_SaveThread()) {}
  ~Unlocked() { PyEval_RestoreThread(state); }
  Unlocked(const Unlocked &) = delete;

private:
  PyThreadState *state;
};

/// Raises swage.Error and takes the error over.  Gives null, for `return raise(error);`.
PyObject *raise(SwageError error);
/// Raises swage.Error of stage "input".
PyObject *raiseInput(const std::string &message);

/// An attribute of a Python module of the package, such as "swage._arrays" "empty"; looked up once
/// into `cache`.  Borrowed.
PyObject *packageFunction(const char *module, const char *name, PyObject *&cache);

Ref toPython(SwageStringRef text);
inline SwageStringRef toRef(std::string_view text) { return {text.data(), text.size()}; }
/// UTF-8; false after an exception where `object` is no str.
bool toString(PyObject *object, std::string &text);
/// "numpy.ndarray", for messages.
std::string typeName(PyObject *object);

} // namespace swage::python

#endif // SWAGE_PYTHON_SUPPORT_H
