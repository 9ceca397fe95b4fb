// Flash attention, forward, on the matrix instructions of a warp (sm_80): for every head
//
//   O = softmax(scale Q K^T) V,   L = log(sum(exp(scale Q K^T))),
//
// Q: heads x queries x 64, K, V: heads x keys x 64, all bf16; L in f32.  With `causal`, query i
// sees the keys up to i + keys - queries.  A row that sees none is zero, its L -infinity.
//
// A block does 64 queries of one head: each of its four warps owns 16 rows, whose scores, sums and
// outputs stay in its registers.  Keys and values pass through two buffers each, filled by cp.async
// one tile ahead: a key tile loads while the values of the last one are multiplied, and the other
// way round.  What follows a barrier may overwrite the buffer that was read before it.
//
// run: attention heads=3 queries=128 keys=128 causal=0
// run: attention heads=2 queries=200 keys=77 causal=0
// run: attention heads=2 queries=130 keys=190 causal=1
// run: attention heads=1 queries=129 keys=65 causal=1
#include "swage/device/device.cuh"

#include "swage/device/copy_async.cuh"
#include "swage/device/math.cuh"
#include "swage/device/matrix.cuh"
#include "swage/device/shared.cuh"

namespace {
using swage::bf16;
using swage::SharedAddress;

constexpr int kHeadDim = 64, kWarps = 4, kQueryTile = 16 * kWarps, kKeyTile = 64;
constexpr int kThreads = 32 * kWarps;
constexpr int kRowBytes = 2 * kHeadDim, kTileBytes = kKeyTile * kRowBytes;
constexpr int kChunks = kRowBytes / 16; // a chunk is what one copy and one row of ldmatrix take
constexpr int kQueryAt = 0, kKeyAt = kTileBytes, kValueAt = 3 * kTileBytes;
constexpr int kArenaBytes = 5 * kTileBytes;
static_assert(kQueryTile == kKeyTile && kChunks == 8);

constexpr float kNothing = -static_cast<float>(swage::infinity()); // score of a key that is not seen
constexpr float kLn2 = 0.6931471805599453f;

struct Sizes {
  int queries, keys, heads;
  int causal;
  float scale; // of the scores, in units of log2(e): powers are of two
};

/// Where chunk `chunk` of row `row` of a tile lies.  Chunks are permuted within their rows, so that
/// the eight rows that ldmatrix reads at once lie in different banks.
__device__ __forceinline__ unsigned chunkAt(int row, int chunk) {
  return static_cast<unsigned>(row * kRowBytes + (chunk ^ (row & 7)) * 16);
}

/// Starts the copy of rows first ... first + 63 of `from`; those from `rows` on become zero.
__device__ __forceinline__ void copyTile(SharedAddress to, const bf16 *from, int first, int rows) {
#pragma unroll
  for (int i = 0; i < kKeyTile * kChunks / kThreads; ++i) {
    const int piece = static_cast<int>(swage::threadIndex()) + i * kThreads;
    const int row = piece / kChunks, chunk = piece % kChunks;
    const bool exists = first + row < rows;
    const int source = exists ? first + row : 0;
    swage::copyAsync<16>(to + chunkAt(row, chunk),
                         from + static_cast<long long>(source) * kHeadDim + chunk * 8,
                         exists ? 16 : 0);
  }
}

/// d += a b for two tiles of eight columns, whose operands lie side by side in `b`.
__device__ __forceinline__ void multiplyPair(float (&d0)[4], float (&d1)[4], const unsigned (&a)[4],
                                             const unsigned (&b)[4]) {
  const unsigned low[2] = {b[0], b[1]}, high[2] = {b[2], b[3]};
  swage::multiply<bf16>(d0, a, low);
  swage::multiply<bf16>(d1, a, high);
}

/// Over the four lanes that share a row.
__device__ __forceinline__ float rowMaximum(float value) {
  value = swage::maximumNumberOf(value, swage::shuffleXor(value, 1));
  return swage::maximumNumberOf(value, swage::shuffleXor(value, 2));
}
__device__ __forceinline__ float rowSum(float value) {
  value += swage::shuffleXor(value, 1);
  return value + swage::shuffleXor(value, 2);
}

/// How many keys query `query` sees.
__device__ __forceinline__ int seenKeys(int query, const Sizes &sizes) {
  const int causal = query + 1 + sizes.keys - sizes.queries;
  return sizes.causal && causal < sizes.keys ? causal : sizes.keys;
}
} // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    attention_mma(const bf16 *q, const bf16 *k, const bf16 *v, bf16 *o, float *logSums,
                  Sizes sizes) {
  const SharedAddress arena = swage::sharedAddress(swage::arena<kArenaBytes>());
  const int lane = swage::laneIndex(), warp = swage::warpIndex();
  const int tiles = (sizes.queries + kQueryTile - 1) / kQueryTile;
  const int head = static_cast<int>(swage::blockIndex()) / tiles;
  const int firstQuery = (static_cast<int>(swage::blockIndex()) - head * tiles) * kQueryTile;
  q += static_cast<long long>(head) * sizes.queries * kHeadDim;
  o += static_cast<long long>(head) * sizes.queries * kHeadDim;
  k += static_cast<long long>(head) * sizes.keys * kHeadDim;
  v += static_cast<long long>(head) * sizes.keys * kHeadDim;
  logSums += static_cast<long long>(head) * sizes.queries;

  const int end = seenKeys(firstQuery + kQueryTile - 1, sizes);
  const int blocks = end <= 0 ? 0 : (end + kKeyTile - 1) / kKeyTile;
  copyTile(arena + kQueryAt, q, firstQuery, sizes.queries);
  copyTile(arena + kKeyAt, k, 0, sizes.keys);
  swage::copyAsyncCommit();
  copyTile(arena + kValueAt, v, 0, sizes.keys);
  swage::copyAsyncCommit();

  // Element i of an accumulator is in row lane / 4 + 8 (i / 2), column 2 (lane % 4) + i % 2 of its
  // 16 x 8 tile.
  float output[kHeadDim / 8][4] = {};
  float highest[2] = {kNothing, kNothing}, sum[2] = {0.0f, 0.0f};
  const int firstRow = firstQuery + warp * 16 + lane / 4;
  unsigned query[kHeadDim / 16][4];
  for (int block = 0; block < blocks; ++block) {
    const int buffer = (block & 1) * kTileBytes, other = kTileBytes - buffer;
    // This block's keys, and at first the queries, have come; so all but the last group.
    swage::copyAsyncWait<1>();
    swage::barrier();
    if (block == 0) {
#pragma unroll
      for (int step = 0; step < kHeadDim / 16; ++step)
        swage::loadMatrix<4, false>(
            arena + kQueryAt + chunkAt(warp * 16 + lane % 16, step * 2 + lane / 16), query[step]);
    }
    if (block + 1 < blocks)
      copyTile(arena + kKeyAt + other, k, (block + 1) * kKeyTile, sizes.keys);
    swage::copyAsyncCommit();

    float scores[kKeyTile / 8][4] = {};
#pragma unroll
    for (int tile = 0; tile < kKeyTile / 16; ++tile)
#pragma unroll
      for (int step = 0; step < kHeadDim / 16; ++step) {
        unsigned keys[4];
        swage::loadMatrix<4, false>(
            arena + kKeyAt + buffer +
                chunkAt(tile * 16 + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2),
            keys);
        multiplyPair(scores[2 * tile], scores[2 * tile + 1], query[step], keys);
      }

    unsigned weights[kKeyTile / 16][4];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int seen = seenKeys(firstRow + 8 * r, sizes) - block * kKeyTile - lane % 4 * 2;
      float most = highest[r];
#pragma unroll
      for (int i = 0; i < kKeyTile / 8; ++i)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float &score = scores[i][2 * r + c];
          if (i * 8 + c >= seen)
            score = kNothing;
          most = swage::maximumNumberOf(most, score);
        }
      most = rowMaximum(most);
      // A row that has seen nothing yet would subtract infinity from itself.
      const float shift = most == kNothing ? 0.0f : most * sizes.scale;
      const float rescale = swage::exp2(highest[r] * sizes.scale - shift);
      highest[r] = most;
      float added = 0.0f;
#pragma unroll
      for (int i = 0; i < kKeyTile / 8; ++i) {
        const float low = swage::exp2(swage::fma(scores[i][2 * r], sizes.scale, -shift));
        const float high = swage::exp2(swage::fma(scores[i][2 * r + 1], sizes.scale, -shift));
        added += low + high;
        // As an accumulator lies, so lies the left operand of the next product.
        weights[i / 2][i % 2 * 2 + r] = swage::narrowPair(bf16{}, low, high);
      }
      sum[r] = sum[r] * rescale + added;
#pragma unroll
      for (int i = 0; i < kHeadDim / 8; ++i) {
        output[i][2 * r] *= rescale;
        output[i][2 * r + 1] *= rescale;
      }
    }

    swage::copyAsyncWait<1>();
    swage::barrier();
    if (block + 1 < blocks)
      copyTile(arena + kValueAt + other, v, (block + 1) * kKeyTile, sizes.keys);
    swage::copyAsyncCommit();
