//===- CaseGraphs.cpp - The graphs that are measured ----------------------===//

#include "CaseGraphs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

using namespace swage;
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

static uint64_t width(const std::string &element) {
  return element == "f64"                           ? 8
         : element == "f32"                         ? 4
         : element == "i8" || element == "f8E4M3FN" ? 1
                                                    : 2;
}

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

static BenchCase makeCase(std::string family, std::string name, std::string text,
                          uint64_t countedBytes) {
  BenchCase made;
  made.family = std::move(family);
  made.name = std::move(name);
  made.text = std::move(text);
  made.countedBytes = countedBytes;
  return made;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
struct RowFamily {
  std::string_view name;
  int64_t streams; ///< tensors of the full size that are read or written
  const char *arguments, *results;
  const char *body; ///< {x}: the type of rows, {g}: that of one row
  const char *returned;
};
} // namespace

static const RowFamily kRowFamilies[] = {
    {"layernorm", 2, "%x: {x}, %g: {g}, %b: {g}", "{x}",
     "  %y = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5 : ({x}, {g}, {g}) -> {x}",
     "%y"},
    {"rmsnorm", 2, "%x: {x}, %g: {g}", "{x}",
     "  %y = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6 : ({x}, {g}) -> {x}", "%y"},
    {"softmax", 2, "%x: {x}", "{x}", "  %y = swage.softmax %x axis 1 : {x} -> {x}", "%y"},
    {"log_softmax", 2, "%x: {x}", "{x}", "  %y = swage.softmax %x axis 1 log : {x} -> {x}", "%y"},
    {"add_layernorm", 4, "%x: {x}, %r: {x}, %g: {g}, %b: {g}", "{x}, {x}",
     "  %s = arith.addf %x, %r : {x}\n"
     "  %y = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5 : ({x}, {g}, {g}) -> {x}",
     "%s, %y"},
    {"add_bias_res_ln", 4, "%x: {x}, %r: {x}, %bias: {g}, %g: {g}, %b: {g}", "{x}, {x}",
     "  %all = swage.broadcast %bias dims [1] : {g} -> {x}\n"
     "  %t = arith.addf %x, %all : {x}\n"
     "  %s = arith.addf %t, %r : {x}\n"
     "  %y = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5 : ({x}, {g}, {g}) -> {x}",
     "%s, %y"},
};

const std::vector<std::string_view> &swage::rowFamilies() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> names;
    for (const RowFamily &family : kRowFamilies)
      names.push_back(family.name);
    return names;
  }();
  return names;
}

static const RowFamily &rowFamily(std::string_view name) {
  return *std::find_if(std::begin(kRowFamilies), std::end(kRowFamilies) - 1,
                       [&](const RowFamily &family) { return family.name == name; });
}

int64_t swage::streamsOf(std::string_view family) { return rowFamily(family).streams; }

BenchCase swage::rowCase(const std::string &name, int64_t rows, int64_t length,
                         const std::string &element) {
  const RowFamily &family = rowFamily(name);
  std::string x = tensor({rows, length}, element), g = tensor({length}, element);
  auto filled = [&](const char *pattern) {
    return fmt::format(fmt::runtime(pattern), fmt::arg("x", x), fmt::arg("g", g));
  };
  BenchCase made =
      makeCase(name, fmt::format("{}x{} {}", rows, length, element),
               function(filled(family.arguments), filled(family.results), filled(family.body),
                        family.returned),
               uint64_t(family.streams) * uint64_t(rows) * uint64_t(length) * width(element));
  made.shape = {rows, length};
  made.element = element;
  return made;
}

std::string swage::withExtents(std::string_view text, const std::map<int64_t, int64_t> &extents) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t digits = std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
    std::string_view word = text.substr(at, std::max<size_t>(digits, 1));
    bool isExtent = digits > 0 && digits < 10 && at > 0 &&
                    (text[at - 1] == '<' || text[at - 1] == 'x') &&
                    text.substr(at + digits, 1) == "x";
    auto found = isExtent ? extents.find(std::stoll(std::string(word))) : extents.end();
    result += found == extents.end() ? std::string(word) : std::to_string(found->second);
    at += word.size();
  }
  return result;
}

std::string swage::layerNormText(int64_t rows, int64_t length, const std::string &element) {
  return rowCase("layernorm", rows, length, element).text;
}

