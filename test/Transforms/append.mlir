// Rows that are added to a cache: with what computes them in one kernel, which writes nothing else.
// RUN: swage-opt %s --canonicalize --swage-fuse --swage-merge-dimensions --swage-select-schedule -split-input-file 2>/dev/null | FileCheck %s

// Halves that are turned by angles, in front of a permute and a cache in the order [sequence, position, head, dim]: two vectors, each with its row.
// CHECK-LABEL: func.func @rotary
// CHECK-NEXT:    swage.launch @append_{{[0-9a-f]+}} (%{{.*}}, %arg2, %arg3, %arg4, %arg0) : ({{.*}}) -> tensor<3x9x2x16xf32>
// CHECK-NEXT:    return
// CHECK:       swage.kernel @append_
// CHECK-SAME:    outputs [#swage.view<tensor = 0, element = f32, shape = () -> (3, 9, 2, 16), access = (d0, d1, d2) -> (d0 * 288 + d1 * 16 + d2), align = 16>,
// CHECK-SAME:      #swage.view<tensor = 4, element = i32, shape = () -> (9, 1), access = (d0, d1, d2) -> (32), align = 1, source = row>,
// CHECK-SAME:      #swage.view<tensor = 0, element = f32, shape = () -> (3, 9, 2, 16), access = (d0, d1, d2) -> (d0 * 288 + d1 * 16 + d2 + 8), align = 16>,
// CHECK-SAME:      #swage.view<tensor = 4, element = i32, shape = () -> (9, 1), access = (d0, d1, d2) -> (32), align = 1, source = row>]
// CHECK-SAME:    schedule #swage.pointwise_schedule<{{.*}}vector = 4,
func.func @rotary(%cache: tensor<3x9x2x16xf32>, %x: tensor<3x1x32xf32>, %c: tensor<3x8xf32>, %s: tensor<3x8xf32>, %at: tensor<3xi32>) -> tensor<3x9x2x16xf32> {
  %ck = swage.permute %cache [0, 2, 1, 3] : tensor<3x9x2x16xf32> -> tensor<3x2x9x16xf32>
  %h = swage.reshape %x : tensor<3x1x32xf32> -> tensor<3x1x2x16xf32>
  %a = swage.slice %h axis 3 from 0 size 8 : tensor<3x1x2x16xf32> -> tensor<3x1x2x8xf32>
  %b = swage.slice %h axis 3 from 8 size 8 : tensor<3x1x2x16xf32> -> tensor<3x1x2x8xf32>
  %cb = swage.broadcast %c dims [0, 3] : tensor<3x8xf32> -> tensor<3x1x2x8xf32>
  %sb = swage.broadcast %s dims [0, 3] : tensor<3x8xf32> -> tensor<3x1x2x8xf32>
  %ac = arith.mulf %a, %cb : tensor<3x1x2x8xf32>
  %bs = arith.mulf %b, %sb : tensor<3x1x2x8xf32>
  %as = arith.mulf %a, %sb : tensor<3x1x2x8xf32>
  %bc = arith.mulf %b, %cb : tensor<3x1x2x8xf32>
  %y = arith.subf %ac, %bs : tensor<3x1x2x8xf32>
  %z = arith.addf %as, %bc : tensor<3x1x2x8xf32>
  %t = swage.concat %y, %z axis 3 : (tensor<3x1x2x8xf32>, tensor<3x1x2x8xf32>) -> tensor<3x1x2x16xf32>
  %p = swage.permute %t [0, 2, 1, 3] : tensor<3x1x2x16xf32> -> tensor<3x2x1x16xf32>
  %n = swage.append %ck, %p at %at axis 2 : (tensor<3x2x9x16xf32>, tensor<3x2x1x16xf32>, tensor<3xi32>) -> tensor<3x2x9x16xf32>
  %out = swage.permute %n [0, 2, 1, 3] : tensor<3x2x9x16xf32> -> tensor<3x9x2x16xf32>
  return %out : tensor<3x9x2x16xf32>
}

// -----

