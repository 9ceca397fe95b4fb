//===- Abi.cpp - The table that modules get -------------------------------===//

#include "Machine.h"

#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

/// In the place of a function that the simulated device does not have.
template <class Function> struct Missing;
template <class Result, class... Parameters> struct Missing<Result (*)(Parameters...)> {
  static Result call(Parameters...) {
    const Worker &worker = Worker::current();
    Worker::current().fail(Worker::thread(), FindingKind::BadInstruction, SWAGE_SIMT_CALLER,
                           fmt::format("an instruction of compute capability 9.0; the device has "
                                       "{}.{}",
                                       worker.launch().capability / 10,
                                       worker.launch().capability % 10));
  }
};
template <class Function> static void remove(Function &entry) { entry = Missing<Function>::call; }

static Abi makeTable() {
  Abi abi{};
  addThreadFunctions(abi);
  addMemoryFunctions(abi);
  addMatrixFunctions(abi);
  addWarpgroupFunctions(abi);
  addMbarrierFunctions(abi);
  addCopyFunctions(abi);
  return abi;
}

/// Without what templates/swage/device says is of 9.0.
static Abi makeTableBeforeHopper() {
  Abi abi = makeTable();
  remove(abi.elect);
  remove(abi.mapShared);
  remove(abi.loadCluster);
  remove(abi.storeCluster);
  remove(abi.storeClusterAsync);
  remove(abi.clusterArrive);
  remove(abi.clusterWait);
  remove(abi.storeMatrix);
  remove(abi.warpgroupFence);
  remove(abi.warpgroupMultiply);
  remove(abi.warpgroupCommit);
  remove(abi.warpgroupWait);
  remove(abi.copyAsyncArrive);
  remove(abi.bulkLoad);
  remove(abi.bulkStore);
  remove(abi.bulkCopyShared);
  remove(abi.tensorLoad);
  remove(abi.tensorStore);
  remove(abi.bulkCommit);
  remove(abi.bulkWait);
  remove(abi.fenceProxyAsync);
  remove(abi.mbarrierInit);
  remove(abi.mbarrierInvalidate);
  remove(abi.mbarrierFenceInit);
  remove(abi.mbarrierArrive);
  remove(abi.mbarrierExpect);
  remove(abi.mbarrierArriveExpect);
  remove(abi.mbarrierTest);
  remove(abi.mbarrierWait);
  remove(abi.setRegisters);
  remove(abi.waitForPriorGrids);
  remove(abi.allowDependentGrids);
  return abi;
}

const Abi &swage::simt::abiTable(unsigned capability) {
  static const Abi table = makeTable(), beforeHopper = makeTableBeforeHopper();
  return capability < 90 ? beforeHopper : table;
}
