//===- Call.cpp - Tensors in, kernels launched, tensors out ---------------===//
//
// The way of a call: read the inputs, look up what their shapes lead to, have the results
// allocated, run.  With shapes that were seen before this takes no Python call but those of the
// library that allocates.  The GIL is let go where something may be compiled and while the
// simulator runs; a launch is shorter than letting go.
//
//===----------------------------------------------------------------------===//
#include "Function.h"

#include <cstdlib>

using namespace swage::python;

namespace {
class Call {
public:
  Call(FunctionState &state, std::vector<View> inputs, PyObject *out, PyObject *stream)
      : state(state), out(out == Py_None ? nullptr : out),
        requestedStream(stream == Py_None ? nullptr : stream), inputs(std::move(inputs)) {}

  bool readInputs();
  bool findEntry();
  bool prepareOutputs();
  bool prepareWorkspace();
  bool run();
  PyObject *results();

private:
  ArgumentName inputName(size_t index) const { return {"input", index, state.names}; }
  bool checkDevice(const View &view, const ArgumentName &name);
  bool chooseStream();
  bool checkType(const View &view, const SwageTensorType &type, const ArgumentName &name) const;
  bool readOutput(PyObject *object, size_t index);
  bool makeEntry(CallEntry &entry);
  bool makePlan(SwagePlan &plan);
  const View *allocator() const;
  std::vector<SwageShape> shapes() const;
  SwageError launch(const std::vector<SwageTensor> &tensors, void *memory);
  SwageError launchChecked(const std::vector<SwageTensor> &tensors);