// Keys and values are one kernel; several rows have their number added to the position.
// CHECK-LABEL: func.func @keys_and_values
// CHECK-NEXT:    swage.launch @append_{{[0-9a-f]+}} (%arg1, %arg4, %arg0, %arg3, %arg2) : ({{.*}}) -> (tensor<2x9x8xf16>, tensor<2x9x8xf16>)
// CHECK-NEXT:    return
// CHECK:       swage.kernel @append_
// CHECK-SAME:    access = (d0, d1, d2) -> (d1), align = 1, source = coordinate>
// CHECK-SAME:    #swage.view<tensor = 2, element = i32, shape = () -> (9, 3), access = (d0, d1, d2) -> (8), align = 1, source = circular_row>
// CHECK-SAME:    #swage.view<tensor = 4, element = i32, shape = () -> (9, 3), access = (d0, d1, d2) -> (8), align = 1, source = circular_row>
// CHECK:         %[[KEY:.*]] = arith.addi
// CHECK-NEXT:    %[[VALUE:.*]] = arith.addi
// CHECK-NEXT:    swage.yield %{{.*}}, %[[KEY]], %{{.*}}, %[[VALUE]]
func.func @keys_and_values(%ck: tensor<2x9x8xf16>, %k: tensor<2x3x8xf16>, %cv: tensor<2x9x8xf16>, %v: tensor<2x3x8xf16>, %at: tensor<2xi32>) -> (tensor<2x9x8xf16>, tensor<2x9x8xf16>) {
  %a = swage.append %ck, %k at %at axis 1 circular : (tensor<2x9x8xf16>, tensor<2x3x8xf16>, tensor<2xi32>) -> tensor<2x9x8xf16>
  %b = swage.append %cv, %v at %at axis 1 circular : (tensor<2x9x8xf16>, tensor<2x3x8xf16>, tensor<2xi32>) -> tensor<2x9x8xf16>
  return %a, %b : tensor<2x9x8xf16>, tensor<2x9x8xf16>
}

// -----

// A cache that is in no memory is put there first; what reads the new one is a kernel of its own.
// CHECK-LABEL: func.func @made_first
// CHECK:         %[[C:.*]] = swage.launch @pointwise_{{.*}} : () -> tensor<2x9xf32>
// CHECK:         %[[N:.*]] = swage.launch @append_{{[0-9a-f]+}} (%arg0, %arg1, %[[C]])
// CHECK:         swage.launch @pointwise_{{[0-9a-f]+}} (%[[N]])
func.func @made_first(%x: tensor<2x1xf32>, %at: tensor<i32>) -> tensor<2x9xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x9xf32>
  %n = swage.append %zero, %x at %at axis 1 : (tensor<2x9xf32>, tensor<2x1xf32>, tensor<i32>) -> tensor<2x9xf32>
  %y = math.exp %n : tensor<2x9xf32>
  return %y : tensor<2x9xf32>
}

// -----

// What computes the cache is not computed again for the rows.
// CHECK-LABEL: func.func @computed_cache
// CHECK:         %[[C:.*]] = swage.launch @pointwise_{{[0-9a-f]+}} (%arg0)
// CHECK:         swage.launch @append_{{[0-9a-f]+}} (%arg1, %arg2, %[[C]])
func.func @computed_cache(%c: tensor<2x9xf32>, %x: tensor<2x1xf32>, %at: tensor<i32>) -> tensor<2x9xf32> {
  %e = math.exp %c : tensor<2x9xf32>
  %n = swage.append %e, %x at %at axis 1 : (tensor<2x9xf32>, tensor<2x1xf32>, tensor<i32>) -> tensor<2x9xf32>
  return %n : tensor<2x9xf32>
}

// -----

