// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT: ints sm_90a: {{[0-9]+}} registers, 0 bytes spilled, 0 bytes of stack
// REPORT: longs sm_90a: {{[0-9]+}} registers, 0 bytes spilled, 0 bytes of stack
// REPORT: chars sm_90a: {{[0-9]+}} registers, 0 bytes spilled, 0 bytes of stack
// REPORT: bools sm_90a: {{[0-9]+}} registers, 0 bytes spilled, 0 bytes of stack

// 32-bit integers: unsigned ops cast there and back.
// CHECK-LABEL: // @ints:
//       CHECK: output0 = swage::sumOf(input0, input1);
//       CHECK: output1 = swage::differenceOf(input0, input1);
//       CHECK: output2 = swage::productOf(input0, input1);
//       CHECK: output3 = input0 / input1;
//       CHECK: output4 = static_cast<int>(static_cast<unsigned>(input0) / static_cast<unsigned>(input1));
//       CHECK: output5 = input0 % input1;
//       CHECK: output6 = static_cast<int>(static_cast<unsigned>(input0) % static_cast<unsigned>(input1));
//       CHECK: output7 = input0 / input1 - (input0 % input1 != 0 && (input0 ^ input1) < 0);
//       CHECK: output8 = input0 / input1 + (input0 % input1 != 0 && (input0 ^ input1) >= 0);
//       CHECK: output9 = static_cast<int>(static_cast<unsigned>(input0) / static_cast<unsigned>(input1) + (static_cast<unsigned>(input0) % static_cast<unsigned>(input1) != 0));
//       CHECK: output10 = input0 & input1;
//       CHECK: output11 = input0 | input1;
//       CHECK: output12 = input0 ^ input1;
//       CHECK: output13 = input0 << input1;
//       CHECK: output14 = input0 >> input1;
//       CHECK: output15 = static_cast<int>(static_cast<unsigned>(input0) >> static_cast<unsigned>(input1));
//       CHECK: output16 = swage::maximum<int>(input0, input1);
//       CHECK: output17 = swage::minimum<int>(input0, input1);
//       CHECK: output18 = static_cast<int>(swage::maximum<unsigned>(static_cast<unsigned>(input0), static_cast<unsigned>(input1)));
//       CHECK: output19 = static_cast<int>(swage::minimum<unsigned>(static_cast<unsigned>(input0), static_cast<unsigned>(input1)));
//       CHECK: output20 = input0 == input1;
//       CHECK: output21 = input0 != input1;
//       CHECK: output22 = input0 < input1;
//       CHECK: output23 = input0 <= input1;
//       CHECK: output24 = input0 > input1;
//       CHECK: output25 = input0 >= input1;
//       CHECK: output26 = static_cast<unsigned>(input0) < static_cast<unsigned>(input1);
//       CHECK: output27 = static_cast<unsigned>(input0) <= static_cast<unsigned>(input1);
//       CHECK: output28 = static_cast<unsigned>(input0) > static_cast<unsigned>(input1);
//       CHECK: output29 = static_cast<unsigned>(input0) >= static_cast<unsigned>(input1);
//       CHECK: output30 = swage::abs(input0);
//       CHECK: output31 = swage::popCount(static_cast<unsigned>(input0));
//       CHECK: output32 = swage::leadingZeros(static_cast<unsigned>(input0));
//       CHECK: output33 = swage::popCount(~static_cast<unsigned>(input0) & (static_cast<unsigned>(input0) - 1u));
//       CHECK: output34 = swage::powInteger<int>(input0, input1);
swage.kernel @ints symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 1, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 1, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 2, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 3, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 4, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 5, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 6, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 7, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 8, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 9, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 10, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 11, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 12, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 13, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 14, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 15, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 16, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 17, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 18, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 19, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 20, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 21, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 22, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 23, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 24, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 25, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 26, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 27, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 28, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 29, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 30, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 31, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 32, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 33, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 34, element = i32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1] stores [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34] access [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%x: i32, %y: i32):
    %r0 = arith.addi %x, %y : i32
    %r1 = arith.subi %x, %y : i32
    %r2 = arith.muli %x, %y : i32
    %r3 = arith.divsi %x, %y : i32
    %r4 = arith.divui %x, %y : i32
    %r5 = arith.remsi %x, %y : i32
    %r6 = arith.remui %x, %y : i32
    %r7 = arith.floordivsi %x, %y : i32
    %r8 = arith.ceildivsi %x, %y : i32
    %r9 = arith.ceildivui %x, %y : i32
    %r10 = arith.andi %x, %y : i32
    %r11 = arith.ori %x, %y : i32
    %r12 = arith.xori %x, %y : i32
    %r13 = arith.shli %x, %y : i32
    %r14 = arith.shrsi %x, %y : i32
    %r15 = arith.shrui %x, %y : i32
    %r16 = arith.maxsi %x, %y : i32
    %r17 = arith.minsi %x, %y : i32
    %r18 = arith.maxui %x, %y : i32
    %r19 = arith.minui %x, %y : i32
    %r20 = arith.cmpi eq, %x, %y : i32
    %r21 = arith.cmpi ne, %x, %y : i32
    %r22 = arith.cmpi slt, %x, %y : i32
    %r23 = arith.cmpi sle, %x, %y : i32
    %r24 = arith.cmpi sgt, %x, %y : i32
    %r25 = arith.cmpi sge, %x, %y : i32
    %r26 = arith.cmpi ult, %x, %y : i32
    %r27 = arith.cmpi ule, %x, %y : i32
    %r28 = arith.cmpi ugt, %x, %y : i32
    %r29 = arith.cmpi uge, %x, %y : i32
    %r30 = math.absi %x : i32
    %r31 = math.ctpop %x : i32
    %r32 = math.ctlz %x : i32
    %r33 = math.cttz %x : i32
    %r34 = math.ipowi %x, %y : i32
    swage.yield %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34 : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i32, i32, i32, i32, i32
  }
}

