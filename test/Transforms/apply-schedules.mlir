// RUN: swage-opt %s --swage-apply-schedules="schedules='row=#swage.row_schedule<kind = block, threads_per_row = 96, rows_per_block = 1, vector = 8, vectors_per_thread = 1, index = 64>;other=7'" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: swage-opt %s --swage-apply-schedules="schedules='row=#swage.row_schedule<kind = block, threads_per_row = 32, rows_per_block = 1, vector = 8, vectors_per_thread = 1, index = 32>'" 2>%t | FileCheck %s --check-prefix=SHORT
// RUN: FileCheck %s --check-prefix=SHORT-REMARK < %t
// RUN: swage-opt %s --swage-apply-schedules="schedules='row=#swage.row_schedule<oops'" 2>&1 | FileCheck %s --check-prefix=BAD --implicit-check-not=error
// RUN: swage-opt %s --swage-apply-schedules="schedules='turned=#swage.box_schedule<threads = 256, box = [16, 4, 16], lanes = 8, skewed = true, index = 64>'" 2>/dev/null | FileCheck %s --check-prefix=BOXES
// RUN: swage-opt %s --swage-apply-schedules="schedules='turned=#swage.permute_schedule<kind = tiles, threads = 64, movement = 1, unroll = 1, transposed = 0, tile_in = 32, tile_out = 64, vector_in = 4, vector_out = 8, index = 64, merged = 2>'" 2>/dev/null | FileCheck %s --check-prefix=MERGED

// The told schedule, with offsets as wide as those of the selected one.
// CHECK: swage.kernel @row
// CHECK-SAME: #swage.row_schedule<kind = block, threads_per_row = 96, rows_per_block = 1, vector = 8, vectors_per_thread = 1, index = 32
// REMARK: remark: has schedule #swage.row_schedule<{{.*}} instead of #swage.row_schedule<
// A row of 768 elements has no room in 32 threads.
// SHORT: swage.kernel @row
// SHORT-SAME: threads_per_row = 32, rows_per_block = 4, vector = 8, vectors_per_thread = 3
// SHORT-REMARK: remark: cannot have the schedule that it was told, #swage.row_schedule<
// What is no attribute is no reason to fail.
// BAD: remark: cannot have the schedule that it was told, #swage.row_schedule<oops: it keeps its own
swage.kernel @row symbols 0 extents affine_map<() -> (4096, 768)> reduced [1]
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (4096, 768), access = (d0, d1) -> (d0 * 768 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (4096, 768), access = (d0, d1) -> (d0 * 768 + d1), align = 16>]
    schedule #swage.row_schedule<kind = group, threads_per_row = 32, rows_per_block = 4, vector = 8, vectors_per_thread = 3, index = 32>
    {
^body(%a: f32):
  %n, %rstd = swage.collective rms_norm %a eps 1.0e-5 : f32 -> f32, f32
  swage.yield %n : f32
}

// Tiles may become boxes, and count more dimensions as one.
// BOXES: swage.kernel @turned
// BOXES-SAME: #swage.box_schedule<threads = 256, box = [16, 4, 16], lanes = 8, skewed = true, index = 32>
// MERGED: swage.kernel @turned
// MERGED-SAME: vector_out = 8, index = 32, merged = 2>
swage.kernel @turned symbols 0 extents affine_map<() -> (64, 4, 16)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2) -> (d1 * 64 + d2 * 256 + d0), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (64, 64), access = (d0, d1, d2) -> (d0 * 64 + d1 * 16 + d2), align = 16>]
    schedule #swage.permute_schedule<kind = tiles, threads = 32, movement = 1, unroll = 1, transposed = 0, tile_in = 32, tile_out = 16, vector_in = 4, vector_out = 4, index = 32>
    {
^body(%a: f32):
  swage.yield %a : f32
}
