// RUN: swage-opt %s --swage-recognize -split-input-file -verify-diagnostics | FileCheck %s

// Decomposed norms and softmax in the forms in which frameworks write them. Each function differs from the first of
// its group in one respect.

// CHECK-LABEL: func @layer_norm
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[Y:.*]] = swage.layer_norm %[[X]] gamma %[[G]] beta %[[B]] axis 1 eps 9.9999997473787516E-6
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %shifted = arith.addf %var, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised layer_norm}}
  %n = arith.mulf %c, %rstds : tensor<4x8xf32>
  %gs = swage.broadcast %g dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %bs = swage.broadcast %b dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %scaled = arith.mulf %n, %gs : tensor<4x8xf32>
  %y = arith.addf %scaled, %bs : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Sums times 1 / n, statistics at full rank with extent 1, 1 / sqrt, operands swapped, no gamma.
// CHECK-LABEL: func @layer_norm_keepdims
// CHECK: swage.layer_norm %{{.*}} beta %{{.*}} axis 1 eps
// CHECK-NEXT: return
func.func @layer_norm_keepdims(%x: tensor<4x8xf32>, %b: tensor<1x8xf32>, %b1: tensor<8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant dense<1.0e-5> : tensor<4x1xf32>
  %one = arith.constant dense<1.0> : tensor<4x1xf32>
  %inv = arith.constant dense<0.125> : tensor<4x1xf32>
  %sum = swage.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sum1 = swage.reshape %sum : tensor<4xf32> -> tensor<4x1xf32>
  %mean = arith.mulf %inv, %sum1 : tensor<4x1xf32>
  %means = swage.broadcast %mean dims [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %two = arith.constant dense<2.0> : tensor<4x8xf32>
  %c2 = math.powf %c, %two : tensor<4x8xf32>
  %sum2 = swage.reduce sum %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sum21 = swage.reshape %sum2 : tensor<4xf32> -> tensor<4x1xf32>
  %n = arith.constant dense<8.0> : tensor<4x1xf32>
  %var = arith.divf %sum21, %n : tensor<4x1xf32>
  %shifted = arith.addf %eps, %var : tensor<4x1xf32>
  %std = math.sqrt %shifted : tensor<4x1xf32>
  %rstd = arith.divf %one, %std : tensor<4x1xf32>
  %rstds = swage.broadcast %rstd dims [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised layer_norm}}
  %normal = arith.mulf %rstds, %c : tensor<4x8xf32>
  %br = swage.reshape %b1 : tensor<8xf32> -> tensor<1x8xf32>
  %bs = swage.broadcast %br dims [0, 1] : tensor<1x8xf32> -> tensor<4x8xf32>
  %y = arith.addf %bs, %normal : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// E[x^2] - E[x]^2, clamped at 0, with the arithmetic at full shape; division by the root.
// CHECK-LABEL: func @layer_norm_moments
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf64>)
// CHECK-NEXT: swage.layer_norm %[[X]] axis 1 eps 1.000000e-02
// CHECK-NEXT: return
func.func @layer_norm_moments(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %eps = arith.constant dense<1.0e-2> : tensor<4x8xf64>
  %zero = arith.constant dense<0.0> : tensor<4xf64>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf64> -> tensor<4xf64>
  %x2 = arith.mulf %x, %x : tensor<4x8xf64>
  %mean2 = swage.reduce mean %x2 dims [1] : tensor<4x8xf64> -> tensor<4xf64>
  %sq = arith.mulf %mean, %mean : tensor<4xf64>
  %diff = arith.subf %mean2, %sq : tensor<4xf64>
  %var = arith.maximumf %diff, %zero : tensor<4xf64>
  %vars = swage.broadcast %var dims [0] : tensor<4xf64> -> tensor<4x8xf64>
  %shifted = arith.addf %vars, %eps : tensor<4x8xf64>
  %std = math.sqrt %shifted : tensor<4x8xf64>
  %means = swage.broadcast %mean dims [0] : tensor<4xf64> -> tensor<4x8xf64>
  %c = arith.subf %x, %means : tensor<4x8xf64>
  // expected-remark @+1 {{recognised layer_norm}}
  %y = arith.divf %c, %std : tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}

