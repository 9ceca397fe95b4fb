// Hand-written Spec: batched matrix transpose, y[b, j, i] = x[b, i, j]; x: 256x512x512 f16.  The
// iteration dimensions are the output's: d0 = b, d1 = j (contiguous in x), d2 = i (contiguous in
// y).  Values are only moved, so they travel as bits.
#include "swage/permute.cuh"
namespace {
struct Spec {
  using Index = int;
  enum : int { kThreads = 512 };
  enum : int { kTransposedDim = 1 };
  enum : int { kTileIn = 128 };
  enum : int { kTileOut = 128 };
  enum : int { kVectorIn = 4 };
  enum : int { kVectorOut = 8 };
  struct Sizes {};
  static __device__ auto extents(const Sizes &sizes) {
    return swage::extents(swage::Fixed<256>{}, swage::Fixed<512>{}, swage::Fixed<512>{});
  }
  static __device__ auto tiles(const Sizes &sizes) {
    return swage::extents(swage::Fixed<256>{}, swage::Fixed<4>{}, swage::Fixed<4>{});
  }
  using Coord = swage::Coord<Index, 3>;

  struct X
      : swage::Input<swage::bits16, swage::Access::Transposed> { // %x : tensor<256x512x512xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 262144 + d[1] + d[2] * 512;
    }
  };
  struct Y : swage::Output<swage::bits16, swage::Access::Vector> { // tensor<256x512x512xf16>
    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
      return d[0] * 262144 + d[1] * 512 + d[2];
    }
  };

  using Loads = swage::List<X>;
  using Stores = swage::List<Y>;
  static __device__ void body(unsigned short x, unsigned short &y) { y = x; }
};
} // namespace
extern "C" __global__ void __launch_bounds__(Spec::kThreads)
    permute_matrix_f16(const swage::bits16 *x, swage::bits16 *y) {
  swage::permuteTiles<Spec>(swage::Bind<Spec::X, Spec::Y>{x, y}, Spec::Sizes{});
}
