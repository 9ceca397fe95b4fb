// Copies through tensor maps: every rank, swizzle and width of element, boxes that reach over the
// edges, multicast, stores and sums.
//
// arch: sm_90a
#include "swage/device/bulk.cuh"
#include "swage/device/cluster.cuh"
#include "swage/device/mbarrier.cuh"

namespace {
/// The mbarrier of the block, initialised for the one thread that copies.
__device__ swage::SharedAddress initialise() {
  const swage::SharedAddress at = swage::sharedAddress(swage::arena<8>());
  if (swage::threadIndex() == 0) {
    swage::mbarrierInit(at, 1);
    swage::mbarrierFenceInit();
  }
  swage::clusterBarrier();
  return at;
}

/// Words of shared memory to `out`, where every box has as many.
__device__ void dump(unsigned *out, unsigned words) {
  const auto *from = reinterpret_cast<const unsigned *>(swage::dynamicArena());
  for (unsigned i = swage::threadIndex(); i < words; i += 64)
    out[words * swage::blockIndex() + i] = from[i];
}

/// One box of so many bytes in; all words of shared memory out.
template <class... Coordinates>
__device__ void load(const swage::TensorMap &map, unsigned *out, unsigned words, unsigned bytes,
                     Coordinates... coordinates) {
  auto *before = reinterpret_cast<unsigned *>(swage::dynamicArena());
  for (unsigned i = swage::threadIndex(); i < words; i += 64)
    before[i] = i;
  swage::fenceProxyAsync();
  const swage::SharedAddress at = initialise();
  if (swage::threadIndex() == 0) {
    swage::prefetchTensorMap(map);
    swage::mbarrierArriveExpect(at, bytes);
    const swage::SharedAddress to = swage::sharedAddress(swage::dynamicArena());
    if (swage::blockIndex() % 2 == 0)
      swage::tensorLoad<swage::Eviction::First>(to, map, at, coordinates...);
    else
      swage::tensorLoad(to, map, at, coordinates...);
  }
  swage::mbarrierWait(at, 0);
  dump(out, words);
}

/// Random words in shared memory, made of `in`, ready for the copy engine.
__device__ void fill(const unsigned *in, unsigned words) {
  auto *to = reinterpret_cast<unsigned *>(swage::dynamicArena());
  for (unsigned i = swage::threadIndex(); i < words; i += 64)
    to[i] = in[words * swage::blockIndex() + i];
  swage::fenceProxyAsync();
  swage::barrier();
}

/// Small integers as elements, ready for the copy engine.
template <class T> __device__ void fillNumbers(const unsigned *in, unsigned elements) {
  auto *to = reinterpret_cast<T *>(swage::dynamicArena());
  for (unsigned i = swage::threadIndex(); i < elements; i += 64)
    to[i] = swage::narrow<T>(static_cast<float>(static_cast<int>(in[i] % 201u) - 100));
  swage::fenceProxyAsync();
  swage::barrier();
}
} // namespace

// Ranks 1 to 5; each block loads another box, the last ones beyond the edges, before and behind.
//
// launch: tensor_1d grid=5 block=64 shared=128 in=65536 out=640 map=in:f32:100:box=32 exact
extern "C" __global__ void tensor_1d(const unsigned *in, unsigned *out,
                                     const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 32, 128, 32 * block - 16);
}

// launch: tensor_2d grid=6 block=64 shared=512 in=65536 out=3072 map=in:f32:60x50:box=16x8 exact
extern "C" __global__ void tensor_2d(const unsigned *in, unsigned *out,
                                     const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 128, 512, block * 12 - 4, block * 10 - 5);
}

// launch: tensor_3d grid=6 block=64 shared=384 in=65536 out=2304 map=in:u16:40x12x10:box=8x4x6 exact
extern "C" __global__ void tensor_3d(const unsigned *in, unsigned *out,
                                     const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 96, 384, block * 8 - 8, block * 3 - 2, block * 2 - 1);
}

// launch: tensor_4d grid=6 block=64 shared=384 in=65536 out=2304 map=in:f16:32x7x5x6:box=16x3x2x2 exact
extern "C" __global__ void tensor_4d(const unsigned *in, unsigned *out,
                                     const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 96, 384, block * 8 - 8, block - 1, block - 2, block * 2 - 3);
}