// -----

// f16 in and out, f32 inside; mean and rstd are kept; two normalised dimensions.
// CHECK-LABEL: func @layer_norm_f16_stats
// CHECK-SAME: (%[[X:.*]]: tensor<4x2x8xf16>, %[[G:.*]]: tensor<2x8xf16>)
// CHECK: %[[Y:.*]], %[[S:.*]]:2 = swage.layer_norm %[[X]] gamma %[[G]] axis 1
// CHECK-SAME: (tensor<4x2x8xf16>, tensor<2x8xf16>) -> (tensor<4x2x8xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK-DAG: %[[R:.*]] = swage.reshape %[[S]]#1 : tensor<4xf32> -> tensor<4x1x1xf32>
// CHECK-DAG: %[[Y16:.*]] = arith.truncf %[[Y]]
// CHECK: return %[[Y16]], %[[S]]#0, %[[R]]
func.func @layer_norm_f16_stats(%x16: tensor<4x2x8xf16>, %g16: tensor<2x8xf16>) -> (tensor<4x2x8xf16>, tensor<4xf32>, tensor<4x1x1xf32>) {
  %eps = arith.constant dense<1.0e-5> : tensor<4x1x1xf32>
  %x = arith.extf %x16 : tensor<4x2x8xf16> to tensor<4x2x8xf32>
  %g = arith.extf %g16 : tensor<2x8xf16> to tensor<2x8xf32>
  %mean = swage.reduce mean %x dims [1, 2] : tensor<4x2x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x2x8xf32>
  %c = arith.subf %x, %means : tensor<4x2x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x2x8xf32>
  %var = swage.reduce mean %c2 dims [1, 2] : tensor<4x2x8xf32> -> tensor<4xf32>
  %var1 = swage.reshape %var : tensor<4xf32> -> tensor<4x1x1xf32>
  %shifted = arith.addf %var1, %eps : tensor<4x1x1xf32>
  %rstd = math.rsqrt %shifted : tensor<4x1x1xf32>
  %rstds = swage.broadcast %rstd dims [0, 1, 2] : tensor<4x1x1xf32> -> tensor<4x2x8xf32>
  // expected-remark @+1 {{recognised layer_norm}}
  %n = arith.mulf %c, %rstds : tensor<4x2x8xf32>
  %gs = swage.broadcast %g dims [1, 2] : tensor<2x8xf32> -> tensor<4x2x8xf32>
  %y = arith.mulf %n, %gs : tensor<4x2x8xf32>
  %y16 = arith.truncf %y : tensor<4x2x8xf32> to tensor<4x2x8xf16>
  return %y16, %mean, %rstd : tensor<4x2x8xf16>, tensor<4xf32>, tensor<4x1x1xf32>
}

// -----

// As Llama has it: the normalised value is rounded before gamma, which therefore stays outside. So does the rounding, which a kernel does where it is written.
// CHECK-LABEL: func @rms_norm_rounded
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xbf16>, %[[G:.*]]: tensor<8xbf16>)
// CHECK-NEXT: %[[N:.*]] = swage.rms_norm %[[X]] axis 1 eps {{.*}} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[N16:.*]] = arith.truncf %[[N]]
// CHECK-NEXT: %[[GS:.*]] = swage.broadcast %[[G]]
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[GS]], %[[N16]]
// CHECK-NEXT: return %[[Y]]
func.func @rms_norm_rounded(%x16: tensor<4x8xbf16>, %g: tensor<8xbf16>) -> tensor<4x8xbf16> {
  %eps = arith.constant dense<1.0e-6> : tensor<4x1xf32>
  %x = arith.extf %x16 : tensor<4x8xbf16> to tensor<4x8xf32>
  %x2 = arith.mulf %x, %x : tensor<4x8xf32>
  %ms = swage.reduce mean %x2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %ms1 = swage.reshape %ms : tensor<4xf32> -> tensor<4x1xf32>
  %shifted = arith.addf %ms1, %eps : tensor<4x1xf32>
  %rstd = math.rsqrt %shifted : tensor<4x1xf32>
  %rstds = swage.broadcast %rstd dims [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised rms_norm}}
  %n = arith.mulf %x, %rstds : tensor<4x8xf32>
  %n16 = arith.truncf %n : tensor<4x8xf32> to tensor<4x8xbf16>
  %gs = swage.broadcast %g dims [1] : tensor<8xbf16> -> tensor<4x8xbf16>
  %y = arith.mulf %gs, %n16 : tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// -----

