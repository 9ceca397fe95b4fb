// REQUIRES: host-compiler
// A kernel is dumped, edited and tried in place of the generated one, without a GPU.
// RUN: rm -rf %t && mkdir %t
// RUN: swage-run %s --device=sim --inputs=exact --dump=%t/dump:cuda --save-outputs=%t/before > /dev/null
// RUN: cp %t/dump/pointwise_*/*.cu %t/edited.cu
// RUN: sed -i 's/swage::exp(/-&/' %t/edited.cu
// RUN: not cmp -s %t/edited.cu %t/dump/pointwise_*/*.cu

// RUN: env "SWAGE_OVERRIDE=pointwise_*=%t/edited.cu" swage-run %s --device=sim --inputs=exact --save-outputs=%t/after > %t/out 2> %t/err
// RUN: FileCheck %s --check-prefix=NOTE < %t/err
// RUN: FileCheck %s --check-prefix=TABLE < %t/out
// RUN: not cmp -s %t/before/result0.npy %t/after/result0.npy
// NOTE: swage: kernel @pointwise_[[HASH:[0-9a-f]+]] is compiled from '{{.*}}edited.cu' (SWAGE_OVERRIDE)
// NOTE-NOT: pointwise_
// TABLE: pointwise_{{[0-9a-f]+}}: math.exp at {{.*}}, from {{.*}}edited.cu

// The generated kernel keeps its entry in the cache.
// RUN: swage-run %s --device=sim --inputs=exact --save-outputs=%t/again > /dev/null
// RUN: cmp %t/before/result0.npy %t/again/result0.npy

// A failing compile names the file, whose lines the compiler shows.
// RUN: echo '#error planted' >> %t/edited.cu
// RUN: not env "SWAGE_OVERRIDE=pointwise_*=%t/edited.cu" swage-run %s --device=sim 2>&1 | FileCheck %s --check-prefix=FAILED
// FAILED: compile error: kernel @pointwise_{{[0-9a-f]+}} from '{{.*}}edited.cu' (SWAGE_OVERRIDE): {{.*}}
// FAILED: edited.cu:{{.*}}planted
// FAILED: swage-sim --compile-only {{.*}}edited.cu

// What fits nothing, is not there, or is of another kernel.
// RUN: env SWAGE_OVERRIDE=pointwise_1=%t/edited.cu swage-run %s --device=sim 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: swage: warning: SWAGE_OVERRIDE: no kernel so far is named 'pointwise_1'; {{.*}}pointwise_{{[0-9a-f]+}}
// RUN: not env "SWAGE_OVERRIDE=*=%t/none.cu" swage-run %s --device=sim 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: input error: kernel @pointwise_{{[0-9a-f]+}} cannot be compiled from '{{.*}}none.cu' (SWAGE_OVERRIDE): {{.*}}No such file
// RUN: echo 'extern "C" __global__ void other() {}' > %t/other.cu
// RUN: not env "SWAGE_OVERRIDE=pointwise_*=%t/other.cu" swage-run %s --device=sim 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: the file does not define it; needed: extern "C" __global__ void pointwise_{{[0-9a-f]+}}(...)
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = math.exp %x : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