// launch: tensor_5d grid=6 block=64 shared=512 in=65536 out=3072 map=in:u8:64x5x4x3x6:box=32x2x2x2x2 exact
extern "C" __global__ void tensor_5d(const unsigned *in, unsigned *out,
                                     const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 128, 512, block * 16 - 16, block - 1, block - 1, block - 2, block - 1);
}

// Strides that are not contiguous: rows with gaps.
//
// launch: tensor_strided grid=4 block=64 shared=512 in=65536 out=2048 map=in:f32:20x30x4:strides=128x4096:box=8x8x2 exact
extern "C" __global__ void tensor_strided(const unsigned *in, unsigned *out,
                                          const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 128, 512, block * 4 - 4, block * 8 - 3, block);
}

// Every third row.
//
// launch: tensor_steps grid=3 block=64 shared=512 in=65536 out=1536 map=in:f32:60x50:box=32x12:steps=1x3 exact
extern "C" __global__ void tensor_steps(const unsigned *in, unsigned *out,
                                        const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 128, 512, block * 8, block * 13);
}

// Swizzles; the arena begins at a multiple of 1024 bytes, and a row has all of the swizzle to
// itself, also where the box has fewer bytes.
//
// launch: tensor_swizzle_32_f16 grid=2 block=64 shared=768 in=65536 out=1536 map=in:f16:48x40:box=16x24:swizzle=32 exact
extern "C" __global__ void tensor_swizzle_32_f16(const unsigned *in, unsigned *out,
                                                 const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 192, 768, block * 16, block * 20 - 4);
}

// launch: tensor_swizzle_64_f16 grid=2 block=64 shared=1536 in=65536 out=3072 map=in:f16:96x40:box=32x24:swizzle=64 exact
extern "C" __global__ void tensor_swizzle_64_f16(const unsigned *in, unsigned *out,
                                                 const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 384, 1536, block * 32, block * 20 - 4);
}

// launch: tensor_swizzle_128_f16 grid=2 block=64 shared=3072 in=65536 out=6144 map=in:f16:192x40:box=64x24:swizzle=128 exact
extern "C" __global__ void tensor_swizzle_128_f16(const unsigned *in, unsigned *out,
                                                  const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 768, 3072, block * 64, block * 20 - 4);
}

// launch: tensor_swizzle_128_f32 grid=2 block=64 shared=2176 in=65536 out=4352 map=in:f32:96x40:box=32x17:swizzle=128 exact
extern "C" __global__ void tensor_swizzle_128_f32(const unsigned *in, unsigned *out,
                                                  const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 544, 2176, block * 32 - 8, block * 20);
}

// launch: tensor_swizzle_128_u8 grid=2 block=64 shared=1536 in=65536 out=3072 map=in:u8:512x20:box=128x12:swizzle=128 exact
extern "C" __global__ void tensor_swizzle_128_u8(const unsigned *in, unsigned *out,
                                                 const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 384, 1536, block * 128, block * 9);
}

// launch: tensor_swizzle_64_bf16 grid=2 block=64 shared=1024 in=65536 out=2048 map=in:bf16:48x40:box=24x16:swizzle=64 exact
extern "C" __global__ void tensor_swizzle_64_bf16(const unsigned *in, unsigned *out,
                                                  const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 256, 768, block * 24, block * 20);
}

// The other types of elements.
//
// launch: tensor_u32 grid=2 block=64 shared=256 in=65536 out=512 map=in:u32:24x20:box=8x8 exact
extern "C" __global__ void tensor_u32(const unsigned *in, unsigned *out,
                                      const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 64, 256, block * 16, block * 15 - 3);
}

// launch: tensor_s32 grid=2 block=64 shared=256 in=65536 out=512 map=in:s32:24x20:box=8x8 exact
extern "C" __global__ void tensor_s32(const unsigned *in, unsigned *out,
                                      const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 64, 256, block * 16, block * 15 - 3);
}

