// The template of attention for long queries, as attention_wgmma.cu judges it.
//
// run: attention heads=2 queries=256 keys=256 causal=0
// run: attention heads=3 queries=200 keys=300 causal=0 grid=2
// run: attention heads=2 queries=130 keys=390 causal=1 grid=3
// run: attention heads=5 queries=300 keys=300 causal=1 grid=4
// variant: kHeadDim=128
// variant: kDynamicTiles=1
#include "swage/attention_hopper.cuh"

namespace {
constexpr int kHeadDim = 64;
constexpr int kQuerySlots = 2;
constexpr int kDynamicTiles = 0;

template <bool Causal> struct Spec {
  using Element = swage::bf16;
  enum : int {
    kHeadDim = ::kHeadDim,
    kValueDim = ::kHeadDim,
    kGroups = 2,
    kKeys = 128,
    kStages = 2,
    kQuerySlots = ::kQuerySlots,
    kPatience = kHeadDim > 64 ? 8 : 0
  };
  enum : bool {
    kCausal = Causal,
    kDynamic = kDynamicTiles != 0,
    kHoldsQuery = kHeadDim > 64,
    kEager = kHeadDim <= 64,
    kModifies = false
  };
  static __device__ float score(float s, ...) { return s; }
};

struct Sizes {
  int queries, keys, heads;
  int causal;
  float scale; // of the scores, in units of log2(e)
};
__device__ unsigned counter;
} // namespace

extern "C" __global__ void __launch_bounds__(384, 1)
    attention_wgmma_template(const __grid_constant__ swage::TensorMap q,
                             const __grid_constant__ swage::TensorMap k,
                             const __grid_constant__ swage::TensorMap v,
                             const __grid_constant__ swage::TensorMap o, float *logSums,
                             const __grid_constant__ Sizes sizes) {
  const swage::AttentionArguments arguments{
      sizes.scale, sizes.queries, sizes.keys, sizes.heads, sizes.heads, 1, 2, logSums, &counter};
  if (sizes.causal)
    swage::attentionHopper<Spec<true>>(q, k, v, o, arguments);
  else
    swage::attentionHopper<Spec<false>>(q, k, v, o, arguments);
}
