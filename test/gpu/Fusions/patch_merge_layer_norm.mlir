// Swin's patch merging: the channels of 2x2 neighbours become one row of 4096, which is normalised.
func.func @main(%x: tensor<16x64x64x1024xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>) -> tensor<16x32x32x4096xbf16> {
  %x6 = swage.reshape %x : tensor<16x64x64x1024xbf16> -> tensor<16x32x2x32x2x1024xbf16>
  %p = swage.permute %x6 [0, 1, 3, 4, 2, 5] : tensor<16x32x2x32x2x1024xbf16> -> tensor<16x32x32x2x2x1024xbf16>
  %rows = swage.reshape %p : tensor<16x32x32x2x2x1024xbf16> -> tensor<16x32x32x4096xbf16>
  %n = swage.layer_norm %rows gamma %g beta %b axis 3 eps 1.0e-5 : (tensor<16x32x32x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16x32x32x4096xbf16>
  return %n : tensor<16x32x32x4096xbf16>
}
