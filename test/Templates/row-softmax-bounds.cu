// Hand-written Spec: softmax of 1024-column f16 rows, of which row r keeps the first 730 - 10 r
// elements: a warp per row, which reads no vector behind them.
#include "swage/computed.cuh"
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
  enum : bool { kZeroRows = true };
  enum : bool { kRounded = true };
  struct Sizes {};
  static __device__ auto kept(const Sizes &sizes) { return swage::extents(swage::Fixed<64>{}); }
  static __device__ auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<128>{}); }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<swage::f16, swage::Access::Vector> { // %x : tensor<64x1024xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 1024 + d[1];
    }
  };
  struct Column : swage::Coordinate<swage::Access::Vector> {
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Row : swage::Coordinate<swage::Access::Splat> {
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
  };
  struct Y : swage::Output<swage::f16> { // tensor<64x1024xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 1024 + d[1];
    }
  };

  using PrologueLoads = swage::List<X, Column, Row>;
  using PrologueStores = swage::List<>;
  static __device__ float prologue(float x, int column, int row) {
    return column < 730 - 10 * row ? x : -swage::infinity();
  }
  using EpilogueLoads = swage::List<>;
  using EpilogueStores = swage::List<Y>;
  static __device__ void epilogue(float element, float &y) { y = element; }
  using FinishLoads = swage::List<>;
  using FinishStores = swage::List<>;
  using BoundsLoads = swage::List<Row>;
  static __device__ void bounds(int row, long long &first, long long &last) {
    first = 0;
    last = 730 - 10 * row;
  }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    row_softmax_bounds(const swage::f16 *x, swage::f16 *y) {
  using Pointers = swage::Bind<Spec::X, Spec::Column, Spec::Row, Spec::Y>;
  swage::row<Spec>(Pointers{x, {}, {}, y}, Spec::Sizes{});
}
