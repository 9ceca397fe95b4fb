//===- Operation.cpp - Functions found by what their graphs depend on -----===//
//
// An operation of swage.ops is a graph for each type and shape of its first input and for each
// value of what is no tensor.  Python code makes the functions; here those that were used before
// are found again, without a line of Python.
//
//===----------------------------------------------------------------------===//
#include "Function.h"

using namespace swage::python;

namespace {
/// What the function of a call depends on.
struct Question {
  /// Element type and extents of the first input, which inputs there are, the hash of `details`.
  std::vector<int64_t> key;
  Ref details; ///< a tuple: what is no tensor, and the device
};

struct Answer {
  Question question;
  Ref function;
};

struct OperationState {
  Ref make;
  size_t inputCount = 1;
  /// Direct-mapped; a collision costs a call of `make`.  Shared, because comparing details may run
  /// Python code, during which another thread replaces an answer.
  std::vector<std::shared_ptr<const Answer>> answers{256};
};

struct Operation {
  PyObject_HEAD OperationState *state;
};
} // namespace

/// Operation(make, inputs=1): make(element, shape, *other inputs, *details, device) gives the
/// function for a first input of this type and shape.
static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *options) {
  static char makeName[] = "make", inputsName[] = "inputs";
  static char *names[] = {makeName, inputsName, nullptr};
  PyObject *make;
  unsigned inputCount = 1;
  if (!PyArg_ParseTupleAndKeywords(arguments, options, "O|I", names, &make, &inputCount))
    return nullptr;
  if (inputCount == 0 || inputCount > 16) {
    PyErr_Format(PyExc_ValueError, "inputs is %u; needed: 1 to 16", inputCount);
    return nullptr;
  }
  Ref object{PyType_GenericAlloc(type, 0)};
  if (!object)
    return nullptr;
  auto *state = new OperationState;
  state->make = Ref::share(make);
  state->inputCount = inputCount;
  reinterpret_cast<Operation *>(object.get())->state = state;
  return object.release();
}

static void destroy(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  delete reinterpret_cast<Operation *>(object)->state;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DecRef(reinterpret_cast<PyObject *>(type));
}

/// Lists count as tuples, so that what is remembered does not change.
static Ref readDetails(PyObject *arguments, Py_ssize_t begin, Py_ssize_t device) {
  Ref details{PyTuple_GetSlice(arguments, begin, device + 1)};
  for (Py_ssize_t i = 0; details && i <= device - begin; ++i) {
    PyObject *detail = PyTuple_GetItem(details.get(), i);
    Ref lasting;
    if (i == device - begin)
      lasting = deviceOrDefault(detail);
    else if (PyList_Check(detail))
      lasting = Ref(PyList_AsTuple(detail));
    else
      continue;
    if (!lasting)
      return {};
    PyTuple_SetItem(details.get(), i, lasting.release());
  }
  return details;
}

static bool isSame(const Question &left, const Question &right) {
  if (left.key != right.key)
    return false;
  int isSame = PyObject_RichCompareBool(left.details.get(), right.details.get(), Py_EQ);
  PyErr_Clear();
  return isSame == 1;
}

/// Asks Python.
static Ref makeFunction(const OperationState &state, const View &first, PyObject *arguments,
                        const Question &question) {
  Py_ssize_t detailCount = PyTuple_Size(question.details.get());
  Ref all{PyTuple_New(Py_ssize_t(state.inputCount) + 1 + detailCount)};
  Ref element = toPython(toRef(swageElementGetName(first.element).data)),
      shape = toTuple(first.shape, first.rank);
  if (!all || !element || !shape)
    return {};
  Py_ssize_t at = 0;
  auto append = [&](Ref item) { PyTuple_SetItem(all.get(), at++, item.release()); };
  append(std::move(element));
  append(std::move(shape));
  for (size_t i = 1; i < state.inputCount; ++i)
    append(Ref::share(PyTuple_GetItem(arguments, Py_ssize_t(i))));
  for (Py_ssize_t i = 0; i < detailCount; ++i)
    append(Ref::share(PyTuple_GetItem(question.details.get(), i)));
  Ref function{PyObject_CallObject(state.make.get(), all.get())};
  static PyObject *functionClass;
  if (!function || !packageFunction("swage._swage", "Function", functionClass))
    return {};
  int isFunction = PyObject_IsInstance(function.get(), functionClass);
  if (isFunction == 0)
    PyErr_SetString(PyExc_TypeError, "an operation was given no function");
  return isFunction == 1 ? std::move(function) : Ref();
}

/// operation(*inputs, *details, device, out, stream), with None for inputs that are left out.
static PyObject *callOperation(PyObject *self, PyObject *arguments, PyObject *) {
  OperationState &state = *reinterpret_cast<Operation *>(self)->state;
  Py_ssize_t size = PyTuple_Size(arguments), device = size - 3;
  auto inputCount = Py_ssize_t(state.inputCount);
  if (device < inputCount) {
    PyErr_Format(PyExc_TypeError, "an operation takes %zd arguments or more, not %zd",
                 inputCount + 3, size);
    return nullptr;
  }

  std::vector<View> inputs;
  inputs.reserve(state.inputCount);
  View &first = inputs.emplace_back();
  if (!readTypeAndShape(PyTuple_GetItem(arguments, 0), {"input", 0, nullptr}, first))
    return nullptr;
  Question question;
  question.key.reserve(size_t(size) + first.rank);
  question.key.push_back(first.element);
  for (Py_ssize_t i = 0; i < inputCount; ++i) {
    PyObject *input = PyTuple_GetItem(arguments, i);
    question.key.push_back(input != Py_None);
    if (i > 0 && input != Py_None) {
      inputs.emplace_back();
      inputs.back().object = input;
    }
  }
  question.details = readDetails(arguments, inputCount, device);
  if (!question.details)
    return nullptr;
  Py_hash_t hash = PyObject_Hash(question.details.get());
  bool isLasting = hash != -1;
  PyErr_Clear();
  question.key.push_back(hash);
  question.key.insert(question.key.end(), first.shape, first.shape + first.rank);

  size_t slot = hashOf(question.key) % state.answers.size();
  std::shared_ptr<const Answer> answer = state.answers[slot];
  if (!answer || !isLasting || !isSame(question, answer->question)) {
    Ref function = makeFunction(state, first, arguments, question);
    if (!function)
      return nullptr;
    answer = std::make_shared<const Answer>(Answer{std::move(question), std::move(function)});
    if (isLasting)
      state.answers[slot] = answer;
  }
  return run(stateOf(answer->function.get()), std::move(inputs),
             PyTuple_GetItem(arguments, device + 1), PyTuple_GetItem(arguments, device + 2));
}

static PyType_Slot operationSlots[] = {{Py_tp_new, reinterpret_cast<void *>(create)},
                                       {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
                                       {Py_tp_call, reinterpret_cast<void *>(callOperation)},
                                       {0, nullptr}};

PyType_Spec swage::python::operationType = {"swage._swage.Operation", sizeof(Operation), 0,
                                            Py_TPFLAGS_DEFAULT, operationSlots};
