// Hand-written Spec: layer norm over the channels (dimension 1) of x: 32x192x3136 f32, as for an
// NCHW image.  Each thread owns four neighbouring pixels; eight thread rows share their channels.
#include "swage/row.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::LayerNorm; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Column; }
  static constexpr __device__ auto epsilon() { return 1.0e-6; }
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 8 };
  enum : int { kVector = 4 };
  enum : int { kVectorsPerThread = 4 };
  struct Sizes {};
  static __device__ auto kept(const Sizes &sizes) {
    return swage::extents(swage::Fixed<32>{}, swage::Fixed<784>{});
  }
  static __device__ auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<192>{}); }
  using Coord = swage::Coord<Index, 3>; // image, pixel, channel

  struct X : swage::Input<float, swage::Access::Vector> { // %x : tensor<32x192x56x56xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 602112 + d[1] + d[2] * 3136;
    }
  };
  struct Gamma : swage::Input<float, swage::Access::Splat,
                              swage::Traffic::Reused> { // %gamma : tensor<192xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[2]; }
  };
  struct Beta : swage::Input<float, swage::Access::Splat,
                             swage::Traffic::Reused> { // %beta : tensor<192xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[2]; }
  };
  struct Y : swage::Output<float, swage::Access::Vector> { // tensor<32x192x56x56xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 602112 + d[1] + d[2] * 3136;
    }
  };

  using PrologueLoads = swage::List<X>;
  using PrologueStores = swage::List<>;
  static __device__ float prologue(float x) { return x; }
  using EpilogueLoads = swage::List<Gamma, Beta>;
  using EpilogueStores = swage::List<Y>;
  static __device__ void epilogue(float normalized, float gamma, float beta, float &y) {
    y = normalized * gamma + beta;
  }
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<>;
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    row_layer_norm_column(const float *x, const float *gamma, const float *beta, float *y) {
  swage::row<Spec>(swage::Bind<Spec::X, Spec::Gamma, Spec::Beta, Spec::Y>{x, gamma, beta, y},
                   Spec::Sizes{});
}
