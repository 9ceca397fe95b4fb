// Hand-written Spec: layer norm of 5000-column f16 rows, one block per row.  625 vectors do not
// fill 224 x 3: the masked form.
#include "swage/row.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::LayerNorm; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Block; }
  static constexpr __device__ auto epsilon() { return 1.0e-5; }
  enum : int { kThreads = 224 };
  enum : int { kThreadsPerRow = 224 };
  enum : int { kVector = 8 };
  enum : int { kVectorsPerThread = 3 };
  struct Sizes {
    Index s0;
  };
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(sizes.s0); }
  static __device__ auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<625>{}); }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<swage::f16, swage::Access::Vector> { // %x : tensor<?x5000xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 5000 + d[1];
    }
  };
  struct Gamma : swage::Input<swage::f16, swage::Access::Vector,
                              swage::Traffic::Reused> { // %gamma : tensor<5000xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Beta : swage::Input<swage::f16, swage::Access::Vector,
                             swage::Traffic::Reused> { // %beta : tensor<5000xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Y : swage::Output<swage::f16, swage::Access::Vector> { // tensor<?x5000xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 5000 + d[1];
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
    row_layer_norm_block(const swage::f16 *x, const swage::f16 *gamma, const swage::f16 *beta,
                         swage::f16 *y, Spec::Sizes sizes) {
  swage::row<Spec>(swage::Bind<Spec::X, Spec::Gamma, Spec::Beta, Spec::Y>{x, gamma, beta, y},
                   sizes);
}
