// Hand-written Spec: residual add, layer norm with its saved statistics, affine epilogue; one warp
// per row.
//   sum = x + residual;  y = layer_norm(sum) * gamma + beta     8192x768, f16 in and out, f32
//   parameters
#include "swage/row.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::LayerNorm; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Group; }
  static constexpr __device__ auto epsilon() { return 1.0e-5; }
  enum : int { kThreads = 256 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kVector = 8 };
  enum : int { kVectorsPerThread = 3 };
  struct Sizes {};
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(swage::Fixed<8192>{}); }
  static __device__ auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<96>{}); }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<swage::f16, swage::Access::Vector> { // %x : tensor<8x1024x768xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0] * 768 + d[1]; }
  };
  struct Residual
      : swage::Input<swage::f16, swage::Access::Vector> { // %residual : tensor<8x1024x768xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0] * 768 + d[1]; }
  };
  struct Gamma : swage::Input<float, swage::Access::Vector,
                              swage::Traffic::Reused> { // %gamma : tensor<768xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Beta : swage::Input<float, swage::Access::Vector,
                             swage::Traffic::Reused> { // %beta : tensor<768xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Sum : swage::Output<swage::f16, swage::Access::Vector> { // tensor<8x1024x768xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0] * 768 + d[1]; }
  };
  struct Y : swage::Output<swage::f16, swage::Access::Vector> { // tensor<8x1024x768xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0] * 768 + d[1]; }
  };
  struct Mean : swage::Output<float, swage::Access::Vector> { // tensor<8x1024xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
  };
  struct Rstd : swage::Output<float, swage::Access::Vector> { // tensor<8x1024xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
  };

  using PrologueLoads = swage::List<X, Residual>;
  using PrologueStores = swage::List<Sum>;
  static __device__ float prologue(float x, float residual, float &sum) {
    sum = swage::roundTo<swage::f16>(x + residual);
    return sum;
  }
  using EpilogueLoads = swage::List<Gamma, Beta>;
  using EpilogueStores = swage::List<Y>;
  static __device__ void epilogue(float normalized, float gamma, float beta, float &y) {
    y = normalized * gamma + beta;
  }
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<Mean, Rstd>;
  static __device__ void finish(float mean, float rstd, float &meanOut, float &rstdOut) {
    meanOut = mean;
    rstdOut = rstd;
  }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    row_layer_norm(const swage::f16 *x, const swage::f16 *residual, const float *gamma,
                   const float *beta, swage::f16 *sum, swage::f16 *y, float *mean, float *rstd) {
  swage::row<Spec>(
      swage::Bind<Spec::X, Spec::Residual, Spec::Gamma, Spec::Beta, Spec::Sum, Spec::Y, Spec::Mean,
                  Spec::Rstd>{x, residual, gamma, beta, sum, y, mean, rstd},
      Spec::Sizes{});
}
