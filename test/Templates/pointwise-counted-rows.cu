// Hand-written Spec: rows of an odd length, whose vectors go on into the next one, and what is the
// same for all rows or along them, by elements.
//   y[i, j] = x[i, j] * row[j] + column[i]     x, y: s0x257
#include "swage/pointwise.cuh"
namespace {
struct Spec {
  using Index = int;
  enum : int { kThreads = 128 };
  enum : int { kVector = 8 };
  enum : int { kUnroll = 2 };
  enum : bool { kTail = true };
  struct Sizes {
    Index s0;
  };
  static __device__ auto extents(const Sizes &sizes) {
    return swage::extents(sizes.s0, swage::Fixed<257>{});
  }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<swage::f16, swage::Access::Vector> { // %x : tensor<?x257xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0] * 257 + d[1]; }
  };
  struct Row : swage::Input<float, swage::Access::Gather,
                            swage::Traffic::Reused> { // %row : tensor<257xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
  };
  struct Column : swage::Input<float, swage::Access::Gather,
                               swage::Traffic::Reused> { // %column : tensor<?xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
  };
  struct Y : swage::Output<float, swage::Access::Vector> { // tensor<?x257xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0] * 257 + d[1]; }
  };

  using Loads = swage::List<X, Row, Column>;
  using Stores = swage::List<Y>;
  static __device__ void body(float x, float row, float column, float &y) { y = x * row + column; }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    pointwise_counted_rows(const swage::f16 *x, const float *row, const float *column, float *y,
                           Spec::Sizes sizes) {
  swage::pointwise<Spec>(swage::Bind<Spec::X, Spec::Row, Spec::Column, Spec::Y>{x, row, column, y},
                         sizes);
}