// 64-bit integers.
// CHECK-LABEL: // @longs:
//       CHECK: output0 = swage::sumOf(input0, input1);
//       CHECK: output1 = swage::differenceOf(input0, input1);
//       CHECK: output2 = swage::productOf(input0, input1);
//       CHECK: output3 = input0 / input1;
//       CHECK: output4 = static_cast<long long>(static_cast<unsigned long long>(input0) / static_cast<unsigned long long>(input1));
//       CHECK: output5 = input0 % input1;
//       CHECK: output6 = static_cast<long long>(static_cast<unsigned long long>(input0) % static_cast<unsigned long long>(input1));
//       CHECK: output7 = input0 / input1 - (input0 % input1 != 0 && (input0 ^ input1) < 0);
//       CHECK: output8 = input0 / input1 + (input0 % input1 != 0 && (input0 ^ input1) >= 0);
//       CHECK: output9 = static_cast<long long>(static_cast<unsigned long long>(input0) / static_cast<unsigned long long>(input1) + (static_cast<unsigned long long>(input0) % static_cast<unsigned long long>(input1) != 0));
//       CHECK: output10 = input0 & input1;
//       CHECK: output11 = input0 | input1;
//       CHECK: output12 = input0 ^ input1;
//       CHECK: output13 = input0 << input1;
//       CHECK: output14 = input0 >> input1;
//       CHECK: output15 = static_cast<long long>(static_cast<unsigned long long>(input0) >> static_cast<unsigned long long>(input1));
//       CHECK: output16 = swage::maximum<long long>(input0, input1);
//       CHECK: output17 = swage::minimum<long long>(input0, input1);
//       CHECK: output18 = static_cast<long long>(swage::maximum<unsigned long long>(static_cast<unsigned long long>(input0), static_cast<unsigned long long>(input1)));
//       CHECK: output19 = static_cast<long long>(swage::minimum<unsigned long long>(static_cast<unsigned long long>(input0), static_cast<unsigned long long>(input1)));
//       CHECK: output20 = input0 == input1;
//       CHECK: output21 = input0 != input1;
//       CHECK: output22 = input0 < input1;
//       CHECK: output23 = input0 <= input1;
//       CHECK: output24 = input0 > input1;
//       CHECK: output25 = input0 >= input1;
//       CHECK: output26 = static_cast<unsigned long long>(input0) < static_cast<unsigned long long>(input1);
//       CHECK: output27 = static_cast<unsigned long long>(input0) <= static_cast<unsigned long long>(input1);
//       CHECK: output28 = static_cast<unsigned long long>(input0) > static_cast<unsigned long long>(input1);
//       CHECK: output29 = static_cast<unsigned long long>(input0) >= static_cast<unsigned long long>(input1);
//       CHECK: output30 = swage::abs(input0);
//       CHECK: output31 = static_cast<long long>(swage::popCount(static_cast<unsigned long long>(input0)));
//       CHECK: output32 = static_cast<long long>(swage::leadingZeros(static_cast<unsigned long long>(input0)));
//       CHECK: output33 = static_cast<long long>(swage::popCount(~static_cast<unsigned long long>(input0) & (static_cast<unsigned long long>(input0) - 1u)));
swage.kernel @longs symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 1, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 1, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 2, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 3, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 4, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 5, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 6, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 7, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 8, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 9, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 10, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 11, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 12, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 13, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 14, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 15, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 16, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 17, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 18, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 19, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 20, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 21, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 22, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 23, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 24, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 25, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 26, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 27, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 28, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 29, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 30, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 31, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 32, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 33, element = i64, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1] stores [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33] access [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%x: i64, %y: i64):
    %r0 = arith.addi %x, %y : i64
    %r1 = arith.subi %x, %y : i64
    %r2 = arith.muli %x, %y : i64
    %r3 = arith.divsi %x, %y : i64
    %r4 = arith.divui %x, %y : i64
    %r5 = arith.remsi %x, %y : i64
    %r6 = arith.remui %x, %y : i64
    %r7 = arith.floordivsi %x, %y : i64
    %r8 = arith.ceildivsi %x, %y : i64
    %r9 = arith.ceildivui %x, %y : i64
    %r10 = arith.andi %x, %y : i64
    %r11 = arith.ori %x, %y : i64
    %r12 = arith.xori %x, %y : i64
    %r13 = arith.shli %x, %y : i64
    %r14 = arith.shrsi %x, %y : i64
    %r15 = arith.shrui %x, %y : i64
    %r16 = arith.maxsi %x, %y : i64
    %r17 = arith.minsi %x, %y : i64
    %r18 = arith.maxui %x, %y : i64
    %r19 = arith.minui %x, %y : i64
    %r20 = arith.cmpi eq, %x, %y : i64
    %r21 = arith.cmpi ne, %x, %y : i64
    %r22 = arith.cmpi slt, %x, %y : i64
    %r23 = arith.cmpi sle, %x, %y : i64
    %r24 = arith.cmpi sgt, %x, %y : i64
    %r25 = arith.cmpi sge, %x, %y : i64
    %r26 = arith.cmpi ult, %x, %y : i64
    %r27 = arith.cmpi ule, %x, %y : i64
    %r28 = arith.cmpi ugt, %x, %y : i64
    %r29 = arith.cmpi uge, %x, %y : i64
    %r30 = math.absi %x : i64
    %r31 = math.ctpop %x : i64
    %r32 = math.ctlz %x : i64
    %r33 = math.cttz %x : i64
    swage.yield %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33 : i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i64, i64, i64, i64
  }
}

