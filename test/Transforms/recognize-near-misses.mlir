// RUN: swage-opt %s --swage-recognize -split-input-file -verify-diagnostics | FileCheck %s

// What is close to a norm or a softmax but means something else, or is needed in parts, stays, and a remark says why.

// The unbiased variance: the divisor is n - 1.
// CHECK-LABEL: func @ddof
// CHECK-NOT: swage.layer_norm
// CHECK-NOT: swage.rms_norm
// CHECK: return
func.func @ddof(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %n1 = arith.constant dense<7.0> : tensor<4xf32>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %sum = swage.reduce sum %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %var = arith.divf %sum, %n1 : tensor<4xf32>
  %shifted = arith.addf %var, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as rms_norm or layer_norm: divides a sum by 7, but a row has 8 elements}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// eps is added to the root.
// CHECK-LABEL: func @eps_outside
// CHECK-NOT: swage.layer_norm
// CHECK-NOT: swage.rms_norm
// CHECK: return
func.func @eps_outside(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %std = math.rsqrt %var : tensor<4xf32>
  %rstd = arith.addf %std, %eps : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as rms_norm or layer_norm: adds eps outside the square root}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A negative eps.
// CHECK-LABEL: func @eps_negative
// CHECK-NOT: swage.layer_norm
// CHECK-NOT: swage.rms_norm
// CHECK: return
func.func @eps_negative(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant dense<-1.0e-5> : tensor<4xf32>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %shifted = arith.addf %var, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as rms_norm or layer_norm: eps is -1e-05, but must be finite and not negative}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A sum of squares: this normalises to unit length.
// CHECK-LABEL: func @no_mean
// CHECK-NOT: swage.layer_norm
// CHECK-NOT: swage.rms_norm
// CHECK: return
func.func @no_mean(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce sum %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %shifted = arith.addf %var, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as rms_norm or layer_norm: does not divide the sum by the length of a row}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The variance is of x, the normalised value is z.
// CHECK-LABEL: func @other_value
// CHECK-NOT: swage.layer_norm
// CHECK-NOT: swage.rms_norm
// CHECK: return
func.func @other_value(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %shifted = arith.addf %var, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as rms_norm or layer_norm: normalises one value by the mean square of another}}
  %y = arith.mulf %z, %rstds : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// E[z^2] - E[x]^2 is the variance of neither.
// CHECK-LABEL: func @moments_of_two
// CHECK-NOT: swage.layer_norm
// CHECK-NOT: swage.rms_norm
// CHECK: return
func.func @moments_of_two(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %z2 = arith.mulf %z, %z : tensor<4x8xf32>
  %ms = swage.reduce mean %z2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sq = arith.mulf %mean, %mean : tensor<4xf32>
  %var = arith.subf %ms, %sq : tensor<4xf32>
  %shifted = arith.addf %var, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as rms_norm or layer_norm: normalises one value by the variance of another}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// x - mean is a result: the op would not save its computation.
// CHECK-LABEL: func @centered_kept
// CHECK-NOT: swage.layer_norm
// CHECK-NOT: swage.rms_norm
// CHECK: return
func.func @centered_kept(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %shifted = arith.addf %var, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as layer_norm: an intermediate, arith.subf, is used elsewhere}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf32>
  return %y, %c : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The variance is a result, but no statistic of the op.
// CHECK-LABEL: func @variance_kept
// CHECK-NOT: swage.layer_norm
// CHECK-NOT: swage.rms_norm
// CHECK: return
func.func @variance_kept(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %shifted = arith.addf %var, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as layer_norm: an intermediate, swage.reduce, is used elsewhere}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf32>
  return %y, %var : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// The mean is that of z: what is left is the RMSNorm of the difference.
// CHECK-LABEL: func @mean_of_another
// CHECK: %[[C:.*]] = arith.subf
// CHECK-NEXT: swage.rms_norm %[[C]]
// CHECK-NEXT: return
func.func @mean_of_another(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %mean = swage.reduce mean %z dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %means = swage.broadcast %mean dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %shifted = arith.addf %var, %eps : tensor<4xf32>
  %rstd = math.rsqrt %shifted : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised rms_norm}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The mean is rounded by an explicit cast, so that x - mean is not what LayerNorm subtracts.
