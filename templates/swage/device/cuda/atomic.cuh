// Atomic operations, and the accesses by which blocks signal each other.  Those on pointers are for
// global memory, scope the device; those ...Shared for shared memory of the own block; those
// ...Cluster for that of any block of the cluster (slower; 9.0).  Relaxed: they order nothing but
// themselves.  Each returns the value from before.
//
// Sums of float flush denormals (operands and result) in global memory, and keep them in shared.
// In which order threads come is open, so a sum of floats is only reproducible where it is exact.
#pragma once

#include "swage/device/cuda/shared.cuh"

namespace swage {

/// A parameter whose argument is converted to T instead of deciding it.
template <class T> struct NotDeducedType { using Type = T; };
template <class T> using NotDeduced = typename NotDeducedType<T>::Type;

namespace ptx {
// Pointers to pointers convert to their own type only.
template <class A, class B>
concept Same = requires(void (*take)(A **), B **pointer) { take(pointer); };
template <class T, class... Ts>
concept OneOf = (Same<T, Ts> || ...);
} // namespace ptx

#define SWAGE_SHARED "relaxed.cta.shared."
#define SWAGE_CLUSTER "relaxed.cluster.shared::cluster."
#define SWAGE_GLOBAL "relaxed.gpu.global."

// One instruction for T of this type; the address is a pointer ("l") or a shared address ("r").
#define SWAGE_ATOMIC(TYPE, INSTRUCTION, ADDRESS, REGISTER)                                         \
  if constexpr (ptx::Same<T, TYPE>)                                                                \
    asm volatile("atom." INSTRUCTION " %0, [%1], %2;"                                              \
                 : "=" REGISTER(old)                                                               \
                 : ADDRESS(at), REGISTER(value)                                                    \
                 : "memory");
#define SWAGE_ATOMIC_ADD(WHERE, ADDRESS)                                                           \
  static_assert(ptx::OneOf<T, unsigned, int, unsigned long long, float, double>);                  \
  T old;                                                                                           \
  SWAGE_ATOMIC(unsigned, WHERE "add.u32", ADDRESS, "r")                                            \
  SWAGE_ATOMIC(int, WHERE "add.s32", ADDRESS, "r")                                                 \
  SWAGE_ATOMIC(unsigned long long, WHERE "add.u64", ADDRESS, "l")                                  \
  SWAGE_ATOMIC(float, WHERE "add.f32", ADDRESS, "f")                                               \
  SWAGE_ATOMIC(double, WHERE "add.f64", ADDRESS, "d")                                              \
  return old;
#define SWAGE_ATOMIC_ORDER(WHERE, ADDRESS)                                                         \
  static_assert(ptx::OneOf<T, unsigned, int, unsigned long long, long long>);                      \
  T old;                                                                                           \
  SWAGE_ATOMIC(unsigned, WHERE ".u32", ADDRESS, "r")                                               \
  SWAGE_ATOMIC(int, WHERE ".s32", ADDRESS, "r")                                                    \
  SWAGE_ATOMIC(unsigned long long, WHERE ".u64", ADDRESS, "l")                                     \
  SWAGE_ATOMIC(long long, WHERE ".s64", ADDRESS, "l")                                              \
  return old;
#define SWAGE_ATOMIC_BITS(WHERE, ADDRESS)                                                          \
  static_assert(ptx::OneOf<T, unsigned, int, unsigned long long>);                                 \
  T old;                                                                                           \
  SWAGE_ATOMIC(unsigned, WHERE ".b32", ADDRESS, "r")                                               \
  SWAGE_ATOMIC(int, WHERE ".b32", ADDRESS, "r")                                                    \
  SWAGE_ATOMIC(unsigned long long, WHERE ".b64", ADDRESS, "l")                                     \
  return old;
#define SWAGE_ATOMIC_EXCHANGE(WHERE, ADDRESS)                                                      \
  static_assert(ptx::OneOf<T, unsigned, int, unsigned long long, float, double>);                  \
  T old;                                                                                           \
  SWAGE_ATOMIC(unsigned, WHERE "exch.b32", ADDRESS, "r")                                           \
  SWAGE_ATOMIC(int, WHERE "exch.b32", ADDRESS, "r")                                                \
  SWAGE_ATOMIC(unsigned long long, WHERE "exch.b64", ADDRESS, "l")                                 \
  SWAGE_ATOMIC(float, WHERE "exch.b32", ADDRESS, "f")                                              \
  SWAGE_ATOMIC(double, WHERE "exch.b64", ADDRESS, "d")                                             \
  return old;
#define SWAGE_ATOMIC_COMPARE(WHERE, ADDRESS)                                                       \
  static_assert(ptx::OneOf<T, unsigned, int, unsigned long long>);                                 \
  T old;                                                                                           \
  if constexpr (sizeof(T) == 4)                                                                    \
    asm volatile("atom." WHERE "cas.b32 %0, [%1], %2, %3;"                                         \
                 : "=r"(old)                                                                       \
                 : ADDRESS(at), "r"(expected), "r"(value)                                          \
                 : "memory");                                                                      \
  else                                                                                             \
    asm volatile("atom." WHERE "cas.b64 %0, [%1], %2, %3;"                                         \
                 : "=l"(old)                                                                       \
                 : ADDRESS(at), "l"(expected), "l"(value)                                          \
                 : "memory");                                                                      \
  return old;

/// unsigned, int, unsigned long long, float, double.
template <class T> __device__ __forceinline__ T atomicAdd(T *at, NotDeduced<T> value) {
  SWAGE_ATOMIC_ADD(SWAGE_GLOBAL, "l")
}
template <class T> __device__ __forceinline__ T atomicAddShared(SharedAddress at, T value) {
  SWAGE_ATOMIC_ADD(SWAGE_SHARED, "r")
}
template <class T> __device__ __forceinline__ T atomicAddCluster(SharedAddress at, T value) {
  SWAGE_ATOMIC_ADD(SWAGE_CLUSTER, "r")
}

/// unsigned, int, unsigned long long, long long.
template <class T> __device__ __forceinline__ T atomicMin(T *at, NotDeduced<T> value) {
  SWAGE_ATOMIC_ORDER(SWAGE_GLOBAL "min", "l")
}
template <class T> __device__ __forceinline__ T atomicMinShared(SharedAddress at, T value) {
  SWAGE_ATOMIC_ORDER(SWAGE_SHARED "min", "r")
}
template <class T> __device__ __forceinline__ T atomicMinCluster(SharedAddress at, T value) {
  SWAGE_ATOMIC_ORDER(SWAGE_CLUSTER "min", "r")
}
template <class T> __device__ __forceinline__ T atomicMax(T *at, NotDeduced<T> value) {
  SWAGE_ATOMIC_ORDER(SWAGE_GLOBAL "max", "l")
}
template <class T> __device__ __forceinline__ T atomicMaxShared(SharedAddress at, T value) {
  SWAGE_ATOMIC_ORDER(SWAGE_SHARED "max", "r")
}
template <class T> __device__ __forceinline__ T atomicMaxCluster(SharedAddress at, T value) {
  SWAGE_ATOMIC_ORDER(SWAGE_CLUSTER "max", "r")
}

/// unsigned, int, unsigned long long.
template <class T> __device__ __forceinline__ T atomicAnd(T *at, NotDeduced<T> value) {
  SWAGE_ATOMIC_BITS(SWAGE_GLOBAL "and", "l")
}
template <class T> __device__ __forceinline__ T atomicAndShared(SharedAddress at, T value) {
  SWAGE_ATOMIC_BITS(SWAGE_SHARED "and", "r")
}
template <class T> __device__ __forceinline__ T atomicAndCluster(SharedAddress at, T value) {
  SWAGE_ATOMIC_BITS(SWAGE_CLUSTER "and", "r")
}
template <class T> __device__ __forceinline__ T atomicOr(T *at, NotDeduced<T> value) {
  SWAGE_ATOMIC_BITS(SWAGE_GLOBAL "or", "l")
}
template <class T> __device__ __forceinline__ T atomicOrShared(SharedAddress at, T value) {
  SWAGE_ATOMIC_BITS(SWAGE_SHARED "or", "r")
}
template <class T> __device__ __forceinline__ T atomicOrCluster(SharedAddress at, T value) {
  SWAGE_ATOMIC_BITS(SWAGE_CLUSTER "or", "r")
}
template <class T> __device__ __forceinline__ T atomicXor(T *at, NotDeduced<T> value) {
  SWAGE_ATOMIC_BITS(SWAGE_GLOBAL "xor", "l")
}
template <class T> __device__ __forceinline__ T atomicXorShared(SharedAddress at, T value) {
  SWAGE_ATOMIC_BITS(SWAGE_SHARED "xor", "r")
}
template <class T> __device__ __forceinline__ T atomicXorCluster(SharedAddress at, T value) {
  SWAGE_ATOMIC_BITS(SWAGE_CLUSTER "xor", "r")
}

/// unsigned, int, unsigned long long, float, double.
template <class T> __device__ __forceinline__ T atomicExchange(T *at, NotDeduced<T> value) {
  SWAGE_ATOMIC_EXCHANGE(SWAGE_GLOBAL, "l")
}
template <class T> __device__ __forceinline__ T atomicExchangeShared(SharedAddress at, T value) {
  SWAGE_ATOMIC_EXCHANGE(SWAGE_SHARED, "r")
}
template <class T> __device__ __forceinline__ T atomicExchangeCluster(SharedAddress at, T value) {
  SWAGE_ATOMIC_EXCHANGE(SWAGE_CLUSTER, "r")
}

/// Writes `value` if `expected` is there: unsigned, int, unsigned long long.
template <class T>
__device__ __forceinline__ T atomicCompareExchange(T *at, NotDeduced<T> expected,
                                                   NotDeduced<T> value) {
  SWAGE_ATOMIC_COMPARE(SWAGE_GLOBAL, "l")
}
template <class T>
__device__ __forceinline__ T atomicCompareExchangeShared(SharedAddress at, T expected, T value) {
  SWAGE_ATOMIC_COMPARE(SWAGE_SHARED, "r")
}
template <class T>
__device__ __forceinline__ T atomicCompareExchangeCluster(SharedAddress at, T expected, T value) {
  SWAGE_ATOMIC_COMPARE(SWAGE_CLUSTER, "r")
}

//===----------------------------------------------------------------------===//
// Signals between blocks, in global memory
//===----------------------------------------------------------------------===//

// 4 and 8 bytes, integers.
#define SWAGE_LOAD(ORDER)                                                                          \
  static_assert(ptx::OneOf<T, unsigned, int, unsigned long long, long long>);                      \
  T value;                                                                                         \
  if constexpr (sizeof(T) == 4)                                                                    \
    asm volatile("ld." ORDER ".gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");    \
  else                                                                                             \
    asm volatile("ld." ORDER ".gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");    \
  return value;
#define SWAGE_STORE(ORDER)                                                                         \
  static_assert(ptx::OneOf<T, unsigned, int, unsigned long long, long long>);                      \
  if constexpr (sizeof(T) == 4)                                                                    \
    asm volatile("st." ORDER ".gpu.global.b32 [%0], %1;" : : "l"(to), "r"(value) : "memory");      \
  else                                                                                             \
    asm volatile("st." ORDER ".gpu.global.b64 [%0], %1;" : : "l"(to), "l"(value) : "memory");

/// What the writer of the value did before its storeRelease or addRelease is visible after.
template <class T> __device__ __forceinline__ T loadAcquire(const T *from) { SWAGE_LOAD("acquire") }
template <class T> __device__ __forceinline__ void storeRelease(T *to, NotDeduced<T> value) {
  SWAGE_STORE("release")
}
/// The same without an order: of a value that says by itself that it is there.
template <class T> __device__ __forceinline__ T loadRelaxed(const T *from) { SWAGE_LOAD("relaxed") }
template <class T> __device__ __forceinline__ void storeRelaxed(T *to, NotDeduced<T> value) {
  SWAGE_STORE("relaxed")
}
/// As atomicAdd; unsigned, int, unsigned long long, float, double.
template <class T>
__device__ __forceinline__ T addRelease(T *at, NotDeduced<T> value){
    SWAGE_ATOMIC_ADD("release.gpu.global.", "l")}
/// The same, and what others did before theirs is in order with what the thread does after it.
template <class T>
__device__ __forceinline__ T addInOrder(T *at, NotDeduced<T> value){
    SWAGE_ATOMIC_ADD("acq_rel.gpu.global.", "l")}

/// What the thread did before is visible to the device before what it does after, and what it has
/// read, directly or through a barrier, is in order with both.
__device__ __forceinline__ void fenceGpu() {
  asm volatile("fence.acq_rel.gpu;" : : : "memory");
}

/// For every loop that waits for another thread: gives the others time.
__device__ __forceinline__ void pause() { asm volatile("nanosleep.u32 32;" : : : "memory"); }

#undef SWAGE_STORE
#undef SWAGE_LOAD
#undef SWAGE_ATOMIC_COMPARE
#undef SWAGE_ATOMIC_EXCHANGE
#undef SWAGE_ATOMIC_BITS
#undef SWAGE_ATOMIC_ORDER
#undef SWAGE_ATOMIC_ADD
#undef SWAGE_ATOMIC
#undef SWAGE_GLOBAL
#undef SWAGE_CLUSTER
#undef SWAGE_SHARED

} // namespace swage
