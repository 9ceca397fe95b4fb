// Attention of sequences that lie one behind the other, as engines for inference have them: 1000 tokens, 16 query heads that share 4 key heads, causal, with
// a sink for each head. The projection's order of heads and the merge of heads behind it are strides: all of it is one kernel.
//
//   swage-run examples/attention.mlir --check
//   swage-translate --swage-to-cuda examples/attention.mlir
//
// %begin holds, for each token, the first token of its own sequence: keys from there on are seen, and blocks of keys that no query of a tile sees are not
// read. What changes a score would be a second region, `score`.
func.func @main(%qkv: tensor<1000x24x128xbf16>, %begin: tensor<1000xi32>, %sinks: tensor<16xf32>) -> tensor<1000x2048xbf16> {
  %heads = swage.permute %qkv [1, 0, 2] : tensor<1000x24x128xbf16> -> tensor<24x1000x128xbf16>
  %q = swage.slice %heads axis 0 from 0 size 16 : tensor<24x1000x128xbf16> -> tensor<16x1000x128xbf16>
  %k = swage.slice %heads axis 0 from 16 size 4 : tensor<24x1000x128xbf16> -> tensor<4x1000x128xbf16>
  %v = swage.slice %heads axis 0 from 20 size 4 : tensor<24x1000x128xbf16> -> tensor<4x1000x128xbf16>
  %o = swage.attention %q, %k, %v sinks %sinks scale 0.08838834764831845 mask {
  ^bb0(%head: index, %query: index, %key: index):
    %first = tensor.extract %begin[%query] : tensor<1000xi32>
    %at = arith.index_cast %key : index to i32
    %own = arith.cmpi sge, %at, %first : i32
    %before = arith.cmpi sle, %key, %query : index
    %seen = arith.andi %own, %before : i1
    swage.yield %seen : i1
  } : (tensor<16x1000x128xbf16>, tensor<4x1000x128xbf16>, tensor<4x1000x128xbf16>, tensor<16xf32>) -> tensor<16x1000x128xbf16>
  %tokens = swage.permute %o [1, 0, 2] : tensor<16x1000x128xbf16> -> tensor<1000x16x128xbf16>
  %merged = swage.reshape %tokens : tensor<1000x16x128xbf16> -> tensor<1000x2048xbf16>
  return %merged : tensor<1000x2048xbf16>
}
