// RUN: swage-translate --swage-to-cuda %s | FileCheck %s

// SiLU in 16 bits shows nothing of the last digits of a float.
// CHECK: output0 = swage::divideFast(input0, swage::expFast(-input0) + 1.0f);
// CHECK: extern "C"
func.func @silu(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %one = arith.constant dense<1.0> : tensor<64x256xf16>
  %minus = arith.negf %x : tensor<64x256xf16>
  %e = math.exp %minus : tensor<64x256xf16>
  %d = arith.addf %e, %one : tensor<64x256xf16>
  %y = arith.divf %x, %d : tensor<64x256xf16>
  return %y : tensor<64x256xf16>
}

// A float shows them, whatever the graph would allow.
// CHECK: output0 = input0 / (swage::exp(-input0) + 1.0f);
// CHECK: extern "C"
func.func @float(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %one = arith.constant dense<1.0> : tensor<64x256xf32>
  %minus = arith.negf %x : tensor<64x256xf32>
  %e = math.exp %minus : tensor<64x256xf32>
  %d = arith.addf %e, %one : tensor<64x256xf32>
  %y = arith.divf %x, %d fastmath<arcp> : tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}

// So does a step: 6 / 3 must not end up below 2.
// CHECK: output0 = swage::floor(input0 / input1);
// CHECK: extern "C"
func.func @step(%a: tensor<64x256xf16>, %b: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %q = arith.divf %a, %b : tensor<64x256xf16>
  %y = math.floor %q : tensor<64x256xf16>
  return %y : tensor<64x256xf16>
}

// And a comparison.
// CHECK: const float div = input0 / input1;
// CHECK: extern "C"
func.func @comparison(%a: tensor<64x256xf16>, %b: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %q = arith.divf %a, %b : tensor<64x256xf16>
  %less = arith.cmpf olt, %q, %a : tensor<64x256xf16>
  %y = arith.select %less, %q, %b : tensor<64x256xi1>, tensor<64x256xf16>
  return %y : tensor<64x256xf16>
}

// A difference may magnify what is wrong with its operands: not too much for a division, whose error is always a few units of a float, but for an
// exponential's, which grows with the argument.
// CHECK: const float div = swage::divideFast(input0, swage::exp(input0) + 1.0f);
// CHECK: extern "C"
func.func @difference(%x: tensor<64x256xf16>, %z: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %one = arith.constant dense<1.0> : tensor<64x256xf16>
  %e = math.exp %x : tensor<64x256xf16>
  %d = arith.addf %e, %one : tensor<64x256xf16>
  %q = arith.divf %x, %d : tensor<64x256xf16>
  %y = arith.subf %q, %z : tensor<64x256xf16>
  return %y : tensor<64x256xf16>
}

// Results that are denormal floats are numbers to bf16.
// CHECK: output0 = swage::exp(input0);
// CHECK: extern "C"
func.func @denormal(%x: tensor<64x256xbf16>) -> tensor<64x256xbf16> {
  %y = math.exp %x : tensor<64x256xbf16>
  return %y : tensor<64x256xbf16>
}

// Through a root mean square an error stays what it was; beside it a rstd may be a float.
// CHECK: return swage::divideFast(input0, swage::expFast(input0) + 1.0f);
// CHECK: extern "C"
func.func @norm(%x: tensor<64x256xbf16>) -> (tensor<64x256xbf16>, tensor<64xf32>) {
  %one = arith.constant dense<1.0> : tensor<64x256xbf16>
  %e = math.exp %x : tensor<64x256xbf16>
  %d = arith.addf %e, %one : tensor<64x256xbf16>
  %q = arith.divf %x, %d : tensor<64x256xbf16>
  %y, %rstd = swage.rms_norm %q axis 1 eps 1.0e-6 : (tensor<64x256xbf16>) -> (tensor<64x256xbf16>, tensor<64xf32>)
  return %y, %rstd : tensor<64x256xbf16>, tensor<64xf32>
}

// The quotient that the elements are multiplied by is only seen in 8 bits, halfway between two of which it may be; the scale that is a result is a float.
// CHECK: const float div = swage::divideClosely(448.0f, largest);
// CHECK: output1 = element * div;
// CHECK: output0 = largest / 448.0f;
// CHECK: extern "C"
func.func @row_scale(%x: tensor<64x256xbf16>) -> (tensor<64x256xf8E4M3FN>, tensor<64xf32>) {
  %most = arith.constant dense<448.0> : tensor<64xf32>
  %f = arith.extf %x : tensor<64x256xbf16> to tensor<64x256xf32>
  %a = math.absf %f : tensor<64x256xf32>
  %m = swage.reduce max %a dims [1] : tensor<64x256xf32> -> tensor<64xf32>
  %scale = arith.divf %m, %most : tensor<64xf32>
  %inverse = arith.divf %most, %m : tensor<64xf32>
  %ib = swage.broadcast %inverse dims [0] : tensor<64xf32> -> tensor<64x256xf32>
  %v = arith.mulf %f, %ib : tensor<64x256xf32>
  %q = arith.truncf %v : tensor<64x256xf32> to tensor<64x256xf8E4M3FN>
  return %q, %scale : tensor<64x256xf8E4M3FN>, tensor<64xf32>
}