// 8-bit integers wrap after every operation.
// CHECK-LABEL: // @chars:
//       CHECK: output0 = static_cast<signed char>(input0 + input1);
//       CHECK: output1 = static_cast<signed char>(input0 - input1);
//       CHECK: output2 = static_cast<signed char>(input0 * input1);
//       CHECK: output3 = static_cast<signed char>(input0 / input1);
//       CHECK: output4 = static_cast<signed char>(static_cast<unsigned char>(input0) / static_cast<unsigned char>(input1));
//       CHECK: output5 = static_cast<signed char>(input0 % input1);
//       CHECK: output6 = static_cast<signed char>(static_cast<unsigned char>(input0) % static_cast<unsigned char>(input1));
//       CHECK: output7 = static_cast<signed char>(input0 / input1 - (input0 % input1 != 0 && (input0 ^ input1) < 0));
//       CHECK: output8 = static_cast<signed char>(input0 / input1 + (input0 % input1 != 0 && (input0 ^ input1) >= 0));
//       CHECK: output9 = static_cast<signed char>(static_cast<unsigned char>(input0) / static_cast<unsigned char>(input1) + (static_cast<unsigned char>(input0) % static_cast<unsigned char>(input1) != 0));
//       CHECK: output10 = static_cast<signed char>(input0 & input1);
//       CHECK: output11 = static_cast<signed char>(input0 | input1);
//       CHECK: output12 = static_cast<signed char>(input0 ^ input1);
//       CHECK: output13 = static_cast<signed char>(input0 << input1);
//       CHECK: output14 = static_cast<signed char>(input0 >> input1);
//       CHECK: output15 = static_cast<signed char>(static_cast<unsigned char>(input0) >> static_cast<unsigned char>(input1));
//       CHECK: output16 = swage::maximum<signed char>(input0, input1);
//       CHECK: output17 = swage::minimum<signed char>(input0, input1);
//       CHECK: output18 = static_cast<signed char>(swage::maximum<unsigned char>(static_cast<unsigned char>(input0), static_cast<unsigned char>(input1)));
//       CHECK: output19 = static_cast<signed char>(swage::minimum<unsigned char>(static_cast<unsigned char>(input0), static_cast<unsigned char>(input1)));
//       CHECK: output20 = input0 == input1;
//       CHECK: output21 = input0 != input1;
//       CHECK: output22 = input0 < input1;
//       CHECK: output23 = input0 <= input1;
//       CHECK: output24 = input0 > input1;
//       CHECK: output25 = input0 >= input1;
//       CHECK: output26 = static_cast<unsigned char>(input0) < static_cast<unsigned char>(input1);
//       CHECK: output27 = static_cast<unsigned char>(input0) <= static_cast<unsigned char>(input1);
//       CHECK: output28 = static_cast<unsigned char>(input0) > static_cast<unsigned char>(input1);
//       CHECK: output29 = static_cast<unsigned char>(input0) >= static_cast<unsigned char>(input1);
//       CHECK: output30 = static_cast<signed char>(swage::abs(input0));
//       CHECK: output31 = static_cast<signed char>(swage::popCount(static_cast<unsigned>(static_cast<unsigned char>(input0))));
//       CHECK: output32 = static_cast<signed char>(swage::leadingZeros(static_cast<unsigned>(static_cast<unsigned char>(input0))) - 24);
//       CHECK: output33 = static_cast<signed char>(swage::popCount(~static_cast<unsigned>(static_cast<unsigned char>(input0)) & (static_cast<unsigned>(static_cast<unsigned char>(input0)) - 1u) & 0xffu));
//       CHECK: output34 = static_cast<signed char>(swage::powInteger<int>(input0, input1));
swage.kernel @chars symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 1, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 1, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 2, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 3, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 4, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 5, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 6, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 7, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 8, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 9, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 10, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 11, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 12, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 13, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 14, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 15, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 16, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 17, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 18, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 19, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 20, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 21, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 22, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 23, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 24, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 25, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 26, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 27, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 28, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 29, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 30, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 31, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 32, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 33, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 34, element = i8, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1] stores [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34] access [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%x: i8, %y: i8):
    %r0 = arith.addi %x, %y : i8
    %r1 = arith.subi %x, %y : i8
    %r2 = arith.muli %x, %y : i8
    %r3 = arith.divsi %x, %y : i8
    %r4 = arith.divui %x, %y : i8
    %r5 = arith.remsi %x, %y : i8
    %r6 = arith.remui %x, %y : i8
    %r7 = arith.floordivsi %x, %y : i8
    %r8 = arith.ceildivsi %x, %y : i8
    %r9 = arith.ceildivui %x, %y : i8
    %r10 = arith.andi %x, %y : i8
    %r11 = arith.ori %x, %y : i8
    %r12 = arith.xori %x, %y : i8
    %r13 = arith.shli %x, %y : i8
    %r14 = arith.shrsi %x, %y : i8
    %r15 = arith.shrui %x, %y : i8
    %r16 = arith.maxsi %x, %y : i8
    %r17 = arith.minsi %x, %y : i8
    %r18 = arith.maxui %x, %y : i8
    %r19 = arith.minui %x, %y : i8
    %r20 = arith.cmpi eq, %x, %y : i8
    %r21 = arith.cmpi ne, %x, %y : i8
    %r22 = arith.cmpi slt, %x, %y : i8
    %r23 = arith.cmpi sle, %x, %y : i8
    %r24 = arith.cmpi sgt, %x, %y : i8
    %r25 = arith.cmpi sge, %x, %y : i8
    %r26 = arith.cmpi ult, %x, %y : i8
    %r27 = arith.cmpi ule, %x, %y : i8
    %r28 = arith.cmpi ugt, %x, %y : i8
    %r29 = arith.cmpi uge, %x, %y : i8
    %r30 = math.absi %x : i8
    %r31 = math.ctpop %x : i8
    %r32 = math.ctlz %x : i8
    %r33 = math.cttz %x : i8
    %r34 = math.ipowi %x, %y : i8
    swage.yield %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34 : i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i8, i8, i8, i8, i8
  }
}

