// Hand-written Spec: layer norm of 2x3x300 f64 over two dimensions that do not merge, because gamma
// varies along one only.
#include "swage/row.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = double;
  static constexpr __device__ auto collective() { return swage::Collective::LayerNorm; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Block; }
  static constexpr __device__ auto epsilon() { return 1.0e-5; }
  enum : int { kThreads = 96 };
  enum : int { kThreadsPerRow = 96 };
  enum : int { kVector = 2 };
  enum : int { kVectorsPerThread = 5 };
  struct Sizes {};
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(swage::Fixed<2>{}); }
  static __device__ auto reduced(const Sizes &sizes) {
    return swage::extents(swage::Fixed<3>{}, swage::Fixed<150>{});
  }
  using Coord = swage::Coord<Index, 3>;

  struct X : swage::Input<double, swage::Access::Vector> { // %x : tensor<2x3x300xf64>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 900 + d[1] * 300 + d[2];
    }
  };
  struct Gamma : swage::Input<float, swage::Access::Splat,
                              swage::Traffic::Reused> { // %gamma : tensor<3xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Y : swage::Output<double, swage::Access::Vector> { // tensor<2x3x300xf64>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 900 + d[1] * 300 + d[2];
    }
  };

  using PrologueLoads = swage::List<X>;
  using PrologueStores = swage::List<>;
  static __device__ double prologue(double x) { return x; }
  using EpilogueLoads = swage::List<Gamma>;
  using EpilogueStores = swage::List<Y>;
  static __device__ void epilogue(double normalized, float gamma, double &y) {
    y = normalized * double(gamma);
  }
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<>;
};
} // namespace
// One block a multiprocessor is enough: so the JIT compiles what spills otherwise.
extern "C" __global__ void __launch_bounds__(Spec::kThreads, 1)
    row_layer_norm_f64(const double *x, const float *gamma, double *y) {
  swage::row<Spec>(swage::Bind<Spec::X, Spec::Gamma, Spec::Y>{x, gamma, y}, Spec::Sizes{});
}
