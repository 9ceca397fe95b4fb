// One token more for each of 8 sequences: 32 query heads that share 8 key heads read a cache of up to 4096 positions, in the order [sequence, position, head, dim],
// of which %lengths, in device memory, says how many count. Heads are moved and merged by strides: all of it is one kernel.
//
//   swage-run examples/decode.mlir --check
//   swage-translate --swage-to-cuda examples/decode.mlir
//
// A launch that is captured in a CUDA graph may be replayed with other lengths: blocks find out by themselves which keys are theirs.
func.func @main(%token: tensor<8x32x128xbf16>, %keys: tensor<8x4096x8x128xbf16>, %values: tensor<8x4096x8x128xbf16>, %lengths: tensor<8xi32> {swage.range = array<i64: 1, 4096>}) -> tensor<8x4096xbf16> {
  %q = swage.reshape %token : tensor<8x32x128xbf16> -> tensor<8x32x1x128xbf16>
  %k = swage.permute %keys [0, 2, 1, 3] : tensor<8x4096x8x128xbf16> -> tensor<8x8x4096x128xbf16>
  %v = swage.permute %values [0, 2, 1, 3] : tensor<8x4096x8x128xbf16> -> tensor<8x8x4096x128xbf16>
  %o = swage.attention %q, %k, %v scale 0.08838834764831845 mask {
  ^bb0(%sequence: index, %head: index, %query: index, %key: index):
    %length = tensor.extract %lengths[%sequence] : tensor<8xi32>
    %at = arith.index_cast %key : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<8x32x1x128xbf16>, tensor<8x8x4096x128xbf16>, tensor<8x8x4096x128xbf16>) -> tensor<8x32x1x128xbf16>
  %merged = swage.reshape %o : tensor<8x32x1x128xbf16> -> tensor<8x4096xbf16>
  return %merged : tensor<8x4096xbf16>
}
