// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @attention_c1(%q: tensor<4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op q has rank 2, but must have at least 3}}
  %o = swage.attention %q, %q, %q : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  return
}

// -----

func.func @attention_c1_k(%q: tensor<2x4x8xf16>, %k: tensor<1x2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op k has rank 4, but must have rank 3}}
  %o = swage.attention %q, %k, %k : (tensor<2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c2(%q: tensor<2x4x8xf16>, %k: tensor<2x4x8xbf16>) {
  // expected-error @+1 {{'swage.attention' op q, k and v have element types 'f16', 'bf16' and 'f16', but must have one}}
  %o = swage.attention %q, %k, %q : (tensor<2x4x8xf16>, tensor<2x4x8xbf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c3(%q: tensor<3x2x4x8xf16>, %k: tensor<1x2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op k has extent 1 in dimension 0, but must have 3}}
  %o = swage.attention %q, %k, %k : (tensor<3x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>) -> tensor<3x2x4x8xf16>
  return
}

// -----

func.func @attention_c4(%q: tensor<6x4x8xf16>, %k: tensor<4x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op q has 6 heads, but must have a multiple of the 4 of k}}
  %o = swage.attention %q, %k, %k : (tensor<6x4x8xf16>, tensor<4x4x8xf16>, tensor<4x4x8xf16>) -> tensor<6x4x8xf16>
  return
}

// -----

func.func @attention_c4_none(%q: tensor<6x4x8xf16>, %k: tensor<0x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op q has 6 heads, but must have a multiple of the 0 of k}}
  %o = swage.attention %q, %k, %k : (tensor<6x4x8xf16>, tensor<0x4x8xf16>, tensor<0x4x8xf16>) -> tensor<6x4x8xf16>
  return
}

// -----

func.func @attention_c4_v(%q: tensor<4x4x8xf16>, %v: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op v has extent 2 in dimension 0, but must have 4}}
  %o = swage.attention %q, %q, %v : (tensor<4x4x8xf16>, tensor<4x4x8xf16>, tensor<2x4x8xf16>) -> tensor<4x4x8xf16>
  return
}

// -----

func.func @attention_c5(%q: tensor<2x4x8xf16>, %k: tensor<2x4x16xf16>) {
  // expected-error @+1 {{'swage.attention' op k has extent 16 in dimension 2, but must have 8}}
  %o = swage.attention %q, %k, %q : (tensor<2x4x8xf16>, tensor<2x4x16xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c5_v(%q: tensor<2x4x8xf16>, %v: tensor<2x5x8xf16>) {
  // expected-error @+1 {{'swage.attention' op v has extent 5 in dimension 1, but must have 4}}
  %o = swage.attention %q, %q, %v : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x5x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c6(%q: tensor<2x4x8xf16>, %v: tensor<2x4x16xf16>) {
  // expected-error @+1 {{'swage.attention' op result has extent 8 in dimension 2, but must have 16}}
  %o = swage.attention %q, %q, %v : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x16xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c7(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op has 2 statistics, but must have at most 1}}
  %o, %a, %b = swage.attention %q, %q, %q : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @attention_c7_shape(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op a statistic has rank 1, but must have rank 2}}
  %o, %a = swage.attention %q, %q, %q : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<8xf32>)
  return
}

// -----

func.func @attention_c7_probabilities(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op the result of probabilities has extent 8 in dimension 2, but must have 4}}
  %o, %a = swage.attention %q, %q, %q : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_c7_order(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op has probabilities in front of its statistic, but must have them last}}
  %o, %p, %a = swage.attention %q, %q, %q : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<2x4x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @attention_c7_many(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op has 2 statistics, but must have at most 1}}
  %o, %a, %b, %p = swage.attention %q, %q, %q : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x4xf32>)
  return
}

// -----

func.func @attention_c8(%q: tensor<2x4x8xf64>) {
  // expected-error @+1 {{'swage.attention' op a statistic has element type 'f32', but must have f64}}
  %o, %a = swage.attention %q, %q, %q : (tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4x8xf64>) -> (tensor<2x4x8xf64>, tensor<2x4xf32>)
  return
}

// -----

func.func @attention_c8_probabilities(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op the result of probabilities has element type 'f16', but must have 'f32'}}
  %o, %a, %p = swage.attention %q, %q, %q : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<2x4xf32>, tensor<2x4x4xf16>)
  return
}

// -----

func.func @attention_c9(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op scale is -1.25}}
  %o = swage.attention %q, %q, %q scale -1.25 : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c10(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op score takes ('f16', 'index', 'index', 'index'), but must take ('f32', 'index', 'index', 'index')}}
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f16, %h: index, %i: index, %j: index):
    swage.yield %s : f16
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c10_yield(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op score ends with 'swage.yield' of ('index'), but must end with 'swage.yield' of 'f32'}}
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    swage.yield %j : index
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c11(%q: tensor<1x2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op mask takes ('index', 'index', 'index'), but must take ('index', 'index', 'index', 'index')}}
  %o = swage.attention %q, %q, %q mask {
  ^bb0(%h: index, %i: index, %j: index):
    %m = arith.cmpi ule, %j, %i : index
    swage.yield %m : i1
  } : (tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>) -> tensor<1x2x4x8xf16>
  return
}