// launch: tensor_u64 grid=2 block=64 shared=512 in=65536 out=1024 map=in:u64:24x20:box=8x8 exact
extern "C" __global__ void tensor_u64(const unsigned *in, unsigned *out,
                                      const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 128, 512, block * 16, block * 15 - 3);
}

// launch: tensor_s64 grid=2 block=64 shared=512 in=65536 out=1024 map=in:s64:24x20:box=8x8 exact
extern "C" __global__ void tensor_s64(const unsigned *in, unsigned *out,
                                      const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 128, 512, block * 16, block * 15 - 3);
}

// launch: tensor_f64 grid=2 block=64 shared=512 in=65536 out=1024 map=in:f64:24x20:box=8x8 exact
extern "C" __global__ void tensor_f64(const unsigned *in, unsigned *out,
                                      const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 128, 512, block * 16, block * 15 - 3);
}

// launch: tensor_bf16 grid=2 block=64 shared=128 in=65536 out=256 map=in:bf16:24x20:box=8x8 exact
extern "C" __global__ void tensor_bf16(const unsigned *in, unsigned *out,
                                       const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  load(map, out, 32, 128, block * 16, block * 15 - 3);
}

// Each block of a cluster of four loads two boxes: for all, and for some.
//
// launch: tensor_multicast grid=8 block=64 cluster=4 shared=16384 in=65536 out=131072 map=in:f16:128x64:box=64x16:swizzle=128 exact
extern "C" __global__ void tensor_multicast(const unsigned *in, unsigned *out,
                                            const __grid_constant__ swage::TensorMap map) {
  const swage::SharedAddress words = swage::sharedAddress(swage::dynamicArena());
  const int rank = static_cast<int>(swage::clusterRank());
  const int cluster = static_cast<int>(swage::blockIndex()) / 4;
  // Rank 0 sends to 1 and 3, 1 to all, 2 to itself, 3 to 0 and 2.
  constexpr unsigned kMasks = 0x54fa;
  unsigned expected = 4 * 2048;
  for (int i = 0; i < 4; ++i)
    expected += kMasks >> (4 * i + rank) & 1u ? 2048u : 0u;
  auto *poison = reinterpret_cast<unsigned *>(swage::dynamicArena());
  for (unsigned i = swage::threadIndex(); i < 4096; i += 64)
    poison[i] = i;
  swage::fenceProxyAsync();
  const swage::SharedAddress at = initialise();
  if (swage::threadIndex() == 0)
    swage::mbarrierArriveExpect(at, expected);
  swage::clusterBarrier();
  if (swage::threadIndex() == 0) {
    swage::tensorLoadMulticast(words + 2048 * rank, map, at, static_cast<unsigned short>(0xf),
                               64 * cluster, 16 * rank);
    swage::tensorLoadMulticast(words + 8192 + 2048 * rank, map, at,
                               static_cast<unsigned short>(kMasks >> 4 * rank & 0xfu),
                               64 * (1 - cluster), 16 * rank + 3);
  }
  swage::mbarrierWait(at, 0);
  dump(out, 4096);
  swage::clusterBarrier();
}

// The other ranks of multicast.
//
// launch: tensor_multicast_1d grid=2 block=64 cluster=2 shared=256 in=65536 out=512 map=in:f32:100:box=32 exact
extern "C" __global__ void tensor_multicast_1d(const unsigned *in, unsigned *out,
                                               const __grid_constant__ swage::TensorMap map) {
  const swage::SharedAddress words = swage::sharedAddress(swage::dynamicArena());
  const int rank = static_cast<int>(swage::clusterRank());
  const swage::SharedAddress at = initialise();
  if (swage::threadIndex() == 0)
    swage::mbarrierArriveExpect(at, 2 * 128);
  swage::clusterBarrier();
  if (swage::threadIndex() == 0)
    swage::tensorLoadMulticast(words + 128 * rank, map, at, static_cast<unsigned short>(3),
                               32 * rank - 16);
  swage::mbarrierWait(at, 0);
  dump(out, 64);
  swage::clusterBarrier();
}

