// Atomic operations, and the accesses by which blocks signal each other.
#pragma once

#include "swage/device/cpu/shared.cuh"

namespace swage {

/// A parameter whose argument is converted to T instead of deciding it.
template <class T> struct NotDeducedType { using Type = T; };
template <class T> using NotDeduced = typename NotDeducedType<T>::Type;

namespace simt {
template <class T> constexpr bool kIsAtomic = false;
template <> constexpr bool kIsAtomic<unsigned> = true;
template <> constexpr bool kIsAtomic<int> = true;
template <> constexpr bool kIsAtomic<unsigned long long> = true;
template <> constexpr bool kIsAtomic<long long> = true;
template <> constexpr bool kIsAtomic<float> = true;
template <> constexpr bool kIsAtomic<double> = true;

template <class T>
constexpr NumberKind kNumberKind = T(0.5) != T(0) ? NumberKind::Float
                                   : T(-1) < T(0) ? NumberKind::Signed
                                                  : NumberKind::Unsigned;

/// Which types the instruction exists for.
template <class T> constexpr bool hasAtomic(AtomicOp op) {
  const bool isFloat = kNumberKind<T> == NumberKind::Float;
  const bool isLongLong = sizeof(T) == 8 && kNumberKind<T> == NumberKind::Signed;
  if (op == AtomicOp::Add || op == AtomicOp::Exchange)
    return kIsAtomic<T> && !isLongLong;
  if (op == AtomicOp::Min || op == AtomicOp::Max || op == AtomicOp::Load || op == AtomicOp::Store)
    return kIsAtomic<T> && !isFloat;
  return kIsAtomic<T> && !isFloat && !isLongLong;
}

template <AtomicOp Op, class T> __forceinline__ T atomicGlobal(T *at, T value, T expected = T()) {
  static_assert(hasAtomic<T>(Op), "no instruction does that with this type");
  T old;
  abi->atomicGlobal(at, sizeof(T), Op, kNumberKind<T>, &value, &expected, &old);
  return old;
}
template <AtomicOp Op, class T>
__forceinline__ T atomicShared(SharedAddress at, T value, T expected = T()) {
  static_assert(hasAtomic<T>(Op), "no instruction does that with this type");
  T old;
  abi->atomicShared(at, sizeof(T), Op, kNumberKind<T>, &value, &expected, &old);
  return old;
}
} // namespace simt

template <class T> __device__ __forceinline__ T atomicAdd(T *at, NotDeduced<T> value) {
  return simt::atomicGlobal<simt::AtomicOp::Add, T>(at, value);
}
template <class T> __device__ __forceinline__ T atomicAddShared(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Add>(at, value);
}
template <class T> __device__ __forceinline__ T atomicAddCluster(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Add>(at, value);
}
template <class T> __device__ __forceinline__ T atomicMin(T *at, NotDeduced<T> value) {
  return simt::atomicGlobal<simt::AtomicOp::Min, T>(at, value);
}
template <class T> __device__ __forceinline__ T atomicMinShared(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Min>(at, value);
}
template <class T> __device__ __forceinline__ T atomicMinCluster(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Min>(at, value);
}
template <class T> __device__ __forceinline__ T atomicMax(T *at, NotDeduced<T> value) {
  return simt::atomicGlobal<simt::AtomicOp::Max, T>(at, value);
}
template <class T> __device__ __forceinline__ T atomicMaxShared(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Max>(at, value);
}
template <class T> __device__ __forceinline__ T atomicMaxCluster(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Max>(at, value);
}
template <class T> __device__ __forceinline__ T atomicAnd(T *at, NotDeduced<T> value) {
  return simt::atomicGlobal<simt::AtomicOp::And, T>(at, value);
}
template <class T> __device__ __forceinline__ T atomicAndShared(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::And>(at, value);
}
template <class T> __device__ __forceinline__ T atomicAndCluster(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::And>(at, value);
}
template <class T> __device__ __forceinline__ T atomicOr(T *at, NotDeduced<T> value) {
  return simt::atomicGlobal<simt::AtomicOp::Or, T>(at, value);
}
template <class T> __device__ __forceinline__ T atomicOrShared(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Or>(at, value);
}
template <class T> __device__ __forceinline__ T atomicOrCluster(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Or>(at, value);
}
template <class T> __device__ __forceinline__ T atomicXor(T *at, NotDeduced<T> value) {
  return simt::atomicGlobal<simt::AtomicOp::Xor, T>(at, value);
}
template <class T> __device__ __forceinline__ T atomicXorShared(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Xor>(at, value);
}
template <class T> __device__ __forceinline__ T atomicXorCluster(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Xor>(at, value);
}
template <class T> __device__ __forceinline__ T atomicExchange(T *at, NotDeduced<T> value) {
  return simt::atomicGlobal<simt::AtomicOp::Exchange, T>(at, value);
}
template <class T> __device__ __forceinline__ T atomicExchangeShared(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Exchange>(at, value);
}
template <class T> __device__ __forceinline__ T atomicExchangeCluster(SharedAddress at, T value) {
  return simt::atomicShared<simt::AtomicOp::Exchange>(at, value);
}

template <class T>
__device__ __forceinline__ T atomicCompareExchange(T *at, NotDeduced<T> expected,
                                                   NotDeduced<T> value) {
  return simt::atomicGlobal<simt::AtomicOp::CompareExchange, T>(at, value, expected);
}
template <class T>
__device__ __forceinline__ T atomicCompareExchangeShared(SharedAddress at, T expected, T value) {
  return simt::atomicShared<simt::AtomicOp::CompareExchange>(at, value, expected);
}
template <class T>
__device__ __forceinline__ T atomicCompareExchangeCluster(SharedAddress at, T expected, T value) {
  return simt::atomicShared<simt::AtomicOp::CompareExchange>(at, value, expected);
}

template <class T> __device__ __forceinline__ T loadAcquire(const T *from) {
  return simt::atomicGlobal<simt::AtomicOp::Load>(const_cast<T *>(from), T());
}
template <class T> __device__ __forceinline__ void storeRelease(T *to, NotDeduced<T> value) {
  simt::atomicGlobal<simt::AtomicOp::Store, T>(to, value);
}
template <class T> __device__ __forceinline__ T loadRelaxed(const T *from) {
  return loadAcquire(from);
}
template <class T> __device__ __forceinline__ void storeRelaxed(T *to, NotDeduced<T> value) {
  storeRelease(to, value);
}
template <class T> __device__ __forceinline__ T addRelease(T *at, NotDeduced<T> value) {
  simt::abi->fence();
  return simt::atomicGlobal<simt::AtomicOp::Add, T>(at, value);
}

__device__ __forceinline__ void fenceGpu() { simt::abi->fence(); }
template <class T> __device__ __forceinline__ T addInOrder(T *at, NotDeduced<T> value) {
  fenceGpu();
  const T before = atomicAdd(at, value);
  fenceGpu();
  return before;
}

__device__ __forceinline__ void pause() { simt::abi->pause(); }

} // namespace swage
