// Hand-written Spec: softmax of 9999-column f32 rows with the statistics, a cluster of four blocks
// per row, which passes through their shared memory.
#include "swage/row.cuh"
namespace {
struct Spec {
  using Index = int;
  using Compute = float;
  static constexpr __device__ auto collective() { return swage::Collective::Softmax; }
  static constexpr __device__ auto rowClass() { return swage::RowClass::Block; }
  static constexpr __device__ auto epsilon() { return 0.0; }
  enum : int { kThreads = 224 };
  enum : int { kThreadsPerRow = 224 };
  enum : int { kVector = 1 };
  enum : int { kVectorsPerThread = 12 };
  enum : int { kBlocksPerRow = 4 };
  enum : bool { kStaged = true };
  struct Sizes {
    Index s0;
  };
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(sizes.s0); }
  static __device__ auto reduced(const Sizes &sizes) {
    return swage::extents(swage::Fixed<9999>{});
  }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<float, swage::Access::Staged> { // %x : tensor<?x9999xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 9999 + d[1];
    }
  };
  struct Y : swage::Output<float, swage::Access::Staged> { // tensor<?x9999xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 9999 + d[1];
    }
  };
  struct Max : swage::Output<float> { // tensor<?xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
  };
  struct Sum : swage::Output<float> { // tensor<?xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
  };

  using PrologueLoads = swage::List<X>;
  using PrologueStores = swage::List<>;
  static __device__ float prologue(float x) { return x; }
  using EpilogueLoads = swage::List<>;
  using EpilogueStores = swage::List<Y>;
  static __device__ void epilogue(float element, float &y) { y = element; }
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<Max, Sum>;
  static __device__ void finish(float maximum, float total, float &max, float &sum) {
    max = maximum;
    sum = total;
  }
};
} // namespace
// One block a multiprocessor is enough: so the JIT compiles what spills otherwise.
extern "C" __global__ void __launch_bounds__(Spec::kThreads, 1)
    row_softmax_cluster(const float *x, float *y, float *max, float *sum, Spec::Sizes sizes) {
  swage::row<Spec>(swage::Bind<Spec::X, Spec::Y, Spec::Max, Spec::Sum>{x, y, max, sum}, sizes);
}