// To a pool of pages, [page, head, position, dim]: a row's place is what memory holds, page by page of 16 positions that begin 32 rows apart.
// CHECK-LABEL: func.func @paged
// CHECK-NEXT:    swage.launch @append_{{[0-9a-f]+}} (%arg1, %arg4, %arg0, %arg3, %arg2) : ({{.*}}) -> (tensor<9x2x16x8xf16>, tensor<9x2x16x8xf16>)
// CHECK-NEXT:    return
// CHECK:       swage.kernel @append_
// CHECK-SAME:    #swage.view<tensor = 0, element = {{[if]}}16, shape = () -> (9, 2, 16, 8), access = ({{[d0-9, ]+}}) -> ({{.*}}), align = 16>, #swage.view<tensor = 2, element = i32, shape = () -> (272, 16, 32), access = ({{[d0-9, ]+}}) -> (8), align = 1, source = paged_row>
// CHECK-NOT:     source = coordinate
// CHECK:         swage.yield
func.func @paged(%ck: tensor<9x2x16x8xf16>, %k: tensor<5x2x3x8xf16>, %cv: tensor<9x2x16x8xf16>, %v: tensor<5x2x3x8xf16>, %places: tensor<5x3xi32>) -> (tensor<9x2x16x8xf16>, tensor<9x2x16x8xf16>) {
  %a = swage.append %ck, %k at %places axis 2 paged : (tensor<9x2x16x8xf16>, tensor<5x2x3x8xf16>, tensor<5x3xi32>) -> tensor<9x2x16x8xf16>
  %b = swage.append %cv, %v at %places axis 2 paged : (tensor<9x2x16x8xf16>, tensor<5x2x3x8xf16>, tensor<5x3xi32>) -> tensor<9x2x16x8xf16>
  return %a, %b : tensor<9x2x16x8xf16>, tensor<9x2x16x8xf16>
}

// -----

// Keys are turned by halves and values are whole: one kernel over the halves does both.
// CHECK-LABEL: func.func @halves_and_whole
// CHECK-NEXT:    swage.launch @append_{{[0-9a-f]+}} (%arg1, %arg4, %arg0, %arg3, %arg2) : ({{.*}}) -> (tensor<2x9x16xf16>, tensor<2x9x16xf16>)
// CHECK-NEXT:    return
// CHECK:       swage.kernel @append_{{[0-9a-f]+}} symbols 0
// CHECK-SAME:    #swage.view<tensor = 3, element = f16, shape = () -> (2, 1, 16), access = (d0, d1) -> (d0 * 16 + d1), align = 16>
// CHECK-SAME:    #swage.view<tensor = 3, element = f16, shape = () -> (2, 1, 16), access = (d0, d1) -> (d0 * 16 + d1 + 8), align = 16>
// CHECK-COUNT-4: source = row
// CHECK-NOT:     source = row
func.func @halves_and_whole(%ck: tensor<2x9x16xf16>, %k: tensor<2x1x16xf16>, %cv: tensor<2x9x16xf16>, %v: tensor<2x1x16xf16>, %at: tensor<2xi32>) -> (tensor<2x9x16xf16>, tensor<2x9x16xf16>) {
  %a = swage.slice %k axis 2 from 0 size 8 : tensor<2x1x16xf16> -> tensor<2x1x8xf16>
  %b = swage.slice %k axis 2 from 8 size 8 : tensor<2x1x16xf16> -> tensor<2x1x8xf16>
  %x = arith.negf %b : tensor<2x1x8xf16>
  %turned = swage.concat %x, %a axis 2 : (tensor<2x1x8xf16>, tensor<2x1x8xf16>) -> tensor<2x1x16xf16>
  %keys = swage.append %ck, %turned at %at axis 1 : (tensor<2x9x16xf16>, tensor<2x1x16xf16>, tensor<2xi32>) -> tensor<2x9x16xf16>
  %values = swage.append %cv, %v at %at axis 1 : (tensor<2x9x16xf16>, tensor<2x1x16xf16>, tensor<2xi32>) -> tensor<2x9x16xf16>
  return %keys, %values : tensor<2x9x16xf16>, tensor<2x9x16xf16>
}

// -----

// Not what has another number of rows.
// CHECK-LABEL: func.func @other_rows
// CHECK-COUNT-2: swage.launch @append_
func.func @other_rows(%ck: tensor<2x9x16xf16>, %k: tensor<2x2x16xf16>, %cv: tensor<2x9x16xf16>, %v: tensor<2x3x16xf16>, %at: tensor<2xi32>) -> (tensor<2x9x16xf16>, tensor<2x9x16xf16>) {
  %keys = swage.append %ck, %k at %at axis 1 : (tensor<2x9x16xf16>, tensor<2x2x16xf16>, tensor<2xi32>) -> tensor<2x9x16xf16>
  %values = swage.append %cv, %v at %at axis 1 : (tensor<2x9x16xf16>, tensor<2x3x16xf16>, tensor<2xi32>) -> tensor<2x9x16xf16>
  return %keys, %values : tensor<2x9x16xf16>, tensor<2x9x16xf16>
}
