// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT: conversions sm_90a: {{[0-9]+}} registers, 0 bytes spilled, 0 bytes of stack

// Conversions.
// CHECK-LABEL: // @conversions:
//       CHECK: output0 = static_cast<double>(input0);
//       CHECK: output1 = static_cast<float>(input1);
//       CHECK: output2 = static_cast<float>(input2);
//       CHECK: output3 = static_cast<float>(static_cast<unsigned>(input2));
//       CHECK: output4 = static_cast<double>(input2);
//       CHECK: output5 = static_cast<float>(input3);
//       CHECK: output6 = static_cast<float>(static_cast<unsigned long long>(input3));
//       CHECK: output7 = static_cast<double>(input3);
//       CHECK: output8 = static_cast<float>(input4);
//       CHECK: output9 = static_cast<float>(static_cast<unsigned char>(input4));
//       CHECK: output10 = static_cast<double>(input4);
//       CHECK: output11 = -static_cast<float>(input5);
//       CHECK: output12 = static_cast<float>(input5);
//       CHECK: output13 = -static_cast<double>(input5);
//       CHECK: output14 = static_cast<signed char>(input0);
//       CHECK: output15 = static_cast<signed char>(static_cast<unsigned char>(input0));
//       CHECK: output16 = static_cast<int>(input0);
//       CHECK: output17 = static_cast<int>(static_cast<unsigned>(input0));
//       CHECK: output18 = static_cast<long long>(input0);
//       CHECK: output19 = static_cast<long long>(static_cast<unsigned long long>(input0));
//       CHECK: output20 = swage::trunc(input0) != 0;
//       CHECK: output21 = swage::trunc(input0) != 0;
//       CHECK: output22 = static_cast<int>(input4);
//       CHECK: output23 = static_cast<int>(static_cast<unsigned char>(input4));
//       CHECK: output24 = static_cast<long long>(input2);
//       CHECK: output25 = static_cast<long long>(static_cast<unsigned>(input2));
//       CHECK: output26 = -static_cast<int>(input5);
//       CHECK: output27 = static_cast<int>(input5);
//       CHECK: output28 = static_cast<signed char>(-static_cast<signed char>(input5));
//       CHECK: output29 = static_cast<int>(input3);
//       CHECK: output30 = static_cast<signed char>(input2);
//       CHECK: output31 = (input2 & 1) != 0;
//       CHECK: output32 = swage::bitCast<int>(input0);
//       CHECK: output33 = swage::bitCast<float>(input2);
//       CHECK: output34 = swage::bitCast<long long>(input1);
//       CHECK: output35 = swage::bitCast<double>(input3);
swage.kernel @conversions symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 1, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 2, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 3, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 4, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 5, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 1, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 2, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 3, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 4, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 5, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 6, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 7, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 8, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 9, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 10, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 11, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 12, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 13, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 14, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 15, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 16, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 17, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 18, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 19, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 20, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 21, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 22, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 23, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 24, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 25, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 26, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 27, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 28, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 29, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 30, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 31, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 32, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 33, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 34, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 35, element = f64, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1, 2, 3, 4, 5] stores [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35] access [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%x: f32, %d: f64, %i: i32, %l: i64, %c: i8, %b: i1):
    %r0 = arith.extf %x : f32 to f64
    %r1 = arith.truncf %d : f64 to f32
    %r2 = arith.sitofp %i : i32 to f32
    %r3 = arith.uitofp %i : i32 to f32
    %r4 = arith.sitofp %i : i32 to f64
    %r5 = arith.sitofp %l : i64 to f32
    %r6 = arith.uitofp %l : i64 to f32
    %r7 = arith.sitofp %l : i64 to f64
    %r8 = arith.sitofp %c : i8 to f32
    %r9 = arith.uitofp %c : i8 to f32
    %r10 = arith.sitofp %c : i8 to f64
    %r11 = arith.sitofp %b : i1 to f32
    %r12 = arith.uitofp %b : i1 to f32
    %r13 = arith.sitofp %b : i1 to f64
    %r14 = arith.fptosi %x : f32 to i8
    %r15 = arith.fptoui %x : f32 to i8
    %r16 = arith.fptosi %x : f32 to i32
    %r17 = arith.fptoui %x : f32 to i32
    %r18 = arith.fptosi %x : f32 to i64
    %r19 = arith.fptoui %x : f32 to i64
    %r20 = arith.fptosi %x : f32 to i1
    %r21 = arith.fptoui %x : f32 to i1
    %r22 = arith.extsi %c : i8 to i32
    %r23 = arith.extui %c : i8 to i32
    %r24 = arith.extsi %i : i32 to i64
    %r25 = arith.extui %i : i32 to i64
    %r26 = arith.extsi %b : i1 to i32
    %r27 = arith.extui %b : i1 to i32
    %r28 = arith.extsi %b : i1 to i8
    %r29 = arith.trunci %l : i64 to i32
    %r30 = arith.trunci %i : i32 to i8
    %r31 = arith.trunci %i : i32 to i1
    %r32 = arith.bitcast %x : f32 to i32
    %r33 = arith.bitcast %i : i32 to f32
    %r34 = arith.bitcast %d : f64 to i64
    %r35 = arith.bitcast %l : i64 to f64
    swage.yield %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34, %r35 : f64, f32, f32, f32, f64, f32, f32, f64, f32, f32, f64, f32, f32, f64, i8, i8, i32, i32, i64, i64, i1, i1, i32, i32, i64, i64, i32, i32, i8, i32, i8, i1, i32, f32, i64, f64
  }
}
