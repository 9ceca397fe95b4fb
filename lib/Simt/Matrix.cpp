//===- Matrix.cpp - Matrix instructions of a warp -------------------------===//
//
// ldmatrix, stmatrix and mma.sync.  D of mma.sync is accumulated in f32 in the order of k: the
// hardware adds in another order and drops bits, so results agree within the bound of the sum only.
// s8 and u8 are exact and wrap around.
//
// A word of A in register r of lane (g, t) = (lane / 4, lane % 4) is word t + 4 (r / 2) of row
// g + 8 (r % 2), and a word of B is word t + 4 r of column g, whatever the elements are.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "MatrixElements.h"

#include <fmt/format.h>

using namespace swage::simt;

#pragma GCC diagnostic ignored "-Wpsabi"

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

static constexpr unsigned kRows = 16, kColumns = 8, kMaxSteps = 32;

namespace {
struct alignas(64) WarpTile {
  unsigned aWords[kOperandWords][kRows], bWords[kOperandWords][kColumns];
  float a[kMaxSteps][kRows], b[kMaxSteps][kColumns], d[kRows][kColumns];
};
} // namespace

/// Eight rows at a time: as many accumulators as registers.
template <unsigned Steps> static SWAGE_SIMT_INLINE void multiplySteps(WarpTile &tile) {
  for (unsigned row = 0; row < kRows; row += 8) {
    Floats sums[8];
    for (unsigned i = 0; i < 8; ++i)
      sums[i] = loadFloats(tile.d[row + i]);
    for (unsigned k = 0; k < Steps; ++k) {
      const Floats b = loadFloats(tile.b[k]);
      for (unsigned i = 0; i < 8; ++i)
        sums[i] += tile.a[k][row + i] * b;
    }
    for (unsigned i = 0; i < 8; ++i)
      store(tile.d[row + i], sums[i]);
  }
}

SWAGE_SIMT_CLONES void swage::simt::multiplyFragments(void *const *lanes) {
  WarpTile tile;
  const LaneMultiply &first = *static_cast<const LaneMultiply *>(lanes[0]);
  const bool integers = isInteger(first.elementA);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const LaneMultiply &own = *static_cast<const LaneMultiply *>(lanes[lane]);
    const unsigned g = lane / 4, t = lane % 4;
    tile.aWords[t][g] = own.a[0];
    tile.aWords[t][g + 8] = own.a[1];
    tile.aWords[t + 4][g] = own.a[2];
    tile.aWords[t + 4][g + 8] = own.a[3];
    tile.bWords[t][g] = own.b[0];
    tile.bWords[t + 4][g] = own.b[1];
    // Sums of 32 products of bytes are exact as floats; those of int accumulators are not.
    if (integers) {
      std::memset(&tile.d[g][2 * t], 0, 8);
      std::memset(&tile.d[g + 8][2 * t], 0, 8);
    } else {
      std::memcpy(&tile.d[g][2 * t], own.d, 8);
      std::memcpy(&tile.d[g + 8][2 * t], static_cast<const float *>(own.d) + 2, 8);
    }
  }
  widenRows(first.elementA, tile.aWords[0], kRows, kRows, tile.a[0]);
  widenRows(first.elementB, tile.bWords[0], kColumns, kColumns, tile.b[0]);
  switch (elementBytes(first.elementA)) {
  case 4:
    multiplySteps<8>(tile);
    break;
  case 2:
    multiplySteps<16>(tile);
    break;
  default:
    multiplySteps<32>(tile);
    break;
  }
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const LaneMultiply &own = *static_cast<const LaneMultiply *>(lanes[lane]);
    const unsigned g = lane / 4, t = lane % 4;
    if (integers) {
      auto *d = static_cast<unsigned *>(own.d);
      for (unsigned i = 0; i < 4; ++i)
        d[i] += static_cast<unsigned>(static_cast<int>(tile.d[g + i / 2 * 8][2 * t + i % 2]));
    } else {
      std::memcpy(own.d, &tile.d[g][2 * t], 8);
      std::memcpy(static_cast<float *>(own.d) + 2, &tile.d[g + 8][2 * t], 8);
    }
  }
}

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