/// Scaled scores of which each row keeps what is not behind the diagonal; the rest is not read.
static BenchCase causalSoftmaxCase(const Shape &shape, const std::string &element) {
  int64_t length = shape.back();
  BenchCase made = makeCase(
      "causal_softmax",
      fmt::format("b{} h{} s{} {} scale+causal", shape[0], shape[1], length, element),
      function(fmt::format("%x: {}", tensor(shape, element)), tensor(shape, element),
               fmt::format("  %i = swage.iota dim 2 : {1}\n"
                           "  %j = swage.iota dim 3 : {1}\n"
                           "  %m = arith.cmpi sle, %j, %i : {1}\n"
                           "  %y = swage.softmax %x mask %m axis 3 scale 0.125 : {0}, {2} "
                           "-> {0}",
                           tensor(shape, element), tensor(shape, "i32"), tensor(shape, "i1")),
               "%y"),
      2 * elements(shape) * width(element));
  made.needlessBytes =
      elements(shape) / uint64_t(length) * uint64_t(length - 1) / 2 * width(element);
  return made;
}

/// Scaled scores with -1e4 in place of what a mask for all heads leaves out.
static BenchCase boolMaskSoftmaxCase(const Shape &shape, const std::string &element) {
  std::string x = tensor(shape, element), m = tensor(shape, "i1"),
              mask = tensor({shape[0], shape[2], shape[3]}, "i1");
  return makeCase(
      "mask_softmax",
      fmt::format("b{} h{} s{} {} scale+bool mask", shape[0], shape[1], shape[3], element),
      function(fmt::format("%x: {}, %m: {}", x, mask), x,
               fmt::format("  %scale = arith.constant dense<0.125> : {0}\n"
                           "  %low = arith.constant dense<-1.0e4> : {0}\n"
                           "  %s = arith.mulf %x, %scale : {0}\n"
                           "  %all = swage.broadcast %m dims [0, 2, 3] : {2} -> {1}\n"
                           "  %f = arith.select %all, %low, %s : {1}, {0}\n"
                           "  %y = swage.softmax %f axis 3 : {0} -> {0}",
                           x, m, mask),
               "%y"),
      2 * elements(shape) * width(element) + elements(shape) / uint64_t(shape[1]));
}

BenchCase swage::maskedSoftmaxCase(const std::string &family, int64_t batch, int64_t heads,
                                   int64_t length, const std::string &element) {
  Shape shape{batch, heads, length, length};
  BenchCase made = family == "causal_softmax" ? causalSoftmaxCase(shape, element)
                                              : boolMaskSoftmaxCase(shape, element);
  made.shape = shape;
  made.element = element;
  return made;
}

//===----------------------------------------------------------------------===//
// Permutations and copies
//===----------------------------------------------------------------------===//

BenchCase swage::permuteCase(const std::vector<int64_t> &shape,
                             const std::vector<int64_t> &permutation, const std::string &element) {
  Shape permuted;
  for (int64_t dim : permutation)
    permuted.push_back(shape[size_t(dim)]);
  std::string x = tensor(shape, element), y = tensor(permuted, element);
  BenchCase made = makeCase(
      "permute", fmt::format("{} {} {}", tuple(shape), tuple(permutation), element),
      function("%x: " + x, y,
               fmt::format("  %y = swage.permute %x {} : {} -> {}", list(permutation), x, y), "%y"),
      2 * elements(shape) * width(element));
  made.shape = shape;
  made.permutation = permutation;
  made.element = element;
  return made;
}

BenchCase swage::attentionCase(const AttentionShape &shape, bool causal,
                               const std::string &element) {
  auto [batch, heads, keyHeads, queries, keys, dim] = shape;
  std::string q = tensor({batch, heads, queries, dim}, element),
              k = tensor({batch, keyHeads, keys, dim}, element),
              o = tensor({batch, heads, queries, dim}, element == "f8E4M3FN" ? "bf16" : element);
  const char *mask = causal ? " mask {\n"
                              "  ^bb0(%b: index, %h: index, %i: index, %j: index):\n"
                              "    %seen = arith.cmpi sle, %j, %i : index\n"
                              "    swage.yield %seen : i1\n"
                              "  }"
                            : "";
  BenchCase made = makeCase(
      "attention",
      fmt::format("b{} hq{} hk{} {}x{} d{} c{} {}", batch, heads, keyHeads, queries, keys, dim,
                  int(causal), element),
      function(fmt::format("%q: {}, %k: {}, %v: {}", q, k, k), o,
               fmt::format("  %o = swage.attention %q, %k, %v scale {:e}{} : ({}, {}, {}) -> {}",
                           1 / std::sqrt(double(dim)), mask, q, k, k, o),
               "%o"),
      0);
  double seen = double(queries) * double(keys); // pairs of a query and a key
  if (causal && queries == keys)
    seen /= 2;
  else if (causal) // of the later queries all keys
    seen = queries < keys
               ? double(queries) * double(queries + 1) / 2
               : double(keys) * double(keys + 1) / 2 + double(queries - keys) * double(keys);
  made.countedFlops = 4.0 * double(batch * heads) * seen * double(dim);
  made.shape = {batch, heads, queries, dim};
  made.element = element;
  return made;
}

