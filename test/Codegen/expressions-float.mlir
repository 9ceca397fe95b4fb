// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT: floats sm_90a: {{[0-9]+}} registers, 0 bytes spilled, 0 bytes of stack
// REPORT: doubles sm_90a: {{[0-9]+}} registers, 0 bytes spilled, 40 bytes of stack
// REPORT: float_compares sm_90a: {{[0-9]+}} registers, 0 bytes spilled, 0 bytes of stack
// (The reduction of large double angles is the compiler's own, which uses a table on the stack.)

// Floating-point arithmetic and functions: one output for each op.
// CHECK-LABEL: // @floats:
//       CHECK: output0 = input0 + input1;
//       CHECK: output1 = input0 - input1;
//       CHECK: output2 = input0 * input1;
//       CHECK: output3 = input0 / input1;
//       CHECK: output4 = swage::remainder(input0, input1);
//       CHECK: output5 = swage::maximum(input0, input1);
//       CHECK: output6 = swage::minimum(input0, input1);
//       CHECK: output7 = swage::maximumNumber(input0, input1);
//       CHECK: output8 = swage::minimumNumber(input0, input1);
//       CHECK: output9 = -input0;
//       CHECK: output10 = swage::abs(input0);
//       CHECK: output11 = swage::ceil(input0);
//       CHECK: output12 = swage::floor(input0);
//       CHECK: output13 = swage::round(input0);
//       CHECK: output14 = swage::roundEven(input0);
//       CHECK: output15 = swage::trunc(input0);
//       CHECK: output16 = swage::exp(input0);
//       CHECK: output17 = swage::exp2(input0);
//       CHECK: output18 = swage::expm1(input0);
//       CHECK: output19 = swage::log(input0);
//       CHECK: output20 = swage::log2(input0);
//       CHECK: output21 = swage::log10(input0);
//       CHECK: output22 = swage::log1p(input0);
//       CHECK: output23 = swage::sqrt(input0);
//       CHECK: output24 = swage::rsqrt(input0);
//       CHECK: output25 = swage::cbrt(input0);
//       CHECK: output26 = swage::sin(input0);
//       CHECK: output27 = swage::cos(input0);
//       CHECK: output28 = swage::tan(input0);
//       CHECK: output29 = swage::asin(input0);
//       CHECK: output30 = swage::acos(input0);
//       CHECK: output31 = swage::atan(input0);
//       CHECK: output32 = swage::sinh(input0);
//       CHECK: output33 = swage::cosh(input0);
//       CHECK: output34 = swage::tanh(input0);
//       CHECK: output35 = swage::asinh(input0);
//       CHECK: output36 = swage::acosh(input0);
//       CHECK: output37 = swage::atanh(input0);
//       CHECK: output38 = swage::erf(input0);
//       CHECK: output39 = swage::erfc(input0);
//       CHECK: output40 = swage::atan2(input0, input1);
//       CHECK: output41 = swage::pow(input0, input1);
//       CHECK: output42 = swage::copySign(input0, input1);
//       CHECK: output43 = swage::powInteger(input0, input3);
//       CHECK: output44 = swage::fma(input0, input1, input2);
//       CHECK: output45 = swage::minimum(swage::maximum(input0, input1), input2);
//       CHECK: output46 = swage::isFinite(input0);
//       CHECK: output47 = swage::isInfinite(input0);
//       CHECK: output48 = swage::isNaN(input0);
//       CHECK: output49 = swage::isFinite(input0) && swage::abs(input0) >= 1.1754944e-38f;
swage.kernel @floats symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 1, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 2, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 3, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 1, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 2, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 3, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 4, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 5, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 6, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 7, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 8, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 9, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 10, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 11, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 12, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 13, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 14, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 15, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 16, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 17, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 18, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 19, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 20, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 21, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 22, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 23, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 24, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 25, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 26, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 27, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 28, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 29, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 30, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 31, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 32, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 33, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 34, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 35, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 36, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 37, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 38, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 39, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 40, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 41, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 42, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 43, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 44, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 45, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 46, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 47, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 48, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 49, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1, 2, 3] stores [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49] access [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%x: f32, %y: f32, %z: f32, %n: i32):
    %r0 = arith.addf %x, %y : f32
    %r1 = arith.subf %x, %y : f32
    %r2 = arith.mulf %x, %y : f32
    %r3 = arith.divf %x, %y : f32
    %r4 = arith.remf %x, %y : f32
    %r5 = arith.maximumf %x, %y : f32
    %r6 = arith.minimumf %x, %y : f32
    %r7 = arith.maxnumf %x, %y : f32
    %r8 = arith.minnumf %x, %y : f32
    %r9 = arith.negf %x : f32
    %r10 = math.absf %x : f32
    %r11 = math.ceil %x : f32
    %r12 = math.floor %x : f32
    %r13 = math.round %x : f32
    %r14 = math.roundeven %x : f32
    %r15 = math.trunc %x : f32
    %r16 = math.exp %x : f32
    %r17 = math.exp2 %x : f32
    %r18 = math.expm1 %x : f32
    %r19 = math.log %x : f32
    %r20 = math.log2 %x : f32
    %r21 = math.log10 %x : f32
    %r22 = math.log1p %x : f32
    %r23 = math.sqrt %x : f32
    %r24 = math.rsqrt %x : f32
    %r25 = math.cbrt %x : f32
    %r26 = math.sin %x : f32
    %r27 = math.cos %x : f32
    %r28 = math.tan %x : f32
    %r29 = math.asin %x : f32
    %r30 = math.acos %x : f32
    %r31 = math.atan %x : f32
    %r32 = math.sinh %x : f32
    %r33 = math.cosh %x : f32
    %r34 = math.tanh %x : f32
    %r35 = math.asinh %x : f32
    %r36 = math.acosh %x : f32
    %r37 = math.atanh %x : f32
    %r38 = math.erf %x : f32
    %r39 = math.erfc %x : f32
    %r40 = math.atan2 %x, %y : f32
    %r41 = math.powf %x, %y : f32
    %r42 = math.copysign %x, %y : f32
    %r43 = math.fpowi %x, %n : f32, i32
    %r44 = math.fma %x, %y, %z : f32
    %r45 = math.clampf %x to [%y, %z] : f32
    %r46 = math.isfinite %x : f32
    %r47 = math.isinf %x : f32
    %r48 = math.isnan %x : f32
    %r49 = math.isnormal %x : f32
    swage.yield %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37, %r38, %r39, %r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47, %r48, %r49 : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i1, i1, i1, i1
  }
}