// Gamma between, and rstd also kept after its broadcast.
// CHECK-LABEL: func @rms_norm_gamma_first
// CHECK: %[[Y:.*]], %[[R:.*]] = swage.rms_norm %{{.*}} gamma %{{.*}} axis 1
// CHECK: %[[RS:.*]] = swage.broadcast %[[R]] dims [0]
// CHECK: return %[[Y]], %[[RS]]
func.func @rms_norm_gamma_first(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %eps = arith.constant dense<1.0e-6> : tensor<4xf32>
  %gs = swage.broadcast %g dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %x2 = arith.mulf %x, %x : tensor<4x8xf32>
  %ms = swage.reduce mean %x2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %shifted = arith.addf %ms, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %xg = arith.mulf %x, %gs : tensor<4x8xf32>
  // expected-remark @+1 {{recognised rms_norm}}
  %y = arith.mulf %xg, %rstds : tensor<4x8xf32>
  return %y, %rstds : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Without common subexpressions removed, x - mean is there twice; no eps at all.
// CHECK-LABEL: func @layer_norm_twice
// CHECK-NEXT: swage.layer_norm %{{.*}} axis 1 eps 0.000000e+00
// CHECK-NEXT: return
func.func @layer_norm_twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %d = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %rstd = math.rsqrt %var : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised layer_norm}}
  %n = arith.mulf %d, %rstds : tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}

// -----

// Dynamic rows: a mean needs no constant.
// CHECK-LABEL: func @rms_norm_dynamic
// CHECK: swage.rms_norm %{{.*}} axis 1 eps {{.*}} : (tensor<?x?xf32>) -> tensor<?x?xf32>
func.func @rms_norm_dynamic(%x: tensor<?x?xf32>, %rows: index, %columns: index) -> tensor<?x?xf32> {
  %eps = arith.constant dense<1.0e-6> : tensor<1xf32>
  %epss = swage.broadcast %eps dims [0] sizes(%rows) : tensor<1xf32> -> tensor<?xf32>
  %x2 = arith.mulf %x, %x : tensor<?x?xf32>
  %ms = swage.reduce mean %x2 dims [1] : tensor<?x?xf32> -> tensor<?xf32>
  %shifted = arith.addf %ms, %epss : tensor<?xf32>
  %rstd = math.rsqrt %shifted : tensor<?xf32>
  %rstds = swage.broadcast %rstd dims [0] sizes(%rows, %columns) : tensor<?xf32> -> tensor<?x?xf32>
  // expected-remark @+1 {{recognised rms_norm}}
  %y = arith.mulf %x, %rstds : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @softmax
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[Y:.*]] = swage.softmax %[[X]] axis 1 :
// CHECK-NEXT: return %[[Y]]
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %max = swage.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised softmax}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// f16 with f32 inside, exp2 with log2(e), scale before, product with the reciprocal, first axis.
// CHECK-LABEL: func @softmax_exp2
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf16>)
// CHECK-NEXT: %[[Y:.*]] = swage.softmax %[[X]] axis 0 scale 1.250000e-01 : tensor<4x8xf16> -> tensor<4x8xf32>
// CHECK-NEXT: %[[Y16:.*]] = arith.truncf %[[Y]]
// CHECK-NEXT: return %[[Y16]]
func.func @softmax_exp2(%x16: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %eight = arith.constant dense<8.0> : tensor<4x8xf32>
  %log2e = arith.constant dense<1.44269502> : tensor<4x8xf32>
  %one = arith.constant dense<1.0> : tensor<1x8xf32>
  %x = arith.extf %x16 : tensor<4x8xf16> to tensor<4x8xf32>
  %s = arith.divf %x, %eight : tensor<4x8xf32>
  %max = swage.reduce max %s dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %maxs = swage.broadcast %max dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %d = arith.subf %s, %maxs : tensor<4x8xf32>
  %t = arith.mulf %d, %log2e : tensor<4x8xf32>
  %e = math.exp2 %t : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %sum1 = swage.reshape %sum : tensor<8xf32> -> tensor<1x8xf32>
  %recip = arith.divf %one, %sum1 : tensor<1x8xf32>
  %recips = swage.broadcast %recip dims [0, 1] : tensor<1x8xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised softmax}}
  %y = arith.mulf %recips, %e : tensor<4x8xf32>
  %y16 = arith.truncf %y : tensor<4x8xf32> to tensor<4x8xf16>
  return %y16 : tensor<4x8xf16>
}

