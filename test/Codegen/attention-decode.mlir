// Attention of few queries: keys and values by the copy engine where there is one, lengths that vary with the sequence.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=SM80
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=REPORT
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// A head dim that ends in half a step of matrix instructions.
// RUN: sed 's/x128xf16/x88xf16/g' %s | swage-opt --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// Rows that begin at multiples of 8 bytes.
// RUN: sed 's/x128xf16/x100xf16/g' %s | swage-opt --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/x128xf16/x100xf16/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/x128xf16/x88xf16/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/x128xf16/x88xf16/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=LINEAR "--implicit-check-not=TensorMap"
// LINEAR: enum : bool { kLinear = true };
// REPORT: registers, 0 bytes spilled, 0 bytes of stack
// Results that do not depend on the batch.
// RUN: sed 's/scale 0.1/scale 0.1 batch_invariant/' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=CHUNKS
// RUN: sed 's/scale 0.1/scale 0.1 batch_invariant/' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=REPORT
// RUN: sed 's/scale 0.1/scale 0.1 batch_invariant/' %s | swage-opt --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// CHUNKS: enum : int { kChunk = 4 };
// CHUNKS: enum : int { kChunks = 64 };

// RUN: swage-opt %S/Inputs/attention-pages.mlir --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=PAGES
// RUN: swage-opt %S/Inputs/attention-pages.mlir --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=PAGES80
// RUN: swage-opt %S/Inputs/attention-pages.mlir --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=REPORT
// RUN: swage-opt %S/Inputs/attention-pages.mlir --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// PAGES: enum : bool { kBulk = true };
// PAGES: enum : int { kPageSize = 24 };
// PAGES-NOT: Pages(const Sizes
// PAGES: struct Table : swage::Input<int, swage::Access::Splat, swage::Traffic::Reused> {
// PAGES: return d[0] * sizes.s2 + d[5];
// PAGES: const int *table,
// PAGES80: static __device__ Index keyPages(const Sizes &sizes) { return sizes.s1; }
// PAGES80-NEXT: static __device__ Index valuePages(const Sizes &sizes) { return 50; }

// Teams, and values that lie where keys do.
// RUN: swage-opt %S/../Run/attention-latent.mlir --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=TEAMS
// RUN: swage-opt %S/../Run/attention-latent.mlir --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=NO-SPILLS
// RUN: swage-opt %S/../Run/attention-latent.mlir --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=NO-SPILLS
// TEAMS: enum : bool { kValuesInKeys = true };
// TEAMS-NEXT: enum : int { kTeam = 4 };
// NO-SPILLS-COUNT-6: registers, 0 bytes spilled, 0 bytes of stack

// A unit among the blocks of a cluster, which merge without memory of the launch's own.
// RUN: swage-opt %S/../Run/attention-clusters.mlir --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=CLUSTERS
// RUN: swage-opt %S/../Run/attention-clusters.mlir --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=CLUSTER-SPILLS
// CLUSTERS: enum : int { kParts = 6 };
// CLUSTERS-NOT: scratch
// CLUSTERS: swage::attentionDecode<Spec>(keys, values, pointers, nullptr, Spec::Sizes{});
// CLUSTER-SPILLS-COUNT-12: registers, 0 bytes spilled, 0 bytes of stack

// Keys in runs of the head dim: a map of all runs of some keys, or their address.
// RUN: swage-opt %S/../Run/attention-runs.mlir --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=RUNS
// RUN: swage-opt %S/../Run/attention-runs.mlir --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=RUNS-BY-LANES
// RUN: swage-opt %S/../Run/attention-runs.mlir --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=NO-SPILLS
// RUN: swage-opt %S/../Run/attention-runs.mlir --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=NO-SPILLS
// RUNS: enum : int { kKeyRun = 8 };
// RUNS: const __grid_constant__ swage::TensorMap keys,
// RUNS-NEXT: const __grid_constant__ swage::TensorMap values,
// RUNS-BY-LANES: enum : int { kKeyRun = 8 };
// RUNS-BY-LANES: struct Keys : swage::Input<
// RUNS-BY-LANES-NEXT: static __device__ Index offset(const Coord &d, const Sizes &sizes) {
// RUNS-BY-LANES-NEXT: return d[0] * 42624 + d[1] * 21312 + d[4] * 2664 + d[5] * 8 + d[6];
// RUNS-BY-LANES: const swage::bf16 *keys,

// CHECK: #include "swage/attention_decode.cuh"
// CHECK: enum : int { kRows = 4 };
// CHECK: enum : bool { kHoldsQuery = true };
// CHECK: enum : bool { kBulk = true };
// CHECK-NOT: kChunk
// CHECK: enum : bool { kBoundsByBatch = true };
// CHECK: enum : bool { kBoundsByHead = false };
// CHECK: enum : bool { kBoundsByQuery = false };
// CHECK: struct Queries
// CHECK-NOT: struct Keys
// CHECK: struct Results
// CHECK: (const swage::f16 *queries,
// CHECK-NEXT: const __grid_constant__ swage::TensorMap keys,
// CHECK-NEXT: const __grid_constant__ swage::TensorMap values,
// CHECK: void *scratch
// CHECK: swage::attentionDecode<Spec>(keys, values, pointers, scratch, sizes);
// SM80: enum : bool { kBulk = false };
// SM80: struct Keys
// SM80: swage::attentionDecode<Spec>(Pointers{queries, keys, values, {{.*}}scratch, sizes);
func.func @main(%q: tensor<?x8x1x128xf16>, %k: tensor<?x2x?x128xf16>, %v: tensor<?x2x?x128xf16>, %lengths: tensor<?xi32>) -> tensor<?x8x1x128xf16> {
  %o = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<?xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<?x8x1x128xf16>, tensor<?x2x?x128xf16>, tensor<?x2x?x128xf16>) -> tensor<?x8x1x128xf16>
  return %o : tensor<?x8x1x128xf16>
}