#pragma unroll
    for (int step = 0; step < kKeyTile / 16; ++step)
#pragma unroll
      for (int tile = 0; tile < kHeadDim / 16; ++tile) {
        unsigned values[4];
        swage::loadMatrix<4, true>(arena + kValueAt + buffer +
                                       chunkAt(step * 16 + lane % 16, tile * 2 + lane / 16),
                                   values);
        multiplyPair(output[2 * tile], output[2 * tile + 1], weights[step], values);
      }
  }
  swage::copyAsyncWait<0>(); // where no block was seen, the first copies are still on their way

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = firstRow + 8 * r;
    const float total = rowSum(sum[r]);
    const float inverse = total == 0.0f ? 0.0f : swage::reciprocal(total);
    if (row < sizes.queries) {
      bf16 *to = o + static_cast<long long>(row) * kHeadDim + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < kHeadDim / 8; ++i) {
        const unsigned pair =
            swage::narrowPair(bf16{}, output[i][2 * r] * inverse, output[i][2 * r + 1] * inverse);
        swage::storeGlobal<4>(to + i * 8, &pair);
      }
      if (lane % 4 == 0)
        logSums[row] =
            total == 0.0f ? kNothing : (highest[r] * sizes.scale + swage::log2(total)) * kLn2;
    }
  }
}