// Double precision, where literals have no suffix.
// CHECK-LABEL: // @doubles:
//       CHECK: output0 = input0 * input1;
//       CHECK: output1 = swage::sin(input0);
//       CHECK: output2 = swage::maximum(input0, input1);
//       CHECK: output3 = swage::isFinite(input0) && swage::abs(input0) >= 2.2250738585072014e-308;
//       CHECK: output4 = swage::pow(input0, input1);
swage.kernel @doubles symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 1, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 1, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 2, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 3, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 4, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1] stores [0, 1, 2, 3, 4] access [0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%x: f64, %y: f64):
    %r0 = arith.mulf %x, %y : f64
    %r1 = math.sin %x : f64
    %r2 = arith.maximumf %x, %y : f64
    %r3 = math.isnormal %x : f64
    %r4 = math.powf %x, %y : f64
    swage.yield %r0, %r1, %r2, %r3, %r4 : f64, f64, f64, i1, f64
  }
}

// An unordered comparison is the negation of the opposite ordered one.
// CHECK-LABEL: // @float_compares:
//       CHECK: output0 = false;
//       CHECK: output1 = input0 == input1;
//       CHECK: output2 = input0 > input1;
//       CHECK: output3 = input0 >= input1;
//       CHECK: output4 = input0 < input1;
//       CHECK: output5 = input0 <= input1;
//       CHECK: output6 = input0 < input1 || input0 > input1;
//       CHECK: output7 = !(swage::isNaN(input0) || swage::isNaN(input1));
//       CHECK: output8 = !(input0 < input1 || input0 > input1);
//       CHECK: output9 = !(input0 <= input1);
//       CHECK: output10 = !(input0 < input1);
//       CHECK: output11 = !(input0 >= input1);
//       CHECK: output12 = !(input0 > input1);
//       CHECK: output13 = input0 != input1;
//       CHECK: output14 = swage::isNaN(input0) || swage::isNaN(input1);
//       CHECK: output15 = true;
swage.kernel @float_compares symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 1, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 1, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 2, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 3, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 4, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 5, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 6, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 7, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 8, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 9, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 10, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 11, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 12, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 13, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 14, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 15, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1] stores [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] access [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%x: f32, %y: f32):
    %r0 = arith.cmpf false, %x, %y : f32
    %r1 = arith.cmpf oeq, %x, %y : f32
    %r2 = arith.cmpf ogt, %x, %y : f32
    %r3 = arith.cmpf oge, %x, %y : f32
    %r4 = arith.cmpf olt, %x, %y : f32
    %r5 = arith.cmpf ole, %x, %y : f32
    %r6 = arith.cmpf one, %x, %y : f32
    %r7 = arith.cmpf ord, %x, %y : f32
    %r8 = arith.cmpf ueq, %x, %y : f32
    %r9 = arith.cmpf ugt, %x, %y : f32
    %r10 = arith.cmpf uge, %x, %y : f32
    %r11 = arith.cmpf ult, %x, %y : f32
    %r12 = arith.cmpf ule, %x, %y : f32
    %r13 = arith.cmpf une, %x, %y : f32
    %r14 = arith.cmpf uno, %x, %y : f32
    %r15 = arith.cmpf true, %x, %y : f32
    swage.yield %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15 : i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1
  }
}