// CHECK-LABEL: func @mean_rounded
// CHECK: arith.truncf
// CHECK: %[[C:.*]] = arith.subf
// CHECK-NEXT: swage.rms_norm %[[C]]
func.func @mean_rounded(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %mean16 = arith.truncf %mean : tensor<4xf32> to tensor<4xf16>
  %rounded = arith.extf %mean16 : tensor<4xf16> to tensor<4xf32>
  %means = swage.broadcast %rounded dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %c = arith.subf %x, %means : tensor<4x8xf32>
  %c2 = arith.mulf %c, %c : tensor<4x8xf32>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %rstd = math.rsqrt %var : tensor<4xf32>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{recognised rms_norm}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The statistic goes back along the other axis of a square tensor.
// CHECK-LABEL: func @transposed_statistic
// CHECK-NOT: swage.rms_norm
// CHECK: return
func.func @transposed_statistic(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x2 = arith.mulf %x, %x : tensor<8x8xf32>
  %ms = swage.reduce mean %x2 dims [1] : tensor<8x8xf32> -> tensor<8xf32>
  %rstd = math.rsqrt %ms : tensor<8xf32>
  %rstds = swage.broadcast %rstd dims [1] : tensor<8xf32> -> tensor<8x8xf32>
  // expected-remark @+1 {{not recognised as rms_norm or layer_norm: the statistic is not repeated along the rows it is of}}
  %y = arith.mulf %x, %rstds : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// In f16 the mean is implicitly unrounded inside, but a result is not: it is no f32 statistic.
// CHECK-LABEL: func @statistic_f16
// CHECK-NOT: swage.layer_norm
// CHECK: return
func.func @statistic_f16(%x: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4xf16>) {
  %mean = swage.reduce mean %x dims [1] : tensor<4x8xf16> -> tensor<4xf16>
  %means = swage.broadcast %mean dims [0] : tensor<4xf16> -> tensor<4x8xf16>
  %c = arith.subf %x, %means : tensor<4x8xf16>
  %c2 = arith.mulf %c, %c : tensor<4x8xf16>
  %var = swage.reduce mean %c2 dims [1] : tensor<4x8xf16> -> tensor<4xf16>
  %rstd = math.rsqrt %var : tensor<4xf16>
  %rstds = swage.broadcast %rstd dims [0] : tensor<4xf16> -> tensor<4x8xf16>
  // expected-remark @+1 {{not recognised as layer_norm: an intermediate, swage.reduce, is used elsewhere}}
  %y = arith.mulf %c, %rstds : tensor<4x8xf16>
  return %y, %mean : tensor<4x8xf16>, tensor<4xf16>
}

// -----

// Without the maximum large values overflow, which softmax does not.
// CHECK-LABEL: func @no_maximum
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @no_maximum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = math.exp %x : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as softmax: subtracts no maximum}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The minimum is subtracted.
// CHECK-LABEL: func @minimum
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @minimum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %max = swage.reduce min %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as softmax: subtracts something other than the maximum}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The maximum is that of z.
// CHECK-LABEL: func @maximum_of_another
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @maximum_of_another(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %max = swage.reduce max %z dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as softmax: subtracts the maximum of another value}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The maximum is along the other axis.
// CHECK-LABEL: func @maximum_along_another
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @maximum_along_another(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %max = swage.reduce max %x dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %maxs = swage.broadcast %max dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as softmax: what it subtracts is not repeated along the rows that it sums}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The maximum goes back along the other axis of a square tensor.
// CHECK-LABEL: func @transposed_maximum
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @transposed_maximum(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %max = swage.reduce max %x dims [1] : tensor<8x8xf32> -> tensor<8xf32>
  %maxs = swage.broadcast %max dims [1] : tensor<8xf32> -> tensor<8x8xf32>
  %d = arith.subf %x, %maxs : tensor<8x8xf32>
  %e = math.exp %d : tensor<8x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<8x8xf32> -> tensor<8xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<8xf32> -> tensor<8x8xf32>
  // expected-remark @+1 {{not recognised as softmax: what it subtracts is not repeated along the rows that it sums}}
  %y = arith.divf %e, %sums : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// The sum is of other exponentials.
// CHECK-LABEL: func @sum_of_another
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @sum_of_another(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %max = swage.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %f = math.exp %z : tensor<4x8xf32>
  %sum = swage.reduce sum %f dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as softmax: divides by the sum of another value}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Each element is scaled by its own number after the subtraction.
// CHECK-LABEL: func @scale_tensor
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @scale_tensor(%x: tensor<4x8xf32>, %t: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %max = swage.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %ds = arith.mulf %d, %t : tensor<4x8xf32>
  %e = math.exp %ds : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as softmax: the scale is not one positive constant}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The same with a constant that is no splat.
// CHECK-LABEL: func @scale_varies
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @scale_varies(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %t = arith.constant dense<[[1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]> : tensor<4x8xf32>
  %max = swage.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %ds = arith.mulf %d, %t : tensor<4x8xf32>
  %e = math.exp %ds : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as softmax: the scale is not one positive constant}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// max(x) * -1 is not max(-x).
// CHECK-LABEL: func @scale_negative
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @scale_negative(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %t = arith.constant dense<-1.0> : tensor<4x8xf32>
  %max = swage.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %ds = arith.mulf %d, %t : tensor<4x8xf32>
  %e = math.exp %ds : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as softmax: the scale is not one positive constant}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The exponentials are a result.
// CHECK-LABEL: func @exponentials_kept
// CHECK-NOT: swage.softmax
// CHECK: return
func.func @exponentials_kept(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %max = swage.reduce max %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %maxs = swage.broadcast %max dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  %sum = swage.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %sums = swage.broadcast %sum dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  // expected-remark @+1 {{not recognised as softmax: an intermediate, math.exp, is used elsewhere}}
  %y = arith.divf %e, %sums : tensor<4x8xf32>
  return %y, %e : tensor<4x8xf32>, tensor<4x8xf32>
}
