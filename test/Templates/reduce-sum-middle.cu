// Hand-written Spec: sum over the middle dimension, y[b, j] = sum over i of x[b, i, j]; x: bx1024xn
// bf16, y f32, where the batch b = s0 and the row length n = 8 * s1 are known at run time only.
#include "swage/reduce.cuh"
namespace {
struct Spec {
  using Index = long long;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::Sum; }
  static constexpr __device__ auto epsilon() { return 0.0; }
  enum : int { kThreads = 256 };
  enum : int { kRowGroups = 16 };
  enum : int { kVector = 8 };
  enum : int { kUnroll = 8 };
  struct Sizes {
    Index s0;
    Index s1;
    swage::Divider<Index> by1;
  };
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(sizes.s0, sizes.by1); }
  static __device__ auto reduced(const Sizes &sizes) {
    return swage::extents(swage::Fixed<1024>{});
  }
  using Coord = swage::Coord<Index, 3>;

  struct X : swage::Input<swage::bf16, swage::Access::Vector> { // %x : tensor<?x1024x?xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * (sizes.s1 * 8192) + d[2] * (sizes.s1 * 8) + d[1];
    }
  };
  struct Y : swage::Output<float, swage::Access::Vector> { // tensor<?x?xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * (sizes.s1 * 8) + d[1];
    }
  };

  using PrologueLoads = swage::List<X>;
  using PrologueStores = swage::List<>;
  static __device__ float prologue(float x) { return x; }
  using EpilogueLoads = swage::List<>;
  using EpilogueStores = swage::List<>;
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<Y>;
  static __device__ void finish(float sum, float &y) { y = sum; }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    reduce_sum_middle(const swage::bf16 *x, float *y, Spec::Sizes sizes) {
  swage::reduce<Spec>(swage::Bind<Spec::X, Spec::Y>{x, y}, sizes);
}