  FunctionState &state;
  PyObject *out;             ///< borrowed; null: results are allocated
  PyObject *requestedStream; ///< borrowed, or null
  std::vector<View> inputs, outputs;
  std::vector<Ref> owned; ///< results, in order
  SwageDevice device{};
  int ordinal = DeviceChoice::kOfInputs;
  SwageStream stream = nullptr;
  bool isCapturing = false; ///< known when an entry was made
  std::vector<int64_t> key;
  std::shared_ptr<const CallEntry> entry;
  Ref workspaceOwner;
  std::unique_ptr<void, decltype(&std::free)> hostWorkspace{nullptr, &std::free};
  void *workspace = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static bool readOptions(PyObject *options, PyObject *&out, PyObject *&stream) {
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (options && PyDict_Next(options, &position, &key, &value)) {
    if (PyUnicode_CompareWithASCIIString(key, "out") == 0) {
      out = value;
    } else if (PyUnicode_CompareWithASCIIString(key, "stream") == 0) {
      stream = value;
    } else {
      PyErr_Format(PyExc_TypeError, "unexpected keyword argument '%U'; needed: out or stream", key);
      return false;
    }
  }
  return true;
}

bool Call::checkDevice(const View &view, const ArgumentName &name) {
  if (state.device.isSimulator) {
    if (view.isOnHost)
      return true;
    return raiseInput(name.str() + " is on CUDA device " + std::to_string(view.ordinal) +
                      "; needed: memory of the host, since the device is the simulator");
  }
  if (view.isOnHost)
    return raiseInput(name.str() + " is in memory of the host; needed: memory of a CUDA device, or "
                                   "device='sim' for the simulator");
  if (ordinal == DeviceChoice::kOfInputs)
    ordinal = view.ordinal;
  if (ordinal == view.ordinal)
    return true;
  return raiseInput(name.str() + " is on CUDA device " + std::to_string(view.ordinal) +
                    "; needed: device " + std::to_string(ordinal));
}

bool Call::checkType(const View &view, const SwageTensorType &type,
                     const ArgumentName &name) const {
  bool fits = view.element == type.elementType && view.rank == type.rank;
  for (unsigned dim = 0; fits && dim < type.rank; ++dim)
    fits = type.shape[dim] == SWAGE_DYNAMIC || type.shape[dim] == view.shape[dim];
  if (!fits)
    return raiseInput(name.str() + " is " + describe(view.element, view.shape, view.rank) +
                      "; needed: " + describe(type.elementType, type.shape, type.rank));
  if (!view.isContiguous())
    return raiseInput(name.str() + " has gaps or another order in memory; needed: row-major "
                                   "without gaps, as .contiguous() or ascontiguousarray gives");
  return true;
}

bool Call::chooseStream() {
  if (requestedStream) {
    static PyObject *addressOf;
    if (!packageFunction("swage._arrays", "stream_address", addressOf))
      return false;
    Ref address{PyObject_CallFunctionObjArgs(addressOf, requestedStream, nullptr)};
    stream = address ? static_cast<SwageStream>(PyLong_AsVoidPtr(address.get())) : nullptr;
    if (PyErr_Occurred())
      return false;
    if (stream && state.device.isSimulator)
      return raiseInput("a stream was given; needed: none, since the device is the simulator");
    return true;
  }
  return state.device.isSimulator || inputs.empty() || currentStream(inputs.front(), stream);
}

bool Call::readInputs() {
  size_t count = inputs.size();
  if (count != state.inputs.size())
    return raiseInput("the call has " + std::to_string(count) +
                      " inputs; needed: " + std::to_string(state.inputs.size()));
  ordinal = state.device.ordinal;
  size_t keyed = 1 + count;
  for (size_t i = 0; i < count; ++i) {
    View &view = inputs[i];
    if ((!view.type.type && !readTensor(view.object, inputName(i), view)) ||
        !checkDevice(view, inputName(i)) || !checkNoGradient(view, inputName(i)))
      return false;
    keyed += state.inputs[i].rank;
  }
  if (!state.device.isSimulator && ordinal == DeviceChoice::kOfInputs)
    ordinal = 0;
  if (!checkNotForked() || !openDevice(state.device, ordinal, device) || !chooseStream())
    return false;

  key.reserve(keyed + state.results.size());
  key.push_back(ordinal);
  for (size_t i = 0; i < count; ++i) {
    View &view = inputs[i];
    if (view.type.access == Access::Capsule && !view.isOnHost &&
        !readCapsule(inputName(i), stream, view))
      return false;
    if (!checkType(view, state.inputs[i], inputName(i)))
      return false;
    // The legacy default stream is 0 here and 1 there.
    if (view.hasStream && !state.device.isSimulator &&
        (view.stream == 1 ? 0 : view.stream) != reinterpret_cast<uintptr_t>(stream)) {
      SwageError error;
      {
        Unlocked unlocked; // what the stream waits for may be a callback in Python
        error = swageDeviceSynchronizeStream(
            device, reinterpret_cast<SwageStream>(view.stream == 1 ? 0 : view.stream));
      }
      if (swageIsError(error))
        return raise(error);
    }
    key.push_back(view.alignment());
    key.insert(key.end(), view.shape, view.shape + view.rank);
  }
  return true;
}

std::vector<SwageShape> Call::shapes() const {
  std::vector<SwageShape> shapes;
  for (const View &view : inputs)
    shapes.push_back({view.shape, view.rank});
  return shapes;
}

//===----------------------------------------------------------------------===//
// What the shapes lead to
//===----------------------------------------------------------------------===//

/// Compiles what is missing, but not while the stream is being captured.
bool Call::makePlan(SwagePlan &plan) {
  std::vector<uint8_t> alignments;
  for (const View &view : inputs)
    alignments.push_back(view.alignment());
  for (size_t i = 0; i < state.results.size(); ++i)
    alignments.push_back(i < outputs.size() ? outputs[i].alignment() : 16);
  std::vector<SwageShape> extents = shapes();
  SwagePlanOptions options = {};
  options.size = sizeof options;
  options.alignment = alignments.data();
  options.alignmentCount = alignments.size();
  SwageError error;
  {
    Unlocked unlocked;
    error = swageDeviceIsCapturing(device, stream, &isCapturing);
    if (!swageIsError(error)) {
      // Blocking takes the kernels made for these shapes, CachedOnly any that will do.
      options.mode = isCapturing ? SwagePlanCachedOnly : SwagePlanBlocking;
      error =
          swageProgramPlan(state.program, device, extents.data(), extents.size(), &options, &plan);
    }
  }
  return !swageIsError(error) || raise(error);
}

bool Call::makeEntry(CallEntry &made) {
  SwagePlan plan{};
  if (!makePlan(plan))
    return false;
  made.key = key;
  made.workspaceBytes = swagePlanGetWorkspaceBytes(plan);
  swagePlanDestroy(plan);
  size_t count = 0;
  for (const SwageTensorType &result : state.results)
    count += result.rank;
  made.resultExtents.resize(count);
  std::vector<SwageShape> extents = shapes();
  SwageError error;
  {
    Unlocked unlocked;
    error = swageProgramGetResultShapes(state.program, device, extents.data(), extents.size(),
                                        made.resultExtents.data(), count);
  }
  return !swageIsError(error) || raise(error);
}

bool Call::findEntry() {
  // Results that we allocate are aligned; those of the caller are part of the key.
  if (out) {
    bool isTuple = PyTuple_Check(out) || PyList_Check(out);
    auto given = size_t(isTuple ? PySequence_Size(out) : 1);
    if (given != state.results.size())
      return raiseInput("out has " + std::to_string(given) +
                        " tensors; needed: " + std::to_string(state.results.size()));
    outputs.resize(given);
    for (size_t i = 0; i < given; ++i) {
      owned.push_back(isTuple ? Ref(PySequence_GetItem(out, Py_ssize_t(i))) : Ref::share(out));
      if (!owned.back() || !readOutput(owned.back().get(), i))
        return false;
      key.push_back(outputs[i].alignment());
    }
  }
  size_t slot = hashOf(key) % state.entries.size();
  entry = state.entries[slot];
  if (entry && entry->key == key)
    return true;
  auto made = std::make_shared<CallEntry>();
  if (!makeEntry(*made))
    return false;
  entry = made;
  // Once nothing is captured, other kernels may serve and need another workspace.
  if (!isCapturing)
    state.entries[slot] = entry;
  return true;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool Call::readOutput(PyObject *object, size_t index) {
  View &view = outputs[index];
  ArgumentName name{out ? "out" : "result", index, nullptr};
  if (!readTensor(object, name, view) || !checkDevice(view, name) ||
      (view.type.access == Access::Capsule && !view.isOnHost && !readCapsule(name, stream, view)) ||
      !checkType(view, state.results[index], name) || (out && !checkNoGradient(view, name)))
    return false;
  if (view.isReadOnly)
    return raiseInput(name.str() + " is read-only");
  return true;
}

bool Call::prepareOutputs() {
  const int64_t *extents = entry->resultExtents.data();
  if (!out)
    outputs.resize(state.results.size());
  for (size_t i = 0; i < state.results.size(); ++i) {
    const SwageTensorType &type = state.results[i];
    if (!out) {
      const View *like = allocator();
      if (!like)
        return raiseInput("there is no way to allocate the results: " +
                          (inputs.empty() ? "there are no inputs"
                                          : "the inputs are " + typeName(inputs[0].object)) +
                          "; needed: out=, or inputs of torch, CuPy, Numba or numpy");
      owned.push_back(allocate(*like, type.elementType, extents, type.rank));
      if (!owned.back() || !readOutput(owned.back().get(), i))
        return false;
    }
    for (unsigned dim = 0; dim < type.rank; ++dim)
      if (outputs[i].shape[dim] != extents[dim])
        return raiseInput("out " + std::to_string(i) + " is " +
                          describe(outputs[i].element, outputs[i].shape, outputs[i].rank) +
                          "; needed: " + describe(type.elementType, extents, type.rank));
    extents += type.rank;
  }
  return true;
}

/// The first tensor whose library makes others; the inputs are asked first.
const View *Call::allocator() const {
  for (const std::vector<View> *views : {&inputs, &outputs})
    for (const View &view : *views)
      if (view.type.canAllocate)
        return &view;
  return nullptr;
}

/// From the library that allocates results, for each call: what it frees it reuses in the order of
/// the stream, and under capture it belongs to the graph.
bool Call::prepareWorkspace() {
  constexpr size_t kAlignment = 256;
  if (entry->workspaceBytes == 0)
    return true;
  if (state.device.isSimulator) {
    size_t bytes = (entry->workspaceBytes + kAlignment - 1) / kAlignment * kAlignment;
    hostWorkspace.reset(std::aligned_alloc(kAlignment, bytes));
    workspace = hostWorkspace.get();
    if (!workspace)
      PyErr_NoMemory();
    return workspace != nullptr;
  }
  const View *like = allocator();
  if (!like)
    return raiseInput("there is no way to allocate " + std::to_string(entry->workspaceBytes) +
                      " bytes of workspace; needed: an input or out= of torch, CuPy or Numba");
  auto bytes = int64_t(entry->workspaceBytes);
  workspaceOwner = allocate(*like, SwageElementI8, &bytes, 1);
  ArgumentName name{"workspace", 0, nullptr};
  View view;
  if (!workspaceOwner || !readTensor(workspaceOwner.get(), name, view) ||
      (view.type.access == Access::Capsule && !readCapsule(name, stream, view)))
    return false;
  workspace = view.data;
  return true;
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

SwageError Call::launch(const std::vector<SwageTensor> &tensors, void *memory) {
  return swageProgramRun(state.program, device, stream, tensors.data(), inputs.size(),
                         tensors.data() + inputs.size(), outputs.size(), memory,
                         entry->workspaceBytes);
}

/// A simulator that checks knows the bounds of its own memory only.
SwageError Call::launchChecked(const std::vector<SwageTensor> &tensors) {
  std::vector<void *> memory(tensors.size() + 1);
  std::vector<uint64_t> bytes;
  for (const SwageTensor &tensor : tensors) {
    bytes.push_back(swageElementGetBytes(tensor.elementType));
    for (unsigned dim = 0; dim < tensor.rank; ++dim)
      bytes.back() *= uint64_t(tensor.shape[dim]);
  }
  bytes.push_back(entry->workspaceBytes);

  SwageError error = {};
  for (size_t i = 0; !swageIsError(error) && i < bytes.size(); ++i) {
    if (bytes[i] != 0)
      error = swageDeviceAllocate(device, bytes[i], &memory[i]);
    if (!swageIsError(error) && i < inputs.size() && bytes[i] != 0)
      error = swageDeviceCopyToDevice(device, memory[i], tensors[i].data, bytes[i]);
  }
  std::vector<SwageTensor> copies = tensors;
  for (size_t i = 0; i < copies.size(); ++i)
    copies[i].data = memory[i];
  if (!swageIsError(error))
    error = launch(copies, memory.back());
  for (size_t i = inputs.size(); !swageIsError(error) && i < tensors.size(); ++i)
    if (bytes[i] != 0)
      error = swageDeviceCopyToHost(device, tensors[i].data, memory[i], bytes[i]);
  for (void *one : memory) {
    SwageError freed = one ? swageDeviceFree(device, one) : SwageError{};
    if (swageIsError(error))
      swageErrorDestroy(freed);
    else
      error = freed;
  }
  return error;
}

bool Call::run() {
  std::vector<SwageTensor> tensors;
  tensors.reserve(inputs.size() + outputs.size());
  for (const std::vector<View> *views : {&inputs, &outputs})
    for (const View &view : *views)
      tensors.push_back({view.data, view.element, view.rank, view.shape, nullptr});
  SwageError error;
  if (state.device.isSimulator) {
    Unlocked unlocked;
    error =
        state.device.simulatorOptions.empty() ? launch(tensors, workspace) : launchChecked(tensors);
  } else {
    error = launch(tensors, workspace);
  }
  if (swageIsError(error))
    return raise(error);
  // What autograd kept of a tensor that was written is no longer what it was.
  static PyObject *written;
  for (const View &view : outputs)
    if (out && view.type.isTorch) {
      if (!packageFunction("swage._arrays", "mark_written", written) ||
          !Ref(PyObject_CallFunctionObjArgs(written, view.object, nullptr)))
        return false;
    }
  return true;
}

PyObject *Call::results() {
  if (owned.size() == 1)
    return owned[0].release();
  Ref tuple{PyTuple_New(Py_ssize_t(owned.size()))};
  for (size_t i = 0; tuple && i < owned.size(); ++i)
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), owned[i].release());
  return tuple.release();
}

PyObject *swage::python::run(FunctionState &function, std::vector<View> inputs, PyObject *out,
                             PyObject *stream) {
  Call call(function, std::move(inputs), out, stream);
  if (!call.readInputs() || !call.findEntry() || !call.prepareOutputs() ||
      !call.prepareWorkspace() || !call.run())
    return nullptr;
  return call.results();
}

PyObject *swage::python::call(PyObject *function, PyObject *arguments, PyObject *options) {
  PyObject *out = nullptr, *stream = nullptr;
  if (!readOptions(options, out, stream))
    return nullptr;
  std::vector<View> inputs(size_t(PyTuple_Size(arguments)));
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs[i].object = PyTuple_GetItem(arguments, Py_ssize_t(i));
  return run(stateOf(function), std::move(inputs), out, stream);
}
