// The frame around a kernel's text in the simulator: the language of CUDA as C++, the table of the
// simulator, and the module that is exported.  lib/Simt appends SWAGE_SIMT_MODULE to the text.
#pragma once

#include "swage/device/cpu/abi.cuh"

#define __global__ __attribute__((visibility("hidden")))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __align__(n) alignas(n)

namespace swage::simt {

__attribute__((visibility("hidden"))) inline const Abi *abi = nullptr;

template <class T> struct ParameterOf {
  static constexpr ParameterInfo kInfo{sizeof(T), false, false};
};
template <class T> struct ParameterOf<T *> {
  static constexpr ParameterInfo kInfo{sizeof(T *), true, false};
};
template <class T> struct ParameterOf<const T *> {
  static constexpr ParameterInfo kInfo{sizeof(T *), true, true};
};
template <class T> struct Plain { using Type = T; };
template <class T> struct Plain<const T> { using Type = T; };

template <auto Kernel> struct Entry;
template <class... Parameters, void (*Kernel)(Parameters...)> struct Entry<Kernel> {
  static constexpr ParameterInfo kParameters[sizeof...(Parameters) + 1] = {
      ParameterOf<typename Plain<Parameters>::Type>::kInfo..., {}};
  static constexpr unsigned kCount = sizeof...(Parameters);

  template <unsigned... I> struct Indices {};
  template <unsigned... I>
  static __forceinline__ void call(void *const *arguments, Indices<I...>) {
    Kernel(*static_cast<typename Plain<Parameters>::Type *>(arguments[I])...);
  }
  static void invoke(void *const *arguments) {
#if defined(__clang__)
    call(arguments, __make_integer_seq<Make, unsigned, kCount>{});
#else
    call(arguments, Indices<__integer_pack(kCount)...>{});
#endif
  }
#if defined(__clang__)
  template <class, unsigned... I> using Make = Indices<I...>;
#endif
};

#if defined(__SANITIZE_THREAD__)
constexpr bool kChecked = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kChecked = true;
#else
constexpr bool kChecked = false;
#endif
#else
constexpr bool kChecked = false;
#endif

} // namespace swage::simt

#define SWAGE_SIMT_KERNEL(NAME)                                                                    \
  {#NAME, &swage::simt::Entry<&NAME>::invoke, swage::simt::Entry<&NAME>::kCount,                   \
   swage::simt::Entry<&NAME>::kParameters}

/// Exports the kernels given as SWAGE_SIMT_KERNEL(name), ...; SOURCE is a string literal.
#define SWAGE_SIMT_MODULE(SOURCE, ...)                                                                     \
  namespace {                                                                                      \
  constexpr swage::simt::KernelInfo swageSimtKernels[] = {__VA_ARGS__};                            \
  }                                                                                                \
  extern "C" __attribute__((visibility("default"))) const swage::simt::ModuleInfo                  \
      swageSimtModule = {swage::simt::kVersion, swage::simt::kChecked,                             \
                         sizeof(swageSimtKernels) / sizeof(swageSimtKernels[0]), swageSimtKernels, \
                         SOURCE, &swage::simt::abi};

#if defined(__SANITIZE_THREAD__)
#include "swage/device/cpu/hooks.cuh"
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include "swage/device/cpu/hooks.cuh"
#endif
#endif
