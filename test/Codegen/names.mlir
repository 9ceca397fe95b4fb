// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT: 0 bytes spilled

// Names of a module come from outside: what they become is an identifier that collides with nothing, and what is
// printed of a location cannot end its comment.
// CHECK: // @hostile: arith.addf at a%2Fb%5C%0Aevil.mlir:7; arith.mulf at ??%2Fx*%2F%C3%A9.mlir:9
// CHECK: struct FloatValue : swage::Input<float, swage::Access::Vector> {
// CHECK: struct X_y : swage::Input<float, swage::Access::Vector> {
// CHECK: struct X_y1 : swage::Input<float, swage::Access::Vector> {
// CHECK: struct N2nd : swage::Input<float, swage::Access::Vector> {
// CHECK: struct A{{(a{63})$}}
// CHECK-NEXT: {{^}}      : swage::Input<
// CHECK: struct ValueValue : swage::Input
// CHECK: struct Output0 : swage::Output
// CHECK: body(float floatValue, float x_y, float x_y1, float n2nd,
// A value called like an operand gets a number.
// CHECK: const float x_y2 = (floatValue + x_y) * x_y1; // ??%2Fx*%2F%C3%A9.mlir:9
#a = loc("dir/a%2Fb\\\0Aevil.mlir":7:1)
#b = loc("??%2Fx*%2F\C3\A9.mlir":9:1)
swage.kernel @hostile symbols 0 extents affine_map<() -> (64)> reduced []
    inputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 1, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 2, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 3, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 4, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>, #swage.view<tensor = 5, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (64), access = (d0) -> (d0), align = 16>]
    schedule #swage.pointwise_schedule<threads = 32, vector = 1, unroll = 1, tail = false, index = 32>
    geometry <blocks = () -> (2), threads = 32, spaces = [affine_map<() -> (64)>], dividers = () -> ()> {
  swage.phase body loads [0, 1, 2, 3, 4, 5] stores [0] access [0, 0, 0, 0, 0, 0, 0] {
  ^bb0(%0: f32 loc("float"), %1: f32 loc("x__y"), %2: f32 loc("x y;"), %3: f32 loc("2nd"),
       %4: f32 loc("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
       %5: f32 loc("\"){}//\0A*/")):
    %6 = arith.addf %0, %1 : f32 loc(#a)
    %7 = arith.mulf %6, %2 : f32 loc("x_y"(#b))
    %8 = arith.addf %7, %7 : f32
    %9 = arith.mulf %8, %3 : f32
    %10 = arith.mulf %9, %4 : f32
    %11 = arith.mulf %10, %5 : f32
    swage.yield %11 : f32
  }
} loc(fused[#a, #b])