// -----

// The scaled value is a result: it stays, and is what the softmax reads.
// CHECK-LABEL: func @softmax_scaled_kept
// CHECK: %[[S:.*]] = arith.mulf
// CHECK-NEXT: %[[Y:.*]] = swage.softmax %[[S]] axis 1 :
// CHECK-NEXT: return %[[Y]], %[[S]]
func.func @softmax_scaled_kept(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %eighth = arith.constant dense<0.125> : tensor<4x8xf32>
  %s = arith.mulf %x, %eighth : tensor<4x8xf32>
  %max = swage.reduce max %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %s, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised softmax}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y, %s : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Two softmaxes of one value, and a norm of their sum.
// CHECK-LABEL: func @several
// CHECK-DAG: %[[A:.*]] = swage.softmax %{{.*}} axis 1
// CHECK-DAG: %[[B:.*]] = swage.softmax %{{.*}} axis 0
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: swage.rms_norm %[[S]]
// CHECK-NEXT: return
func.func @several(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %max = swage.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised softmax}}
  %a = arith.divf %e, %sums : tensor<4x8xf32>
  %max0 = swage.reduce max %x dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %maxs0 = swage.broadcast %max0 dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %d0 = arith.subf %x, %maxs0 : tensor<4x8xf32>
  %e0 = math.exp %d0 : tensor<4x8xf32>
  %sum0 = swage.reduce sum %e0 dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %sums0 = swage.broadcast %sum0 dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised softmax}}
  %b = arith.divf %e0, %sums0 : tensor<4x8xf32>
  %s = arith.addf %a, %b : tensor<4x8xf32>
  %s2 = arith.mulf %s, %s : tensor<4x8xf32>
  %ms = swage.reduce mean %s2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %rms = math.sqrt %ms : tensor<4xf32>
  %rmss = swage.broadcast %rms dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised rms_norm}}
  %y = arith.divf %s, %rmss : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// where(mask, scale * x, -inf): a row that is masked throughout gives NaN, as it does when it is written out.
