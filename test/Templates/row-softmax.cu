// Hand-written Spec: scaled, masked softmax over 1024 columns of x: 8x16x1024x1024 f16, mask:
// 8x1024x1024 i1 shared by the heads; one warp per row, four 16-byte vectors per lane.
#include "swage/row.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::Softmax; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Group; }
  static constexpr __device__ auto epsilon() { return 0.0; }
  enum : int { kThreads = 128 };
  enum : int { kThreadsPerRow = 32 };
  enum : int { kVector = 8 };
  enum : int { kVectorsPerThread = 4 };
  struct Sizes {};
  static __device__ auto kept(const Sizes &sizes) {
    return swage::extents(swage::Fixed<8>{}, swage::Fixed<16>{}, swage::Fixed<1024>{});
  }
  static __device__ auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<128>{}); }
  using Coord = swage::Coord<Index, 4>;

  struct X : swage::Input<swage::f16, swage::Access::Vector> { // %x : tensor<8x16x1024x1024xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 16777216 + d[1] * 1048576 + d[2] * 1024 + d[3];
    }
  };
  struct Mask : swage::Input<bool, swage::Access::Vector,
                             swage::Traffic::Reused> { // %mask : tensor<8x1024x1024xi1>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 1048576 + d[2] * 1024 + d[3];
    }
  };
  struct Y : swage::Output<swage::f16, swage::Access::Vector> { // tensor<8x16x1024x1024xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 16777216 + d[1] * 1048576 + d[2] * 1024 + d[3];
    }
  };

  using PrologueLoads = swage::List<X, Mask>;
  using PrologueStores = swage::List<>;
  static __device__ float prologue(float x, bool mask) {
    return mask ? swage::bitCast<float>(0xff800000u) : x * 0.125f;
  }
  using EpilogueLoads = swage::List<>;
  using EpilogueStores = swage::List<Y>;
  static __device__ void epilogue(float normalized, float &y) { y = normalized; }
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<>;
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    row_softmax(const swage::f16 *x, const bool *mask, swage::f16 *y) {
  swage::row<Spec>(swage::Bind<Spec::X, Spec::Mask, Spec::Y>{x, mask, y}, Spec::Sizes{});
}
