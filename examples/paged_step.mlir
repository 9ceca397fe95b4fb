// One token more for each of 8 sequences, as in a layer of Llama or Qwen whose cache is in pages: query and key are turned by their position (halves, as GPT-NeoX), key and
// value are added to the pools at the places that %places names (page * 16 + position in the page, -1 for none: a serving engine's slot mapping), and the queries read
// all positions of their sequences through %table. What the projection gives is an argument.
//
//   swage-run examples/paged_step.mlir --check
//
// The pools are results in the memory of arguments: only new rows are written, and a step that is captured in a CUDA graph is replayed for the next token as it is.
func.func @main(%qkv: tensor<8x48x128xbf16>, %cos: tensor<8x64xf32>, %sin: tensor<8x64xf32>, %key_pool: tensor<512x8x16x128xbf16>, %value_pool: tensor<512x8x16x128xbf16>,
                %places: tensor<8xi32> {swage.range = array<i64: -1, 8191>}, %table: tensor<8x64xi32> {swage.range = array<i64: 0, 511>}, %lengths: tensor<8xi32> {swage.range = array<i64: 1, 1024>})
    -> (tensor<8x4096xbf16>, tensor<512x8x16x128xbf16> {swage.alias = 3}, tensor<512x8x16x128xbf16> {swage.alias = 4}) {
  %q = swage.slice %qkv axis 1 from 0 size 32 : tensor<8x48x128xbf16> -> tensor<8x32x128xbf16>
  %q_low = swage.slice %q axis 2 from 0 size 64 : tensor<8x32x128xbf16> -> tensor<8x32x64xbf16>
  %q_high = swage.slice %q axis 2 from 64 size 64 : tensor<8x32x128xbf16> -> tensor<8x32x64xbf16>
  %q_a = arith.extf %q_low : tensor<8x32x64xbf16> to tensor<8x32x64xf32>
  %q_b = arith.extf %q_high : tensor<8x32x64xbf16> to tensor<8x32x64xf32>
  %q_cos = swage.broadcast %cos dims [0, 2] : tensor<8x64xf32> -> tensor<8x32x64xf32>
  %q_sin = swage.broadcast %sin dims [0, 2] : tensor<8x64xf32> -> tensor<8x32x64xf32>
  %q_ac = arith.mulf %q_a, %q_cos : tensor<8x32x64xf32>
  %q_bs = arith.mulf %q_b, %q_sin : tensor<8x32x64xf32>
  %q_bc = arith.mulf %q_b, %q_cos : tensor<8x32x64xf32>
  %q_as = arith.mulf %q_a, %q_sin : tensor<8x32x64xf32>
  %q_x = arith.subf %q_ac, %q_bs : tensor<8x32x64xf32>
  %q_y = arith.addf %q_bc, %q_as : tensor<8x32x64xf32>
  %q_xn = arith.truncf %q_x : tensor<8x32x64xf32> to tensor<8x32x64xbf16>
  %q_yn = arith.truncf %q_y : tensor<8x32x64xf32> to tensor<8x32x64xbf16>
  %q_turned = swage.concat %q_xn, %q_yn axis 2 : (tensor<8x32x64xbf16>, tensor<8x32x64xbf16>) -> tensor<8x32x128xbf16>
  %k = swage.slice %qkv axis 1 from 32 size 8 : tensor<8x48x128xbf16> -> tensor<8x8x128xbf16>
  %k_low = swage.slice %k axis 2 from 0 size 64 : tensor<8x8x128xbf16> -> tensor<8x8x64xbf16>
  %k_high = swage.slice %k axis 2 from 64 size 64 : tensor<8x8x128xbf16> -> tensor<8x8x64xbf16>
  %k_a = arith.extf %k_low : tensor<8x8x64xbf16> to tensor<8x8x64xf32>
  %k_b = arith.extf %k_high : tensor<8x8x64xbf16> to tensor<8x8x64xf32>
  %k_cos = swage.broadcast %cos dims [0, 2] : tensor<8x64xf32> -> tensor<8x8x64xf32>
  %k_sin = swage.broadcast %sin dims [0, 2] : tensor<8x64xf32> -> tensor<8x8x64xf32>
  %k_ac = arith.mulf %k_a, %k_cos : tensor<8x8x64xf32>
  %k_bs = arith.mulf %k_b, %k_sin : tensor<8x8x64xf32>
  %k_bc = arith.mulf %k_b, %k_cos : tensor<8x8x64xf32>
  %k_as = arith.mulf %k_a, %k_sin : tensor<8x8x64xf32>
  %k_x = arith.subf %k_ac, %k_bs : tensor<8x8x64xf32>
  %k_y = arith.addf %k_bc, %k_as : tensor<8x8x64xf32>
  %k_xn = arith.truncf %k_x : tensor<8x8x64xf32> to tensor<8x8x64xbf16>
  %k_yn = arith.truncf %k_y : tensor<8x8x64xf32> to tensor<8x8x64xbf16>
  %k_turned = swage.concat %k_xn, %k_yn axis 2 : (tensor<8x8x64xbf16>, tensor<8x8x64xbf16>) -> tensor<8x8x128xbf16>
  %v = swage.slice %qkv axis 1 from 40 size 8 : tensor<8x48x128xbf16> -> tensor<8x8x128xbf16>
  %new_key = swage.reshape %k_turned : tensor<8x8x128xbf16> -> tensor<8x8x1x128xbf16>
  %new_value = swage.reshape %v : tensor<8x8x128xbf16> -> tensor<8x8x1x128xbf16>
  %keys = swage.append %key_pool, %new_key at %places axis 2 paged : (tensor<512x8x16x128xbf16>, tensor<8x8x1x128xbf16>, tensor<8xi32>) -> tensor<512x8x16x128xbf16>
  %values = swage.append %value_pool, %new_value at %places axis 2 paged : (tensor<512x8x16x128xbf16>, tensor<8x8x1x128xbf16>, tensor<8xi32>) -> tensor<512x8x16x128xbf16>
  %query = swage.reshape %q_turned : tensor<8x32x128xbf16> -> tensor<8x32x1x128xbf16>
  %all_keys = swage.pages %keys, %table : (tensor<512x8x16x128xbf16>, tensor<8x64xi32>) -> tensor<8x8x1024x128xbf16>
  %all_values = swage.pages %values, %table : (tensor<512x8x16x128xbf16>, tensor<8x64xi32>) -> tensor<8x8x1024x128xbf16>
  %o = swage.attention %query, %all_keys, %all_values scale 0.08838834764831845 mask {
  ^bb0(%sequence: index, %head: index, %i: index, %key: index):
    %length = tensor.extract %lengths[%sequence] : tensor<8xi32>
    %at = arith.index_cast %key : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<8x32x1x128xbf16>, tensor<8x8x1024x128xbf16>, tensor<8x8x1024x128xbf16>) -> tensor<8x32x1x128xbf16>
  %merged = swage.reshape %o : tensor<8x32x1x128xbf16> -> tensor<8x4096xbf16>
  return %merged, %keys, %values : tensor<8x4096xbf16>, tensor<512x8x16x128xbf16>, tensor<512x8x16x128xbf16>
}