// CHECK-LABEL: func @masked_softmax
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf16>, %[[M:.*]]: tensor<4x8xi1>)
// CHECK-NEXT: %[[Y:.*]] = swage.softmax %[[X]] mask %[[M]] axis 1 scale 1.250000e-01 nan_rows : tensor<4x8xf16>, tensor<4x8xi1> -> tensor<4x8xf32>
// CHECK-NEXT: %[[Y16:.*]] = arith.truncf %[[Y]]
// CHECK-NEXT: return %[[Y16]]
func.func @masked_softmax(%x16: tensor<4x8xf16>, %m: tensor<4x8xi1>) -> tensor<4x8xf16> {
  %eighth = arith.constant dense<0.125> : tensor<4x8xf32>
  %none = arith.constant dense<0xFF800000> : tensor<4x8xf32>
  %x = arith.extf %x16 : tensor<4x8xf16> to tensor<4x8xf32>
  %s = arith.mulf %x, %eighth : tensor<4x8xf32>
  %w = arith.select %m, %s, %none : tensor<4x8xi1>, tensor<4x8xf32>
  %max = swage.reduce max %w dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %w, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised softmax}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  %y16 = arith.truncf %y : tensor<4x8xf32> to tensor<4x8xf16>
  return %y16 : tensor<4x8xf16>
}

// -----

// masked_fill says what to leave out.
// CHECK-LABEL: func @masked_fill_softmax
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[M:.*]]: tensor<4x8xi1>)
// CHECK-NEXT: %[[TRUE:.*]] = arith.constant dense<true>
// CHECK-NEXT: %[[KEEP:.*]] = arith.xori %[[M]], %[[TRUE]]
// CHECK-NEXT: %[[Y:.*]] = swage.softmax %[[X]] mask %[[KEEP]] axis 1 nan_rows :
// CHECK-NEXT: return %[[Y]]
func.func @masked_fill_softmax(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> tensor<4x8xf32> {
  %none = arith.constant dense<0xFF800000> : tensor<4x8xf32>
  %w = arith.select %m, %none, %x : tensor<4x8xi1>, tensor<4x8xf32>
  %max = swage.reduce max %w dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %w, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised softmax}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// -1e4 is a number like any other: a row of it is a row of equal numbers.
// CHECK-LABEL: func @finite_fill_is_no_mask
// CHECK:      %[[W:.*]] = arith.select
// CHECK-NEXT: %[[Y:.*]] = swage.softmax %[[W]] axis 1 :
// CHECK-NEXT: return %[[Y]]
func.func @finite_fill_is_no_mask(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> tensor<4x8xf32> {
  %low = arith.constant dense<-1.0e4> : tensor<4x8xf32>
  %w = arith.select %m, %low, %x : tensor<4x8xi1>, tensor<4x8xf32>
  %max = swage.reduce max %w dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %w, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised softmax}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @log_softmax
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[Y:.*]] = swage.softmax %[[X]] axis 1 log : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @log_softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %max = swage.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %log = math.log %sum : tensor<4xf32>
  %logs = swage.broadcast %log dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised log_softmax}}
  %y = arith.subf %d, %logs : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Dimensions that are not trailing ones become that for the norm; the factor for each row element stays where it is.
// CHECK-LABEL: func @leading_axis
// CHECK: %[[T:.*]] = swage.permute %arg0 [1, 0]
// CHECK: %[[N:.*]], %[[R:.*]] = swage.rms_norm %[[T]] axis 1 eps {{.*}} : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>)
// CHECK: %[[B:.*]] = swage.permute %[[N]] [1, 0]
// CHECK: %[[Y:.*]] = arith.mulf %[[B]], %{{.*}} : tensor<4x8xf32>
// CHECK: return %[[Y]], %[[R]]
func.func @leading_axis(%x: tensor<4x8xf32>, %g: tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %x2 = arith.mulf %x, %x : tensor<4x8xf32>
  %ms = swage.reduce mean %x2 dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %rstd = math.rsqrt %ms : tensor<8xf32>
  %rstds = swage.broadcast %rstd dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised rms_norm}}
  %n = arith.mulf %x, %rstds : tensor<4x8xf32>
  %gs = swage.broadcast %g dims [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  %y = arith.mulf %n, %gs : tensor<4x8xf32>
  return %y, %rstd : tensor<4x8xf32>, tensor<8xf32>
}
