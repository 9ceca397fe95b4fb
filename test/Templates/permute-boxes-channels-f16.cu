// Hand-written Spec: NCHW to NHWC with three channels, y[n, p, c] = x[n, c, p]; x: 64x3x262144
// f16.  Windows cross the channels.
#include "swage/permute_boxes.cuh"
namespace {
struct Spec {
  using Index = int;
  enum : int { kThreads = 256 };
  using Box = swage::Numbers<1, 2048, 3>;
  using Reach = swage::Numbers<1, 2048, 3>;
  enum : int { kWriteRun = 2 };
  enum : int { kLanes = 32 };
  enum : int { kFastest = 2 };
  enum : bool { kWriteAligned = true };
  enum : bool { kTabled = true };
  enum : int { kTurned = 1 };
  enum : bool { kSplit = false };
  enum : int { kApart = 0 };
  struct Sizes {};
  static __device__ auto extents(const Sizes &sizes) {
    return swage::extents(swage::Fixed<64>{}, swage::Fixed<262144>{}, swage::Fixed<3>{});
  }
  static __device__ auto boxes(const Sizes &sizes) {
    return swage::extents(swage::Fixed<64>{}, swage::Fixed<128>{}, swage::Fixed<1>{});
  }
  using Coord = swage::Coord<Index, 3>;
  struct In : swage::Input<swage::bits16, swage::Access::Boxed> {
    using Steps = swage::Numbers<0, 2, 4096>;
    using ReadOrder = swage::Numbers<1, 2, 0>;
    enum : int { kReadRun = 1 };
    enum : bool { kReadAligned = true };
    enum : bool { kSkewed = false };
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 786432 + d[1] + d[2] * 262144;
    }
  };
  struct Out : swage::Output<swage::bits16, swage::Access::Boxed> {
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 786432 + d[1] * 3 + d[2];
    }
  };
  using Principal = In;
  using Loads = swage::List<In>;
  using Stores = swage::List<Out>;
  static __device__ void body(unsigned short x, unsigned short &y) { y = x; }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    permute_boxes_channels_f16(const swage::bits16 *x, swage::bits16 *y) {
  swage::permuteBoxes<Spec>(swage::Bind<Spec::In, Spec::Out>{x, y}, Spec::Sizes{});
}
