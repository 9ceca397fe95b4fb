func.func @main(%x: tensor<1x120000xf32>) -> tensor<1x120000xf8E4M3FN> {
  %n = swage.rms_norm %x axis 1 eps 1.0e-6 : (tensor<1x120000xf32>) -> tensor<1x120000xf32>
  %abs = math.absf %n : tensor<1x120000xf32>
  %largest = swage.reduce max %abs dims [1] : tensor<1x120000xf32> -> tensor<1xf32>
  %most = arith.constant dense<448.0> : tensor<1xf32>
  %inverse = arith.divf %most, %largest : tensor<1xf32>
  %ib = swage.broadcast %inverse dims [0] : tensor<1xf32> -> tensor<1x120000xf32>
  %v = arith.mulf %n, %ib : tensor<1x120000xf32>
  %q = arith.truncf %v : tensor<1x120000xf32> to tensor<1x120000xf8E4M3FN>
  return %q : tensor<1x120000xf8E4M3FN>
}