BenchCase swage::decodeCase(const AttentionShape &shape, const std::string &cache) {
  auto [batch, heads, keyHeads, queries, keys, dim] = shape;
  std::string few = queries == 1 ? "" : fmt::format(" q{}", queries);
  BenchCase made = attentionCase(shape, false, "bf16");
  made.family = "decode";
  made.name =
      fmt::format("b{} hq{} hk{} ctx{} d{}{} {}", batch, heads, keyHeads, keys, dim, few, cache);
  made.countedFlops = 0;
  made.countedBytes = uint64_t(2 * width(cache) * batch * keyHeads * keys * dim);
  if (cache == "bf16")
    return made;
  // Integers have a factor for each key, floats one for each head.
  std::vector<int64_t> shapeOfKeys = {batch, keyHeads, keys, dim};
  bool isInteger = cache == "i8";
  std::string narrow = tensor(shapeOfKeys, cache), wide = tensor(shapeOfKeys, "f32"),
              k = tensor(shapeOfKeys, "bf16"), q = tensor({batch, heads, queries, dim}, "bf16"),
              factors =
                  isInteger ? tensor({batch, keyHeads, keys}, "f32") : tensor({keyHeads}, "f32"),
              body;
  for (const char *name : {"k", "v"})
    body += fmt::format("  %{0}w = {1} %{0} : {2} to {3}\n"
                        "  %{0}b = swage.broadcast %{0}f dims {4} : {5} -> {3}\n"
                        "  %{0}m = arith.mulf %{0}w, %{0}b : {3}\n"
                        "  %{0}t = arith.truncf %{0}m : {3} to {6}\n",
                        name, isInteger ? "arith.sitofp" : "arith.extf", narrow, wide,
                        isInteger ? "[0, 1, 2]" : "[1]", factors, k);
  body += fmt::format("  %o = swage.attention %q, %kt, %vt scale {:e} : ({}, {}, {}) -> {}",
                      1 / std::sqrt(double(dim)), q, k, k, q);
  made.text = function(
      fmt::format("%q: {}, %k: {}, %v: {}, %kf: {}, %vf: {}", q, narrow, narrow, factors, factors),
      q, body, "%o");
  return made;
}

BenchCase swage::copyCase(int64_t megabytes) {
  int64_t count = (megabytes << 20) / 4;
  std::string x = tensor({count}, "f32");
  BenchCase made =
      makeCase("copy", fmt::format("{}MB", megabytes),
               function("%x: " + x, x, "  %y = arith.negf %x : " + x, "%y"), 8 * uint64_t(count));
  made.shape = {count};
  made.element = "f32";
  return made;
}

//===----------------------------------------------------------------------===//
// What peers.py measures
//===----------------------------------------------------------------------===//

namespace {
struct RowShape {
  int64_t rows, length;
  const char *element;
};
} // namespace

static void addPointwise(std::vector<BenchCase> &cases) {
  Shape shape{16384, 8192};
  uint64_t count = elements(shape);
  std::string x = tensor(shape, "bf16"), bias = tensor({8192}, "bf16"), wide = tensor(shape, "f32");
  auto add = [&](const std::string &name, uint64_t bytes, std::string text) {
    cases.push_back(makeCase("pointwise", name, std::move(text), bytes));
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
    cases.push_back(makeCase(
        "reduce", fmt::format("sum {} dim {} bf16", tuple(shape), dim),
        function("%x: " + x, y,
                 fmt::format("  %y = swage.reduce sum %x dims [{}] : {} -> {}", dim, x, y), "%y"),
        2 * elements(shape)));
  }
  std::string x = tensor({1 << 27}, "f32");
  cases.push_back(
      makeCase("reduce", "sum (134217728,) all f32",
               function("%x: " + x, "tensor<f32>",
                        "  %y = swage.reduce sum %x dims [0] : " + x + " -> tensor<f32>", "%y"),
               uint64_t{4} << 27));
}