// Bools are added modulo two, and true is -1 where a sign matters.
// CHECK-LABEL: // @bools:
//       CHECK: output0 = input0 & input1;
//       CHECK: output1 = input0 | input1;
//       CHECK: output2 = input0 != input1;
//       CHECK: output3 = input0 != input1;
//       CHECK: output4 = input0 != input1;
//       CHECK: output5 = input0 & input1;
//       CHECK: output6 = input0 & input1;
//       CHECK: output7 = input0 | input1;
//       CHECK: output8 = input0 | input1;
//       CHECK: output9 = input0 & input1;
//       CHECK: output10 = input0 == input1;
//       CHECK: output11 = input0 != input1;
//       CHECK: output12 = input0 & !input1;
//       CHECK: output13 = input0 | !input1;
//       CHECK: output14 = !input0 & input1;
//       CHECK: output15 = !input0 | input1;
//       CHECK: output16 = !input0 & input1;
//       CHECK: output17 = !input0 | input1;
//       CHECK: output18 = input0 & !input1;
//       CHECK: output19 = input0 | !input1;
//       CHECK: output20 = input0 ? input2 : input3;
//       CHECK: output21 = input0 ? input0 : input1;
swage.kernel @bools symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 1, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 2, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
            #swage.view<tensor = 3, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
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
             #swage.view<tensor = 15, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 16, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 17, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 18, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 19, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 20, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>,
             #swage.view<tensor = 21, element = i1, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1, 2, 3] stores [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21] access [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%x: i1, %y: i1, %u: f32, %v: f32):
    %r0 = arith.andi %x, %y : i1
    %r1 = arith.ori %x, %y : i1
    %r2 = arith.xori %x, %y : i1
    %r3 = arith.addi %x, %y : i1
    %r4 = arith.subi %x, %y : i1
    %r5 = arith.muli %x, %y : i1
    %r6 = arith.maxsi %x, %y : i1
    %r7 = arith.minsi %x, %y : i1
    %r8 = arith.maxui %x, %y : i1
    %r9 = arith.minui %x, %y : i1
    %r10 = arith.cmpi eq, %x, %y : i1
    %r11 = arith.cmpi ne, %x, %y : i1
    %r12 = arith.cmpi slt, %x, %y : i1
    %r13 = arith.cmpi sle, %x, %y : i1
    %r14 = arith.cmpi sgt, %x, %y : i1
    %r15 = arith.cmpi sge, %x, %y : i1
    %r16 = arith.cmpi ult, %x, %y : i1
    %r17 = arith.cmpi ule, %x, %y : i1
    %r18 = arith.cmpi ugt, %x, %y : i1
    %r19 = arith.cmpi uge, %x, %y : i1
    %r20 = arith.select %x, %u, %v : f32
    %r21 = arith.select %x, %x, %y : i1
    swage.yield %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21 : i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, f32, i1
  }
}
