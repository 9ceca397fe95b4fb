// Hand-written Spec: RMS norm, then one scale for each 128 elements, which 16 lanes share.  15
// groups do not fill the 16 of a block: the masked form.
//   n = rms_norm(x) * gamma;  scale = max |n| / 448 a group;  y = n / scale      ?x1920, f16 in
#include "swage/row.cuh"
#include "swage/float8.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::RmsNorm; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Block; }
  enum : int { kGroup = 128 };
  static constexpr __device__ auto epsilon() { return 1.0e-6; }
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 128 };
  enum : int { kVector = 8 };
  enum : int { kVectorsPerThread = 2 };
  struct Sizes {
    Index s0;
  };
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(sizes.s0); }
  static __device__ auto reduced(const Sizes &sizes) {
    return swage::extents(swage::Fixed<15>{}, swage::Fixed<16>{});
  }
  using Coord = swage::Coord<Index, 3>;

  struct X : swage::Input<swage::f16, swage::Access::Vector> { // %x : tensor<?x1920xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 1920 + d[1] * 128 + d[2];
    }
  };
  struct Gamma : swage::Input<float, swage::Access::Vector,
                              swage::Traffic::Reused> { // %gamma : tensor<1920xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1] * 128 + d[2]; }
  };
  struct Y : swage::Output<swage::f8e4m3, swage::Access::Vector> { // tensor<?x1920xf8E4M3FN>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 1920 + d[1] * 128 + d[2];
    }
  };
  struct Scale : swage::Output<float, swage::Access::Gather> { // tensor<?x15xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0] * 15 + d[1]; }
  };

  using PrologueLoads = swage::List<X>;
  using PrologueStores = swage::List<>;
  static __device__ float prologue(float x) { return x; }
  struct Largest {
    static constexpr __device__ auto collective() { return swage::Collective::AbsMax; }
    using Loads = swage::List<Gamma>;
    using Stores = swage::List<>;
    static __device__ float between(float normalized, float gamma) { return normalized * gamma; }
  };
  using Later = swage::List<Largest>;
  using EpilogueLoads = swage::List<>;
  using EpilogueStores = swage::List<Y>;
  enum : bool { kEpilogueStatistics = true };
  static __device__ auto epilogue(float rstd, float largest) {
    const float inverse = 448.0f / largest;
    return [=](float n, float &y) { y = n * inverse; };
  }
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<>;
  using GroupFinishLoads = swage::List<>;
  using GroupFinishStores = swage::List<Scale>;
  static __device__ void groupFinish(float largest, float &scale) { scale = largest / 448.0f; }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    row_quantise_groups(const swage::f16 *x, const float *gamma, swage::f8e4m3 *y, float *scale,
                        Spec::Sizes sizes) {
  swage::row<Spec>(swage::Bind<Spec::X, Spec::Gamma, Spec::Y, Spec::Scale>{x, gamma, y, scale},
                   sizes);
}
