// Hand-written Spec: rotary embedding of x: 8x2048x32x128 bf16, with cos and sin tables 2048x64 f32
// shared by all heads.  Two operands are slices of one tensor on either side: the halves of the
// last dimension, 64 elements apart.
//   y[..., :64] = lo * cos - hi * sin;  y[..., 64:] = hi * cos + lo * sin
#include "swage/pointwise.cuh"
namespace {
struct Spec {
  using Index = int;
  enum : int { kThreads = 128 };
  enum : int { kVector = 8 };
  enum : int { kUnroll = 1 };
  enum : bool { kTail = false };
  struct Sizes {};
  static __device__ auto vectors(const Sizes &sizes) {
    return swage::extents(swage::Fixed<8>{}, swage::Fixed<2048>{}, swage::Fixed<32>{},
                          swage::Fixed<8>{});
  }
  using Coord = swage::Coord<Index, 4>;

  struct Lo : swage::Input<swage::bf16, swage::Access::Vector> { // %lo : tensor<8x2048x32x128xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 8388608 + d[1] * 4096 + d[2] * 128 + d[3];
    }
  };
  struct Hi : swage::Input<swage::bf16, swage::Access::Vector> { // %hi : tensor<8x2048x32x128xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 8388608 + d[1] * 4096 + d[2] * 128 + d[3] + 64;
    }
  };
  struct Cos : swage::Input<float, swage::Access::Vector,
                            swage::Traffic::Reused> { // %cos : tensor<2048x64xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1] * 64 + d[3]; }
  };
  struct Sin : swage::Input<float, swage::Access::Vector,
                            swage::Traffic::Reused> { // %sin : tensor<2048x64xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1] * 64 + d[3]; }
  };
  struct YLo : swage::Output<swage::bf16, swage::Access::Vector> { // tensor<8x2048x32x128xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 8388608 + d[1] * 4096 + d[2] * 128 + d[3];
    }
  };
  struct YHi : swage::Output<swage::bf16, swage::Access::Vector> { // tensor<8x2048x32x128xbf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 8388608 + d[1] * 4096 + d[2] * 128 + d[3] + 64;
    }
  };

  using Loads = swage::List<Lo, Hi, Cos, Sin>;
  using Stores = swage::List<YLo, YHi>;
  static __device__ void body(float lo, float hi, float cos, float sin, float &yLo, float &yHi) {
    yLo = lo * cos - hi * sin;
    yHi = hi * cos + lo * sin;
  }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    pointwise_rotary(const swage::bf16 *lo, const swage::bf16 *hi, const float *cos,
                     const float *sin, swage::bf16 *yLo, swage::bf16 *yHi) {
  swage::pointwise<Spec>(
      swage::Bind<Spec::Lo, Spec::Hi, Spec::Cos, Spec::Sin, Spec::YLo, Spec::YHi>{lo, hi, cos, sin,
                                                                                  yLo, yHi},
      Spec::Sizes{});
}
