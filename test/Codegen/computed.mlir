// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT-COUNT-3: 0 bytes spilled, 0 bytes of stack

// A causal mask reads nothing: coordinates have no pointer, and rows have bounds.
// CHECK-LABEL: // @log_softmax_
//       CHECK: #include "swage/row.cuh"
//  CHECK-NEXT: #include "swage/computed.cuh"
//  CHECK-NEXT: #include "swage/log_softmax.cuh"
//       CHECK: collective() { return swage::Collective::LogSoftmax; }
//       CHECK: enum : bool { kZeroRows = true };
//  CHECK-NEXT: enum : bool { kRounded = true };
//       CHECK: struct Input1 : swage::Coordinate<swage::Access::Vector> { // a coordinate
//  CHECK-NEXT:   static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[1]; }
//       CHECK: struct Input2 : swage::Coordinate<swage::Access::Splat> { // a coordinate
//  CHECK-NEXT:   static __device__ Index offset(const Coord &d, const Sizes &sizes) { return d[0]; }
//       CHECK: static __device__ Compute prologue(float input0, int input1, int input2) {
//  CHECK-NEXT:   return input1 <= input2 ? input0 : swage::bitCast<float>(0xff800000u);
//       CHECK: using BoundsLoads = swage::List<Input2>;
//  CHECK-NEXT: static __device__ void bounds(int input2, long long &first, long long &last) {
//  CHECK-NEXT:   first = 0ll;
//  CHECK-NEXT:   last = static_cast<long long>(input2) + 1ll;
//       CHECK: log_softmax_{{[0-9a-f]+}}(const swage::f16 *input0, swage::f16 *output0) {
//       CHECK: swage::row<Spec>(Pointers{input0, {}, {}, output0}, Spec::Sizes{});
func.func @causal(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %i = swage.iota dim 0 : tensor<64x256xi32>
  %j = swage.iota dim 1 : tensor<64x256xi32>
  %m = arith.cmpi sle, %j, %i : tensor<64x256xi32>
  %y = swage.softmax %x mask %m axis 1 log : tensor<64x256xf16>, tensor<64x256xi1> -> tensor<64x256xf16>
  return %y : tensor<64x256xf16>
}

// Random words come in vectors where a vector starts at a multiple of itself, and one by one where rows of 5 do not.
// CHECK-LABEL: // @pointwise_
//       CHECK: #include "swage/computed.cuh"
//       CHECK: struct Input0 : swage::Random<swage::Access::Vector> { // random bits of the stream of operand 0
//       CHECK: pointwise_{{[0-9a-f]+}}(const long long *input0, const swage::f16 *input1,
//  CHECK-NEXT:                            swage::f16 *output0) {
func.func @dropout(%x: tensor<64x256xf16>, %state: tensor<2xi64>) -> tensor<64x256xf16> {
  %zero = arith.constant dense<0> : tensor<64x256xi32>
  %none = arith.constant dense<0.0> : tensor<64x256xf16>
  %r = swage.random %state : tensor<2xi64> -> tensor<64x256xi32>
  %keep = arith.cmpi slt, %r, %zero : tensor<64x256xi32>
  %y = arith.select %keep, %x, %none : tensor<64x256xi1>, tensor<64x256xf16>
  return %y : tensor<64x256xf16>
}

// CHECK-LABEL: // @pointwise_
//       CHECK: struct Input0 : swage::Random<swage::Access::Gather> {
//  CHECK-NEXT:   {{.*}} { return d[0] + d[1] * 5; }
func.func @dropout_of_columns(%x: tensor<4x64xf16>, %state: tensor<2xi64>) -> tensor<4x64xf16> {
  %none = arith.constant dense<0.0> : tensor<4x64xf16>
  %r = swage.random %state : tensor<2xi64> -> tensor<64x5xi32>
  %s = swage.slice %r axis 1 from 0 size 4 : tensor<64x5xi32> -> tensor<64x4xi32>
  %t = swage.permute %s [1, 0] : tensor<64x4xi32> -> tensor<4x64xi32>
  %c = arith.constant dense<0> : tensor<4x64xi32>
  %keep = arith.cmpi slt, %t, %c : tensor<4x64xi32>
  %y = arith.select %keep, %x, %none : tensor<4x64xi1>, tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}
