// REQUIRES: host-compiler
// A dump holds what was asked for and nothing else.
// RUN: rm -rf %t && mkdir %t
// RUN: swage-run %s --device=sim --dump=%t/ir:ir > /dev/null && find %t/ir -type f | FileCheck %s --check-prefix=IR --implicit-check-not=.cu --implicit-check-not=.json
// IR-DAG: /ir/01-swage-materialize-results.mlir
// IR-DAG: /ir/pointwise_{{[0-9a-f]+}}/{{[0-9]+}}-swage-select-schedule.mlir
// RUN: env SWAGE_DUMP=%t/some:cuda,log swage-run %s --device=sim > /dev/null && find %t/some -type f | sort | FileCheck %s --check-prefix=SOME
// SOME: /some/pointwise_{{[0-9a-f]+}}/pointwise_{{[0-9a-f]+}}.cu
// SOME-NEXT: /some/pointwise_{{[0-9a-f]+}}/pointwise_{{[0-9a-f]+}}.log
// SOME-NOT: {{.}}
// RUN: swage-run %s --device=sim --dump=%t/a:b/ > /dev/null && ls %t/a:b | FileCheck %s --check-prefix=COLON
// COLON: pointwise_

// RUN: not swage-run %s --device=sim --dump=%t/out:cuda,launhc 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: input error: --dump: 'launhc' is no part of a dump; did you mean 'launch'?
// RUN: env SWAGE_DUMP=%t/out:kuda swage-run %s --device=sim 2>&1 | FileCheck %s --check-prefix=VARIABLE
// VARIABLE: swage-run: warning: SWAGE_DUMP='{{.*}}:kuda' cannot be used: 'kuda' is no part of a dump; did you mean 'cuda'?
// RUN: not ls %t/out
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = math.exp %x : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
