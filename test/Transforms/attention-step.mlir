// RUN: swage-opt %s --swage-fuse --split-input-file 2>/dev/null | FileCheck %s
// RUN: swage-opt %s --swage-fuse --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: swage-opt %s --swage-fuse --swage-merge-dimensions --swage-select-schedule --swage-prepare-for-emission --split-input-file 2>/dev/null | FileCheck %s --check-prefix=PHASES

// A step with a bias: queries are made in shared memory, rows 72 elements apart, and new keys and values go to rows of the caches.
// REMARK: :[[@LINE+18]]:8: remark: fused with swage.append: one iteration space serves both, saves 6156 bytes
// CHECK-LABEL: func.func @bias
// CHECK-COUNT-1: swage.launch
// CHECK-NOT: swage.launch
// CHECK: swage.kernel @attention_
// CHECK-SAME: inputs [#swage.view<tensor = -1, element = bf16, shape = () -> (4, 72), access = (d0, d1, d2, d3, d4, d5, d6) -> (d2 * 72 + d3 * 72 + d6), align = 16, source = shared>
// CHECK-SAME: outputs [{{.*}}source = row>{{.*}}source = row>{{.*}}source = shared>]
// PHASES: swage.decode_schedule
// PHASES: swage.phase query loads [{{[0-9]+}}, {{[0-9]+}}] stores [5]
// PHASES: swage.phase place loads [{{[0-9]+}}] stores [2, 4]
// PHASES: swage.phase key_row loads [{{[0-9]+}}] stores [1]
// PHASES: swage.phase value_row loads [{{[0-9]+}}] stores [3]
func.func @bias(%q0: tensor<3x8x1x64xbf16>, %bias: tensor<8x64xbf16>, %k: tensor<3x2x1x64xbf16>, %v: tensor<3x2x1x64xbf16>, %kc: tensor<3x2x300x64xbf16>, %vc: tensor<3x2x300x64xbf16>, %at: tensor<3xi32>)
    -> (tensor<3x8x1x64xbf16>, tensor<3x2x300x64xbf16> {swage.alias = 4}, tensor<3x2x300x64xbf16> {swage.alias = 5}) {
  %b = swage.broadcast %bias dims [1, 3] : tensor<8x64xbf16> -> tensor<3x8x1x64xbf16>
  %q = arith.addf %q0, %b : tensor<3x8x1x64xbf16>
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %o = swage.attention %q, %keys, %values scale 0.125 : (tensor<3x8x1x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>) -> tensor<3x8x1x64xbf16>
  return %o, %keys, %values : tensor<3x8x1x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>
}

// -----

// A cache that all sequences share: each would read the row before another one has written it.
// REMARK: remark: not fused with swage.append: attention takes in what adds rows that one sequence and head reads, all of them
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: swage.launch
func.func @shared(%q: tensor<3x2x1x64xbf16>, %k: tensor<1x2x1x64xbf16>, %v: tensor<1x2x1x64xbf16>, %kc: tensor<1x2x300x64xbf16>, %vc: tensor<1x2x300x64xbf16>, %at: tensor<1xi32>)
    -> (tensor<3x2x1x64xbf16>, tensor<1x2x300x64xbf16> {swage.alias = 3}, tensor<1x2x300x64xbf16> {swage.alias = 4}) {
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<1x2x300x64xbf16>, tensor<1x2x1x64xbf16>, tensor<1xi32>) -> tensor<1x2x300x64xbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<1x2x300x64xbf16>, tensor<1x2x1x64xbf16>, tensor<1xi32>) -> tensor<1x2x300x64xbf16>
  %all_keys = swage.broadcast %keys dims [0, 1, 2, 3] : tensor<1x2x300x64xbf16> -> tensor<3x2x300x64xbf16>
  %all_values = swage.broadcast %values dims [0, 1, 2, 3] : tensor<1x2x300x64xbf16> -> tensor<3x2x300x64xbf16>
  %o = swage.attention %q, %all_keys, %all_values : (tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>) -> tensor<3x2x1x64xbf16>
  return %o, %keys, %values : tensor<3x2x1x64xbf16>, tensor<1x2x300x64xbf16>, tensor<1x2x300x64xbf16>
}

// -----

