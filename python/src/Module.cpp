//===- Module.cpp - swage._swage ------------------------------------------===//
//
// What the package takes from libswage: two callable types and a few functions.  It uses the
// limited API of Python 3.9, so that one file serves every later Python.
//
//===----------------------------------------------------------------------===//
#include "Function.h"

using namespace swage::python;

static PyMethodDef functions[] = {
    {"stats", stats, METH_NOARGS, nullptr},
    {"set_default_device", setDefaultDevice, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                 "swage._swage",
                                 nullptr,
                                 -1,
                                 functions,
                                 nullptr,
                                 nullptr,
                                 nullptr,
                                 nullptr};

PyMODINIT_FUNC PyInit__swage() {
  Ref module{PyModule_Create(&definition)};
  Ref function{PyType_FromSpec(&functionType)}, operation{PyType_FromSpec(&operationType)};
  Ref version = toPython(swageGetVersion());
  if (!module || !function || !operation || !version ||
      PyObject_SetAttrString(module.get(), "Function", function.get()) != 0 ||
      PyObject_SetAttrString(module.get(), "Operation", operation.get()) != 0 ||
      PyObject_SetAttrString(module.get(), "version", version.get()) != 0)
    return nullptr;
  return module.release();
}
