// Memory accesses of 1, 2, 4, 8 and 16 bytes, as 32-bit words.
//
// Most global loads go through the read-only path (ld.global.nc), which the compiler may move ahead
// of anything: a kernel never reads what it has written, and where an output aliases an input each
// thread reads an element before it alone writes it.  Two kinds of loads must not be moved.  A
// kernel that overlaps the one before it must not read ahead of its wait.  And vectors of what is
// read again (gamma and beta) are best read one by one, each behind the stores of the one before:
// read all at once they take registers that hold rows of other blocks.
//
// L1::no_allocate costs 3 to 5 % wherever about as much is written as is read, and gains up to 5 %
// where next to nothing is, or all of it stays in L2 (H200; docs/notes/rows.md).
#pragma once

namespace swage {

/// Stream: each byte is read once.  Scan: the same where it is to leave nothing in L1.  Reused:
/// several coordinates read it; vectors in the order of the text.  Coherent: memory that other grids
/// may write until waitForPriorGrids returns.
enum class Traffic { Stream, Scan, Reused, Coherent };

constexpr __device__ int wordsOf(int bytes) { return (bytes + 3) / 4; }

namespace ptx {
template <int Bytes>
__device__ __forceinline__ void loadInOrder(const void *from, unsigned *words) {
  if constexpr (Bytes == 16)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(from));
  else if constexpr (Bytes == 8)
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(from));
  else if constexpr (Bytes == 4)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(words[0]) : "l"(from));
  else if constexpr (Bytes == 2)
    asm volatile("ld.global.u16 %0, [%1];" : "=r"(words[0]) : "l"(from));
  else
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(words[0]) : "l"(from));
}
} // namespace ptx

template <int Bytes, Traffic Use>
__device__ __forceinline__ void loadGlobal(const void *from, unsigned *words) {
  static_assert(Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8 || Bytes == 16);
  if constexpr (Use == Traffic::Coherent || (Use == Traffic::Reused && Bytes >= 8))
    ptx::loadInOrder<Bytes>(from, words);
  else if constexpr (Bytes == 16 && Use == Traffic::Scan)
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
        : "l"(from));
  else if constexpr (Bytes == 16)
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
        : "l"(from));
  else if constexpr (Bytes == 8)
    asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(from));
  else if constexpr (Bytes == 4)
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(words[0]) : "l"(from));
  else if constexpr (Bytes == 2)
    asm("ld.global.nc.u16 %0, [%1];" : "=r"(words[0]) : "l"(from));
  else
    asm("ld.global.nc.u8 %0, [%1];" : "=r"(words[0]) : "l"(from));
}

/// An aligned access of which only the bytes from `first` on and before `end` matter, at least one.  The
/// others, which may be another tensor's, come along: no page ends within an aligned access.
template <int Bytes, Traffic Use>
__device__ __forceinline__ void loadAround(const void *from, unsigned *words, int first, int end) {
  loadGlobal<Bytes, Use>(from, words);
}

/// The same address, which the compiler does not take apart again: what is added to it becomes part of
/// loads.
template <class T> __device__ __forceinline__ T *pinned(T *address) {
  asm("" : "+l"(address));
  return address;
}

template <int Bytes> __device__ __forceinline__ void storeGlobal(void *to, const unsigned *words) {
  static_assert(Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8 || Bytes == 16);
  if constexpr (Bytes == 16)
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  else if constexpr (Bytes == 8)
    asm volatile("st.global.v2.u32 [%0], {%1, %2};"
                 :
                 : "l"(to), "r"(words[0]), "r"(words[1])
                 : "memory");
  else if constexpr (Bytes == 4)
    asm volatile("st.global.u32 [%0], %1;" : : "l"(to), "r"(words[0]) : "memory");
  else if constexpr (Bytes == 2)
    asm volatile("st.global.u16 [%0], %1;" : : "l"(to), "r"(words[0]) : "memory");
  else
    asm volatile("st.global.u8 [%0], %1;" : : "l"(to), "r"(words[0]) : "memory");
}

/// The types whose plain C++ accesses to shared memory are single instructions of that many bytes.
template <int Bytes> struct Packet;
template <> struct Packet<1> { unsigned char x; };
template <> struct Packet<2> { unsigned short x; };
template <> struct Packet<4> { unsigned x; };
template <> struct alignas(8) Packet<8> { unsigned x, y; };
template <> struct alignas(16) Packet<16> { unsigned x, y, z, w; };

template <int Bytes> __device__ __forceinline__ void loadShared(const char *from, unsigned *words) {
  const auto packet = *reinterpret_cast<const Packet<Bytes> *>(from);
  words[0] = packet.x;
  if constexpr (Bytes >= 8)
    words[1] = packet.y;
  if constexpr (Bytes == 16) {
    words[2] = packet.z;
    words[3] = packet.w;
  }
}

/// Four bytes of shared memory from `byte` of an aligned word on, of which only the first `count`
/// matter.
__device__ __forceinline__ unsigned loadSharedAcross(const char *word, unsigned byte, int count) {
  return permuteBytes(*reinterpret_cast<const unsigned *>(word),
                      *reinterpret_cast<const unsigned *>(word + 4), 0x3210 + byte * 0x1111);
}

/// Asks for the line of an address in global memory, to be read from L2 later.
__device__ __forceinline__ void prefetchGlobal(const void *from) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(from));
}

template <int Bytes> __device__ __forceinline__ void storeShared(char *to, const unsigned *words) {
  auto &packet = *reinterpret_cast<Packet<Bytes> *>(to);
  if constexpr (Bytes == 16)
    packet = {words[0], words[1], words[2], words[3]};
  else if constexpr (Bytes == 8)
    packet = {words[0], words[1]};
  else
    packet = {static_cast<decltype(packet.x)>(words[0])};
}

} // namespace swage
