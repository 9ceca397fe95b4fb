// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT-COUNT-3: 0 bytes spilled, 0 bytes of stack

// What is used once and is small is printed where it is used; parentheses only where they are needed.
// CHECK-LABEL: // @inlining:
//       CHECK:    const float sub = input0 - input1; // values.mlir:[[#]]
//  CHECK-NEXT:    output0 = input0 - (input0 + input1); // values.mlir:[[#]]
//  CHECK-NEXT:    output1 = (input0 + input1) * input0; // values.mlir:[[#]]
//  CHECK-NEXT:    output2 = sub * sub; // values.mlir:[[#]]
//  CHECK-NEXT:    output3 = -(input0 * input1); // values.mlir:[[#]]
//  CHECK-NEXT:    output4 = -(-input0); // values.mlir:[[#]]
//  CHECK-NEXT:    output5 = input0 < input1 ? input0 : input1 + 1.0f; // values.mlir:[[#]]
swage.kernel @inlining symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 1, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 1, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 2, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 3, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 4, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 5, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1] stores [0, 1, 2, 3, 4, 5] access [0, 0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%x: f32, %y: f32):
    %one = arith.constant 1.0 : f32
    %sub = arith.subf %x, %y : f32
    %s0 = arith.addf %x, %y : f32
    %0 = arith.subf %x, %s0 : f32
    %s1 = arith.addf %x, %y : f32
    %1 = arith.mulf %s1, %x : f32
    %2 = arith.mulf %sub, %sub : f32
    %p = arith.mulf %x, %y : f32
    %3 = arith.negf %p : f32
    %n = arith.negf %x : f32
    %4 = arith.negf %n : f32
    %c = arith.cmpf olt, %x, %y : f32
    %a = arith.addf %y, %one : f32
    %5 = arith.select %c, %x, %a : f32
    swage.yield %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
  }
}

// Literals read back exactly; what is not finite is given by its bits.
// CHECK-LABEL: // @literals
//       CHECK:    output0 = 0.1f;
//  CHECK-NEXT:    output1 = -0.0f;
//  CHECK-NEXT:    output2 = 1e+30f;
//  CHECK-NEXT:    output3 = swage::bitCast<float>(0x7f800000u);
//  CHECK-NEXT:    output4 = swage::bitCast<float>(0xff800000u);
//  CHECK-NEXT:    output5 = swage::bitCast<float>(0x7fc00000u);
swage.kernel @literals symbols 0 extents affine_map<() -> (64)> reduced []
    inputs []
    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 1, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 2, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 3, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 4, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 5, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [] stores [0, 1, 2, 3, 4, 5] access [0, 0, 0, 0, 0, 0] {
    %0 = arith.constant 0.1 : f32
    %1 = arith.constant -0.0 : f32
    %2 = arith.constant 1.0e30 : f32
    %3 = arith.constant 0x7F800000 : f32
    %4 = arith.constant 0xFF800000 : f32
    %5 = arith.constant 0x7FC00000 : f32
    swage.yield %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
  }
}

// Rounding is explicit: down to 16 bits and back is one call.
// CHECK-LABEL: // @rounding:
//       CHECK:    const float rounded = swage::roundTo<swage::f16>(input0); // values.mlir:[[#]]
//       CHECK:    const float rounded1 = swage::roundTo<swage::bf16>(static_cast<float>(input1));
//  CHECK-NEXT:    output0 = rounded * rounded; // values.mlir:[[#]]
//  CHECK-NEXT:    output1 = rounded1; // values.mlir:[[#]]
//  CHECK-NEXT:    output2 = swage::sumOf(-2147483647, swage::bitCast<int>(0x80000000u)); // values.mlir:[[#]]
swage.kernel @rounding symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 1, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 1, element = bf16, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 2, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1] stores [0, 1, 2] access [0, 0, 0, 0, 0] {
  ^bb0(%x: f32, %d: f64):
    %h = arith.truncf %x : f32 to f16
    %r = arith.extf %h : f16 to f32
    %0 = arith.mulf %r, %r : f32
    %g = arith.truncf %d : f64 to bf16
    %1 = arith.extf %g : bf16 to f32
    %least = arith.constant -2147483648 : i32
    %next = arith.constant -2147483647 : i32
    %2 = arith.addi %next, %least : i32
    swage.yield %0, %1, %2 : f32, f32, i32
  }
}
