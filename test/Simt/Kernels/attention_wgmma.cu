// Flash attention, forward, on the tensor cores and the copy engine of sm_90a.  What it computes:
// see attention_mma.cu; the head dimension is kHeadDim.
//
// A block of three warpgroups stays on its multiprocessor and takes tiles of 128 queries in turn.
// The first warpgroup needs few registers: one of its threads has the copy engine fill the query
// tile and two rings, of key tiles and of value tiles.  The other two compute 64 queries each;
// their scores, weights and outputs stay in registers.  While a warpgroup multiplies block n's
// scores, the products of block n + 1's weights and values are still under way, and the two
// warpgroups take turns at issuing them, so that one's exponentials run under the other's products.
//
// Blocks of keys go from the last to the first, because with `causal` only the last ones need a
// mask.  The output leaves through the query tile's memory.
//
// run: attention heads=2 queries=256 keys=256 causal=0
// run: attention heads=3 queries=200 keys=300 causal=0 grid=2
// run: attention heads=2 queries=130 keys=390 causal=1 grid=3
// run: attention heads=1 queries=300 keys=129 causal=1
// variant: kHeadDim=128
#include "swage/device/device.cuh"

#include "swage/device/bulk.cuh"
#include "swage/device/launch_control.cuh"
#include "swage/device/math.cuh"
#include "swage/device/matrix.cuh"
#include "swage/device/mbarrier.cuh"
#include "swage/device/shared.cuh"
#include "swage/device/vote.cuh"
#include "swage/device/wgmma.cuh"

namespace {
using swage::bf16;
using swage::SharedAddress;

constexpr int kHeadDim = 64;
constexpr int kQueryTile = 128, kKeyTile = 128, kStages = 2;
constexpr int kConsumers = 2, kConsumerWarps = 4 * kConsumers;
constexpr int kThreads = 128 * (1 + kConsumers);

// Tiles are panels of 64 columns, a row of which is the 128 bytes that the copy engine swizzles.
constexpr int kPanels = kHeadDim / 64, kPanelRowBytes = 128;
constexpr int kQueryPanelBytes = kQueryTile * kPanelRowBytes;
constexpr int kKeyPanelBytes = kKeyTile * kPanelRowBytes;
constexpr int kQueryBytes = kPanels * kQueryPanelBytes, kKeyBytes = kPanels * kKeyPanelBytes;
constexpr int kQueryAt = 0, kKeyAt = kQueryAt + kQueryBytes;
constexpr int kValueAt = kKeyAt + kStages * kKeyBytes;
constexpr int kBarriersAt = kValueAt + kStages * kKeyBytes;
constexpr int kSharedBytes = kBarriersAt + 8 * (2 + 4 * kStages);
static_assert(kHeadDim % 64 == 0 && kSharedBytes <= 232448);

constexpr int kTurn = 1, kEpilogue = 3; // named barriers, one for each consumer

constexpr float kNothing = -static_cast<float>(swage::infinity()); // score of a key that is not seen
constexpr float kLn2 = 0.6931471805599453f;

struct Sizes {
  int queries, keys, heads;
  int causal;
  float scale; // of the scores, in units of log2(e): powers are of two
};

//===- Tiles --------------------------------------------------------------===//

struct Tile {
  int head, firstQuery;
  int blocks;     // of keys that some query sees
  int openBlocks; // that every query sees whole
};

__device__ __forceinline__ int tileCount(const Sizes &sizes) {
  return sizes.heads * ((sizes.queries + kQueryTile - 1) / kQueryTile);
}

/// How many keys query `query` sees.
__device__ __forceinline__ int seenKeys(int query, const Sizes &sizes) {
  const int causal = query + 1 + sizes.keys - sizes.queries;
  return sizes.causal && causal < sizes.keys ? causal : sizes.keys;
}

/// The last queries of a head come first: with a causal mask they are the most work.
__device__ __forceinline__ Tile tileAt(int index, const Sizes &sizes) {
  const int perHead = (sizes.queries + kQueryTile - 1) / kQueryTile;
  Tile tile;
  tile.head = index / perHead;
  tile.firstQuery = (perHead - 1 - (index - tile.head * perHead)) * kQueryTile;
  const int end = seenKeys(tile.firstQuery + kQueryTile - 1, sizes);
  const int open = seenKeys(tile.firstQuery, sizes);
  tile.blocks = end <= 0 ? 0 : (end + kKeyTile - 1) / kKeyTile;
  tile.openBlocks = open <= 0 ? 0 : open / kKeyTile;
  return tile;
}

//===- Rings --------------------------------------------------------------===//

/// A place in a ring, and whether it has gone round an even or odd number of times.
struct Slot {
  unsigned stage = 0, parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// The barriers of a ring: `full` completes when the copy engine has written a stage, `empty` when
/// both consumers have read it.
struct Ring {
  SharedAddress data, barriers;

