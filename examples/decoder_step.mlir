// One token more for each of 4 sequences, in a decoder's layer as of BART, T5 or FasterTransformer: self attention over a cache of the tokens before, to which
// this one's key and value are added, then attention over what an encoder has left, which is only read. What products of matrices give are arguments: %qkv, %out,
// %cross and %crossOut; the results of norms are what the next products take.
//
//   swage-run examples/decoder_step.mlir --steps=64 --check
//
// Four kernels. The caches and %positions are results in the memory of arguments, so that a step that is captured in a CUDA graph is replayed for the next
// token as it is: nothing of it depends on the host. A sequence with a negative position is not there yet, or has ended: it adds nothing and sees nothing.
func.func @main(%x: tensor<4x512xbf16>, %qkv: tensor<4x3x8x64xbf16>, %qkvBias: tensor<3x8x64xbf16>,
                %out: tensor<4x512xbf16>, %outBias: tensor<512xbf16>, %gamma: tensor<512xbf16>,
                %cross: tensor<4x8x64xbf16>, %crossOut: tensor<4x512xbf16>, %crossBias: tensor<512xbf16>, %crossGamma: tensor<512xbf16>, %beta: tensor<512xbf16>,
                %keyCache: tensor<4x8x128x64xbf16>, %valueCache: tensor<4x8x128x64xbf16>, %positions: tensor<4xi32> {swage.range = array<i64: -2, 63>},
                %encoderKeys: tensor<4x8x77x64xbf16>, %encoderValues: tensor<4x8x77x64xbf16>, %encoderLengths: tensor<4xi32> {swage.range = array<i64: 1, 77>})
    -> (tensor<4x8x1x64xbf16>, tensor<4x8x1x64xbf16>, tensor<4x512xbf16>, tensor<4x512xbf16>, tensor<4x512xbf16>,
        tensor<4x8x128x64xbf16> {swage.alias = 11}, tensor<4x8x128x64xbf16> {swage.alias = 12}, tensor<4xi32> {swage.alias = 13}) {
  // Biases, and the new rows of the caches: all of it is in the kernel of the attention that reads these.
  %q3 = swage.slice %qkv axis 1 from 0 size 1 : tensor<4x3x8x64xbf16> -> tensor<4x1x8x64xbf16>
  %q1 = swage.permute %q3 [0, 2, 1, 3] : tensor<4x1x8x64xbf16> -> tensor<4x8x1x64xbf16>
  %qBias1 = swage.slice %qkvBias axis 0 from 0 size 1 : tensor<3x8x64xbf16> -> tensor<1x8x64xbf16>
  %qBias3 = swage.permute %qBias1 [1, 0, 2] : tensor<1x8x64xbf16> -> tensor<8x1x64xbf16>
  %qBias = swage.broadcast %qBias3 dims [1, 2, 3] : tensor<8x1x64xbf16> -> tensor<4x8x1x64xbf16>
  %q = arith.addf %q1, %qBias : tensor<4x8x1x64xbf16>
  %k3 = swage.slice %qkv axis 1 from 1 size 1 : tensor<4x3x8x64xbf16> -> tensor<4x1x8x64xbf16>
  %k1 = swage.permute %k3 [0, 2, 1, 3] : tensor<4x1x8x64xbf16> -> tensor<4x8x1x64xbf16>
  %kBias1 = swage.slice %qkvBias axis 0 from 1 size 1 : tensor<3x8x64xbf16> -> tensor<1x8x64xbf16>
  %kBias3 = swage.permute %kBias1 [1, 0, 2] : tensor<1x8x64xbf16> -> tensor<8x1x64xbf16>
  %kBias = swage.broadcast %kBias3 dims [1, 2, 3] : tensor<8x1x64xbf16> -> tensor<4x8x1x64xbf16>
  %k = arith.addf %k1, %kBias : tensor<4x8x1x64xbf16>
  %v3 = swage.slice %qkv axis 1 from 2 size 1 : tensor<4x3x8x64xbf16> -> tensor<4x1x8x64xbf16>
  %v1 = swage.permute %v3 [0, 2, 1, 3] : tensor<4x1x8x64xbf16> -> tensor<4x8x1x64xbf16>
  %vBias1 = swage.slice %qkvBias axis 0 from 2 size 1 : tensor<3x8x64xbf16> -> tensor<1x8x64xbf16>
  %vBias3 = swage.permute %vBias1 [1, 0, 2] : tensor<1x8x64xbf16> -> tensor<8x1x64xbf16>
  %vBias = swage.broadcast %vBias3 dims [1, 2, 3] : tensor<8x1x64xbf16> -> tensor<4x8x1x64xbf16>
  %v = arith.addf %v1, %vBias : tensor<4x8x1x64xbf16>
  %keys = swage.append %keyCache, %k at %positions axis 2
      : (tensor<4x8x128x64xbf16>, tensor<4x8x1x64xbf16>, tensor<4xi32>) -> tensor<4x8x128x64xbf16>
  %values = swage.append %valueCache, %v at %positions axis 2
      : (tensor<4x8x128x64xbf16>, tensor<4x8x1x64xbf16>, tensor<4xi32>) -> tensor<4x8x128x64xbf16>

  // Up to and with the token itself.
  %self = swage.attention %q, %keys, %values scale 0.125 mask {
  ^bb0(%sequence: index, %head: index, %query: index, %key: index):
    %position = tensor.extract %positions[%sequence] : tensor<4xi32>
    %at = arith.index_cast %key : index to i32
    %seen = arith.cmpi sle, %at, %position : i32
    swage.yield %seen : i1
  } : (tensor<4x8x1x64xbf16>, tensor<4x8x128x64xbf16>, tensor<4x8x128x64xbf16>) -> tensor<4x8x1x64xbf16>

  // Residual and norm.
  %outRow = swage.broadcast %outBias dims [1] : tensor<512xbf16> -> tensor<4x512xbf16>
  %withBias = arith.addf %out, %outRow : tensor<4x512xbf16>
  %x1 = arith.addf %x, %withBias : tensor<4x512xbf16>
  %h1 = swage.layer_norm %x1 gamma %gamma beta %beta axis 1 eps 1.0e-5
      : (tensor<4x512xbf16>, tensor<512xbf16>, tensor<512xbf16>) -> tensor<4x512xbf16>

  // What the encoder has left.
  %crossQ = swage.reshape %cross : tensor<4x8x64xbf16> -> tensor<4x8x1x64xbf16>
  %seenThere = swage.attention %crossQ, %encoderKeys, %encoderValues scale 0.125 mask {
  ^bb0(%sequence: index, %head: index, %query: index, %key: index):
    %length = tensor.extract %encoderLengths[%sequence] : tensor<4xi32>
    %at = arith.index_cast %key : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<4x8x1x64xbf16>, tensor<4x8x77x64xbf16>, tensor<4x8x77x64xbf16>) -> tensor<4x8x1x64xbf16>

  %crossRow = swage.broadcast %crossBias dims [1] : tensor<512xbf16> -> tensor<4x512xbf16>
  %crossWithBias = arith.addf %crossOut, %crossRow : tensor<4x512xbf16>
  %x2 = arith.addf %x1, %crossWithBias : tensor<4x512xbf16>
  %h2 = swage.layer_norm %x2 gamma %crossGamma beta %beta axis 1 eps 1.0e-5
      : (tensor<4x512xbf16>, tensor<512xbf16>, tensor<512xbf16>) -> tensor<4x512xbf16>

  // The next token's.
  %one = arith.constant dense<1> : tensor<4xi32>
  %next = arith.addi %positions, %one : tensor<4xi32>
  return %self, %seenThere, %h1, %x2, %h2, %keys, %values, %next
      : tensor<4x8x1x64xbf16>, tensor<4x8x1x64xbf16>, tensor<4x512xbf16>, tensor<4x512xbf16>, tensor<4x512xbf16>,
        tensor<4x8x128x64xbf16>, tensor<4x8x128x64xbf16>, tensor<4xi32>
}