// launch: tensor_multicast_3d grid=2 block=64 cluster=2 shared=768 in=65536 out=1536 map=in:u16:40x12x10:box=8x4x6 exact
extern "C" __global__ void tensor_multicast_3d(const unsigned *in, unsigned *out,
                                               const __grid_constant__ swage::TensorMap map) {
  const swage::SharedAddress words = swage::sharedAddress(swage::dynamicArena());
  const int rank = static_cast<int>(swage::clusterRank());
  const swage::SharedAddress at = initialise();
  if (swage::threadIndex() == 0)
    swage::mbarrierArriveExpect(at, 2 * 384);
  swage::clusterBarrier();
  if (swage::threadIndex() == 0)
    swage::tensorLoadMulticast(words + 384 * rank, map, at, static_cast<unsigned short>(3),
                               rank * 8 - 8, rank * 3 - 2, rank * 2 - 1);
  swage::mbarrierWait(at, 0);
  dump(out, 192);
  swage::clusterBarrier();
}

// launch: tensor_multicast_4d grid=2 block=64 cluster=2 shared=768 in=65536 out=1536 map=in:f16:32x7x5x6:box=16x3x2x2 exact
extern "C" __global__ void tensor_multicast_4d(const unsigned *in, unsigned *out,
                                               const __grid_constant__ swage::TensorMap map) {
  const swage::SharedAddress words = swage::sharedAddress(swage::dynamicArena());
  const int rank = static_cast<int>(swage::clusterRank());
  const swage::SharedAddress at = initialise();
  if (swage::threadIndex() == 0)
    swage::mbarrierArriveExpect(at, 2 * 384);
  swage::clusterBarrier();
  if (swage::threadIndex() == 0)
    swage::tensorLoadMulticast(words + 384 * rank, map, at, static_cast<unsigned short>(3),
                               rank * 8 - 8, rank - 1, rank, rank * 2);
  swage::mbarrierWait(at, 0);
  dump(out, 192);
  swage::clusterBarrier();
}

// launch: tensor_multicast_5d grid=2 block=64 cluster=2 shared=1024 in=65536 out=2048 map=in:u8:64x5x4x3x6:box=32x2x2x2x2 exact
extern "C" __global__ void tensor_multicast_5d(const unsigned *in, unsigned *out,
                                               const __grid_constant__ swage::TensorMap map) {
  const swage::SharedAddress words = swage::sharedAddress(swage::dynamicArena());
  const int rank = static_cast<int>(swage::clusterRank());
  const swage::SharedAddress at = initialise();
  if (swage::threadIndex() == 0)
    swage::mbarrierArriveExpect(at, 2 * 512);
  swage::clusterBarrier();
  if (swage::threadIndex() == 0)
    swage::tensorLoadMulticast(words + 512 * rank, map, at, static_cast<unsigned short>(3),
                               rank * 16 - 16, rank - 1, rank, rank, rank);
  swage::mbarrierWait(at, 0);
  dump(out, 256);
  swage::clusterBarrier();
}

