// REQUIRES: host-compiler
// Nothing is known of queries and keys when the program is written: one query is decoded, a few are tiles whose keys the
// blocks of a cluster share, and many are tiles of their own.
// RUN: swage-run %s --device=sim --check --dims='1,4,1,64;1,2,300,64;1,2,300,64' | FileCheck %s --check-prefix=ONE
// RUN: swage-run %s --device=sim --check --dims='1,4,40,64;1,2,700,64;1,2,700,64' | FileCheck %s --check-prefix=FEW
// RUN: swage-run %s --device=sim --check --dims='1,4,600,64;1,2,600,64;1,2,600,64' | FileCheck %s --check-prefix=MANY
// ONE: attention_{{.*}}_s1to1 {{.*}} spans=
// ONE: accepted
// FEW: attention_{{.*}}_s0to1_s1to128 {{.*}} parts=8
// FEW: accepted
// MANY: attention_{{[0-9a-f]*}} {{.*}} groups=
// MANY-NOT: parts=8
// MANY: accepted
func.func @main(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) -> tensor<?x4x?x64xbf16> {
  %y = swage.attention %q, %k, %v scale 0.125 : (tensor<?x4x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>) -> tensor<?x4x?x64xbf16>
  return %y : tensor<?x4x?x64xbf16>
}
