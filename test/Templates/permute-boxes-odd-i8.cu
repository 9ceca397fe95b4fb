// Hand-written Spec: a matrix of odd extents, y[j, i] = x[i, j]; x: 8191x8193 i8. Every run
// begins anywhere in memory.
#include "swage/permute_boxes.cuh"
namespace {
struct Spec {
  using Index = int;
  enum : int { kThreads = 256 };
  using Box = swage::Numbers<128, 128>;
  using Reach = swage::Numbers<128, 143>;
  enum : int { kWriteRun = 1 };
  enum : int { kLanes = 8 };
  enum : int { kFastest = 1 };
  enum : bool { kWriteAligned = false };
  enum : bool { kTabled = false };
  enum : int { kTurned = 4 };
  enum : bool { kSplit = true };
  enum : int { kApart = 15 };
  struct Sizes {};
  static __device__ auto extents(const Sizes &sizes) {
    return swage::extents(swage::Fixed<8193>{}, swage::Fixed<8191>{});
  }
  static __device__ auto boxes(const Sizes &sizes) {
    return swage::extents(swage::Fixed<65>{}, swage::Fixed<64>{});
  }
  using Coord = swage::Coord<Index, 2>;
  struct In : swage::Input<signed char, swage::Access::Boxed> {
    using Steps = swage::Numbers<1, 161>;
    using ReadOrder = swage::Numbers<0, 1>;
    enum : int { kReadRun = 1 };
    enum : bool { kReadAligned = false };
    enum : bool { kSkewed = false };
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] + d[1] * 8193;
    }
  };
  struct Out : swage::Output<signed char, swage::Access::Boxed> {
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 8191 + d[1];
    }
  };
  using Principal = In;
  using Loads = swage::List<In>;
  using Stores = swage::List<Out>;
  static __device__ void body(signed char x, signed char &y) { y = x; }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    permute_boxes_odd_i8(const signed char *x, signed char *y) {
  swage::permuteBoxes<Spec>(swage::Bind<Spec::In, Spec::Out>{x, y}, Spec::Sizes{});
}
