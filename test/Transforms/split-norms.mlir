// RUN: swage-opt %s -split-input-file --swage-fuse 2>/dev/null | FileCheck %s

// A norm of which halves are read, as a rotary embedding does, is in the kernel of what reads them: its rows are as long as a half.
// CHECK-LABEL: func.func @rotary
// CHECK-COUNT-1: swage.launch
// CHECK-NOT:     swage.launch
// CHECK:         swage.kernel @reduce_sum{{.*}} extents [[HALF:#.*]] reduced [2]
// CHECK:           [[SUM:%.*]] = swage.collective sum
// CHECK:           math.rsqrt
// CHECK-NOT:       arith.truncf
func.func @rotary(%x: tensor<2x4x16xbf16>, %g: tensor<16xbf16>, %cos: tensor<4x8xbf16>, %sin: tensor<4x8xbf16>) -> tensor<4x2x16xbf16> {
  %n = swage.rms_norm %x gamma %g axis 2 eps 1.0e-6 : (tensor<2x4x16xbf16>, tensor<16xbf16>) -> tensor<2x4x16xbf16>
  %p = swage.permute %n [1, 0, 2] : tensor<2x4x16xbf16> -> tensor<4x2x16xbf16>
  %a = swage.slice %p axis 2 from 0 size 8 : tensor<4x2x16xbf16> -> tensor<4x2x8xbf16>
  %b = swage.slice %p axis 2 from 8 size 8 : tensor<4x2x16xbf16> -> tensor<4x2x8xbf16>
  %c = swage.broadcast %cos dims [0, 2] : tensor<4x8xbf16> -> tensor<4x2x8xbf16>
  %s = swage.broadcast %sin dims [0, 2] : tensor<4x8xbf16> -> tensor<4x2x8xbf16>
  %ac = arith.mulf %a, %c : tensor<4x2x8xbf16>
  %bs = arith.mulf %b, %s : tensor<4x2x8xbf16>
  %bc = arith.mulf %b, %c : tensor<4x2x8xbf16>
  %as = arith.mulf %a, %s : tensor<4x2x8xbf16>
  %low = arith.subf %ac, %bs : tensor<4x2x8xbf16>
  %high = arith.addf %bc, %as : tensor<4x2x8xbf16>
  %y = swage.concat %low, %high axis 2 : (tensor<4x2x8xbf16>, tensor<4x2x8xbf16>) -> tensor<4x2x16xbf16>
  return %y : tensor<4x2x16xbf16>
}

// -----

// So is one of a sum that nothing else reads, whose statistic is a result, with halves that a concatenation shows, of sizes that are known at run time.
// CHECK-LABEL: func.func @sum
// CHECK-COUNT-1: swage.launch
// CHECK-NOT:     swage.launch
// CHECK:         swage.kernel @reduce_sum
func.func @sum(%x: tensor<?x16xf32>, %z: tensor<?x16xf32>, %g: tensor<16xf32>, %c: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>) {
  %s = arith.addf %x, %z : tensor<?x16xf32>
  %n, %rstd = swage.rms_norm %s gamma %g axis 1 eps 1.0e-5 : (tensor<?x16xf32>, tensor<16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>)
  %low = swage.slice %n axis 1 from 0 size 8 : tensor<?x16xf32> -> tensor<?x8xf32>
  %high = swage.slice %n axis 1 from 8 size 8 : tensor<?x16xf32> -> tensor<?x8xf32>
  %minus = arith.negf %high : tensor<?x8xf32>
  %turned = swage.concat %minus, %low axis 1 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x16xf32>
  %nc = arith.mulf %n, %c : tensor<?x16xf32>
  %y = arith.addf %nc, %turned : tensor<?x16xf32>
  return %y, %rstd : tensor<?x16xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @product
// CHECK-COUNT-1: swage.launch
// CHECK-NOT:     swage.launch
func.func @product(%x: tensor<4x16xf32>, %z: tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %p = arith.mulf %x, %z : tensor<4x16xf32>
  %n = swage.rms_norm %p axis 1 eps 1.0e-5 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %low = swage.slice %n axis 1 from 0 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  %high = swage.slice %n axis 1 from 8 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  %a = math.exp %low : tensor<4x8xf32>
  %b = math.exp %high : tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Not a LayerNorm, whose mean is more exact than a sum, and not where parts would be written over what others are read from.
// CHECK-LABEL: func.func @mean
// CHECK-COUNT-2: swage.launch
// CHECK-LABEL: func.func @in_place
// CHECK-COUNT-2: swage.launch
func.func @mean(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {
  %n = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %low = swage.slice %n axis 1 from 0 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  %high = swage.slice %n axis 1 from 8 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  %y = arith.mulf %low, %high : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @in_place(%x: tensor<4x16xf32>) -> (tensor<4x16xf32> {swage.alias = 0}) {
  %n = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %low = swage.slice %n axis 1 from 0 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  %high = swage.slice %n axis 1 from 8 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  %minus = arith.negf %high : tensor<4x8xf32>
  %turned = swage.concat %minus, %low axis 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %turned : tensor<4x16xf32>
}

// -----

// Not one that is read as a whole as well, in parts that alternate, or in parts of several sizes.
// CHECK-LABEL: func.func @not
// CHECK-COUNT-3: swage.launch @{{.*}}rms_norm
// CHECK-NOT:     swage.collective sum
func.func @not(%x: tensor<4x16xf32>, %z: tensor<4x16xf32>, %w: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>) {
  %n = swage.rms_norm %x axis 1 eps 1.0e-6 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %a = swage.slice %n axis 1 from 0 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  %ea = math.exp %a : tensor<4x8xf32>
  %m = swage.rms_norm %z axis 1 eps 1.0e-6 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %even = swage.slice %m axis 1 from 0 size 8 step 2 : tensor<4x16xf32> -> tensor<4x8xf32>
  %ee = math.exp %even : tensor<4x8xf32>
  %o = swage.rms_norm %w axis 1 eps 1.0e-6 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %half = swage.slice %o axis 1 from 0 size 8 : tensor<4x16xf32> -> tensor<4x8xf32>
  %quarter = swage.slice %o axis 1 from 8 size 4 : tensor<4x16xf32> -> tensor<4x4xf32>
  %eh = math.exp %half : tensor<4x8xf32>
  %eq = math.exp %quarter : tensor<4x4xf32>
  return %n, %ea, %ee, %eh, %eq : tensor<4x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>
}
