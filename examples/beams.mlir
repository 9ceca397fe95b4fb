// A step of beam search: four beams of each of 8 sequences share the keys and values of their prompt, which are read once for all of them, and have positions of their
// own behind it, in pages of 16 that a table names: a beam that another one goes on from is a row of the table that is copied, and no cache is moved.
//
//   swage-run examples/beams.mlir --check
//
// The two attentions are joined by their log-sum-exps, as if there had been one over both. The queries of all beams and heads that share a key head are rows of one matrix.
func.func @main(%queries: tensor<8x4x32x128xbf16>, %prompt_keys: tensor<8x8x4096x128xbf16>, %prompt_values: tensor<8x8x4096x128xbf16>, %prompt_lengths: tensor<8xi32> {swage.range = array<i64: 1, 4096>},
                %keys: tensor<512x8x16x128xbf16>, %values: tensor<512x8x16x128xbf16>, %table: tensor<32x16xi32> {swage.range = array<i64: 0, 511>},
                %lengths: tensor<32xi32> {swage.range = array<i64: 1, 256>}) -> tensor<8x4x32x128xbf16> {
  // [sequence, head, beam, dim]: beams are queries of a head.
  %by_head = swage.permute %queries [0, 2, 1, 3] : tensor<8x4x32x128xbf16> -> tensor<8x32x4x128xbf16>
  %of_prompt, %prompt_sum = swage.attention %by_head, %prompt_keys, %prompt_values scale 0.08838834764831845 mask {
  ^bb0(%sequence: index, %head: index, %beam: index, %key: index):
    %length = tensor.extract %prompt_lengths[%sequence] : tensor<8xi32>
    %at = arith.index_cast %key : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<8x32x4x128xbf16>, tensor<8x8x4096x128xbf16>, tensor<8x8x4096x128xbf16>) -> (tensor<8x32x4x128xf32>, tensor<8x32x4xf32>)

  %by_beam = swage.reshape %queries : tensor<8x4x32x128xbf16> -> tensor<32x32x1x128xbf16>
  %own_keys = swage.pages %keys, %table : (tensor<512x8x16x128xbf16>, tensor<32x16xi32>) -> tensor<32x8x256x128xbf16>
  %own_values = swage.pages %values, %table : (tensor<512x8x16x128xbf16>, tensor<32x16xi32>) -> tensor<32x8x256x128xbf16>
  %of_own, %own_sum = swage.attention %by_beam, %own_keys, %own_values scale 0.08838834764831845 mask {
  ^bb0(%beam: index, %head: index, %query: index, %key: index):
    %length = tensor.extract %lengths[%beam] : tensor<32xi32>
    %at = arith.index_cast %key : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<32x32x1x128xbf16>, tensor<32x8x256x128xbf16>, tensor<32x8x256x128xbf16>) -> (tensor<32x32x1x128xf32>, tensor<32x32x1xf32>)

  // w = exp(own_sum - prompt_sum): how much more weight a beam's own positions have than the prompt, of which no length is 0.
  %prompt_back = swage.permute %of_prompt [0, 2, 1, 3] : tensor<8x32x4x128xf32> -> tensor<8x4x32x128xf32>
  %prompt_sums = swage.permute %prompt_sum [0, 2, 1] : tensor<8x32x4xf32> -> tensor<8x4x32xf32>
  %own_back = swage.reshape %of_own : tensor<32x32x1x128xf32> -> tensor<8x4x32x128xf32>
  %own_sums = swage.reshape %own_sum : tensor<32x32x1xf32> -> tensor<8x4x32xf32>
  %one = arith.constant dense<1.0> : tensor<8x4x32xf32>
  %difference = arith.subf %own_sums, %prompt_sums : tensor<8x4x32xf32>
  %limit = arith.constant dense<80.0> : tensor<8x4x32xf32>
  %bounded = arith.minimumf %difference, %limit : tensor<8x4x32xf32>
  %w = math.exp %bounded : tensor<8x4x32xf32>
  %both = arith.addf %w, %one : tensor<8x4x32xf32>
  %share = arith.divf %one, %both : tensor<8x4x32xf32>
  %rest = arith.mulf %w, %share : tensor<8x4x32xf32>
  %of_first = swage.broadcast %share dims [0, 1, 2] : tensor<8x4x32xf32> -> tensor<8x4x32x128xf32>
  %of_second = swage.broadcast %rest dims [0, 1, 2] : tensor<8x4x32xf32> -> tensor<8x4x32x128xf32>
  %a = arith.mulf %prompt_back, %of_first : tensor<8x4x32x128xf32>
  %b = arith.mulf %own_back, %of_second : tensor<8x4x32x128xf32>
  %sum = arith.addf %a, %b : tensor<8x4x32x128xf32>
  %result = arith.truncf %sum : tensor<8x4x32x128xf32> to tensor<8x4x32x128xbf16>
  return %result : tensor<8x4x32x128xbf16>
}
