// REQUIRES: host-compiler
// Every form of softmax, and what is computed from positions, on the simulator against the reference: rows that no vector
// divides, rows that are masked throughout, infinities and NaN in and out of the mask.
// RUN: swage-run %s --device=sim --check --inputs=nasty | FileCheck %s
// RUN: swage-run %s --device=sim --check --sim=check,order=random,seed=3 | FileCheck %s
// RUN: swage-run %s --entry=dynamic --dims='9,21;9;' --device=sim --check --inputs=nasty | FileCheck %s --check-prefix=DYNAMIC

// CHECK-COUNT-15: accepted
// CHECK-NOT: rejected
// DYNAMIC-COUNT-2: accepted
func.func @main(%x: tensor<3x13x37xf16>, %m: tensor<3x37xi1>, %length: tensor<13xi32>, %wide: tensor<6x4096xbf16>,
                %long: tensor<6xi64>, %row: tensor<2x70001xf32>, %state: tensor<2xi64>, %d: tensor<5x7xf64>, %dm: tensor<5x7xi1>)
    -> (tensor<3x13x37xf16>, tensor<3x13x37xf16>, tensor<3x13xf32>, tensor<3x13x37xf32>, tensor<3x13x37xf16>, tensor<3x13x37xf16>,
        tensor<3x13x37xf32>, tensor<3x13xf32>, tensor<6x4096xbf16>, tensor<2x70001xf32>, tensor<5x7xf64>, tensor<5xf64>, tensor<3x13x37xf16>,
        tensor<3x13x37xi1>, tensor<5x7xf64>) {
  %i = swage.iota dim 1 : tensor<3x13x37xi32>
  %j = swage.iota dim 2 : tensor<3x13x37xi32>

  // Causal, aligned to the first element.
  %causal = arith.cmpi sle, %j, %i : tensor<3x13x37xi32>
  %0 = swage.softmax %x mask %causal axis 2 scale 0.125 : tensor<3x13x37xf16>, tensor<3x13x37xi1> -> tensor<3x13x37xf16>

  // Aligned to the last one, with the statistic.
  %c24 = arith.constant dense<24> : tensor<3x13x37xi32>
  %i24 = arith.addi %i, %c24 : tensor<3x13x37xi32>
  %later = arith.cmpi sgt, %j, %i24 : tensor<3x13x37xi32>
  %true = arith.constant dense<true> : tensor<3x13x37xi1>
  %aligned = arith.xori %later, %true : tensor<3x13x37xi1>
  %1, %2 = swage.softmax %x mask %aligned axis 2 : tensor<3x13x37xf16>, tensor<3x13x37xi1> -> tensor<3x13x37xf16>, tensor<3x13xf32>

  // A sliding window, log-softmax.
  %c4 = arith.constant dense<4> : tensor<3x13x37xi32>
  %back = arith.subi %i24, %j : tensor<3x13x37xi32>
  %near = arith.cmpi slt, %back, %c4 : tensor<3x13x37xi32>
  %window = arith.andi %aligned, %near : tensor<3x13x37xi1>
  %3 = swage.softmax %x mask %window axis 2 log : tensor<3x13x37xf16>, tensor<3x13x37xi1> -> tensor<3x13x37xf32>

  // Lengths, and what a prefix adds to a causal mask.
  %lengths = swage.broadcast %length dims [1] : tensor<13xi32> -> tensor<3x13x37xi32>
  %scaled = arith.muli %lengths, %c4 : tensor<3x13x37xi32>
  %padding = arith.cmpi slt, %j, %scaled : tensor<3x13x37xi32>
  %4 = swage.softmax %x mask %padding axis 2 : tensor<3x13x37xf16>, tensor<3x13x37xi1> -> tensor<3x13x37xf16>
  %prefix = arith.ori %causal, %padding : tensor<3x13x37xi1>
  %5 = swage.softmax %x mask %prefix axis 2 nan_rows : tensor<3x13x37xf16>, tensor<3x13x37xi1> -> tensor<3x13x37xf16>

  // A mask in memory, repeated for each row.
  %masks = swage.broadcast %m dims [0, 2] : tensor<3x37xi1> -> tensor<3x13x37xi1>
  %6, %7 = swage.softmax %x mask %masks axis 2 : tensor<3x13x37xf16>, tensor<3x13x37xi1> -> tensor<3x13x37xf32>, tensor<3x13xf32>

  // Rows of a block, and rows that are read twice.
  %jw = swage.iota dim 1 : tensor<6x4096xi32>
  %jl = arith.extsi %jw : tensor<6x4096xi32> to tensor<6x4096xi64>
  %c900 = arith.constant dense<900> : tensor<6xi64>
  %long900 = arith.muli %long, %c900 : tensor<6xi64>
  %longs = swage.broadcast %long900 dims [0] : tensor<6xi64> -> tensor<6x4096xi64>
  %short = arith.cmpi sle, %jl, %longs : tensor<6x4096xi64>
  %8 = swage.softmax %wide mask %short axis 1 : tensor<6x4096xbf16>, tensor<6x4096xi1> -> tensor<6x4096xbf16>
  %ir = swage.iota dim 0 : tensor<2x70001xi32>
  %jr = swage.iota dim 1 : tensor<2x70001xi32>
  %c30000 = arith.constant dense<30000> : tensor<2x70001xi32>
  %from = arith.muli %ir, %c30000 : tensor<2x70001xi32>
  %behind = arith.cmpi uge, %jr, %from : tensor<2x70001xi32>
  %9 = swage.softmax %row mask %behind axis 1 : tensor<2x70001xf32>, tensor<2x70001xi1> -> tensor<2x70001xf32>

  // Over another dimension, in f64.
  %10, %11 = swage.softmax %d mask %dm axis 1 : tensor<5x7xf64>, tensor<5x7xi1> -> tensor<5x7xf64>, tensor<5xf64>
  %14 = swage.softmax %d mask %dm axis 0 log : tensor<5x7xf64>, tensor<5x7xi1> -> tensor<5x7xf64>

  // Dropout of the probabilities; the mask is another result.
  %bits = swage.random %state : tensor<2xi64> -> tensor<3x13x37xi32>
  %threshold = arith.constant dense<-1288490189> : tensor<3x13x37xi32>
  %keep = arith.cmpi ult, %bits, %threshold : tensor<3x13x37xi32>
  %up = arith.constant dense<1.4285714> : tensor<3x13x37xf32>
  %none = arith.constant dense<0.0> : tensor<3x13x37xf32>
  %p = swage.softmax %x axis 2 : tensor<3x13x37xf16> -> tensor<3x13x37xf32>
  %raised = arith.mulf %p, %up : tensor<3x13x37xf32>
  %dropped = arith.select %keep, %raised, %none : tensor<3x13x37xi1>, tensor<3x13x37xf32>
  %12 = arith.truncf %dropped : tensor<3x13x37xf32> to tensor<3x13x37xf16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %keep, %14 : tensor<3x13x37xf16>, tensor<3x13x37xf16>, tensor<3x13xf32>,
      tensor<3x13x37xf32>, tensor<3x13x37xf16>, tensor<3x13x37xf16>, tensor<3x13x37xf32>, tensor<3x13xf32>, tensor<6x4096xbf16>,
      tensor<2x70001xf32>, tensor<5x7xf64>, tensor<5xf64>, tensor<3x13x37xf16>, tensor<3x13x37xi1>, tensor<5x7xf64>
}

// Runtime extents, of rows as well as of positions in the stream.
func.func @dynamic(%x: tensor<?x?xf32>, %length: tensor<?xi32>, %state: tensor<2xi64>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %j = swage.iota dim 1 sizes(%rows, %columns) : tensor<?x?xi32>
  %lengths = swage.broadcast %length dims [0] sizes(%rows, %columns) : tensor<?xi32> -> tensor<?x?xi32>
  %keep = arith.cmpi slt, %j, %lengths : tensor<?x?xi32>
  %y = swage.softmax %x mask %keep axis 1 : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?x?xf32>
  %bits = swage.random %state sizes(%rows, %columns) : tensor<2xi64> -> tensor<?x?xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %zeros = swage.broadcast %zero dims [] sizes(%rows, %columns) : tensor<i32> -> tensor<?x?xi32>
  %half = arith.cmpi slt, %bits, %zeros : tensor<?x?xi32>
  %n = arith.negf %x : tensor<?x?xf32>
  %z = arith.select %half, %x, %n : tensor<?x?xi1>, tensor<?x?xf32>
  return %y, %z : tensor<?x?xf32>, tensor<?x?xf32>
}
