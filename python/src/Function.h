//===- Function.h - A program as a Python callable ------------------------===//
#ifndef SWAGE_PYTHON_FUNCTION_H
#define SWAGE_PYTHON_FUNCTION_H

#include "Devices.h"
#include "Tensors.h"

#include <memory>

namespace swage::python {

/// What a call needs to know about shapes and alignments that were seen before.
struct CallEntry {
  std::vector<int64_t> key;           ///< device, alignments, extents of the inputs
  std::vector<int64_t> resultExtents; ///< of all results, one after another
  uint64_t workspaceBytes = 0;
};

/// For tables that are direct-mapped by their keys.
inline size_t hashOf(const std::vector<int64_t> &key) {
  uint64_t hash = 0;
  for (int64_t value : key)
    hash = (hash ^ uint64_t(value)) * 0x9e3779b97f4a7c15u;
  return size_t(hash >> 32);
}

struct FunctionState {
  ~FunctionState() {
    swageProgramDestroy(program);
    Py_DecRef(names);
  }

  SwageProgram program{};
  DeviceChoice device;
  PyObject *names = nullptr; ///< of the inputs, for messages: a tuple of str, or null
  std::vector<SwageTensorType> inputs, results;
  /// Direct-mapped; a collision costs a few lookups in the program.
  /// Shared, because another thread may replace one while an allocation runs Python code.
  std::vector<std::shared_ptr<const CallEntry>> entries{256};
};

struct Function {
  PyObject_HEAD FunctionState *state;
};

inline FunctionState &stateOf(PyObject *function) {
  return *reinterpret_cast<Function *>(function)->state;
}

/// function(*inputs, out=None, stream=None).
PyObject *call(PyObject *function, PyObject *arguments, PyObject *options);

/// The same; of the inputs' views `object` is set.  None or null: no `out`, no `stream`.
PyObject *run(FunctionState &function, std::vector<View> inputs, PyObject *out, PyObject *stream);

/// Methods other than the call.
extern PyMethodDef functionMethods[];
extern PyType_Spec functionType;

/// Operation.cpp
extern PyType_Spec operationType;

} // namespace swage::python

#endif // SWAGE_PYTHON_FUNCTION_H
