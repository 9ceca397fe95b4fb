func.func @main(%q: tensor<?x8x1x128xf16>, %keys: tensor<?x2x24x128xf16>, %values: tensor<50x2x24x128xf16>, %table: tensor<?x?xi32>) -> tensor<?x8x1x128xf16> {
  %k = swage.pages %keys, %table : (tensor<?x2x24x128xf16>, tensor<?x?xi32>) -> tensor<?x2x?x128xf16>
  %v = swage.pages %values, %table : (tensor<50x2x24x128xf16>, tensor<?x?xi32>) -> tensor<?x2x?x128xf16>
  %o = swage.attention %q, %k, %v scale 0.1 : (tensor<?x8x1x128xf16>, tensor<?x2x?x128xf16>, tensor<?x2x?x128xf16>) -> tensor<?x8x1x128xf16>
  return %o : tensor<?x8x1x128xf16>
}
