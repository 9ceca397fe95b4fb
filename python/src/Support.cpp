//===- Support.cpp - References, errors and the GIL -----------------------===//
#include "Support.h"

using namespace swage::python;

static const char *stageName(SwageStage stage) {
  static const char *const names[] = {"input", "parse", "verify", "lower", "compile",
                                      "cache", "load",  "launch", "run"};
  return unsigned(stage) < sizeof names / sizeof *names ? names[stage] : "unknown";
}

PyObject *swage::python::packageFunction(const char *module, const char *name, PyObject *&cache) {
  if (!cache)
    if (Ref imported{PyImport_ImportModule(module)})
      cache = PyObject_GetAttrString(imported.get(), name);
  return cache;
}

static PyObject *raiseError(const char *stage, Ref message, Ref log, Ref source, Ref reproduce,
                            Ref text) {
  static PyObject *errorClass;
  if (!packageFunction("swage._errors", "Error", errorClass) || !message || !log || !source ||
      !reproduce || !text)
    return nullptr;
  Ref error{PyObject_CallFunction(errorClass, "OsOOOO", message.get(), stage, log.get(),
                                  source.get(), reproduce.get(), text.get())};
  if (error)
    PyErr_SetObject(errorClass, error.get());
  return nullptr;
}

PyObject *swage::python::raise(SwageError error) {
  raiseError(stageName(swageErrorGetStage(error)), toPython(swageErrorGetMessage(error)),
             toPython(swageErrorGetLog(error)), toPython(swageErrorGetSourcePath(error)),
             toPython(swageErrorGetReproduce(error)), toPython(swageErrorGetText(error)));
  swageErrorDestroy(error);
  return nullptr;
}

PyObject *swage::python::raiseInput(const std::string &message) {
  auto empty = [] { return toPython(toRef("")); };
  return raiseError("input", toPython(toRef(message)), empty(), empty(), empty(),
                    toPython(toRef("input error: " + message)));
}

Ref swage::python::toPython(SwageStringRef text) {
  return Ref(PyUnicode_DecodeUTF8(text.data ? text.data : "", Py_ssize_t(text.length), "replace"));
}

bool swage::python::toString(PyObject *object, std::string &text) {
  Ref bytes{PyUnicode_AsUTF8String(object)};
  char *data;
  Py_ssize_t length;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &data, &length) != 0)
    return false;
  text.assign(data, size_t(length));
  return true;
}

std::string swage::python::typeName(PyObject *object) {
  PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  std::string module, name;
  Ref moduleName{PyObject_GetAttrString(type, "__module__")};
  Ref qualifiedName{PyObject_GetAttrString(type, "__qualname__")};
  if (!moduleName || !toString(moduleName.get(), module) || !qualifiedName ||
      !toString(qualifiedName.get(), name)) {
    PyErr_Clear();
    return "an object";
  }
  return module == "builtins" ? name : module + "." + name;
}
