// Few columns of long rows, and sums to few results: up to 128 threads share each, and one warp merges what they have.
// RUN: swage-run %s --fuse --device=sim --check --sim=check,order=random | FileCheck %s
// REQUIRES: host-compiler

// CHECK-COUNT-7: accepted
// CHECK-NOT: rejected
func.func @main(%a: tensor<1x1024x16xf16>, %b: tensor<2x1025x6xf32>, %c: tensor<1x77x4097xf16>, %d: tensor<30001x4xf32>,
                %e: tensor<20000x2xf16>, %f: tensor<17x60001xf16>, %g: tensor<2x300x3x71xbf16>)
    -> (tensor<1x1024x16xf16>, tensor<2x1025x6xf32>, tensor<1x77x4097xf16>, tensor<4xf32>, tensor<2xf32>, tensor<60001xf32>,
        tensor<2x3x71xf32>) {
  %0 = swage.softmax %a axis 1 : tensor<1x1024x16xf16> -> tensor<1x1024x16xf16>
  %1 = swage.softmax %b axis 1 log : tensor<2x1025x6xf32> -> tensor<2x1025x6xf32>
  %2 = swage.softmax %c axis 1 : tensor<1x77x4097xf16> -> tensor<1x77x4097xf16>
  %3 = swage.reduce sum %d dims [0] : tensor<30001x4xf32> -> tensor<4xf32>
  %4 = swage.reduce max %e dims [0] : tensor<20000x2xf16> -> tensor<2xf32>
  %5 = swage.reduce sum %f dims [0] : tensor<17x60001xf16> -> tensor<60001xf32>
  %6 = swage.reduce mean %g dims [1] : tensor<2x300x3x71xbf16> -> tensor<2x3x71xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<1x1024x16xf16>, tensor<2x1025x6xf32>, tensor<1x77x4097xf16>, tensor<4xf32>, tensor<2xf32>,
                                      tensor<60001xf32>, tensor<2x3x71xf32>
}
