// REQUIRES: nvrtc
// What new queries and rows are made of is in registers beside the outputs of all heads that are taken.
// RUN: sed 's/HEADS/32/g; s/DIM/64/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/HEADS/32/g; s/DIM/128/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/HEADS/32/g; s/DIM/128/g' %s | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s
// RUN: sed 's/HEADS/8/g; s/DIM/192/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/HEADS/4/g; s/DIM/256/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/HEADS/4/g; s/DIM/256/g' %s | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s
// Beyond that there are two kernels.
// RUN: sed 's/HEADS/32/g; s/DIM/192/g' %s | swage-opt --swage-fuse 2>&1 | FileCheck %s --check-prefix=APART
// CHECK: attention_{{.*}} registers, 0 bytes spilled, 0 bytes of stack
// CHECK-NOT: registers
// APART: remark: not fused with swage.append: queries are made, and rows added, where up to 16 queries share a key head, of head dims above 128 up to 4, above 192 up to 2
func.func @main(%q0: tensor<3xHEADSx1xDIMxbf16>, %q_bias: tensor<HEADSxDIMxbf16>, %k0: tensor<3x2x1xDIMxbf16>, %k_bias: tensor<2xDIMxbf16>, %v: tensor<3x2x1xDIMxbf16>, %kc: tensor<3x2x900xDIMxbf16>, %vc: tensor<3x2x900xDIMxbf16>, %at: tensor<3xi32>)
    -> (tensor<3xHEADSx1xDIMxbf16>, tensor<3x2x900xDIMxbf16> {swage.alias = 5}, tensor<3x2x900xDIMxbf16> {swage.alias = 6}) {
  %qb = swage.broadcast %q_bias dims [1, 3] : tensor<HEADSxDIMxbf16> -> tensor<3xHEADSx1xDIMxbf16>
  %q = arith.addf %q0, %qb : tensor<3xHEADSx1xDIMxbf16>
  %kb = swage.broadcast %k_bias dims [1, 3] : tensor<2xDIMxbf16> -> tensor<3x2x1xDIMxbf16>
  %k = arith.addf %k0, %kb : tensor<3x2x1xDIMxbf16>
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<3x2x900xDIMxbf16>, tensor<3x2x1xDIMxbf16>, tensor<3xi32>) -> tensor<3x2x900xDIMxbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<3x2x900xDIMxbf16>, tensor<3x2x1xDIMxbf16>, tensor<3xi32>) -> tensor<3x2x900xDIMxbf16>
  %o = swage.attention %q, %keys, %values scale 0.1 : (tensor<3xHEADSx1xDIMxbf16>, tensor<3x2x900xDIMxbf16>, tensor<3x2x900xDIMxbf16>) -> tensor<3xHEADSx1xDIMxbf16>
  return %o, %keys, %values : tensor<3xHEADSx1xDIMxbf16>, tensor<3x2x900xDIMxbf16>, tensor<3x2x900xDIMxbf16>
}
