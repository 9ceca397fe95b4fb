//===- Devices.h - The devices and contexts of this process ---------------===//
//
// Each GPU and each kind of simulator is opened once.  All functions need the GIL.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_PYTHON_DEVICES_H
#define SWAGE_PYTHON_DEVICES_H

#include "Support.h"

namespace swage::python {

/// What `device=` says: a GPU, the GPU of the inputs, or a simulator.
struct DeviceChoice {
  static constexpr int kOfInputs = -1;
  bool isSimulator = false;
  int ordinal = kOfInputs;
  std::string simulatorOptions;
};

/// set_default_device(device): what None stands for from now on, a str or None.
PyObject *setDefaultDevice(PyObject *, PyObject *device);
/// `device`, or what None stands for.
Ref deviceOrDefault(PyObject *device);

/// None, "cuda", "cuda:1", 1, "sim", "sim:check,order=random", and objects whose str is such.
/// False after an exception.
bool parseDevice(PyObject *object, DeviceChoice &choice);

/// The context that programs for such devices belong to.
bool contextOf(const DeviceChoice &choice, SwageContext &context);
/// The GPU `ordinal`, or the simulator.
bool openDevice(const DeviceChoice &choice, int ordinal, SwageDevice &device);

/// An error in a process that was forked from one that had opened devices: CUDA does not work
/// there, and libraries of arrays say so less clearly.
bool checkNotForked();

/// swage.stats(): the sums over all contexts.
PyObject *stats(PyObject *, PyObject *);

} // namespace swage::python

#endif // SWAGE_PYTHON_DEVICES_H
