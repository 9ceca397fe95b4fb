// What is stored as 8-bit floats and cannot be too large for them takes fewer instructions.
// RUN: swage-opt %s --swage-kernel-pipeline 2>/dev/null | FileCheck %s
// RUN: swage-translate --swage-to-cuda %s 2>/dev/null | FileCheck %s --check-prefix=CUDA

// Over the largest absolute value, by its quotient or a scale that is one; clamped; and as bf16 in between.
// CHECK-COUNT-5: bounded [0] {
// CHECK-NOT: bounded
// CUDA-COUNT-4: swage::Output<swage::e4m3,
// CUDA: swage::Output<swage::e5m2,
func.func @within(%x: tensor<4x64xbf16>, %y: tensor<4x96xf32>, %z: tensor<4x128xf32>, %c: tensor<4x160xf32>, %w: tensor<4x192xf32>)
    -> (tensor<4x64xf8E4M3FN>, tensor<4x96xf8E4M3FN>, tensor<4x128xf8E4M3FN>, tensor<4x160xf8E4M3FN>, tensor<4x192xf8E5M2>) {
  %least = arith.constant dense<1.0e-12> : tensor<4xf32>
  %most = arith.constant dense<448.0> : tensor<4xf32>
  %part = arith.constant dense<2.232142857e-3> : tensor<4xf32>

  %x32 = arith.extf %x : tensor<4x64xbf16> to tensor<4x64xf32>
  %xa = math.absf %x32 : tensor<4x64xf32>
  %xm = swage.reduce max %xa dims [1] : tensor<4x64xf32> -> tensor<4xf32>
  %xk = arith.maximumf %xm, %least : tensor<4xf32>
  %xi = arith.divf %most, %xk : tensor<4xf32>
  %xb = swage.broadcast %xi dims [0] : tensor<4xf32> -> tensor<4x64xf32>
  %xs = arith.mulf %x32, %xb : tensor<4x64xf32>
  %xq = arith.truncf %xs : tensor<4x64xf32> to tensor<4x64xf8E4M3FN>

  %ya = math.absf %y : tensor<4x96xf32>
  %ym = swage.reduce max %ya dims [1] : tensor<4x96xf32> -> tensor<4xf32>
  %yk = arith.maximumf %ym, %least : tensor<4xf32>
  %yd = arith.divf %yk, %most : tensor<4xf32>
  %y16 = arith.truncf %yd : tensor<4xf32> to tensor<4xbf16>
  %y32 = arith.extf %y16 : tensor<4xbf16> to tensor<4xf32>
  %yb = swage.broadcast %y32 dims [0] : tensor<4xf32> -> tensor<4x96xf32>
  %ys = arith.divf %y, %yb : tensor<4x96xf32>
  %yq = arith.truncf %ys : tensor<4x96xf32> to tensor<4x96xf8E4M3FN>

  %za = math.absf %z : tensor<4x128xf32>
  %zm = swage.reduce max %za dims [1] : tensor<4x128xf32> -> tensor<4xf32>
  %zk = arith.maximumf %zm, %least : tensor<4xf32>
  %zd = arith.mulf %zk, %part : tensor<4xf32>
  %zb = swage.broadcast %zd dims [0] : tensor<4xf32> -> tensor<4x128xf32>
  %zs = arith.divf %z, %zb : tensor<4x128xf32>
  %zq = arith.truncf %zs : tensor<4x128xf32> to tensor<4x128xf8E4M3FN>

  %high = arith.constant dense<448.0> : tensor<4x160xf32>
  %low = arith.constant dense<-448.0> : tensor<4x160xf32>
  %cl = arith.minimumf %c, %high : tensor<4x160xf32>
  %cc = arith.maximumf %cl, %low : tensor<4x160xf32>
  %cq = arith.truncf %cc : tensor<4x160xf32> to tensor<4x160xf8E4M3FN>

  %wh = arith.constant dense<57344.0> : tensor<4x192xf32>
  %wl = arith.constant dense<-57344.0> : tensor<4x192xf32>
  %wc = arith.minimumf %w, %wh : tensor<4x192xf32>
  %ww = arith.maximumf %wc, %wl : tensor<4x192xf32>
  %wq = arith.truncf %ww : tensor<4x192xf32> to tensor<4x192xf8E5M2>
  return %xq, %yq, %zq, %cq, %wq : tensor<4x64xf8E4M3FN>, tensor<4x96xf8E4M3FN>, tensor<4x128xf8E4M3FN>, tensor<4x160xf8E4M3FN>, tensor<4x192xf8E5M2>
}

