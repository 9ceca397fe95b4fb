// RUN: swage-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func @permute_identity
// CHECK-NEXT: return %arg0
func.func @permute_identity(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = swage.permute %x [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func @permute_permute
// CHECK-NEXT: swage.permute %arg0 [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
// CHECK-NEXT: return
func.func @permute_permute(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %a = swage.permute %x [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %b = swage.permute %a [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  return %b : tensor<3x4x2xf32>
}

// CHECK-LABEL: func @permute_inverse
// CHECK-NEXT: return %arg0
func.func @permute_inverse(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %a = swage.permute %x [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %b = swage.permute %a [1, 2, 0] : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  return %b : tensor<2x3x4xf32>
}

// The identity, but the types that users see differ.
// CHECK-LABEL: func @permute_identity_other_type
// CHECK-NEXT: swage.permute
func.func @permute_identity_other_type(%x: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %y = swage.permute %x [0, 1] : tensor<4x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func @permute_ones
// CHECK-NEXT: swage.reshape %arg0 : tensor<1x4x1x8xf32> -> tensor<4x1x8x1xf32>
// CHECK-NEXT: return
func.func @permute_ones(%x: tensor<1x4x1x8xf32>) -> tensor<4x1x8x1xf32> {
  %y = swage.permute %x [1, 0, 3, 2] : tensor<1x4x1x8xf32> -> tensor<4x1x8x1xf32>
  return %y : tensor<4x1x8x1xf32>
}

// CHECK-LABEL: func @reshape_of_permuted_ones
// CHECK-NEXT: swage.reshape %arg0 : tensor<4x1x8xf32> -> tensor<32xf32>
// CHECK-NEXT: return
func.func @reshape_of_permuted_ones(%x: tensor<4x1x8xf32>) -> tensor<32xf32> {
  %a = swage.permute %x [1, 0, 2] : tensor<4x1x8xf32> -> tensor<1x4x8xf32>
  %b = swage.reshape %a : tensor<1x4x8xf32> -> tensor<32xf32>
  return %b : tensor<32xf32>
}

// CHECK-LABEL: func @reshape_reshape
// CHECK-NEXT: return %arg0
func.func @reshape_reshape(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = swage.reshape %x : tensor<4x8xf32> -> tensor<2x16xf32>
  %b = swage.reshape %a : tensor<2x16xf32> -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// Two dynamic extents may be others than x's.
// CHECK-LABEL: func @reshape_dynamic
// CHECK-NEXT: swage.reshape
func.func @reshape_dynamic(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %a = swage.reshape %x sizes(%m, %n) : tensor<?x?xf32> -> tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}

// Without sizes they are x's.
// CHECK-LABEL: func @reshape_keeps_dynamic
// CHECK-NEXT: return %arg0
func.func @reshape_keeps_dynamic(%x: tensor<?x?x6xf32>) -> tensor<?x?x6xf32> {
  %a = swage.reshape %x : tensor<?x?x6xf32> -> tensor<?x?x2x3xf32>
  %b = swage.reshape %a : tensor<?x?x2x3xf32> -> tensor<?x?x6xf32>
  return %b : tensor<?x?x6xf32>
}

// The sizes of the inner reshape are needed.
// CHECK-LABEL: func @reshape_of_given_sizes
// CHECK-NEXT: swage.reshape %arg0 sizes
// CHECK-NEXT: swage.reshape
func.func @reshape_of_given_sizes(%x: tensor<?x?x6xf32>, %m: index, %n: index) -> tensor<?x?x6xf32> {
  %a = swage.reshape %x sizes(%m, %n) : tensor<?x?x6xf32> -> tensor<?x?x2x3xf32>
  %b = swage.reshape %a : tensor<?x?x2x3xf32> -> tensor<?x?x6xf32>
  return %b : tensor<?x?x6xf32>
}

// CHECK-LABEL: func @broadcast_broadcast
// CHECK-NEXT: swage.broadcast %arg0 dims [2] : tensor<8xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT: return
func.func @broadcast_broadcast(%x: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %a = swage.broadcast %x dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %b = swage.broadcast %a dims [1, 2] : tensor<4x8xf32> -> tensor<2x4x8xf32>
  return %b : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @broadcast_nothing
// CHECK-NEXT: return %arg0
func.func @broadcast_nothing(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = swage.broadcast %x dims [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}

// CHECK-LABEL: func @broadcast_of_added_ones
// CHECK-NEXT: swage.broadcast %arg0 dims [0, 1] : tensor<4x1xf32> -> tensor<4x8x5xf32>
// CHECK-NEXT: return
func.func @broadcast_of_added_ones(%x: tensor<4x1xf32>) -> tensor<4x8x5xf32> {
  %a = swage.reshape %x : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %b = swage.broadcast %a dims [0, 1, 2] : tensor<4x1x1xf32> -> tensor<4x8x5xf32>
  return %b : tensor<4x8x5xf32>
}

// The reshape also splits: the broadcast stays its user.
// CHECK-LABEL: func @broadcast_of_split
// CHECK-NEXT: swage.reshape
// CHECK-NEXT: swage.broadcast
func.func @broadcast_of_split(%x: tensor<8xf32>) -> tensor<3x2x4xf32> {
  %a = swage.reshape %x : tensor<8xf32> -> tensor<1x2x4xf32>
  %b = swage.broadcast %a dims [0, 1, 2] : tensor<1x2x4xf32> -> tensor<3x2x4xf32>
  return %b : tensor<3x2x4xf32>
}

// CHECK-LABEL: func @slice_all
// CHECK-NEXT: return %arg0
func.func @slice_all(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = swage.slice %x axis 1 from 0 size 8 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}

// CHECK-LABEL: func @slice_slice
// CHECK-NEXT: swage.slice %arg0 axis 0 from 7 size 3 step 6 : tensor<32xf32> -> tensor<3xf32>
// CHECK-NEXT: return
func.func @slice_slice(%x: tensor<32xf32>) -> tensor<3xf32> {
  %a = swage.slice %x axis 0 from 1 size 10 step 3 : tensor<32xf32> -> tensor<10xf32>
  %b = swage.slice %a axis 0 from 2 size 3 step 2 : tensor<10xf32> -> tensor<3xf32>
  return %b : tensor<3xf32>
}

// CHECK-LABEL: func @slice_concat
// CHECK-NEXT: swage.slice %arg1 axis 0 from 1 size 2 : tensor<4xf32> -> tensor<2xf32>
// CHECK-NEXT: return
func.func @slice_concat(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  %a = swage.concat %x, %y axis 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %b = swage.slice %a axis 0 from 5 size 2 : tensor<8xf32> -> tensor<2xf32>
  return %b : tensor<2xf32>
}

// CHECK-LABEL: func @slice_concat_across
// CHECK-NEXT: swage.concat
// CHECK-NEXT: swage.slice
func.func @slice_concat_across(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  %a = swage.concat %x, %y axis 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %b = swage.slice %a axis 0 from 3 size 2 : tensor<8xf32> -> tensor<2xf32>
  return %b : tensor<2xf32>
}

// CHECK-LABEL: func @concat_slices
// CHECK-NEXT: return %arg0
func.func @concat_slices(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = swage.slice %x axis 1 from 0 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %b = swage.slice %x axis 1 from 4 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %c = swage.concat %a, %b axis 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// Halves exchanged, and all of something larger.
// CHECK-LABEL: func @concat_other_slices
// CHECK-COUNT-2: swage.concat
func.func @concat_other_slices(%x: tensor<8xf32>, %z: tensor<12xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = swage.slice %x axis 0 from 0 size 4 : tensor<8xf32> -> tensor<4xf32>
  %b = swage.slice %x axis 0 from 4 size 4 : tensor<8xf32> -> tensor<4xf32>
  %c = swage.concat %b, %a axis 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %d = swage.slice %z axis 0 from 0 size 4 : tensor<12xf32> -> tensor<4xf32>
  %e = swage.slice %z axis 0 from 4 size 4 : tensor<12xf32> -> tensor<4xf32>
  %f = swage.concat %d, %e axis 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %c, %f : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @splats
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<2.500000e+00> : tensor<8x4xf32>
// CHECK-NEXT: return %[[C]]
func.func @splats() -> tensor<8x4xf32> {
  %c = arith.constant dense<2.5> : tensor<f32>
  %a = swage.broadcast %c dims [] : tensor<f32> -> tensor<4x8xf32>
  %b = swage.slice %a axis 1 from 0 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %d = swage.concat %b, %b axis 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %e = swage.permute %d [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %f = swage.reshape %e : tensor<8x4xf32> -> tensor<2x16xf32>
  %g = swage.reshape %f : tensor<2x16xf32> -> tensor<8x4xf32>
  return %g : tensor<8x4xf32>
}

// CHECK-LABEL: func @reduce_one
// CHECK-NEXT: %[[A:.*]] = swage.reshape %arg0 : tensor<4x1xf16> -> tensor<4xf16>
// CHECK-NEXT: %[[B:.*]] = arith.extf %[[A]] : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @reduce_one(%x: tensor<4x1xf16>) -> (tensor<4xf16>, tensor<4xf32>) {
  %a = swage.reduce max %x dims [1] : tensor<4x1xf16> -> tensor<4xf16>
  %b = swage.reduce sum %x dims [1] : tensor<4x1xf16> -> tensor<4xf32>
  return %a, %b : tensor<4xf16>, tensor<4xf32>
}

// A narrower result is rounded only if it is stored; a cast would always round it.
// CHECK-LABEL: func @reduce_one_narrower
// CHECK-NEXT: swage.reduce
func.func @reduce_one_narrower(%x: tensor<4x1xf32>) -> tensor<4xf16> {
  %a = swage.reduce mean %x dims [1] : tensor<4x1xf32> -> tensor<4xf16>
  return %a : tensor<4xf16>
}

// CHECK-LABEL: func @unused_statistics
// CHECK-NEXT: %[[A:.*]] = swage.layer_norm %arg0 gamma %arg1 axis 1 eps 1.000000e-05 : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: %[[B:.*]] = swage.rms_norm %[[A]] axis 1 eps 1.000000e-05 : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: return %[[B]]
func.func @unused_statistics(%x: tensor<4x8xf16>, %g: tensor<8xf16>) -> tensor<4x8xf16> {
  %a, %mean, %rstd = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5
      : (tensor<4x8xf16>, tensor<8xf16>) -> (tensor<4x8xf16>, tensor<4xf32>, tensor<4xf32>)
  %b, %r = swage.rms_norm %a axis 1 eps 1.0e-5 : (tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4xf32>)
  return %b : tensor<4x8xf16>
}

// CHECK-LABEL: func @used_statistics
// CHECK: swage.layer_norm {{.*}} -> (tensor<4x8xf16>, tensor<4xf32>, tensor<4xf32>)
func.func @used_statistics(%x: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4xf32>) {
  %a, %mean, %rstd = swage.layer_norm %x axis 1 eps 1.0e-5
      : (tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4xf32>, tensor<4xf32>)
  return %a, %rstd : tensor<4x8xf16>, tensor<4xf32>
}

// CHECK-LABEL: func @softmax_unit_scale
// CHECK-NEXT: swage.softmax %arg0 axis 1 :
func.func @softmax_unit_scale(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = swage.softmax %x axis 1 scale 1.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}

// The same twice is once, regions and all; a region that does nothing, a statistic that nobody needs and a scale of 1 are left out.
// CHECK-LABEL: func @attention
// CHECK: %[[O:.*]] = swage.attention %arg0, %arg0, %arg0 mask {
// CHECK: tensor.extract
// CHECK: } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
// CHECK: %[[P:.*]] = swage.attention %arg0, %arg0, %arg0 score {
// CHECK: } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
// CHECK-NEXT: return %[[O]], %[[O]], %[[P]]
func.func @attention(%q: tensor<2x4x8xf16>, %m: tensor<4xi1>) -> (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) {
  %a, %lse = swage.attention %q, %q, %q scale 1.0 score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    swage.yield %s : f32
  } mask {
  ^bb0(%h: index, %i: index, %j: index):
    %keep = tensor.extract %m[%j] : tensor<4xi1>
    swage.yield %keep : i1
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<2x4xf32>)
  %b = swage.attention %q, %q, %q mask {
  ^bb0(%h: index, %i: index, %j: index):
    %keep = tensor.extract %m[%j] : tensor<4xi1>
    swage.yield %keep : i1
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  %c = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %t = math.tanh %s : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%h: index, %i: index, %j: index):
    %true = arith.constant true
    swage.yield %true : i1
  } weight {
  ^bb0(%h: index, %i: index, %j: index):
    %one = arith.constant 1.0 : f32
    swage.yield %one : f32
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return %a, %b, %c : tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>
}

// Of a statistic and probabilities those go that nobody needs.
// CHECK-LABEL: func @attention_results
// CHECK: swage.attention {{.*}} -> (tensor<2x4x8xf16>, tensor<2x4xf32>)
// CHECK-NEXT: swage.attention {{.*}} -> (tensor<2x4x8xf16>, tensor<2x4x4xf32>)
func.func @attention_results(%q: tensor<2x4x8xf16>, %k: tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<2x4xf32>, tensor<2x4x4xf32>) {
  %a, %lse, %p = swage.attention %q, %q, %q : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<2x4xf32>, tensor<2x4x4xf32>)
  %b, %unused, %weights = swage.attention %q, %k, %k : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<2x4xf32>, tensor<2x4x4xf32>)
  return %a, %lse, %weights : tensor<2x4x8xf16>, tensor<2x4xf32>, tensor<2x4x4xf32>
}

// What is appended to is the cache as it is in memory.
// CHECK-LABEL: func @append_before_permute
// CHECK-NEXT: %[[R:.*]] = swage.permute %arg1 [1, 0, 2] : tensor<3x2x4xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[A:.*]] = swage.append %arg0, %[[R]] at %arg2 axis 0 circular : (tensor<8x3x4xf32>, tensor<2x3x4xf32>, tensor<1xi32>) -> tensor<8x3x4xf32>
// CHECK-NEXT: return %[[A]]
func.func @append_before_permute(%cache: tensor<8x3x4xf32>, %rows: tensor<3x2x4xf32>, %at: tensor<1xi32>) -> tensor<8x3x4xf32> {
  %c = swage.permute %cache [1, 0, 2] : tensor<8x3x4xf32> -> tensor<3x8x4xf32>
  %a = swage.append %c, %rows at %at axis 1 circular : (tensor<3x8x4xf32>, tensor<3x2x4xf32>, tensor<1xi32>) -> tensor<3x8x4xf32>
  %y = swage.permute %a [1, 0, 2] : tensor<3x8x4xf32> -> tensor<8x3x4xf32>
  return %y : tensor<8x3x4xf32>
}

// One key head: what moves a dimension of extent 1 is a reshape.
// CHECK-LABEL: func @append_before_reshape
// CHECK-NEXT: %[[R:.*]] = swage.reshape %arg1 : tensor<3x1x2x4xf32> -> tensor<3x2x1x4xf32>
// CHECK-NEXT: %[[A:.*]] = swage.append %arg0, %[[R]] at %arg2 axis 1 : (tensor<3x8x1x4xf32>, tensor<3x2x1x4xf32>, tensor<3xi32>) -> tensor<3x8x1x4xf32>
// CHECK-NEXT: return %[[A]]
func.func @append_before_reshape(%cache: tensor<3x8x1x4xf32>, %rows: tensor<3x1x2x4xf32>, %at: tensor<3xi32>) -> tensor<3x8x1x4xf32> {
  %c = swage.permute %cache [0, 2, 1, 3] : tensor<3x8x1x4xf32> -> tensor<3x1x8x4xf32>
  %a = swage.append %c, %rows at %at axis 2 : (tensor<3x1x8x4xf32>, tensor<3x1x2x4xf32>, tensor<3xi32>) -> tensor<3x1x8x4xf32>
  %y = swage.permute %a [0, 2, 1, 3] : tensor<3x1x8x4xf32> -> tensor<3x8x1x4xf32>
  return %y : tensor<3x8x1x4xf32>
}

// CHECK-LABEL: func @append_paged_before_reshape
// CHECK-NEXT: %[[R:.*]] = swage.reshape %arg1 : tensor<2x2x3x4xf32> -> tensor<2x2x12xf32>
// CHECK-NEXT: %[[A:.*]] = swage.append %arg0, %[[R]] at %arg2 axis 1 paged : (tensor<9x8x12xf32>, tensor<2x2x12xf32>, tensor<2x2xi32>) -> tensor<9x8x12xf32>
// CHECK-NEXT: return %[[A]]
func.func @append_paged_before_reshape(%pool: tensor<9x8x12xf32>, %rows: tensor<2x2x3x4xf32>, %places: tensor<2x2xi32>) -> tensor<9x8x12xf32> {
  %c = swage.reshape %pool : tensor<9x8x12xf32> -> tensor<9x8x3x4xf32>
  %a = swage.append %c, %rows at %places axis 1 paged : (tensor<9x8x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2xi32>) -> tensor<9x8x3x4xf32>
  %y = swage.reshape %a : tensor<9x8x3x4xf32> -> tensor<9x8x12xf32>
  return %y : tensor<9x8x12xf32>
}

// Positions of one sequence follow those of another in memory, or are a part of a dimension there.
// CHECK-LABEL: func @append_reshaped_elsewhere
// CHECK-NEXT: swage.reshape %arg0
// CHECK-NEXT: swage.append
// CHECK-NEXT: swage.reshape %arg1
// CHECK-NEXT: swage.append
func.func @append_reshaped_elsewhere(%cache: tensor<24x4xf32>, %whole: tensor<3x32xf32>, %rows: tensor<3x2x4xf32>, %at: tensor<3xi32>) -> (tensor<3x8x4xf32>, tensor<3x8x4xf32>) {
  %c = swage.reshape %cache : tensor<24x4xf32> -> tensor<3x8x4xf32>
  %a = swage.append %c, %rows at %at axis 1 : (tensor<3x8x4xf32>, tensor<3x2x4xf32>, tensor<3xi32>) -> tensor<3x8x4xf32>
  %d = swage.reshape %whole : tensor<3x32xf32> -> tensor<3x8x4xf32>
  %b = swage.append %d, %rows at %at axis 1 : (tensor<3x8x4xf32>, tensor<3x2x4xf32>, tensor<3xi32>) -> tensor<3x8x4xf32>
  return %a, %b : tensor<3x8x4xf32>, tensor<3x8x4xf32>
}

// Pages are counted by the first dimension of both, and are so in memory: keys and values as [page, position, head, dim].
// CHECK-LABEL: func @append_paged_before_permute
// CHECK-NEXT: %[[R:.*]] = swage.permute %arg1 [0, 2, 1, 3] : tensor<2x3x2x4xf32> -> tensor<2x2x3x4xf32>
// CHECK-NEXT: %[[A:.*]] = swage.append %arg0, %[[R]] at %arg2 axis 1 paged : (tensor<9x8x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2xi32>) -> tensor<9x8x3x4xf32>
// CHECK-NEXT: return %[[A]]
func.func @append_paged_before_permute(%pool: tensor<9x8x3x4xf32>, %rows: tensor<2x3x2x4xf32>, %places: tensor<2x2xi32>) -> tensor<9x8x3x4xf32> {
  %c = swage.permute %pool [0, 2, 1, 3] : tensor<9x8x3x4xf32> -> tensor<9x3x8x4xf32>
  %a = swage.append %c, %rows at %places axis 2 paged : (tensor<9x3x8x4xf32>, tensor<2x3x2x4xf32>, tensor<2x2xi32>) -> tensor<9x3x8x4xf32>
  %y = swage.permute %a [0, 2, 1, 3] : tensor<9x3x8x4xf32> -> tensor<9x8x3x4xf32>
  return %y : tensor<9x8x3x4xf32>
}

// CHECK-LABEL: func @append_paged_elsewhere
// CHECK-NEXT: swage.permute
// CHECK-NEXT: swage.append
func.func @append_paged_elsewhere(%pool: tensor<8x9x4xf32>, %rows: tensor<2x1x4xf32>, %places: tensor<2xi32>) -> tensor<9x8x4xf32> {
  %c = swage.permute %pool [1, 0, 2] : tensor<8x9x4xf32> -> tensor<9x8x4xf32>
  %a = swage.append %c, %rows at %places axis 1 paged : (tensor<9x8x4xf32>, tensor<2x1x4xf32>, tensor<2xi32>) -> tensor<9x8x4xf32>
  return %a : tensor<9x8x4xf32>
}

// Positions are those of the permuted cache's first dimension, which is another one in memory.
// CHECK-LABEL: func @append_other_sequences
// CHECK-NEXT: swage.permute
// CHECK-NEXT: swage.append
func.func @append_other_sequences(%cache: tensor<8x3x4xf32>, %rows: tensor<3x2x4xf32>, %at: tensor<3xi32>) -> tensor<3x8x4xf32> {
  %c = swage.permute %cache [1, 0, 2] : tensor<8x3x4xf32> -> tensor<3x8x4xf32>
  %a = swage.append %c, %rows at %at axis 1 : (tensor<3x8x4xf32>, tensor<3x2x4xf32>, tensor<3xi32>) -> tensor<3x8x4xf32>
  return %a : tensor<3x8x4xf32>
}
