// RUN: swage-opt %s -split-input-file -verify-diagnostics

func.func @launch_l1(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'swage.launch' op launches @none, which is no kernel of this module}}
  %y = swage.launch @none(%x) : (tensor<8x64xf16>) -> tensor<8x64xf16>
  return
}
swage.kernel @k symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

func.func @launch_l1_function(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'swage.launch' op launches @launch_l1_function, which is no kernel of this module}}
  %y = swage.launch @launch_l1_function(%x) : (tensor<8x64xf16>) -> tensor<8x64xf16>
  return
}
swage.kernel @k symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

func.func @launch_l2_sizes(%x: tensor<8x64xf16>, %n: index) {
  // expected-error @+1 {{'swage.launch' op has 1 sizes, but @k takes 0}}
  %y = swage.launch @k [%n] (%x) : (tensor<8x64xf16>) -> tensor<8x64xf16>
  return
}
swage.kernel @k symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

func.func @launch_l2_operands(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'swage.launch' op has 0 operands, but a view of @k needs number 0}}
  %y = swage.launch @k () : () -> tensor<8x64xf16>
  return
}
swage.kernel @k symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

func.func @launch_l2_element(%x: tensor<8x64xf32>) {
  // expected-error @+1 {{'swage.launch' op operand 0 has element type 'f32', but the kernel has 'f16'}}
  %y = swage.launch @k (%x) : (tensor<8x64xf32>) -> tensor<8x64xf16>
  return
}
swage.kernel @k symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

func.func @launch_l2_rank(%x: tensor<512xf16>) {
  // expected-error @+1 {{'swage.launch' op operand 0 has rank 1, but the kernel has 2}}
  %y = swage.launch @k (%x) : (tensor<512xf16>) -> tensor<8x64xf16>
  return
}
swage.kernel @k symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}

// -----

func.func @launch_l2_extent(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'swage.launch' op result 0 has extent 32 in dimension 1, but the kernel has 64}}
  %y = swage.launch @k (%x) : (tensor<8x64xf16>) -> tensor<8x32xf16>
  return
}
swage.kernel @k symbols 0 extents affine_map<() -> (8, 64)> reduced []
    inputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    outputs [#swage.view<tensor = 0, element = f16, shape = () -> (8, 64), access = (d0, d1) -> (d0 * 64 + d1), align = 16>]
    {
^body(%a: f32):
  swage.yield %a : f32
}