// 1 + tanh cancels for negative numbers; what it is equal to does not, and is shorter. A float sees neither.
// CHECK: output0 = swage::divideFast(2.0f, swage::expFast(input0 * -2.0f) + 1.0f);
// CHECK: extern "C"
// CHECK: output0 = swage::tanhFast(input0);
// CHECK: output1 = swage::erfFast(input0);
// CHECK: extern "C"
func.func @functions(%x: tensor<64x256xbf16>, %y: tensor<64x256xbf16>) -> (tensor<64x256xbf16>, tensor<64x256xbf16>, tensor<64x256xbf16>) {
  %one = arith.constant dense<1.0> : tensor<64x256xbf16>
  %t = math.tanh %x : tensor<64x256xbf16>
  %gate = arith.addf %one, %t : tensor<64x256xbf16>
  %u = math.tanh %y : tensor<64x256xbf16>
  %e = math.erf %y : tensor<64x256xbf16>
  return %gate, %u, %e : tensor<64x256xbf16>, tensor<64x256xbf16>, tensor<64x256xbf16>
}

// CHECK: output0 = swage::tanh(input0) + 1.0f;
// CHECK: output1 = swage::erf(input0);
// CHECK: extern "C"
func.func @exact(%x: tensor<64x256xf32>) -> (tensor<64x256xf32>, tensor<64x256xf32>) {
  %one = arith.constant dense<1.0> : tensor<64x256xf32>
  %t = math.tanh %x : tensor<64x256xf32>
  %gate = arith.addf %t, %one : tensor<64x256xf32>
  %e = math.erf %x : tensor<64x256xf32>
  return %gate, %e : tensor<64x256xf32>, tensor<64x256xf32>
}

// Elements that nobody sees do not make a float's mean an approximation.
// CHECK: return input0 / input1;
// CHECK: extern "C"
func.func @row_results(%x: tensor<64x772xf32>, %y: tensor<64x772xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %q = arith.divf %x, %y : tensor<64x772xf32>
  %n, %m, %r = swage.layer_norm %q axis 1 eps 1.0e-5 : (tensor<64x772xf32>) -> (tensor<64x772xf32>, tensor<64xf32>, tensor<64xf32>)
  return %m, %r : tensor<64xf32>, tensor<64xf32>
}

// Logarithms and exponentials beside 1; what becomes of one whose argument may be near -1 is seen exactly.
// CHECK: output0 = swage::expm1Fast(input0);
// CHECK: output1 = swage::tanhFast(swage::log1pFast(swage::exp(input0)));
// CHECK: extern "C"
// CHECK: output0 = swage::log1p(swage::tanh(input0));
// CHECK: extern "C"
func.func @beside_one(%x: tensor<64x256xbf16>, %y: tensor<64x256xbf16>) -> (tensor<64x256xbf16>, tensor<64x256xbf16>, tensor<64x256xf32>) {
  %below = math.expm1 %x : tensor<64x256xbf16>
  %e = math.exp %x : tensor<64x256xbf16>
  %l = math.log1p %e : tensor<64x256xbf16>
  %t = math.tanh %l : tensor<64x256xbf16>
  %w = arith.extf %y : tensor<64x256xbf16> to tensor<64x256xf32>
  %tw = math.tanh %w : tensor<64x256xf32>
  %lw = math.log1p %tw : tensor<64x256xf32>
  return %below, %t, %lw : tensor<64x256xbf16>, tensor<64x256xbf16>, tensor<64x256xf32>
}

// Quotients that are rounded to 8 bits, or to whole numbers of 8 bits, may be halfway between two of them. With an exponential in them they are not.
// CHECK: const float div = swage::divideClosely(input0, input1);
// CHECK: output0 = div;
// CHECK: output1 = swage::roundToByte(div);
// CHECK: output2 = swage::divideFast(input0, swage::expFast(-input0) + 1.0f);
func.func @ties(%x: tensor<64x256xbf16>, %s: tensor<64x256xf32>) -> (tensor<64x256xf8E4M3FN>, tensor<64x256xi8>, tensor<64x256xf8E4M3FN>) {
  %one = arith.constant dense<1.0> : tensor<64x256xf32>
  %w = arith.extf %x : tensor<64x256xbf16> to tensor<64x256xf32>
  %q = arith.divf %w, %s : tensor<64x256xf32>
  %a = arith.truncf %q : tensor<64x256xf32> to tensor<64x256xf8E4M3FN>
  %r = math.roundeven %q : tensor<64x256xf32>
  %b = arith.fptosi %r : tensor<64x256xf32> to tensor<64x256xi8>
  %n = arith.negf %w : tensor<64x256xf32>
  %e = math.exp %n : tensor<64x256xf32>
  %d = arith.addf %e, %one : tensor<64x256xf32>
  %y = arith.divf %w, %d : tensor<64x256xf32>
  %c = arith.truncf %y : tensor<64x256xf32> to tensor<64x256xf8E4M3FN>
  return %a, %b, %c : tensor<64x256xf8E4M3FN>, tensor<64x256xi8>, tensor<64x256xf8E4M3FN>
}
