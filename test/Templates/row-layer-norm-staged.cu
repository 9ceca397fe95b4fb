// Hand-written Spec: layer norm of 45-column bf16 rows, which start at any multiple of two bytes:
// 32 of them pass through shared memory, and four lanes take each.
#include "swage/row.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::LayerNorm; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Group; }
  static constexpr __device__ auto epsilon() { return 1.0e-5; }
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 4 };
  enum : int { kVector = 1 };
  enum : int { kVectorsPerThread = 12 };
  enum : bool { kStaged = true };
  struct Sizes {
    Index s0;
  };
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(sizes.s0); }
  static __device__ auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<45>{}); }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<swage::bf16, swage::Access::Staged> { // %x : tensor<?x45xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 45 + d[1];
    }
  };
  struct Gamma : swage::Input<swage::bf16, swage::Access::Vector,
                              swage::Traffic::Reused> { // %gamma : tensor<45xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Beta : swage::Input<swage::bf16, swage::Access::Vector,
                             swage::Traffic::Reused> { // %beta : tensor<45xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Y : swage::Output<swage::bf16, swage::Access::Staged> { // tensor<?x45xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 45 + d[1];
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
    row_layer_norm_staged(const swage::bf16 *x, const swage::bf16 *gamma, const swage::bf16 *beta,
                         swage::bf16 *y, Spec::Sizes sizes) {
  swage::row<Spec>(swage::Bind<Spec::X, Spec::Gamma, Spec::Beta, Spec::Y>{x, gamma, beta, y},
                   sizes);
}
