// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @append_c1(%c: tensor<2x8x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op axis is 3, but x has rank 3}}
  %y = swage.append %c, %r at %p axis 3 : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<2xi32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @append_c2_rank(%c: tensor<2x8x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<2x1xi32>) {
  // expected-error @+1 {{'swage.append' op positions has rank 2, but must have 0 or 1}}
  %y = swage.append %c, %r at %p axis 1 : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<2x1xi32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @append_c2_axis(%c: tensor<8x4xf32>, %r: tensor<1x4xf32>, %p: tensor<8xi32>) {
  // expected-error @+1 {{'swage.append' op positions are those of sequences, which the first dimension counts, but axis is 0}}
  %y = swage.append %c, %r at %p axis 0 : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @append_c2_extent(%c: tensor<2x8x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<3xi32>) {
  // expected-error @+1 {{'swage.append' op positions has extent 3 in dimension 0, but must have 2}}
  %y = swage.append %c, %r at %p axis 1 : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<3xi32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @append_c2_type(%c: tensor<2x8x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<2xi64>) {
  // expected-error @+1 {{'swage.append' op operand #2 must be ranked tensor of 32-bit signless integer values, but got 'tensor<2xi64>'}}
  %y = swage.append %c, %r at %p axis 1 : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<2xi64>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @append_c3(%c: tensor<2x8x4xf32>, %r: tensor<2x1x5xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op rows has extent 5 in dimension 2, but must have 4}}
  %y = swage.append %c, %r at %p axis 1 : (tensor<2x8x4xf32>, tensor<2x1x5xf32>, tensor<2xi32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @append_c3_rank(%c: tensor<2x8x4xf32>, %r: tensor<2x4xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op rows has rank 2, but must have rank 3}}
  %y = swage.append %c, %r at %p axis 1 : (tensor<2x8x4xf32>, tensor<2x4xf32>, tensor<2xi32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @append_c3_more_rows(%c: tensor<2x8x4xf32>, %r: tensor<2x9x4xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op rows has 9 rows, but the cache has 8}}
  %y = swage.append %c, %r at %p axis 1 circular : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2xi32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @append_c4(%c: tensor<2x8x4xf32>, %r: tensor<2x1x4xf16>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op}}
  %y = swage.append %c, %r at %p axis 1 : (tensor<2x8x4xf32>, tensor<2x1x4xf16>, tensor<2xi32>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @append_c4_result(%c: tensor<2x8x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op failed to verify that all of {cache, result} have same type}}
  %y = swage.append %c, %r at %p axis 1 : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<2xi32>) -> tensor<2x8x4xf16>
  return
}

// -----

func.func @append_c5_circular(%c: tensor<6x8x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op is circular and paged, but must be one of them at most}}
  %y = swage.append %c, %r at %p axis 1 circular paged : (tensor<6x8x4xf32>, tensor<2x1x4xf32>, tensor<2xi32>) -> tensor<6x8x4xf32>
  return
}

// -----

func.func @append_c5_axis(%c: tensor<6x8x4xf32>, %r: tensor<2x8x4xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op pages are what the first dimension counts, but axis is 0}}
  %y = swage.append %c, %r at %p axis 0 paged : (tensor<6x8x4xf32>, tensor<2x8x4xf32>, tensor<2xi32>) -> tensor<6x8x4xf32>
  return
}

// -----

func.func @append_c5_dynamic_page(%c: tensor<6x?x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op cache has the type 'tensor<6x?x4xf32>', but must have a static number of positions in a page, 1 or more}}
  %y = swage.append %c, %r at %p axis 1 paged : (tensor<6x?x4xf32>, tensor<2x1x4xf32>, tensor<2xi32>) -> tensor<6x?x4xf32>
  return
}

// -----

func.func @append_c5_no_positions(%c: tensor<6x0x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op cache has the type 'tensor<6x0x4xf32>', but must have a static number of positions in a page, 1 or more}}
  %y = swage.append %c, %r at %p axis 1 paged : (tensor<6x0x4xf32>, tensor<2x1x4xf32>, tensor<2xi32>) -> tensor<6x0x4xf32>
  return
}

// -----

func.func @append_c5_rows(%c: tensor<6x8x4xf32>, %r: tensor<2x1x5xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op rows has extent 5 in dimension 2, but must have 4}}
  %y = swage.append %c, %r at %p axis 1 paged : (tensor<6x8x4xf32>, tensor<2x1x5xf32>, tensor<2xi32>) -> tensor<6x8x4xf32>
  return
}

// -----

func.func @append_c5_rank(%c: tensor<6x8x4xf32>, %r: tensor<2x1x4xf32>, %p: tensor<i32>) {
  // expected-error @+1 {{'swage.append' op positions has rank 0, but must have 1 or 2}}
  %y = swage.append %c, %r at %p axis 1 paged : (tensor<6x8x4xf32>, tensor<2x1x4xf32>, tensor<i32>) -> tensor<6x8x4xf32>
  return
}

// -----

func.func @append_c5_several_rows(%c: tensor<6x8x4xf32>, %r: tensor<2x3x4xf32>, %p: tensor<2xi32>) {
  // expected-error @+1 {{'swage.append' op positions has rank 1, but rows has the type 'tensor<2x3x4xf32>', which does not have a single row along axis 1}}
  %y = swage.append %c, %r at %p axis 1 paged : (tensor<6x8x4xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<6x8x4xf32>
  return
}

// -----

func.func @append_c5_positions(%c: tensor<6x8x4xf32>, %r: tensor<2x3x4xf32>, %p: tensor<2x4xi32>) {
  // expected-error @+1 {{'swage.append' op positions has extent 4 in dimension 1, but must have 3}}
  %y = swage.append %c, %r at %p axis 1 paged : (tensor<6x8x4xf32>, tensor<2x3x4xf32>, tensor<2x4xi32>) -> tensor<6x8x4xf32>
  return
}

// -----

func.func @append_c5_element(%c: tensor<6x8x4xf32>, %r: tensor<2x3x4xf16>, %p: tensor<2x3xi32>) {
  // expected-error @+1 {{'swage.append' op}}
  %y = swage.append %c, %r at %p axis 1 paged : (tensor<6x8x4xf32>, tensor<2x3x4xf16>, tensor<2x3xi32>) -> tensor<6x8x4xf32>
  return
}