// Stores; what lies beyond the edges is left out, and what no box covers stays as it was.
//
// launch: tensor_store_1d grid=4 block=64 shared=128 in=65536 out=400 map=out:f32:100:box=32 exact
extern "C" __global__ void tensor_store_1d(const unsigned *in, unsigned *out,
                                           const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 32);
  if (swage::threadIndex() == 0) {
    swage::tensorStore(map, swage::sharedAddress(swage::dynamicArena()), 32 * block + 4);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_store_2d grid=6 block=64 shared=512 in=65536 out=12000 map=out:f32:60x50:box=16x8 exact
extern "C" __global__ void tensor_store_2d(const unsigned *in, unsigned *out,
                                           const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 128);
  if (swage::threadIndex() == 0) {
    swage::tensorStore(map, swage::sharedAddress(swage::dynamicArena()), block * 16 + 4,
                       block * 9 + 1);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_store_3d grid=5 block=64 shared=384 in=65536 out=9600 map=out:u16:40x12x10:box=8x4x6 exact
extern "C" __global__ void tensor_store_3d(const unsigned *in, unsigned *out,
                                           const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 96);
  if (swage::threadIndex() == 0) {
    swage::tensorStore(map, swage::sharedAddress(swage::dynamicArena()), block * 8, block * 3 + 1,
                       block * 2 + 1);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_store_4d grid=3 block=64 shared=384 in=65536 out=13440 map=out:f16:32x7x5x6:box=16x3x2x2 exact
extern "C" __global__ void tensor_store_4d(const unsigned *in, unsigned *out,
                                           const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 96);
  if (swage::threadIndex() == 0) {
    swage::tensorStore(map, swage::sharedAddress(swage::dynamicArena()), block * 16 + 8,
                       block * 3 + 1, block * 2, block * 2 + 1);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_store_5d grid=3 block=64 shared=512 in=65536 out=23040 map=out:u8:64x5x4x3x6:box=32x2x2x2x2 exact
extern "C" __global__ void tensor_store_5d(const unsigned *in, unsigned *out,
                                           const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 128);
  if (swage::threadIndex() == 0) {
    swage::tensorStore(map, swage::sharedAddress(swage::dynamicArena()), block * 32 + 16,
                       block * 2 + 1, block * 2 + 1, block + 1, block * 2 + 1);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_store_swizzle_32 grid=2 block=64 shared=768 in=65536 out=3840 map=out:f16:48x40:box=16x24:swizzle=32 exact
extern "C" __global__ void tensor_store_swizzle_32(const unsigned *in, unsigned *out,
                                                   const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 192);
  if (swage::threadIndex() == 0) {
    swage::tensorStore(map, swage::sharedAddress(swage::dynamicArena()), block * 16 + 8,
                       block * 20 + 4);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_store_swizzle_64 grid=2 block=64 shared=1536 in=65536 out=7680 map=out:f16:96x40:box=32x24:swizzle=64 exact
extern "C" __global__ void tensor_store_swizzle_64(const unsigned *in, unsigned *out,
                                                   const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 384);
  if (swage::threadIndex() == 0) {
    swage::tensorStore(map, swage::sharedAddress(swage::dynamicArena()), block * 32 + 8,
                       block * 20 + 4);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_store_swizzle_128 grid=2 block=64 shared=3072 in=65536 out=15360 map=out:f16:192x40:box=64x24:swizzle=128 exact
extern "C" __global__ void tensor_store_swizzle_128(const unsigned *in, unsigned *out,
                                                    const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 768);
  if (swage::threadIndex() == 0) {
    swage::tensorStore(map, swage::sharedAddress(swage::dynamicArena()), block * 64 + 8,
                       block * 20 + 4);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// Sums; `out` begins as -1 in every integer.  Two blocks add to what both boxes cover.
//
// launch: tensor_add_u32 grid=2 block=64 shared=512 in=65536 out=3200 map=out:u32:40x20:box=16x8 exact
extern "C" __global__ void tensor_add_u32(const unsigned *in, unsigned *out,
                                          const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 128);
  if (swage::threadIndex() == 0) {
    swage::tensorReduceAdd(map, swage::sharedAddress(swage::dynamicArena()), block * 8 + 4,
                           block * 5 + 2);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_add_s32 grid=2 block=64 shared=512 in=65536 out=3200 map=out:s32:40x20:box=16x8 exact
extern "C" __global__ void tensor_add_s32(const unsigned *in, unsigned *out,
                                          const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 128);
  if (swage::threadIndex() == 0) {
    swage::tensorReduceAdd(map, swage::sharedAddress(swage::dynamicArena()), block * 8 + 4,
                           block * 5 + 2);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_add_u64 grid=2 block=64 shared=1024 in=65536 out=6400 map=out:u64:40x20:box=16x8 exact
extern "C" __global__ void tensor_add_u64(const unsigned *in, unsigned *out,
                                          const __grid_constant__ swage::TensorMap map) {
  const int block = static_cast<int>(swage::blockIndex());
  fill(in, 256);
  if (swage::threadIndex() == 0) {
    swage::tensorReduceAdd(map, swage::sharedAddress(swage::dynamicArena()), block * 8 + 4,
                           block * 5 + 2);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// Sums of floats: a first store, waited for, gives them numbers.  Small integers, whose sums are
// exact.
//
// launch: tensor_add_f32_1d grid=1 block=64 shared=256 in=65536 out=256 map=out:f32:64:box=32 exact
extern "C" __global__ void tensor_add_f32_1d(const unsigned *in, unsigned *out,
                                             const __grid_constant__ swage::TensorMap map) {
  fillNumbers<float>(in, 64);
  if (swage::threadIndex() == 0) {
    const swage::SharedAddress from = swage::sharedAddress(swage::dynamicArena());
    swage::tensorStore(map, from, 40);
    swage::bulkCommit();
    swage::bulkWait<0>();
    swage::tensorReduceAdd(map, from + 128, 40);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_add_f16_2d grid=1 block=64 shared=512 in=65536 out=1024 map=out:f16:32x16:box=16x8 exact
extern "C" __global__ void tensor_add_f16_2d(const unsigned *in, unsigned *out,
                                             const __grid_constant__ swage::TensorMap map) {
  fillNumbers<swage::f16>(in, 256);
  if (swage::threadIndex() == 0) {
    const swage::SharedAddress from = swage::sharedAddress(swage::dynamicArena());
    swage::tensorStore(map, from, 24, 10);
    swage::bulkCommit();
    swage::bulkWait<0>();
    swage::tensorReduceAdd(map, from + 256, 24, 10);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_add_bf16_3d grid=1 block=64 shared=512 in=65536 out=2048 map=out:bf16:32x8x4:box=16x4x2 exact
extern "C" __global__ void tensor_add_bf16_3d(const unsigned *in, unsigned *out,
                                              const __grid_constant__ swage::TensorMap map) {
  fillNumbers<swage::bf16>(in, 256);
  if (swage::threadIndex() == 0) {
    const swage::SharedAddress from = swage::sharedAddress(swage::dynamicArena());
    swage::tensorStore(map, from, 24, 6, 3);
    swage::bulkCommit();
    swage::bulkWait<0>();
    swage::tensorReduceAdd(map, from + 256, 24, 6, 3);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_add_f16_4d grid=1 block=64 shared=256 in=65536 out=2048 map=out:f16:16x4x4x4:box=8x2x2x2 exact
extern "C" __global__ void tensor_add_f16_4d(const unsigned *in, unsigned *out,
                                             const __grid_constant__ swage::TensorMap map) {
  fillNumbers<swage::f16>(in, 128);
  if (swage::threadIndex() == 0) {
    const swage::SharedAddress from = swage::sharedAddress(swage::dynamicArena());
    swage::tensorStore(map, from, 8, 3, 1, 2);
    swage::bulkCommit();
    swage::bulkWait<0>();
    swage::tensorReduceAdd(map, from + 128, 8, 3, 1, 2);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_add_bf16_5d grid=1 block=64 shared=512 in=65536 out=8192 map=out:bf16:16x4x4x4x4:box=8x2x2x2x2 exact
extern "C" __global__ void tensor_add_bf16_5d(const unsigned *in, unsigned *out,
                                              const __grid_constant__ swage::TensorMap map) {
  fillNumbers<swage::bf16>(in, 256);
  if (swage::threadIndex() == 0) {
    const swage::SharedAddress from = swage::sharedAddress(swage::dynamicArena());
    swage::tensorStore(map, from, 8, 1, 2, 3, 0);
    swage::bulkCommit();
    swage::bulkWait<0>();
    swage::tensorReduceAdd(map, from + 256, 8, 1, 2, 3, 0);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}

// launch: tensor_add_f32_2d grid=1 block=64 shared=1024 in=65536 out=2048 map=out:f32:32x16:box=16x8 exact
extern "C" __global__ void tensor_add_f32_2d(const unsigned *in, unsigned *out,
                                             const __grid_constant__ swage::TensorMap map) {
  fillNumbers<float>(in, 256);
  if (swage::threadIndex() == 0) {
    const swage::SharedAddress from = swage::sharedAddress(swage::dynamicArena());
    swage::tensorStore(map, from, 20, 11);
    swage::bulkCommit();
    swage::bulkWait<0>();
    swage::tensorReduceAdd(map, from + 512, 20, 11);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}
