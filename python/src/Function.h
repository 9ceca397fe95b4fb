//===- Function.h - A program as a Python callable ------------------------===//
#ifndef SWAGE_PYTHON_FUNCTION_H
#define SWAGE_PYTHON_FUNCTION_H

#include "Devices.h"

#include <vector>

namespace swage::python {

/// What a call needs to know about shapes and alignments that were seen before.
struct CallEntry {
  std::vector<int64_t> key;           ///< device, alignments, extents of the inputs
  std::vector<int64_t> resultExtents; ///< of all results, one after another
  uint64_t workspaceBytes = 0;
};

struct FunctionState {
  ~FunctionState() {
    swageProgramDestroy(program);
    Py_DecRef(names);
  }

  SwageProgram program{};
  DeviceChoice device;
  PyObject *names = nullptr; ///< of the inputs, for messages: a tuple of str, or null
  std::vector<SwageTensorType> inputs, results;
  /// Direct-mapped by a hash of the key; a collision costs a few lookups in the program.
  std::vector<CallEntry> entries = std::vector<CallEntry>(256);
};

struct Function {
  PyObject_HEAD FunctionState *state;
};

inline FunctionState &stateOf(PyObject *function) {
  return *reinterpret_cast<Function *>(function)->state;
}

/// function(*inputs, out=None, stream=None).
PyObject *call(PyObject *function, PyObject *arguments, PyObject *options);

/// Methods other than the call.
extern PyMethodDef functionMethods[];
extern PyType_Spec functionType;

} // namespace swage::python

#endif // SWAGE_PYTHON_FUNCTION_H
