//===- BenchCases.cpp - The graphs of bench/peers.py, in our text ---------===//

#include "BenchCases.h"

#include <fmt/format.h>
#include <numeric>

using namespace swage::test;
using Shape = std::vector<int64_t>;

static std::string tensor(const Shape &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

static uint64_t elements(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), uint64_t(1), std::multiplies<>());
}

static uint64_t width(const std::string &element) { return element == "f32" ? 4 : 2; }

/// "(128, 512, 512)", and "(7,)" for one number: Python's form.
static std::string tuple(const Shape &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

static std::string list(const Shape &numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

/// A function @main; in `body`, {n} stands for the n-th of `types`.
static std::string function(const std::string &arguments, const std::string &result,
                            const std::string &body, const std::string &returned) {
  return "func.func @main(" + arguments + ") -> (" + result + ") {\n" + body + "\n  return " +
         returned + " : " + result + "\n}\n";
}

std::string swage::test::layerNormText(int64_t rows, int64_t length, const std::string &element) {
  std::string x = tensor({rows, length}, element), g = tensor({length}, element);
  return function(
      fmt::format("%x: {0}, %g: {1}, %b: {1}", x, g), x,
      fmt::format("  %y = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5 : ({0}, {1}, {1}) "
                  "-> {0}",
                  x, g),
      "%y");
}

static void addPointwise(std::vector<BenchCase> &cases) {
  Shape shape{16384, 8192};
  uint64_t count = elements(shape);
  std::string x = tensor(shape, "bf16"), bias = tensor({8192}, "bf16"), wide = tensor(shape, "f32");
  auto add = [&](const std::string &name, uint64_t bytes, std::string text) {
    cases.push_back({"pointwise", name, "pointwise", std::move(text), bytes, false});
  };
  add("16384x8192 bf16 bias broadcast add", 4 * count,
      function(fmt::format("%x: {}, %b: {}", x, bias), x,
               fmt::format("  %all = swage.broadcast %b dims [1] : {1} -> {0}\n"
                           "  %y = arith.addf %x, %all : {0}",
                           x, bias),
               "%y"));
  add("16384x8192 bf16 silu(x) * y", 6 * count,
      function(fmt::format("%x: {0}, %y: {0}", x), x,
               fmt::format("  %one = arith.constant dense<1.0> : {1}\n"
                           "  %w = arith.extf %x : {0} to {1}\n"
                           "  %n = arith.negf %w : {1}\n"
                           "  %e = math.exp %n : {1}\n"
                           "  %d = arith.addf %e, %one : {1}\n"
                           "  %s = arith.divf %w, %d : {1}\n"
                           "  %a = arith.truncf %s : {1} to {0}\n"
                           "  %z = arith.mulf %a, %y : {0}",
                           x, wide),
               "%z"));
  add("16384x8192 bf16 x + y", 6 * count,
      function(fmt::format("%x: {0}, %y: {0}", x), x,
               fmt::format("  %z = arith.addf %x, %y : {}", x), "%z"));

  Shape whole{8, 2048, 32, 128}, half{8, 2048, 32, 64};
  add("rotary b8 t2048 h32 d128 bf16", 4 * elements(whole),
      function(
          fmt::format("%x: {}, %c: {1}, %s: {1}", tensor(whole, "bf16"), tensor({2048, 64}, "f32")),
          tensor(whole, "bf16"),
          fmt::format("  %cos = swage.broadcast %c dims [1, 3] : {3} -> {2}\n"
                      "  %sin = swage.broadcast %s dims [1, 3] : {3} -> {2}\n"
                      "  %p16 = swage.slice %x axis 3 from 0 size 64 : {0} -> {1}\n"
                      "  %q16 = swage.slice %x axis 3 from 64 size 64 : {0} -> {1}\n"
                      "  %p = arith.extf %p16 : {1} to {2}\n"
                      "  %q = arith.extf %q16 : {1} to {2}\n"
                      "  %pc = arith.mulf %p, %cos : {2}\n"
                      "  %qs = arith.mulf %q, %sin : {2}\n"
                      "  %qc = arith.mulf %q, %cos : {2}\n"
                      "  %ps = arith.mulf %p, %sin : {2}\n"
                      "  %first = arith.subf %pc, %qs : {2}\n"
                      "  %second = arith.addf %qc, %ps : {2}\n"
                      "  %f16 = arith.truncf %first : {2} to {1}\n"
                      "  %s16 = arith.truncf %second : {2} to {1}\n"
                      "  %y = swage.concat %f16, %s16 axis 3 : ({1}, {1}) -> {0}",
                      tensor(whole, "bf16"), tensor(half, "bf16"), tensor(half, "f32"),
                      tensor({2048, 64}, "f32")),
          "%y"));
}

static void addReduce(std::vector<BenchCase> &cases) {
  for (auto [shape, dim] :
       {std::pair(Shape{16384, 8192}, 1), std::pair(Shape{16384, 8192}, 0),
        std::pair(Shape{128, 1024, 1024}, 1), std::pair(Shape{64, 128, 128, 128}, 2)}) {
    Shape kept = shape;
    kept.erase(kept.begin() + dim);
    std::string x = tensor(shape, "bf16"), y = tensor(kept, "bf16");
    cases.push_back(
        {"reduce", fmt::format("sum {} dim {} bf16", tuple(shape), dim), "reduce",
         function("%x: " + x, y,
                  fmt::format("  %y = swage.reduce sum %x dims [{}] : {} -> {}", dim, x, y), "%y"),
         2 * elements(shape), true});
  }
  std::string x = tensor({1 << 27}, "f32");
  cases.push_back({"reduce", "sum (134217728,) all f32", "reduce",
                   function("%x: " + x, "tensor<f32>",
                            "  %y = swage.reduce sum %x dims [0] : " + x + " -> tensor<f32>", "%y"),
                   uint64_t{4} << 27, true});
}

static void addNorms(std::vector<BenchCase> &cases) {
  struct Case {
    int64_t rows, length;
    const char *element;
  };
  for (auto [m, n, d] : {Case{8192, 768, "f32"},
                         {8192, 768, "f16"},
                         {16, 4096, "bf16"},
                         {8192, 1024, "bf16"},
                         {32768, 1024, "bf16"},
                         {16384, 4096, "bf16"},
                         {16384, 4096, "f32"},
                         {8192, 8192, "bf16"},
                         {4096, 16384, "bf16"},
                         {2048, 65536, "bf16"},
                         {32768, 5000, "f16"},
                         {65536, 128, "f16"}})
    cases.push_back({"layernorm", fmt::format("{}x{} {}", m, n, d), "ln", layerNormText(m, n, d),
                     2 * uint64_t(m * n) * width(d), false});
  for (auto [m, n, d] : {Case{16384, 4096, "bf16"}, {8192, 768, "f16"}}) {
    std::string x = tensor({m, n}, d), g = tensor({n}, d);
    cases.push_back(
        {"add_bias_res_ln", fmt::format("{}x{} {}", m, n, d), "ln",
         function(fmt::format("%x: {0}, %r: {0}, %bias: {1}, %g: {1}, %b: {1}", x, g), x + ", " + x,
                  fmt::format("  %all = swage.broadcast %bias dims [1] : {1} -> {0}\n"
                              "  %t = arith.addf %x, %all : {0}\n"
                              "  %s = arith.addf %t, %r : {0}\n"
                              "  %y = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5 : "
                              "({0}, {1}, {1}) -> {0}",
                              x, g),
                  "%s, %y"),
         4 * uint64_t(m * n) * width(d), false});
    cases.push_back({"rmsnorm", fmt::format("{}x{} {}", m, n, d), "ln",
                     function(fmt::format("%x: {}, %g: {}", x, g), x,
                              fmt::format("  %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6 : "
                                          "({0}, {1}) -> {0}",
                                          x, g),
                              "%y"),
                     2 * uint64_t(m * n) * width(d), false});
  }
}

static void addSoftmax(std::vector<BenchCase> &cases) {
  struct Case {
    int64_t rows, length;
    const char *element;
  };
  for (auto [m, n, d] : {Case{65536, 128, "f16"},
                         {49152, 1024, "f16"},
                         {32768, 2048, "bf16"},
                         {16384, 8192, "bf16"},
                         {2048, 32768, "bf16"},
                         {1024, 128256, "bf16"},
                         {32768, 1000, "f32"},
                         {8, 128256, "f32"}}) {
    std::string x = tensor({m, n}, d);
    cases.push_back({"softmax", fmt::format("{}x{} {}", m, n, d), "softmax",
                     function("%x: " + x, x,
                              fmt::format("  %y = swage.softmax %x axis 1 : {0} -> {0}", x), "%y"),
                     2 * uint64_t(m * n) * width(d), false});
  }
  uint64_t scores = uint64_t{8} * 16 * 1024 * 1024;
  std::string x = tensor({8, 16, 1024, 1024}, "f16"), m = tensor({8, 16, 1024, 1024}, "i1");
  auto masked = [&](const std::string &mask, const char *dims, const char *value) {
    return function(fmt::format("%x: {}, %m: {}", x, mask), x,
                    fmt::format("  %scale = arith.constant dense<0.125> : {0}\n"
                                "  %low = arith.constant dense<{4}> : {0}\n"
                                "  %s = arith.mulf %x, %scale : {0}\n"
                                "  %all = swage.broadcast %m dims {3} : {2} -> {1}\n"
                                "  %f = arith.select %all, %low, %s : {1}, {0}\n"
                                "  %y = swage.softmax %f axis 3 : {0} -> {0}",
                                x, m, mask, dims, value),
                    "%y");
  };
  cases.push_back({"mask_softmax", "b8 h16 s1024 f16 scale+bool mask", "softmax",
                   masked(tensor({8, 1024, 1024}, "i1"), "[0, 2, 3]", "-1.0e4"),
                   2 * scores * 2 + 8 * 1024 * 1024, false});
  cases.push_back({"causal_softmax", "b8 h16 s1024 f16 scale+causal", "softmax",
                   masked(tensor({1024, 1024}, "i1"), "[2, 3]", "0xFC00"), 2 * scores * 2, false});
}

static void addPermute(std::vector<BenchCase> &cases) {
  auto add = [&](Shape shape, Shape permutation, const std::string &element) {
    Shape permuted;
    for (int64_t dim : permutation)
      permuted.push_back(shape[size_t(dim)]);
    std::string x = tensor(shape, element), y = tensor(permuted, element);
    cases.push_back(
        {"permute", fmt::format("{} {} {}", tuple(shape), tuple(permutation), element), "permute",
         function("%x: " + x, y,
                  fmt::format("  %y = swage.permute %x {} : {} -> {}", list(permutation), x, y),
                  "%y"),
         2 * elements(shape) * width(element), false});
  };
  for (const char *element : {"f32", "f16"}) {
    int64_t batch = element[1] == '3' ? 128 : 256;
    add({batch, 512, 512}, {1, 0, 2}, element);
    add({batch, 512, 512}, {0, 2, 1}, element);
    add({8192, 8192}, {1, 0}, element);
  }
  add({16, 2048, 32, 128}, {0, 2, 1, 3}, "bf16");
  add({64, 3, 512, 512}, {0, 2, 3, 1}, "f16");
  add({64, 512, 512, 3}, {0, 3, 1, 2}, "f16");
  add({64, 64, 112, 112}, {0, 2, 3, 1}, "f16");
  add({32, 48, 40, 36, 30}, {4, 2, 0, 3, 1}, "f32");
  add({40, 36, 32, 30, 48}, {2, 4, 1, 0, 3}, "f32");
  add({8, 4, 16, 2, 64, 8, 64}, {6, 3, 1, 5, 0, 4, 2}, "f16");
}

std::vector<BenchCase> swage::test::benchCases() {
  std::vector<BenchCase> cases;
  for (int64_t megabytes : {1, 4, 16, 64, 256, 1024}) {
    int64_t count = (megabytes << 20) / 4;
    std::string x = tensor({count}, "f32");
    cases.push_back({"copy", fmt::format("{}MB", megabytes), "copy",
                     function("%x: " + x, x, "  %y = arith.negf %x : " + x, "%y"),
                     8 * uint64_t(count), false});
  }
  addPointwise(cases);
  addReduce(cases);
  addNorms(cases);
  addSoftmax(cases);
  addPermute(cases);
  return cases;
}