// What else reads a cache is another kernel, also where nothing but a sum is made of it.
// REMARK: remark: fused with swage.append
// CHECK-LABEL: func.func @read_beside
// CHECK-COUNT-2: swage.launch
func.func @read_beside(%q: tensor<3x2x1x64xbf16>, %k: tensor<3x2x1x64xbf16>, %v: tensor<3x2x1x64xbf16>, %kc: tensor<3x2x300x64xbf16>, %vc: tensor<3x2x300x64xbf16>, %at: tensor<3xi32>)
    -> (tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16> {swage.alias = 3}, tensor<3x2x300x64xbf16> {swage.alias = 4}) {
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %o = swage.attention %q, %keys, %values : (tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>) -> tensor<3x2x1x64xbf16>
  %first = swage.slice %values axis 2 from 0 size 1 : tensor<3x2x300x64xbf16> -> tensor<3x2x1x64xbf16>
  %sum = arith.addf %o, %first : tensor<3x2x1x64xbf16>
  return %sum, %keys, %values : tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>
}

// -----

// More rows than are put among the keys in passing.
// REMARK: remark: not fused with swage.append: a sequence may have more than 2 new rows
// CHECK-LABEL: func.func @many
// CHECK-COUNT-2: swage.launch
func.func @many(%q: tensor<3x2x3x64xbf16>, %k: tensor<3x2x3x64xbf16>, %v: tensor<3x2x3x64xbf16>, %kc: tensor<3x2x300x64xbf16>, %vc: tensor<3x2x300x64xbf16>, %at: tensor<3xi32>)
    -> (tensor<3x2x3x64xbf16>, tensor<3x2x300x64xbf16> {swage.alias = 3}, tensor<3x2x300x64xbf16> {swage.alias = 4}) {
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x3x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x3x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %o = swage.attention %q, %keys, %values : (tensor<3x2x3x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>) -> tensor<3x2x3x64xbf16>
  return %o, %keys, %values : tensor<3x2x3x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>
}

// -----

// However many sequences there are.
// REMARK: remark: fused with swage.append
// CHECK-LABEL: func.func @unknown
// CHECK-COUNT-1: swage.launch
// CHECK-NOT: swage.launch
// CHECK: swage.kernel @attention_
func.func @unknown(%q: tensor<?x2x1x64xbf16>, %k: tensor<?x2x1x64xbf16>, %v: tensor<?x2x1x64xbf16>, %kc: tensor<?x2x300x64xbf16>, %vc: tensor<?x2x300x64xbf16>, %at: tensor<?xi32>)
    -> (tensor<?x2x1x64xbf16>, tensor<?x2x300x64xbf16> {swage.alias = 3}, tensor<?x2x300x64xbf16> {swage.alias = 4}) {
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<?x2x300x64xbf16>, tensor<?x2x1x64xbf16>, tensor<?xi32>) -> tensor<?x2x300x64xbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<?x2x300x64xbf16>, tensor<?x2x1x64xbf16>, tensor<?xi32>) -> tensor<?x2x300x64xbf16>
  %o = swage.attention %q, %keys, %values : (tensor<?x2x1x64xbf16>, tensor<?x2x300x64xbf16>, tensor<?x2x300x64xbf16>) -> tensor<?x2x1x64xbf16>
  return %o, %keys, %values : tensor<?x2x1x64xbf16>, tensor<?x2x300x64xbf16>, tensor<?x2x300x64xbf16>
}

// -----

// Keys at other positions than values.
// REMARK: remark: not fused with swage.append: new keys and values are added at one position
// CHECK-LABEL: func.func @two_positions
// CHECK-COUNT-2: swage.launch
func.func @two_positions(%q: tensor<3x2x1x64xbf16>, %k: tensor<3x2x1x64xbf16>, %v: tensor<3x2x1x64xbf16>, %kc: tensor<3x2x300x64xbf16>, %vc: tensor<3x2x300x64xbf16>, %at: tensor<3xi32>, %other: tensor<3xi32>)
    -> (tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16> {swage.alias = 3}, tensor<3x2x300x64xbf16> {swage.alias = 4}) {
  %keys = swage.append %kc, %k at %at axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %values = swage.append %vc, %v at %other axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %o = swage.attention %q, %keys, %values : (tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>) -> tensor<3x2x1x64xbf16>
  return %o, %keys, %values : tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>
}

// -----

