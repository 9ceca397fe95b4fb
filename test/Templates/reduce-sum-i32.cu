// Hand-written Spec: exact integer sum over the outer dimension of x: 100x12 i32, in 64-bit
// arithmetic; ragged everywhere.
#include "swage/reduce.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = long long;
  static constexpr __device__ auto collective() { return swage::Collective::Sum; }
  static constexpr __device__ auto epsilon() { return 0.0; }
  enum : int { kThreads = 64 };
  enum : int { kRowGroups = 8 };
  enum : int { kVector = 4 };
  enum : int { kUnroll = 2 };
  struct Sizes {};
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(swage::Fixed<3>{}); }
  static __device__ auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<100>{}); }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<int, swage::Access::Vector> { // %x : tensor<100x12xi32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1] * 12 + d[0]; }
  };
  struct Y : swage::Output<long long, swage::Access::Vector> { // tensor<12xi64>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
  };

  using PrologueLoads = swage::List<X>;
  using PrologueStores = swage::List<>;
  static __device__ long long prologue(int x) { return x; }
  using EpilogueLoads = swage::List<>;
  using EpilogueStores = swage::List<>;
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<Y>;
  static __device__ void finish(long long sum, long long &y) { y = sum; }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    reduce_sum_i32(const int *x, long long *y) {
  swage::reduce<Spec>(swage::Bind<Spec::X, Spec::Y>{x, y}, Spec::Sizes{});
}