// -----

func.func @attention_c11_yield(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op mask ends with 'swage.yield' of (), but must end with 'swage.yield' of 'i1'}}
  %o = swage.attention %q, %q, %q mask {
  ^bb0(%h: index, %i: index, %j: index):
    swage.yield
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c12(%q: tensor<2x4x8xf16>, %x: tensor<4xi1>) {
  %o = swage.attention %q, %q, %q mask {
  ^bb0(%h: index, %i: index, %j: index):
    // expected-error @+1 {{'swage.copy' op is in the region mask, which must hold scalar arith and math, constants and 'tensor.extract' only}}
    %y = swage.copy %x : tensor<4xi1>
    %m = tensor.extract %y[%j] : tensor<4xi1>
    swage.yield %m : i1
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c12_tensors(%q: tensor<2x4x8xf16>, %x: tensor<4xi1>) {
  %o = swage.attention %q, %q, %q mask {
  ^bb0(%h: index, %i: index, %j: index):
    // expected-error @+1 {{'arith.andi' op is in the region mask, which must hold scalar arith and math, constants and 'tensor.extract' only}}
    %y = arith.andi %x, %x : tensor<4xi1>
    %m = tensor.extract %y[%j] : tensor<4xi1>
    swage.yield %m : i1
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_two_blocks(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op region #1 ('mask') failed to verify constraint: region with at most 1 blocks}}
  %o = swage.attention %q, %q, %q mask {
  ^bb0(%h: index, %i: index, %j: index):
    %m = arith.cmpi ule, %j, %i : index
    swage.yield %m : i1
  ^bb1:
    %n = arith.constant true
    swage.yield %n : i1
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @sinks(%q: tensor<6x4x8xf16>, %k: tensor<2x4x8xf16>, %sinks: tensor<2xf32>) {
  // expected-error @+1 {{'swage.attention' op sinks has extent 2 in dimension 0, but must have 6}}
  %o = swage.attention %q, %k, %k sinks %sinks : (tensor<6x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2xf32>) -> tensor<6x4x8xf16>
  return
}

// -----

func.func @sinks_rank(%q: tensor<6x4x8xf16>, %sinks: tensor<6x1xf32>) {
  // expected-error @+1 {{'swage.attention' op sinks has rank 2, but must have rank 1}}
  %o = swage.attention %q, %q, %q sinks %sinks : (tensor<6x4x8xf16>, tensor<6x4x8xf16>, tensor<6x4x8xf16>, tensor<6x1xf32>) -> tensor<6x4x8xf16>
  return
}

// -----

func.func @attention_c14(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op weight takes ('f32', 'index', 'index', 'index'), but must take ('index', 'index', 'index')}}
  %o = swage.attention %q, %q, %q weight {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    swage.yield %s : f32
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c14_result(%q: tensor<2x4x8xf16>) {
  // expected-error @+1 {{'swage.attention' op weight ends with 'swage.yield' of ('i1'), but must end with 'swage.yield' of 'f32'}}
  %o = swage.attention %q, %q, %q weight {
  ^bb0(%h: index, %i: index, %j: index):
    %kept = arith.cmpi ule, %j, %i : index
    swage.yield %kept : i1
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @attention_c14_narrow(%q: tensor<2x4x16xf8E4M3FN>) {
  // expected-error @+1 {{'swage.attention' op has a weight, but operands of 'f8E4M3FN' take none}}
  %o = swage.attention %q, %q, %q weight {
  ^bb0(%h: index, %i: index, %j: index):
    %f = arith.constant 2.0 : f32
    swage.yield %f : f32
  } : (tensor<2x4x16xf8E4M3FN>, tensor<2x4x16xf8E4M3FN>, tensor<2x4x16xf8E4M3FN>) -> tensor<2x4x16xf16>
  return
}

// -----

func.func @attention_c12_weight(%q: tensor<2x4x8xf16>, %state: tensor<2xi64>) {
  %o = swage.attention %q, %q, %q weight {
  ^bb0(%h: index, %i: index, %j: index):
    // expected-error @+1 {{'swage.random' op is in the region weight, which must hold scalar arith and math, constants and 'tensor.extract' only}}
    %bits = swage.random %state : tensor<2xi64> -> tensor<2x4x4xi32>
    %word = tensor.extract %bits[%h, %i, %j] : tensor<2x4x4xi32>
    %f = arith.uitofp %word : i32 to f32
    swage.yield %f : f32
  } : (tensor<2x4x8xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return
}

// -----

func.func @f(%q: tensor<2x4x64xbf16>) -> tensor<2x4x64xbf16> {
  // expected-error @+1 {{'swage.attention' op has tf32, but operands of 'bf16'}}
  %o = swage.attention %q, %q, %q tf32 : (tensor<2x4x64xbf16>, tensor<2x4x64xbf16>, tensor<2x4x64xbf16>) -> tensor<2x4x64xbf16>
  return %o : tensor<2x4x64xbf16>
}
