//===- Function.cpp - A program as a Python callable ----------------------===//
//
// Everything but the call itself: parsing and loading, questions about shapes, saving.
//
//===----------------------------------------------------------------------===//
#include "Function.h"

using namespace swage::python;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Runs `work` without the GIL and raises its error.
template <class Work> static bool runUnlocked(Work work) {
  SwageError error;
  {
    Unlocked unlocked;
    error = work();
  }
  return !swageIsError(error) || raise(error);
}

static bool readTypes(FunctionState &state) {
  state.inputs.resize(swageProgramGetInputCount(state.program));
  state.results.resize(swageProgramGetResultCount(state.program));
  for (size_t i = 0; i < state.inputs.size(); ++i) {
    SwageError error = swageProgramGetInputType(state.program, i, &state.inputs[i]);
    if (swageIsError(error))
      return raise(error);
  }
  for (size_t i = 0; i < state.results.size(); ++i) {
    SwageError error = swageProgramGetResultType(state.program, i, &state.results[i]);
    if (swageIsError(error))
      return raise(error);
  }
  return true;
}

/// Function(text, filename, entry, bundle, device, names): a bundle's path, or a module's text.
static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *) {
  PyObject *textObject, *filenameObject, *entryObject, *bundleObject, *deviceObject, *names;
  if (!PyArg_ParseTuple(arguments, "OOOOOO", &textObject, &filenameObject, &entryObject,
                        &bundleObject, &deviceObject, &names))
    return nullptr;
  Ref object{PyType_GenericAlloc(type, 0)};
  if (!object)
    return nullptr;
  auto *state = new FunctionState;
  reinterpret_cast<Function *>(object.get())->state = state;
  if (names != Py_None)
    state->names = Ref::share(names).release();

  SwageContext context{};
  std::string text, filename, entry;
  if (!parseDevice(deviceOrDefault(deviceObject).get(), state->device) ||
      !contextOf(state->device, context))
    return nullptr;
  if (bundleObject != Py_None) {
    if (!toString(bundleObject, text) ||
        !runUnlocked([&] { return swageProgramLoad(context, toRef(text), &state->program); }))
      return nullptr;
  } else {
    if (!toString(textObject, text) || !toString(filenameObject, filename) ||
        !toString(entryObject, entry))
      return nullptr;
    SwageParseOptions options = {};
    options.size = sizeof options;
    options.filename = toRef(filename);
    options.entry = toRef(entry);
    if (!runUnlocked(
            [&] { return swageProgramParse(context, toRef(text), &options, &state->program); }))
      return nullptr;
  }
  return readTypes(*state) ? object.release() : nullptr;
}

static void destroy(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  delete reinterpret_cast<Function *>(object)->state;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DecRef(reinterpret_cast<PyObject *>(type));
}

//===----------------------------------------------------------------------===//
// Shapes as arguments
//===----------------------------------------------------------------------===//

namespace {
/// Sets of one shape for each input.
struct ShapeSets {
  std::vector<SwageShape> shapes;
  size_t setCount = 0;
  std::vector<int64_t> extents;
};
} // namespace

/// From tuples of tuples of tuples of int.
static bool readSets(const FunctionState &state, PyObject *sets, ShapeSets &read) {
  read.setCount = size_t(PyTuple_Size(sets));
  for (size_t set = 0; set < read.setCount; ++set) {
    PyObject *shapes = PyTuple_GetItem(sets, Py_ssize_t(set));
    auto count = size_t(PyTuple_Size(shapes));
    if (count != state.inputs.size())
      return raiseInput("there are " + std::to_string(count) + " shapes; needed: " +
                        std::to_string(state.inputs.size()) + ", one for each input");
    for (size_t i = 0; i < count; ++i) {
      PyObject *shape = PyTuple_GetItem(shapes, Py_ssize_t(i));
      auto rank = size_t(PyTuple_Size(shape));
      for (size_t dim = 0; dim < rank; ++dim)
        read.extents.push_back(PyLong_AsLongLong(PyTuple_GetItem(shape, Py_ssize_t(dim))));
      read.shapes.push_back({nullptr, rank});
    }
    if (PyErr_Occurred())
      return false;
  }
  const int64_t *extents = read.extents.data();
  for (SwageShape &shape : read.shapes) {
    shape.extents = extents;
    extents += shape.rank;
  }
  return true;
}

