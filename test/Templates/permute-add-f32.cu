// Hand-written Spec: transpose fused with an addition, runtime sizes: y[j, i] = x[i, j] * 2 + z[j,
// i]; x: s0 x s1 f32, with both sizes multiples of four.  Edge tiles are partial.
#include "swage/permute.cuh"
namespace {
struct Spec {
  using Index = int;
  enum : int { kThreads = 256 };
  enum : int { kTransposedDim = 0 };
  enum : int { kTileIn = 64 };
  enum : int { kTileOut = 64 };
  enum : int { kVectorIn = 4 };
  enum : int { kVectorOut = 4 };
  struct Sizes {
    Index s0;
    Index s1;
    swage::Divider<Index> byTiles0;
  };
  static __device__ auto extents(const Sizes &sizes) { return swage::extents(sizes.s1, sizes.s0); }
  static __device__ auto tiles(const Sizes &sizes) {
    return swage::extents((sizes.s1 + 63) / 64, sizes.byTiles0);
  }
  using Coord = swage::Coord<Index, 2>;

  struct X : swage::Input<float, swage::Access::Transposed> { // %x : tensor<?x?xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] + d[1] * sizes.s1;
    }
  };
  struct Z : swage::Input<float, swage::Access::Vector> { // %z : tensor<?x?xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * sizes.s0 + d[1];
    }
  };
  struct Y : swage::Output<float, swage::Access::Vector> { // tensor<?x?xf32>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * sizes.s0 + d[1];
    }
  };

  using Loads = swage::List<X, Z>;
  using Stores = swage::List<Y>;
  static __device__ void body(float x, float z, float &y) { y = x * 2.0f + z; }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    permute_add_f32(const float *x, const float *z, float *y, Spec::Sizes sizes) {
  swage::permuteTiles<Spec>(swage::Bind<Spec::X, Spec::Z, Spec::Y>{x, z, y}, sizes);
}
