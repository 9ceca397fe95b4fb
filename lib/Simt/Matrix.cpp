//===- Matrix.cpp - Matrix instructions of a warp -------------------------===//
//
// ldmatrix, stmatrix and mma.sync, whose arithmetic is in TensorCore.cpp.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "MatrixElements.h"
#include "TensorCore.h"

#include <fmt/format.h>

using namespace swage::simt;

/// Fails unless the thread's warp has all its lanes: the instructions have no mask.
static Thread &threadOfWholeWarp(const char *what, const void *code) {
  Thread &thread = Worker::thread();
  const size_t threads = thread.home->threads.size();
  if ((thread.warp() + 1) * kWarpLanes > threads)
    Worker::current().fail(thread, FindingKind::Divergence, code,
                           fmt::format("{} in a warp of {} threads; needed: {}", what,
                                       threads % kWarpLanes, kWarpLanes));
  return thread;
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

static void multiply(MatrixElement elementA, MatrixElement elementB, unsigned k, void *d,
                     const unsigned *a, const unsigned *b) {
  const void *code = SWAGE_SIMT_CALLER;
  Thread &thread = threadOfWholeWarp("multiply", code);
  if (!canMultiply(elementA, elementB) || k * elementBytes(elementA) != 32)
    Worker::current().fail(thread, FindingKind::BadInstruction, code,
                           fmt::format("multiply: no instruction multiplies {} by {} with k = {}",
                                       name(elementA), name(elementB), k));
  LaneMultiply mine{elementA, elementB, d, a, b};
  meetWarp(
      ~0u, "multiply", code, false, &mine,
      [](void *const *arguments, void *) { multiplyFragments(arguments); }, nullptr);
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//
//
// Up to four matrices of 8 x 8 elements of 16 bits.  Lane 8 m + r names row r of matrix m; register
// m of lane (g, t) holds elements 2 t and 2 t + 1 of row g, or of column g when transposed.

static constexpr unsigned kMatrixRows = 8, kRowBytes = 16;

namespace {
struct MatrixTransfer {
  unsigned count;
  bool transposed;
  char *row; ///< of lanes below 8 count
  unsigned *registers;
};
} // namespace

/// The lane's part: rows are checked one by one, in the thread that named them.
static MatrixTransfer beginTransfer(unsigned count, bool transposed, SharedAddress row, bool write,
                                    unsigned *registers, const char *what, const void *code) {
  Thread &thread = threadOfWholeWarp(what, code);
  if (count != 1 && count != 2 && count != 4)
    Worker::current().fail(thread, FindingKind::BadInstruction, code,
                           fmt::format("{} of {} matrices; possible: 1, 2, 4", what, count));
  MatrixTransfer transfer{count, transposed, nullptr, registers};
  if (thread.lane() < count * kMatrixRows)
    transfer.row = accessShared(thread, row, kRowBytes, kRowBytes, write, what, code).data();
  return transfer;
}

static void combineLoad(void *const *arguments, void *) {
  const auto lane = [&](unsigned i) { return static_cast<MatrixTransfer *>(arguments[i]); };
  const unsigned count = lane(0)->count;
  const bool transposed = lane(0)->transposed;
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    unsigned short rows[kMatrixRows][8];
    for (unsigned row = 0; row < kMatrixRows; ++row)
      std::memcpy(rows[row], lane(matrix * kMatrixRows + row)->row, kRowBytes);
    for (unsigned i = 0; i < kWarpLanes; ++i) {
      const unsigned g = i / 4, t = i % 4 * 2;
      unsigned &word = lane(i)->registers[matrix];
      if (transposed)
        word = rows[t][g] | static_cast<unsigned>(rows[t + 1][g]) << 16;
      else
        std::memcpy(&word, &rows[g][t], 4);
    }
  }
}

static void combineStore(void *const *arguments, void *) {
  const auto lane = [&](unsigned i) { return static_cast<MatrixTransfer *>(arguments[i]); };
  const unsigned count = lane(0)->count;
  const bool transposed = lane(0)->transposed;
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    unsigned short rows[kMatrixRows][8];
    for (unsigned i = 0; i < kWarpLanes; ++i) {
      const unsigned g = i / 4, t = i % 4 * 2;
      const unsigned word = lane(i)->registers[matrix];
      rows[transposed ? t : g][transposed ? g : t] = static_cast<unsigned short>(word);
      rows[transposed ? t + 1 : g][transposed ? g : t + 1] =
          static_cast<unsigned short>(word >> 16);
    }
    for (unsigned row = 0; row < kMatrixRows; ++row)
      std::memcpy(lane(matrix * kMatrixRows + row)->row, rows[row], kRowBytes);
  }
}

static void loadMatrix(unsigned count, bool transposed, SharedAddress row, unsigned *registers) {
  const void *code = SWAGE_SIMT_CALLER;
  MatrixTransfer mine = beginTransfer(count, transposed, row, false, registers, "loadMatrix", code);
  meetWarp(~0u, "loadMatrix", code, true, &mine, combineLoad, nullptr);
}

static void storeMatrix(unsigned count, bool transposed, SharedAddress row,
                        const unsigned *registers) {
  const void *code = SWAGE_SIMT_CALLER;
  MatrixTransfer mine = beginTransfer(count, transposed, row, true,
                                      const_cast<unsigned *>(registers), "storeMatrix", code);
  meetWarp(~0u, "storeMatrix", code, true, &mine, combineStore, nullptr);
}

void swage::simt::addMatrixFunctions(Abi &abi) {
  abi.loadMatrix = loadMatrix;
  abi.storeMatrix = storeMatrix;
  abi.multiply = multiply;
}
