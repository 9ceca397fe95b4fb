// One token more by latent attention (MLA) for each of 4 sequences: 16 heads share one cache of latent rows, 512 columns that are keys and values and 64 more of the
// keys that hold positions. The cache is in pages of 64 positions, which %table names; %lengths, in device memory, says how many positions count. What the heads'
// matrices make of token and result is outside of it. One kernel, which reads each row once.
//
//   swage-run examples/latent.mlir --check
//   swage-translate --swage-to-cuda examples/latent.mlir
func.func @main(%token: tensor<4x16x1x576xbf16>, %pool: tensor<96x1x64x576xbf16>, %table: tensor<4x16xi32> {swage.range = array<i64: 0, 95>},
                %lengths: tensor<4xi32> {swage.range = array<i64: 1, 1024>}) -> tensor<4x16x1x512xbf16> {
  %keys = swage.pages %pool, %table : (tensor<96x1x64x576xbf16>, tensor<4x16xi32>) -> tensor<4x1x1024x576xbf16>
  %values = swage.slice %keys axis 3 from 0 size 512 : tensor<4x1x1024x576xbf16> -> tensor<4x1x1024x512xbf16>
  %o = swage.attention %token, %keys, %values scale 0.07216878364870322 mask {
  ^bb0(%sequence: index, %head: index, %query: index, %key: index):
    %length = tensor.extract %lengths[%sequence] : tensor<4xi32>
    %at = arith.index_cast %key : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<4x16x1x576xbf16>, tensor<4x1x1024x576xbf16>, tensor<4x1x1024x512xbf16>) -> tensor<4x16x1x512xbf16>
  return %o : tensor<4x16x1x512xbf16>
}
