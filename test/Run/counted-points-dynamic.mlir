// Rows of any length under a broadcast: counted through where nobody knows their length, or it is odd; by their own vectors where it is promised.
// RUN: swage-run %s --fuse --device=sim --check --sim=check --dims='33,7;7;5' | FileCheck %s --check-prefixes=CHECK,ODD
// RUN: swage-run %s --fuse --device=sim --check --sim=check --dims='5,1;1;9' | FileCheck %s --check-prefixes=CHECK,ODD
// RUN: swage-run %s --fuse --device=sim --check --sim=check --dims='17,24;24;1' | FileCheck %s --check-prefixes=CHECK,EVEN
// REQUIRES: host-compiler

// ODD: vector=8 unroll=1 tail=true
// EVEN: vector=8 unroll=1 tail=false
// CHECK-COUNT-2: accepted
// CHECK-NOT: rejected
func.func @main(%x: tensor<?x?xf16>, %b: tensor<?xf16>, %c: tensor<?xf32>) -> (tensor<?x?xf16>, tensor<?x3x5xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %x, %zero : tensor<?x?xf16>
  %n = tensor.dim %x, %one : tensor<?x?xf16>
  %k = tensor.dim %c, %zero : tensor<?xf32>
  %row = swage.broadcast %b dims [1] sizes(%m, %n) : tensor<?xf16> -> tensor<?x?xf16>
  %y = arith.addf %x, %row : tensor<?x?xf16>
  %z = swage.broadcast %c dims [0] : tensor<?xf32> -> tensor<?x3x5xf32>
  %e = math.exp %z : tensor<?x3x5xf32>
  return %y, %e : tensor<?x?xf16>, tensor<?x3x5xf32>
}