/// The arguments (ordinal, sets) of the methods below.
static bool readQuestion(PyObject *self, PyObject *arguments, SwageDevice &device,
                         ShapeSets &read) {
  int ordinal;
  PyObject *sets;
  FunctionState &state = stateOf(self);
  if (!PyArg_ParseTuple(arguments, "iO", &ordinal, &sets))
    return false;
  if (state.device.ordinal != DeviceChoice::kOfInputs)
    ordinal = state.device.ordinal;
  return readSets(state, sets, read) && openDevice(state.device, ordinal, device);
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

static PyObject *isReady(PyObject *self, PyObject *arguments) {
  SwageDevice device;
  ShapeSets sets;
  if (!readQuestion(self, arguments, device, sets))
    return nullptr;
  return PyBool_FromLong(swageProgramIsReady(stateOf(self).program, device, sets.shapes.data(),
                                             stateOf(self).inputs.size()));
}

static PyObject *warmup(PyObject *self, PyObject *arguments) {
  SwageDevice device;
  ShapeSets sets;
  if (!readQuestion(self, arguments, device, sets) || !runUnlocked([&] {
        return swageProgramWarmup(stateOf(self).program, device, sets.shapes.data(), sets.setCount);
      }))
    return nullptr;
  return Ref::share(Py_None).release();
}

static PyObject *explain(PyObject *self, PyObject *arguments) {
  SwageDevice device;
  ShapeSets sets;
  SwageExplanation explanation;
  if (!readQuestion(self, arguments, device, sets) || !runUnlocked([&] {
        return swageProgramExplain(stateOf(self).program, device, sets.shapes.data(),
                                   stateOf(self).inputs.size(), &explanation);
      }))
    return nullptr;
  Ref guards = toPython(swageExplanationGetGuards(explanation)),
      reason = toPython(swageExplanationGetReason(explanation)),
      text = toPython(swageExplanationGetText(explanation));
  PyObject *hasPlan = swageExplanationHasPlan(explanation) ? Py_True : Py_False;
  PyObject *hasVariant = swageExplanationHasVariant(explanation) ? Py_True : Py_False;
  swageExplanationDestroy(explanation);
  if (!guards || !reason || !text)
    return nullptr;
  return Py_BuildValue("OOOOO", hasPlan, hasVariant, guards.get(), reason.get(), text.get());
}

static PyObject *save(PyObject *self, PyObject *arguments) {
  PyObject *pathObject, *archsObject, *setsObject;
  std::string path;
  ShapeSets sets;
  if (!PyArg_ParseTuple(arguments, "OOO", &pathObject, &archsObject, &setsObject) ||
      !toString(pathObject, path) || !readSets(stateOf(self), setsObject, sets))
    return nullptr;
  std::vector<std::string> archs(size_t(PyTuple_Size(archsObject)));
  std::vector<SwageStringRef> archRefs;
  for (size_t i = 0; i < archs.size(); ++i) {
    if (!toString(PyTuple_GetItem(archsObject, Py_ssize_t(i)), archs[i]))
      return nullptr;
    archRefs.push_back(toRef(archs[i]));
  }
  if (!runUnlocked([&] {
        return swageProgramSave(stateOf(self).program, toRef(path), archRefs.data(),
                                archRefs.size(), sets.shapes.data(), sets.setCount);
      }))
    return nullptr;
  return Ref::share(Py_None).release();
}

static Ref toPython(const SwageKernelInfo &kernel) {
  Ref dict{PyDict_New()};
  auto set = [&](const char *name, Ref value) {
    if (dict && (!value || PyDict_SetItemString(dict.get(), name, value.get()) != 0))
      dict = Ref();
  };
  auto text = [&](const char *name, SwageStringRef value) { set(name, toPython(value)); };
  auto number = [&](const char *name, uint32_t value) {
    set(name, Ref(PyLong_FromUnsignedLong(value)));
  };
  text("name", kernel.name);
  text("family", kernel.family);
  text("schedule", kernel.schedule);
  text("source", kernel.source);
  text("ptx", kernel.ptx);
  text("sass", kernel.sass);
  text("sass_problem", kernel.sassProblem);
  text("log", kernel.log);
  set("image", Ref(PyBytes_FromStringAndSize(kernel.image.data, Py_ssize_t(kernel.image.length))));
  text("key", kernel.key);
  number("threads", kernel.threads);
  number("index_bits", kernel.indexBits);
  number("registers", kernel.registers);
  number("spill_bytes", kernel.spillBytes);
  number("shared_bytes", kernel.sharedBytes);
  return dict;
}

/// ([(pass, ir), ...], [kernel, ...], lower, compile).
static Ref toPython(SwageArtifact artifact) {
  Ref passes{PyList_New(0)}, kernels{PyList_New(0)};
  auto append = [](const Ref &list, Ref item) {
    return list && item && PyList_Append(list.get(), item.get()) == 0;
  };
  for (size_t i = 0; i < swageArtifactGetPassCount(artifact); ++i) {
    SwagePass pass;
    SwageError error = swageArtifactGetPass(artifact, i, &pass);
    if (swageIsError(error))
      return Ref(raise(error));
    Ref name = toPython(pass.name), ir = toPython(pass.ir);
    if (!name || !ir || !append(passes, Ref(PyTuple_Pack(2, name.get(), ir.get()))))
      return {};
  }
  for (size_t i = 0; i < swageArtifactGetKernelCount(artifact); ++i) {
    SwageKernelInfo kernel = {};
    kernel.size = sizeof kernel;
    SwageError error = swageArtifactGetKernel(artifact, i, &kernel);
    if (swageIsError(error))
      return Ref(raise(error));
    if (!append(kernels, toPython(kernel)))
      return {};
  }
  if (!passes || !kernels)
    return {};
  return Ref(Py_BuildValue("OOdd", passes.get(), kernels.get(),
                           swageArtifactGetLowerMilliseconds(artifact),
                           swageArtifactGetCompileMilliseconds(artifact)));
}

static PyObject *artifact(PyObject *self, PyObject *arguments) {
  SwageDevice device;
  ShapeSets sets;
  SwageArtifact artifact;
  if (!readQuestion(self, arguments, device, sets) || !runUnlocked([&] {
        return swageProgramGetArtifact(stateOf(self).program, device, sets.shapes.data(),
                                       stateOf(self).inputs.size(), &artifact);
      }))
    return nullptr;
  Ref result = toPython(artifact);
  swageArtifactDestroy(artifact);
  return result.release();
}

/// [(element, (extent or None, ...)), ...]
static PyObject *listTypes(const std::vector<SwageTensorType> &types) {
  Ref list{PyList_New(0)};
  for (const SwageTensorType &type : types) {
    Ref shape{PyTuple_New(Py_ssize_t(type.rank))};
    for (unsigned dim = 0; shape && dim < type.rank; ++dim)
      PyTuple_SetItem(shape.get(), Py_ssize_t(dim),
                      type.shape[dim] == SWAGE_DYNAMIC ? Ref::share(Py_None).release()
                                                       : PyLong_FromLongLong(type.shape[dim]));
    Ref pair{shape ? Py_BuildValue("sO", swageElementGetName(type.elementType).data, shape.get())
                   : nullptr};
    if (!list || !pair || PyList_Append(list.get(), pair.get()) != 0)
      return nullptr;
  }
  return list.release();
}

static PyObject *types(PyObject *self, PyObject *) {
  Ref inputs{listTypes(stateOf(self).inputs)}, results{listTypes(stateOf(self).results)};
  return inputs && results ? PyTuple_Pack(2, inputs.get(), results.get()) : nullptr;
}

PyMethodDef swage::python::functionMethods[] = {{"_is_ready", isReady, METH_VARARGS, nullptr},
                                                {"_warmup", warmup, METH_VARARGS, nullptr},
                                                {"_explain", explain, METH_VARARGS, nullptr},
                                                {"_save", save, METH_VARARGS, nullptr},
                                                {"_artifact", artifact, METH_VARARGS, nullptr},
                                                {"_types", types, METH_NOARGS, nullptr},
                                                {nullptr, nullptr, 0, nullptr}};

static PyType_Slot functionSlots[] = {{Py_tp_new, reinterpret_cast<void *>(create)},
                                      {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
                                      {Py_tp_call, reinterpret_cast<void *>(call)},
                                      {Py_tp_methods, functionMethods},
                                      {0, nullptr}};

PyType_Spec swage::python::functionType = {"swage._swage.Function", sizeof(Function), 0,
                                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, functionSlots};