  __device__ __forceinline__ SharedAddress tile(Slot slot) const {
    return data + slot.stage * kKeyBytes;
  }
  __device__ __forceinline__ SharedAddress full(unsigned stage) const {
    return barriers + 8 * stage;
  }
  __device__ __forceinline__ SharedAddress empty(unsigned stage) const {
    return barriers + 8 * (kStages + stage);
  }
  __device__ __forceinline__ void init() const {
    for (unsigned stage = 0; stage < kStages; ++stage) {
      swage::mbarrierInit(full(stage), 1);
      swage::mbarrierInit(empty(stage), kConsumers);
    }
  }
  __device__ __forceinline__ void waitFull(Slot slot) const {
    swage::mbarrierWait(full(slot.stage), slot.parity);
  }
  /// Passes at once the first time round.
  __device__ __forceinline__ void waitEmpty(Slot slot) const {
    swage::mbarrierWait(empty(slot.stage), slot.parity ^ 1);
  }
  /// One thread speaks for its warpgroup, all of which has waited for the products.
  __device__ __forceinline__ void release(Slot slot) const {
    if (swage::threadIndex() % 128 == 0)
      swage::mbarrierArrive(empty(slot.stage));
  }
};

struct Shared {
  SharedAddress query, queryFull, queryEmpty;
  Ring keys, values;

  __device__ __forceinline__ explicit Shared(SharedAddress base)
      : query(base + kQueryAt), queryFull(base + kBarriersAt),
        queryEmpty(queryFull + 8), keys{base + kKeyAt, queryEmpty + 8}, values{base + kValueAt,
                                                                               queryEmpty + 8 +
                                                                                   16 * kStages} {}
};

//===- Producer -----------------------------------------------------------===//

__device__ __forceinline__ void loadPanels(SharedAddress to, int panelBytes,
                                           const swage::TensorMap &map, SharedAddress full, int row,
                                           int head) {
  swage::mbarrierArriveExpect(full, static_cast<unsigned>(kPanels * panelBytes));
#pragma unroll
  for (int panel = 0; panel < kPanels; ++panel)
    swage::tensorLoad(to + panel * panelBytes, map, full, panel * 64, row, head);
}

__device__ __forceinline__ void load(const Ring &ring, Slot &slot, const swage::TensorMap &map,
                                     int block, int head) {
  ring.waitEmpty(slot);
  loadPanels(ring.tile(slot), kKeyPanelBytes, map, ring.full(slot.stage), block * kKeyTile, head);
  slot.advance();
}

/// One thread.  The values of a block follow the keys of the next, as they are needed.
__device__ __forceinline__ void produce(const Shared &shared, const swage::TensorMap &q,
                                        const swage::TensorMap &k, const swage::TensorMap &v,
                                        const Sizes &sizes) {
  Slot key, value;
  unsigned queryParity = 1;
  for (int index = static_cast<int>(swage::blockIndex()); index < tileCount(sizes);
       index += static_cast<int>(swage::lastBlockIndex()) + 1) {
    const Tile tile = tileAt(index, sizes);
    if (tile.blocks != 0)
      load(shared.keys, key, k, tile.blocks - 1, tile.head);
    swage::mbarrierWait(shared.queryEmpty, queryParity);
    queryParity ^= 1;
    loadPanels(shared.query, kQueryPanelBytes, q, shared.queryFull, tile.firstQuery, tile.head);
    for (int block = tile.blocks - 1; block >= 0; --block) {
      if (block != 0)
        load(shared.keys, key, k, block - 1, tile.head);
      load(shared.values, value, v, block, tile.head);
    }
  }
}

//===- Consumers ----------------------------------------------------------===//

/// A warpgroup's share of the block.  Element 4 j + 2 r + c of an accumulator is in row
/// lane / 4 + 8 r of the warp's 16, column 8 j + 2 (lane % 4) + c.
struct Consumer {
  static constexpr int kScores = kKeyTile / 2, kOutputs = kHeadDim / 2, kSteps = kKeyTile / 16;

  Shared shared;
  Sizes sizes;
  int consumer, warp, lane; // warp: of the warpgroup
  Slot key, value;
  unsigned queryParity = 0;

  // Of the tile.
  int firstRow;
  float highest[2], sum[2], rescale[2];
  unsigned weights[kSteps][4];
  float output[kOutputs];