static void addNorms(std::vector<BenchCase> &cases) {
  for (auto [rows, length, element] : {RowShape{8192, 768, "f32"},
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
    cases.push_back(rowCase("layernorm", rows, length, element));
  for (auto [rows, length, element] : {RowShape{16384, 4096, "bf16"}, {8192, 768, "f16"}}) {
    cases.push_back(rowCase("add_bias_res_ln", rows, length, element));
    cases.push_back(rowCase("rmsnorm", rows, length, element));
  }
}

static void addSoftmax(std::vector<BenchCase> &cases) {
  for (auto [rows, length, element] : {RowShape{65536, 128, "f16"},
                                       {49152, 1024, "f16"},
                                       {32768, 2048, "bf16"},
                                       {16384, 8192, "bf16"},
                                       {2048, 32768, "bf16"},
                                       {1024, 128256, "bf16"},
                                       {32768, 1000, "f32"},
                                       {8, 128256, "f32"}})
    cases.push_back(rowCase("softmax", rows, length, element));
  for (const char *family : {"mask_softmax", "causal_softmax"})
    cases.push_back(maskedSoftmaxCase(family, 8, 16, 1024, "f16"));
}

static void addPermute(std::vector<BenchCase> &cases) {
  for (const char *element : {"f32", "f16"}) {
    int64_t batch = element[1] == '3' ? 128 : 256;
    cases.push_back(permuteCase({batch, 512, 512}, {1, 0, 2}, element));
    cases.push_back(permuteCase({batch, 512, 512}, {0, 2, 1}, element));
    cases.push_back(permuteCase({8192, 8192}, {1, 0}, element));
  }
  cases.push_back(permuteCase({16, 2048, 32, 128}, {0, 2, 1, 3}, "bf16"));
  cases.push_back(permuteCase({64, 3, 512, 512}, {0, 2, 3, 1}, "f16"));
  cases.push_back(permuteCase({64, 512, 512, 3}, {0, 3, 1, 2}, "f16"));
  cases.push_back(permuteCase({64, 64, 112, 112}, {0, 2, 3, 1}, "f16"));
  cases.push_back(permuteCase({32, 48, 40, 36, 30}, {4, 2, 0, 3, 1}, "f32"));
  cases.push_back(permuteCase({40, 36, 32, 30, 48}, {2, 4, 1, 0, 3}, "f32"));
  cases.push_back(permuteCase({8, 4, 16, 2, 64, 8, 64}, {6, 3, 1, 5, 0, 4, 2}, "f16"));
}

static void addCopies(std::vector<BenchCase> &cases) {
  for (int64_t megabytes : {1, 4, 16, 64, 256, 1024})
    cases.push_back(copyCase(megabytes));
}

static void addAttention(std::vector<BenchCase> &cases) {
  static constexpr std::pair<AttentionShape, bool> shapes[] = {
      {{8, 32, 32, 2048, 2048, 64}, false},    {{8, 32, 32, 2048, 2048, 64}, true},
      {{4, 16, 16, 4096, 4096, 128}, false},   {{4, 16, 16, 4096, 4096, 128}, true},
      {{1, 16, 16, 16384, 16384, 128}, false}, {{1, 16, 16, 16384, 16384, 128}, true},
      {{2, 32, 8, 8192, 8192, 128}, true},     {{32, 16, 16, 512, 512, 128}, true},
      {{16, 16, 16, 512, 512, 64}, false},     {{8, 16, 16, 1024, 4096, 128}, false},
      {{2, 8, 8, 8192, 8192, 256}, true},      {{4, 16, 16, 4096, 4096, 96}, true}};
  for (const auto &[shape, causal] : shapes)
    cases.push_back(attentionCase(shape, causal, "bf16"));
  for (bool causal : {false, true})
    cases.push_back(attentionCase({4, 16, 16, 4096, 4096, 128}, causal, "f8E4M3FN"));
}

static void addDecode(std::vector<BenchCase> &cases) {
  for (const AttentionShape &shape : {AttentionShape{1, 32, 8, 1, 8192, 128},
                                      {1, 32, 8, 1, 131072, 128},
                                      {16, 32, 8, 1, 4096, 128},
                                      {64, 32, 8, 1, 4096, 128},
                                      {64, 32, 32, 1, 2048, 128},
                                      {8, 8, 8, 1, 1024, 64},
                                      {64, 8, 8, 1, 1024, 64},
                                      {128, 64, 8, 1, 8192, 128}})
    cases.push_back(decodeCase(shape, "bf16"));
  for (const AttentionShape &shape : {AttentionShape{4, 32, 8, 1, 4096, 128},
                                      {16, 32, 8, 1, 4096, 128},
                                      {64, 32, 8, 1, 4096, 128}})
    for (const char *cache : {"i8", "f8E4M3FN"})
      cases.push_back(decodeCase(shape, cache));
}

static constexpr std::pair<std::string_view, void (*)(std::vector<BenchCase> &)> kGroups[] = {
    {"copy", addCopies},    {"pointwise", addPointwise}, {"reduce", addReduce},
    {"ln", addNorms},       {"softmax", addSoftmax},     {"permute", addPermute},
    {"attn", addAttention}, {"decode", addDecode}};

const std::vector<std::string_view> &swage::peerGroups() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> names;
    for (const auto &group : kGroups)
      names.push_back(group.first);
    return names;
  }();
  return names;
}

std::vector<BenchCase> swage::peerCases(std::string_view group) {
  std::vector<BenchCase> cases;
  for (const auto &[name, add] : kGroups)
    if (name == group)
      add(cases);
  return cases;
}
