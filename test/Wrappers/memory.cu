// Accesses of 1 to 16 bytes.
//
// arch: sm_80
#include "swage/device/device.cuh"

namespace {
template <int Bytes, swage::Traffic Use>
__device__ void copy(const unsigned *&in, unsigned *&out, unsigned thread) {
  unsigned words[4] = {};
  swage::loadGlobal<Bytes, Use>(reinterpret_cast<const char *>(in) + Bytes * thread, words);
  for (unsigned &word : words)
    word ^= 0x5a5a5a5au;
  swage::storeGlobal<Bytes>(reinterpret_cast<char *>(out) + Bytes * thread, words);
  in += 16 * Bytes; // 64 threads
  out += 16 * Bytes;
}

template <int Bytes>
__device__ void exchange(char *shared, const unsigned *&in, unsigned *&out, unsigned thread) {
  unsigned words[4] = {};
  swage::loadGlobal<Bytes, swage::Traffic::Reused>(
      reinterpret_cast<const char *>(in) + Bytes * thread, words);
  swage::storeShared<Bytes>(shared + Bytes * thread, words);
  swage::barrier();
  swage::loadShared<Bytes>(shared + Bytes * (thread ^ 21u), words);
  swage::storeGlobal<Bytes>(reinterpret_cast<char *>(out) + Bytes * thread, words);
  swage::barrier();
  in += 16 * Bytes;
  out += 16 * Bytes;
}
} // namespace

// launch: global_memory grid=1 block=64 in=3968 out=3968 exact
extern "C" __global__ void global_memory(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::threadIndex();
  copy<16, swage::Traffic::Stream>(in, out, thread);
  copy<16, swage::Traffic::Reused>(in, out, thread);
  copy<8, swage::Traffic::Stream>(in, out, thread);
  copy<8, swage::Traffic::Reused>(in, out, thread);
  copy<4, swage::Traffic::Stream>(in, out, thread);
  copy<4, swage::Traffic::Reused>(in, out, thread);
  copy<2, swage::Traffic::Stream>(in, out, thread);
  copy<2, swage::Traffic::Reused>(in, out, thread);
  copy<1, swage::Traffic::Stream>(in, out, thread);
  copy<1, swage::Traffic::Reused>(in, out, thread);
}

// launch: other_memory grid=1 block=64 in=3968 out=3968 exact
extern "C" __global__ void other_memory(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::threadIndex();
  copy<16, swage::Traffic::Coherent>(in, out, thread);
  copy<16, swage::Traffic::Scan>(in, out, thread);
  copy<8, swage::Traffic::Coherent>(in, out, thread);
  copy<8, swage::Traffic::Scan>(in, out, thread);
  copy<4, swage::Traffic::Coherent>(in, out, thread);
  copy<4, swage::Traffic::Scan>(in, out, thread);
  copy<2, swage::Traffic::Coherent>(in, out, thread);
  copy<2, swage::Traffic::Scan>(in, out, thread);
  copy<1, swage::Traffic::Coherent>(in, out, thread);
  copy<1, swage::Traffic::Scan>(in, out, thread);
}

// launch: shared_packets grid=1 block=64 in=1984 out=1984 exact
extern "C" __global__ void shared_packets(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::threadIndex();
  char *shared = swage::arena<1024>();
  exchange<16>(shared, in, out, thread);
  exchange<8>(shared, in, out, thread);
  exchange<4>(shared, in, out, thread);
  exchange<2>(shared, in, out, thread);
  exchange<1>(shared, in, out, thread);
}
