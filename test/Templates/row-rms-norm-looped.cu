// Hand-written Spec: RMS norm of bf16 rows whose length 8 * s1 is known at run time only: two
// passes over the row.
#include "swage/row.cuh"
namespace {
struct Spec {
  using Index = long long;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::RmsNorm; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Looped; }
  static constexpr __device__ auto epsilon() { return 1.0e-6; }
  enum : int { kThreads = 512 };
  enum : int { kThreadsPerRow = 512 };
  enum : int { kVector = 8 };
  enum : int { kVectorsPerThread = 4 };
  struct Sizes {
    Index s0;
    Index s1;
  };
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(sizes.s0); }
  static __device__ auto reduced(const Sizes &sizes) { return swage::extents(sizes.s1); }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<swage::bf16, swage::Access::Vector> { // %x : tensor<?x?xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * (sizes.s1 * 8) + d[1];
    }
  };
  struct Gamma : swage::Input<swage::bf16, swage::Access::Vector,
                              swage::Traffic::Reused> { // %gamma : tensor<?xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Y : swage::Output<swage::bf16, swage::Access::Vector> { // tensor<?x?xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * (sizes.s1 * 8) + d[1];
    }
  };

  using PrologueLoads = swage::List<X>;
  using PrologueStores = swage::List<>;
  static __device__ float prologue(float x) { return x; }
  using EpilogueLoads = swage::List<Gamma>;
  using EpilogueStores = swage::List<Y>;
  static __device__ void epilogue(float normalized, float gamma, float &y) {
    y = normalized * gamma;
  }
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<>;
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    row_rms_norm_looped(const swage::bf16 *x, const swage::bf16 *gamma, swage::bf16 *y,
                        Spec::Sizes sizes) {
  swage::row<Spec>(swage::Bind<Spec::X, Spec::Gamma, Spec::Y>{x, gamma, y}, sizes);
}
