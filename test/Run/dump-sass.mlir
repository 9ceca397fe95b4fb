// REQUIRES: nvrtc
// SASS is by a disassembler, which may be missing: then a line says so.
// RUN: rm -rf %t && mkdir %t
// RUN: printf '#!/bin/sh\necho "SASS by $1 $2 of $(basename $3)"\n' > %t/fake && chmod +x %t/fake
// RUN: env SWAGE_NVDISASM=%t/fake SWAGE_DUMP=%t/out:sass swage-run %s --device=none > /dev/null
// RUN: cat %t/out/pointwise_*/pointwise_*.sass | FileCheck %s --check-prefix=TEXT
// RUN: ls %t/out/pointwise_* | FileCheck %s --check-prefix=ALONE --implicit-check-not=.cu
// TEXT: SASS by -c -g of kernel.cubin
// ALONE: .sass

// RUN: env SWAGE_NVDISASM=%t/none SWAGE_DUMP=%t/out swage-run %s --device=none > /dev/null
// RUN: cat %t/out/pointwise_*/pointwise_*.sass | FileCheck %s --check-prefix=NONE
// NONE: // no SASS: '{{.*}}none' could not be started: No such file or directory

// An override is compiled for a GPU as well.
// RUN: cp %t/out/pointwise_*/*.cu %t/edited.cu && sed -i 's/swage::exp(/-&/' %t/edited.cu
// RUN: env "SWAGE_OVERRIDE=pointwise_*=%t/edited.cu" SWAGE_DUMP=%t/edited:ptx,cuda swage-run %s --device=none 2>&1 | FileCheck %s --check-prefix=OVERRIDE
// OVERRIDE: is compiled from '{{.*}}edited.cu'
// RUN: not diff %t/out/pointwise_*/pointwise_*.ptx %t/edited/pointwise_*/pointwise_*.ptx
// RUN: cmp %t/edited.cu %t/edited/pointwise_*/pointwise_*.cu
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = math.exp %x : tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
