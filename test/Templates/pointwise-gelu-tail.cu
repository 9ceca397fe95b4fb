// Hand-written Spec: y = gelu(x), one dimension of any runtime length s0: whole vectors, then a
// scalar tail.
#include "swage/pointwise.cuh"
#include "swage/math.cuh"
namespace {
struct Spec {
  using Index = int;
  enum : int { kThreads = 256 };
  enum : int { kVector = 8 };
  enum : int { kUnroll = 1 };
  enum : bool { kTail = true };
  struct Sizes {
    Index s0;
  };
  static __device__ auto extents(const Sizes &sizes) { return swage::extents(sizes.s0); }
  using Coord = swage::Coord<Index, 1>;

  struct X : swage::Input<swage::f16, swage::Access::Vector> { // %x : tensor<?xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
  };
  struct Y : swage::Output<swage::f16, swage::Access::Vector> { // tensor<?xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
  };

  using Loads = swage::List<X>;
  using Stores = swage::List<Y>;
  static __device__ void body(float x, float &y) {
    y = 0.5f * x * (1.0f + swage::erf(x * 0.707106769f));
  }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    pointwise_gelu_tail(const swage::f16 *x, swage::f16 *y, Spec::Sizes sizes) {
  swage::pointwise<Spec>(swage::Bind<Spec::X, Spec::Y>{x, y}, sizes);
}
