// Between two i8 products (FasterTransformer's int8 path): what the first leaves in i32, a scale for each column, bias, an i8 residual with
// its scale, LayerNorm, and i8 again for the second. The sum is kept in f16.
func.func @main(%x: tensor<16384x4096xi32>, %columns: tensor<4096xf32>, %bias: tensor<4096xf16>, %residual: tensor<16384x4096xi8>, %residual_scale: tensor<f32>,
                %g: tensor<4096xf16>, %b: tensor<4096xf16>, %out_scale: tensor<f32>) -> (tensor<16384x4096xf16>, tensor<16384x4096xi8>) {
  %lo = arith.constant dense<-128.0> : tensor<16384x4096xf32>
  %hi = arith.constant dense<127.0> : tensor<16384x4096xf32>
  %f = arith.sitofp %x : tensor<16384x4096xi32> to tensor<16384x4096xf32>
  %cb = swage.broadcast %columns dims [1] : tensor<4096xf32> -> tensor<16384x4096xf32>
  %f0 = arith.mulf %f, %cb : tensor<16384x4096xf32>
  %wb = arith.extf %bias : tensor<4096xf16> to tensor<4096xf32>
  %bb = swage.broadcast %wb dims [1] : tensor<4096xf32> -> tensor<16384x4096xf32>
  %f1 = arith.addf %f0, %bb : tensor<16384x4096xf32>
  %wr = arith.sitofp %residual : tensor<16384x4096xi8> to tensor<16384x4096xf32>
  %rs = swage.broadcast %residual_scale dims [] : tensor<f32> -> tensor<16384x4096xf32>
  %r = arith.mulf %wr, %rs : tensor<16384x4096xf32>
  %f2 = arith.addf %f1, %r : tensor<16384x4096xf32>
  %h = arith.truncf %f2 : tensor<16384x4096xf32> to tensor<16384x4096xf16>
  %n = swage.layer_norm %h gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<16384x4096xf16>, tensor<4096xf16>, tensor<4096xf16>) -> tensor<16384x4096xf32>
  %os = swage.broadcast %out_scale dims [] : tensor<f32> -> tensor<16384x4096xf32>
  %v = arith.mulf %n, %os : tensor<16384x4096xf32>
  %v0 = math.roundeven %v : tensor<16384x4096xf32>
  %v1 = arith.maximumf %v0, %lo : tensor<16384x4096xf32>
  %v2 = arith.minimumf %v1, %hi : tensor<16384x4096xf32>
  %q = arith.fptosi %v2 : tensor<16384x4096xf32> to tensor<16384x4096xi8>
  return %h, %q : tensor<16384x4096xf16>, tensor<16384x4096xi8>
}
