// Attention of a training step: two sequences of 1024 tokens, 16 query heads that share 4 key heads, causal, a tenth of the weights dropped.
//
//   swage-run examples/attention_dropout.mlir --check
//   swage-translate --swage-to-cuda examples/attention_dropout.mlir
//
// %state is the seed and the offset of a stream of random bits, of which each score has the word at its own position: the same weights are dropped by whatever
// kernel, and again by a backward pass that is given the same state. No bits are stored. What is left is raised by 1 / 0.9; sums of exponentials, which the
// second result says the logarithms of, know nothing of it. The five ops that frameworks write this as become the same kernel: swage.matmul, swage.softmax,
// arith.mulf, arith.select, swage.matmul.
func.func @main(%q: tensor<2x16x1024x128xbf16>, %k: tensor<2x4x1024x128xbf16>, %v: tensor<2x4x1024x128xbf16>, %state: tensor<2xi64>)
    -> (tensor<2x16x1024x128xbf16>, tensor<2x16x1024xf32>) {
  %bits = swage.random %state : tensor<2xi64> -> tensor<2x16x1024x1024xi32>
  %tenth = arith.constant 429496730 : i32
  %raised = arith.constant 1.11111111 : f32
  %zero = arith.constant 0.0 : f32
  %o, %lse = swage.attention %q, %k, %v scale 0.08838834764831845 mask {
  ^bb0(%batch: index, %head: index, %query: index, %key: index):
    %before = arith.cmpi sle, %key, %query : index
    swage.yield %before : i1
  } weight {
  ^bb0(%batch: index, %head: index, %query: index, %key: index):
    %word = tensor.extract %bits[%batch, %head, %query, %key] : tensor<2x16x1024x1024xi32>
    %kept = arith.cmpi uge, %word, %tenth : i32
    %factor = arith.select %kept, %raised, %zero : f32
    swage.yield %factor : f32
  } : (tensor<2x16x1024x128xbf16>, tensor<2x4x1024x128xbf16>, tensor<2x4x1024x128xbf16>) -> (tensor<2x16x1024x128xbf16>, tensor<2x16x1024xf32>)
  return %o, %lse : tensor<2x16x1024x128xbf16>, tensor<2x16x1024xf32>
}