  /// Starts scores = Q K^T.
  __device__ __forceinline__ void multiplyKeys(float (&scores)[kScores]) {
    const auto query = swage::matrixDescriptor(shared.query + consumer * 64 * kPanelRowBytes, 16,
                                               8 * kPanelRowBytes, swage::Swizzle::B128);
    const auto keys = swage::matrixDescriptor(shared.keys.tile(key), 16, 8 * kPanelRowBytes,
                                              swage::Swizzle::B128);
    swage::pinRegisters(scores);
    swage::warpgroupFence();
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
      const int panel = step / 4, inPanel = step % 4 * 32; // descriptors count 16 bytes
      swage::warpgroupMultiply<bf16, kKeyTile>(
          scores, query + static_cast<unsigned>((panel * kQueryPanelBytes + inPanel) / 16),
          keys + static_cast<unsigned>((panel * kKeyPanelBytes + inPanel) / 16), step != 0);
    }
    swage::warpgroupCommit();
    swage::pinRegisters(scores);
  }

  /// Starts output += weights V.
  __device__ __forceinline__ void multiplyValues() {
    const auto values = swage::matrixDescriptor(shared.values.tile(value), kKeyPanelBytes,
                                                8 * kPanelRowBytes, swage::Swizzle::B128);
    pinWeights();
    swage::pinRegisters(output);
    swage::warpgroupFence();
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      swage::warpgroupMultiplyRegisters<bf16, kHeadDim, true>(
          output, weights + step, values + static_cast<unsigned>(step * 16 * kPanelRowBytes / 16),
          true);
    swage::warpgroupCommit();
    swage::pinRegisters(output);
    pinWeights();
  }

  __device__ __forceinline__ void pinWeights() {
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      swage::pinRegisters(weights[step]);
  }

  __device__ __forceinline__ void hideKeys(float (&scores)[kScores], int block) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int seen = seenKeys(firstRow + 8 * r, sizes) - block * kKeyTile - lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < kKeyTile / 8; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c)
          if (j * 8 + c >= seen)
            scores[4 * j + 2 * r + c] = kNothing;
    }
  }

  /// Scores to powers of two, and the sums over them; `rescale` is what earlier outputs want.
  /// `masked`: a row may have seen nothing yet, and would subtract infinity from itself.
  __device__ __forceinline__ void exponentials(float (&scores)[kScores], bool masked) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float most = highest[r];
#pragma unroll
      for (int j = 0; j < kKeyTile / 8; ++j)
        most = swage::maximumNumberOf(
            most, swage::maximumNumberOf(scores[4 * j + 2 * r], scores[4 * j + 2 * r + 1]));
      most = swage::maximumNumberOf(most, swage::shuffleXor(most, 1));
      most = swage::maximumNumberOf(most, swage::shuffleXor(most, 2));
      const float shift = masked && most == kNothing ? 0.0f : most * sizes.scale;
      rescale[r] = swage::exp2(highest[r] * sizes.scale - shift);
      highest[r] = most;
      float added = 0.0f;
