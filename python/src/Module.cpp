//===- Module.cpp - swage._swage ------------------------------------------===//
//
// What the package takes from libswage: a callable type and a few functions.  It uses the limited
// API of Python 3.9, so that one file serves every later Python.
//
//===----------------------------------------------------------------------===//
#include "Function.h"
#include "Tensors.h"

using namespace swage::python;

static PyMethodDef functions[] = {
    {"stats", stats, METH_NOARGS, nullptr},
    {"signature", signature, METH_O, nullptr},
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
  Ref type{PyType_FromSpec(&functionType)};
  Ref version = toPython(swageGetVersion());
  if (!module || !type || !version ||
      PyObject_SetAttrString(module.get(), "Function", type.get()) != 0 ||
      PyObject_SetAttrString(module.get(), "version", version.get()) != 0)
    return nullptr;
  return module.release();
}
