// Hand-written Spec: bf16 matrix plus a row vector, the form that codegen prints for
//   y[i, j] = x[i, j] + bias[j]     x, y: 16384x8192
#include "swage/pointwise.cuh"
namespace {
struct Spec {
  using Index = int;
  enum : int { kThreads = 256 };
  enum : int { kVector = 8 };
  enum : int { kUnroll = 1 };
  enum : bool { kTail = false };
  struct Sizes {};
  static __device__ auto vectors(const Sizes &sizes) {
    return swage::extents(swage::Fixed<16384>{}, swage::Fixed<1024>{});
  }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<swage::bf16, swage::Access::Vector> { // %x : tensor<16384x8192xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 8192 + d[1];
    }
  };
  struct Bias : swage::Input<swage::bf16, swage::Access::Vector,
                             swage::Traffic::Reused> { // %bias : tensor<8192xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Y : swage::Output<swage::bf16, swage::Access::Vector> { // tensor<16384x8192xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 8192 + d[1];
    }
  };

  using Loads = swage::List<X, Bias>;
  using Stores = swage::List<Y>;
  static __device__ void body(float x, float bias, float &y) { y = x + bias; }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    pointwise_bias_add(const swage::bf16 *x, const swage::bf16 *bias, swage::bf16 *y) {
  swage::pointwise<Spec>(swage::Bind<Spec::X, Spec::Bias, Spec::Y>{x, bias, y}, Spec::Sizes{});
}