#pragma unroll
      for (int j = 0; j < kKeyTile / 8; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float &score = scores[4 * j + 2 * r + c];
          score = swage::exp2(swage::fma(score, sizes.scale, -shift));
          added += score;
        }
      sum[r] = sum[r] * rescale[r] + added;
    }
  }

  /// As an accumulator lies, so lies the left operand of the next product.
  __device__ __forceinline__ void narrowWeights(const float (&scores)[kScores]) {
#pragma unroll
    for (int i = 0; i < kScores / 2; ++i)
      weights[i / 4][i % 4] = swage::narrowPair(bf16{}, scores[2 * i], scores[2 * i + 1]);
  }

  __device__ __forceinline__ void scaleOutput() {
#pragma unroll
    for (int i = 0; i < kOutputs; ++i)
      output[i] *= rescale[i / 2 % 2];
  }

  __device__ __forceinline__ void firstBlock(int block) {
    float scores[kScores];
    shared.keys.waitFull(key);
    multiplyKeys(scores);
    swage::warpgroupWait<0>();
    swage::pinRegisters(scores);
    shared.keys.release(key);
    key.advance();
    hideKeys(scores, block);
    exponentials(scores, true);
    narrowWeights(scores);
  }

  /// The scores of this block under the products of the one before.
  __device__ __forceinline__ void nextBlock(int block, bool masked) {
    float scores[kScores];
    shared.keys.waitFull(key);
    swage::namedBarrier(kTurn + consumer, 256);
    multiplyKeys(scores);
    shared.values.waitFull(value);
    multiplyValues();
    swage::namedBarrierArrive(kTurn + (consumer ^ 1), 256);
    swage::warpgroupWait<1>();
    swage::pinRegisters(scores);
    shared.keys.release(key);
    key.advance();
    if (masked)
      hideKeys(scores, block);
    exponentials(scores, masked);
    swage::warpgroupWait<0>();
    swage::pinRegisters(output);
    pinWeights();
    shared.values.release(value);
    value.advance();
    narrowWeights(scores);
    scaleOutput();
  }

  __device__ __forceinline__ void lastProducts() {
    shared.values.waitFull(value);
    multiplyValues();
    swage::warpgroupWait<0>();
    swage::pinRegisters(output);
    shared.values.release(value);
    value.advance();
  }

  /// Through the rows of the query tile that this warpgroup alone has read, swizzled as the copy
  /// engine expects them; each warp sends its own 16.
  __device__ __forceinline__ void store(const Tile &tile, const swage::TensorMap &o,
                                        float *logSums) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float total = sum[r] + swage::shuffleXor(sum[r], 1);
      total += swage::shuffleXor(total, 2);
      rescale[r] = total == 0.0f ? 0.0f : swage::reciprocal(total);
      const int row = firstRow + 8 * r;
      if (lane % 4 == 0 && row < sizes.queries)
        logSums[static_cast<long long>(tile.head) * sizes.queries + row] =
            total == 0.0f ? kNothing : (highest[r] * sizes.scale + swage::log2(total)) * kLn2;
    }
    scaleOutput();
    swage::namedBarrier(kEpilogue + consumer, 128); // the products have read all of the 64 rows
    const int row = consumer * 64 + warp * 16;
    const SharedAddress rows = shared.query + row * kPanelRowBytes;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16; ++i) {
      unsigned pairs[4];
#pragma unroll
      for (int j = 0; j < 4; ++j)
        pairs[j] = swage::narrowPair(bf16{}, output[8 * i + 2 * j], output[8 * i + 2 * j + 1]);
      const int chunk = (i % 4 * 2 + lane / 16) ^ (lane & 7);
      swage::storeMatrix<4, false>(
          rows + i / 4 * kQueryPanelBytes + lane % 16 * kPanelRowBytes + chunk * 16, pairs);
    }
    swage::fenceProxyAsync();
    swage::syncWarp();
    if (swage::electLane()) {
#pragma unroll
      for (int panel = 0; panel < kPanels; ++panel)
        swage::tensorStore(o, rows + panel * kQueryPanelBytes, panel * 64, tile.firstQuery + row,
                           tile.head);
      swage::bulkCommit();
      swage::bulkWaitRead<0>();
      swage::mbarrierArrive(shared.queryEmpty);
    }
    swage::syncWarp();
  }

  __device__ __forceinline__ void run(const swage::TensorMap &o, float *logSums) {
    if (consumer == 1)
      swage::namedBarrierArrive(kTurn, 256); // the first turn is consumer 0's
    for (int index = static_cast<int>(swage::blockIndex()); index < tileCount(sizes);
         index += static_cast<int>(swage::lastBlockIndex()) + 1) {
      const Tile tile = tileAt(index, sizes);
      firstRow = tile.firstQuery + consumer * 64 + warp * 16 + lane / 4;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        highest[r] = kNothing;
        sum[r] = 0.0f;
      }
#pragma unroll
      for (int i = 0; i < kOutputs; ++i)
        output[i] = 0.0f;
      swage::mbarrierWait(shared.queryFull, queryParity);
      queryParity ^= 1;
      if (tile.blocks != 0) {
        int block = tile.blocks - 1;
        firstBlock(block);
#pragma unroll 1
        for (--block; block >= tile.openBlocks; --block)
          nextBlock(block, true);
#pragma unroll 1
        for (; block >= 0; --block)
          nextBlock(block, false);
        lastProducts();
      }
      store(tile, o, logSums);
    }
    if (consumer == 0)
      swage::namedBarrier(kTurn, 256); // takes the turn that nobody needs
  }
};
} // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    attention_wgmma(const __grid_constant__ swage::TensorMap q,
                    const __grid_constant__ swage::TensorMap k,
                    const __grid_constant__ swage::TensorMap v,
                    const __grid_constant__ swage::TensorMap o, float *logSums,
                    const __grid_constant__ Sizes sizes) {
  const Shared shared(swage::sharedAddress(swage::dynamicArena()));
  if (swage::threadIndex() == 0) {
    swage::mbarrierInit(shared.queryFull, 1);
    swage::mbarrierInit(shared.queryEmpty, kConsumerWarps);
    shared.keys.init();
    shared.values.init();
    swage::mbarrierFenceInit();
  }
  swage::barrier();
  const int warpgroup = swage::warpIndex() / 4;
  if (warpgroup == 0) {
    swage::decreaseRegisters<24>();
    if (swage::warpIndex() == 0 && swage::electLane())
      produce(shared, q, k, v, sizes);
  } else {
    swage::increaseRegisters<240>();
    Consumer consumer{shared, sizes, warpgroup - 1, static_cast<int>(swage::warpIndex()) % 4,
                      static_cast<int>(swage::laneIndex())};
    consumer.run(o, logSums);
  }
}
