// Hand-written Spec: layer norm, then one scale a row for 8-bit floats.  The second collective is
// the largest absolute value of what the first one and gamma make of the row.
//   n = layer_norm(x) * gamma;  scale = max |n| / 448;  y = n / scale      ?x2000, bf16 in
#include "swage/row.cuh"
#include "swage/float8.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::LayerNorm; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Block; }
  static constexpr __device__ auto epsilon() { return 1.0e-5; }
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 128 };
  enum : int { kVector = 8 };
  enum : int { kVectorsPerThread = 2 };
  struct Sizes {
    Index s0;
  };
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(sizes.s0); }
  static __device__ auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<250>{}); }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<swage::bf16, swage::Access::Vector> { // %x : tensor<?x2000xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 2000 + d[1];
    }
  };
  struct Gamma : swage::Input<swage::bf16, swage::Access::Vector,
                              swage::Traffic::Reused> { // %gamma : tensor<2000xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Y : swage::Output<swage::f8e4m3, swage::Access::Vector> { // tensor<?x2000xf8E4M3FN>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 2000 + d[1];
    }
  };
  struct Scale : swage::Output<float, swage::Access::Vector> { // tensor<?xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
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
  static __device__ auto epilogue(float mean, float rstd, float largest) {
    const float inverse = 448.0f / largest;
    return [=](float n, float &y) { y = n * inverse; };
  }
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<Scale>;
  static __device__ void finish(float mean, float rstd, float largest, float &scale) {
    scale = largest / 448.0f;
  }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    row_quantise_rows(const swage::bf16 *x, const swage::bf16 *gamma, swage::f8e4m3 *y,
                      float *scale, Spec::Sizes sizes) {
  swage::row<Spec>(swage::Bind<Spec::X, Spec::Gamma, Spec::Y, Spec::Scale>{x, gamma, y, scale},
                   sizes);
}
