// Memory accesses of 1, 2, 4, 8 and 16 bytes, as 32-bit words.  Plain C++ accesses of the whole packet:
// the compiler's instrumentation shows them to the checker.
#pragma once

namespace swage {

/// Makes no difference here; see cuda/memory.cuh.
enum class Traffic { Stream, Scan, Reused, Coherent };

constexpr __device__ int wordsOf(int bytes) { return (bytes + 3) / 4; }

/// The types whose plain C++ accesses to shared memory are single instructions of that many bytes.
template <int Bytes> struct Packet;
template <> struct Packet<1> { unsigned char x; };
template <> struct Packet<2> { unsigned short x; };
template <> struct Packet<4> { unsigned x; };
template <> struct alignas(8) Packet<8> { unsigned x, y; };
template <> struct alignas(16) Packet<16> { unsigned x, y, z, w; };

namespace simt {
template <int Bytes> struct Scalar;
template <> struct Scalar<1> { using Type = unsigned char; };
template <> struct Scalar<2> { using Type = unsigned short; };
template <> struct Scalar<4> { using Type = unsigned; };
template <> struct Scalar<8> { using Type = unsigned long long; };
template <> struct Scalar<16> { using Type = unsigned __int128; };
} // namespace simt

template <int Bytes> __device__ __forceinline__ void loadShared(const char *from, unsigned *words) {
  const auto packet = *reinterpret_cast<const typename simt::Scalar<Bytes>::Type *>(from);
  for (int i = 0; i < wordsOf(Bytes); ++i)
    words[i] = static_cast<unsigned>(packet >> (Bytes > 4 ? 32 * i : 0));
}

/// Four bytes of shared memory from `byte` of an aligned word on, of which only the first `count`
/// are read: the others matter to nobody.
__device__ __forceinline__ unsigned loadSharedAcross(const char *word, unsigned byte, int count) {
  unsigned result = 0x42424242u;
  for (int i = 0; i < count; ++i)
    result = (result & ~(0xffu << 8 * i)) |
             static_cast<unsigned>(reinterpret_cast<const unsigned char *>(word)[byte + i])
                 << 8 * i;
  return result;
}

/// Makes no difference here; see cuda/memory.cuh.
__device__ __forceinline__ void prefetchGlobal(const void *from) {}

template <int Bytes> __device__ __forceinline__ void storeShared(char *to, const unsigned *words) {
  using Packed = typename simt::Scalar<Bytes>::Type;
  Packed packet = static_cast<Packed>(words[0]);
  if constexpr (Bytes > 4)
    for (int i = 1; i < wordsOf(Bytes); ++i)
      packet |= static_cast<Packed>(words[i]) << 32 * i;
  *reinterpret_cast<Packed *>(to) = packet;
}

template <int Bytes, Traffic Use>
__device__ __forceinline__ void loadGlobal(const void *from, unsigned *words) {
  loadShared<Bytes>(static_cast<const char *>(from), words);
}

/// An aligned access of which only the bytes from `first` on and before `end` matter.  The others are
/// not read: of any type numbers that spoil a result and fit an integer.
template <int Bytes, Traffic Use>
__device__ __forceinline__ void loadAround(const void *from, unsigned *words, int first, int end) {
  for (int i = 0; i < wordsOf(Bytes); ++i)
    words[i] = 0x42424242u;
  for (int i = first < 0 ? 0 : first; i < end && i < Bytes; ++i) {
    const unsigned byte = static_cast<const unsigned char *>(from)[i];
    words[i / 4] = (words[i / 4] & ~(0xffu << (8 * (i % 4)))) | byte << (8 * (i % 4));
  }
}

/// Makes no difference here; see cuda/memory.cuh.
template <class T> __device__ __forceinline__ T *pinned(T *address) { return address; }

template <int Bytes> __device__ __forceinline__ void storeGlobal(void *to, const unsigned *words) {
  storeShared<Bytes>(static_cast<char *>(to), words);
}

} // namespace swage