// Nothing keeps the largest value from being tiny; that of another tensor; twice as much; clamped on one side; a number for the wrong type; elements that are rounded, to f16 or
// bf16, and may become infinite where the largest of them is not; and a factor that may as f16.
// CUDA-NOT: swage::Output<swage::e
func.func @beyond(%x: tensor<4x64xbf16>, %y: tensor<4x96xf32>, %o: tensor<4x96xf32>, %z: tensor<4x128xf32>, %c: tensor<4x160xf32>, %w: tensor<4x192xf32>, %u: tensor<4x224xf32>, %v: tensor<4x256xf32>, %t: tensor<4x288xf32>)
    -> (tensor<4x64xf8E4M3FN>, tensor<4x96xf8E4M3FN>, tensor<4x128xf8E4M3FN>, tensor<4x160xf8E4M3FN>, tensor<4x192xf8E4M3FN>, tensor<4x224xf8E4M3FN>, tensor<4x256xf8E4M3FN>,
        tensor<4x288xf8E4M3FN>) {
  %least = arith.constant dense<1.0e-12> : tensor<4xf32>
  %most = arith.constant dense<448.0> : tensor<4xf32>
  %twice = arith.constant dense<896.0> : tensor<4xf32>

  %x32 = arith.extf %x : tensor<4x64xbf16> to tensor<4x64xf32>
  %xa = math.absf %x32 : tensor<4x64xf32>
  %xm = swage.reduce max %xa dims [1] : tensor<4x64xf32> -> tensor<4xf32>
  %xi = arith.divf %most, %xm : tensor<4xf32>
  %xb = swage.broadcast %xi dims [0] : tensor<4xf32> -> tensor<4x64xf32>
  %xs = arith.mulf %x32, %xb : tensor<4x64xf32>
  %xq = arith.truncf %xs : tensor<4x64xf32> to tensor<4x64xf8E4M3FN>

  %ya = math.absf %o : tensor<4x96xf32>
  %ym = swage.reduce max %ya dims [1] : tensor<4x96xf32> -> tensor<4xf32>
  %yk = arith.maximumf %ym, %least : tensor<4xf32>
  %yi = arith.divf %most, %yk : tensor<4xf32>
  %yb = swage.broadcast %yi dims [0] : tensor<4xf32> -> tensor<4x96xf32>
  %ys = arith.mulf %y, %yb : tensor<4x96xf32>
  %yq = arith.truncf %ys : tensor<4x96xf32> to tensor<4x96xf8E4M3FN>

  %za = math.absf %z : tensor<4x128xf32>
  %zm = swage.reduce max %za dims [1] : tensor<4x128xf32> -> tensor<4xf32>
  %zk = arith.maximumf %zm, %least : tensor<4xf32>
  %zi = arith.divf %twice, %zk : tensor<4xf32>
  %zb = swage.broadcast %zi dims [0] : tensor<4xf32> -> tensor<4x128xf32>
  %zs = arith.mulf %z, %zb : tensor<4x128xf32>
  %zq = arith.truncf %zs : tensor<4x128xf32> to tensor<4x128xf8E4M3FN>

  %high = arith.constant dense<448.0> : tensor<4x160xf32>
  %cl = arith.minimumf %c, %high : tensor<4x160xf32>
  %cq = arith.truncf %cl : tensor<4x160xf32> to tensor<4x160xf8E4M3FN>

  %wh = arith.constant dense<57344.0> : tensor<4x192xf32>
  %wl = arith.constant dense<-57344.0> : tensor<4x192xf32>
  %wc = arith.minimumf %w, %wh : tensor<4x192xf32>
  %ww = arith.maximumf %wc, %wl : tensor<4x192xf32>
  %wq = arith.truncf %ww : tensor<4x192xf32> to tensor<4x192xf8E4M3FN>

  %ua = math.absf %u : tensor<4x224xf32>
  %um = swage.reduce max %ua dims [1] : tensor<4x224xf32> -> tensor<4xf32>
  %uk = arith.maximumf %um, %least : tensor<4xf32>
  %ui = arith.divf %most, %uk : tensor<4xf32>
  %ub = swage.broadcast %ui dims [0] : tensor<4xf32> -> tensor<4x224xf32>
  %u16 = arith.truncf %u : tensor<4x224xf32> to tensor<4x224xf16>
  %u32 = arith.extf %u16 : tensor<4x224xf16> to tensor<4x224xf32>
  %us = arith.mulf %u32, %ub : tensor<4x224xf32>
  %uq = arith.truncf %us : tensor<4x224xf32> to tensor<4x224xf8E4M3FN>

  %va = math.absf %v : tensor<4x256xf32>
  %vm = swage.reduce max %va dims [1] : tensor<4x256xf32> -> tensor<4xf32>
  %vk = arith.maximumf %vm, %least : tensor<4xf32>
  %vi = arith.divf %most, %vk : tensor<4xf32>
  %vb = swage.broadcast %vi dims [0] : tensor<4xf32> -> tensor<4x256xf32>
  %v16 = arith.truncf %v : tensor<4x256xf32> to tensor<4x256xbf16>
  %v32 = arith.extf %v16 : tensor<4x256xbf16> to tensor<4x256xf32>
  %vs = arith.mulf %v32, %vb : tensor<4x256xf32>
  %vq = arith.truncf %vs : tensor<4x256xf32> to tensor<4x256xf8E4M3FN>

  %ta = math.absf %t : tensor<4x288xf32>
  %tm = swage.reduce max %ta dims [1] : tensor<4x288xf32> -> tensor<4xf32>
  %tk = arith.maximumf %tm, %least : tensor<4xf32>
  %ti = arith.divf %most, %tk : tensor<4xf32>
  %t16 = arith.truncf %ti : tensor<4xf32> to tensor<4xf16>
  %t32 = arith.extf %t16 : tensor<4xf16> to tensor<4xf32>
  %tb = swage.broadcast %t32 dims [0] : tensor<4xf32> -> tensor<4x288xf32>
  %ts = arith.mulf %t, %tb : tensor<4x288xf32>
  %tq = arith.truncf %ts : tensor<4x288xf32> to tensor<4x288xf8E4M3FN>
  return %xq, %yq, %zq, %cq, %wq, %uq, %vq, %tq
      : tensor<4x64xf8E4M3FN>, tensor<4x96xf8E4M3FN>, tensor<4x128xf8E4M3FN>, tensor<4x160xf8E4M3FN>, tensor<4x192xf8E4M3FN>, tensor<4x224xf8E4M3FN>, tensor<4x256xf8E4M3FN>,
        tensor<4x288xf8E4M3FN>
}
