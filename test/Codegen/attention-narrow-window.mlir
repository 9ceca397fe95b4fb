// A window of keys of 8 bits, whose sums are in shared memory: nothing spills.
// REQUIRES: nvrtc
// RUN: swage-translate --swage-to-report --arch=sm_90a %s | FileCheck %s
// CHECK: registers, 0 bytes spilled, 0 bytes of stack
func.func @main(%q: tensor<3x8x5000x80xf8E4M3FN>, %k: tensor<3x4x5000x80xf8E4M3FN>, %v: tensor<3x4x5000x80xf8E4M3FN>) -> tensor<3x8x5000x80xbf16> {
  %o = swage.attention %q, %k, %v scale 0.11180339887498948 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %width = arith.constant 300 : index
    %end = arith.addi %j, %width : index
    %after = arith.cmpi sgt, %end, %i : index
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %after, %before : i1
    swage.yield %seen : i1
  } : (tensor<3x8x5000x80xf8E4M3FN>, tensor<3x4x5000x80xf8E4M3FN>, tensor<3x4x5000x80xf8E4M3FN>) -> tensor<3x8x5000x80xbf16>
  return %o : tensor<3x8x5000x80xbf16>
}