// Forty ops whose operands are one value, which is looked at once each.
// REMARK: remark: fused with
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: swage.launch
func.func @chain(%q: tensor<3x2x1x64xbf16>, %k: tensor<3x2x1x64xbf16>, %v: tensor<3x2x1x64xbf16>, %kc: tensor<3x2x300x64xbf16>, %vc: tensor<3x2x300x64xbf16>, %at: tensor<3xi32>) -> (tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16> {swage.alias = 3}, tensor<3x2x300x64xbf16> {swage.alias = 4}) {
  %d0 = arith.addf %k, %k : tensor<3x2x1x64xbf16>
  %d1 = arith.addf %d0, %d0 : tensor<3x2x1x64xbf16>
  %d2 = arith.addf %d1, %d1 : tensor<3x2x1x64xbf16>
  %d3 = arith.addf %d2, %d2 : tensor<3x2x1x64xbf16>
  %d4 = arith.addf %d3, %d3 : tensor<3x2x1x64xbf16>
  %d5 = arith.addf %d4, %d4 : tensor<3x2x1x64xbf16>
  %d6 = arith.addf %d5, %d5 : tensor<3x2x1x64xbf16>
  %d7 = arith.addf %d6, %d6 : tensor<3x2x1x64xbf16>
  %d8 = arith.addf %d7, %d7 : tensor<3x2x1x64xbf16>
  %d9 = arith.addf %d8, %d8 : tensor<3x2x1x64xbf16>
  %d10 = arith.addf %d9, %d9 : tensor<3x2x1x64xbf16>
  %d11 = arith.addf %d10, %d10 : tensor<3x2x1x64xbf16>
  %d12 = arith.addf %d11, %d11 : tensor<3x2x1x64xbf16>
  %d13 = arith.addf %d12, %d12 : tensor<3x2x1x64xbf16>
  %d14 = arith.addf %d13, %d13 : tensor<3x2x1x64xbf16>
  %d15 = arith.addf %d14, %d14 : tensor<3x2x1x64xbf16>
  %d16 = arith.addf %d15, %d15 : tensor<3x2x1x64xbf16>
  %d17 = arith.addf %d16, %d16 : tensor<3x2x1x64xbf16>
  %d18 = arith.addf %d17, %d17 : tensor<3x2x1x64xbf16>
  %d19 = arith.addf %d18, %d18 : tensor<3x2x1x64xbf16>
  %d20 = arith.addf %d19, %d19 : tensor<3x2x1x64xbf16>
  %d21 = arith.addf %d20, %d20 : tensor<3x2x1x64xbf16>
  %d22 = arith.addf %d21, %d21 : tensor<3x2x1x64xbf16>
  %d23 = arith.addf %d22, %d22 : tensor<3x2x1x64xbf16>
  %d24 = arith.addf %d23, %d23 : tensor<3x2x1x64xbf16>
  %d25 = arith.addf %d24, %d24 : tensor<3x2x1x64xbf16>
  %d26 = arith.addf %d25, %d25 : tensor<3x2x1x64xbf16>
  %d27 = arith.addf %d26, %d26 : tensor<3x2x1x64xbf16>
  %d28 = arith.addf %d27, %d27 : tensor<3x2x1x64xbf16>
  %d29 = arith.addf %d28, %d28 : tensor<3x2x1x64xbf16>
  %d30 = arith.addf %d29, %d29 : tensor<3x2x1x64xbf16>
  %d31 = arith.addf %d30, %d30 : tensor<3x2x1x64xbf16>
  %d32 = arith.addf %d31, %d31 : tensor<3x2x1x64xbf16>
  %d33 = arith.addf %d32, %d32 : tensor<3x2x1x64xbf16>
  %d34 = arith.addf %d33, %d33 : tensor<3x2x1x64xbf16>
  %d35 = arith.addf %d34, %d34 : tensor<3x2x1x64xbf16>
  %d36 = arith.addf %d35, %d35 : tensor<3x2x1x64xbf16>
  %d37 = arith.addf %d36, %d36 : tensor<3x2x1x64xbf16>
  %d38 = arith.addf %d37, %d37 : tensor<3x2x1x64xbf16>
  %d39 = arith.addf %d38, %d38 : tensor<3x2x1x64xbf16>
  %keys = swage.append %kc, %d39 at %at axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %values = swage.append %vc, %v at %at axis 2 : (tensor<3x2x300x64xbf16>, tensor<3x2x1x64xbf16>, tensor<3xi32>) -> tensor<3x2x300x64xbf16>
  %o = swage.attention %q, %keys, %values : (tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>) -> tensor<3x2x1x64xbf16>
  return %o, %keys, %values : tensor<3x2x1x64xbf16>, tensor<3x2x300x64xbf16>, tensor<3x2x300x64xbf16>
}
