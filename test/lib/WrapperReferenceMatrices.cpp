//===- WrapperReferenceMatrices.cpp - matrix*.cu, wgmma*.cu ---------------===//
//
// All layouts in bytes: a row of A and a column of B are 32 bytes for every element type.
//
//===----------------------------------------------------------------------===//
#include "WrapperReference.h"

#include "Bits.h"

#include <functional>

using namespace swage::test;

namespace {
enum class Element { F16, BF16, TF32, E4M3, E5M2, S8, U8 };

unsigned sizeOf(Element element) {
  return element == Element::TF32 ? 4 : element <= Element::BF16 ? 2 : 1;
}

double elementAt(Element element, const Memory &memory, size_t at) {
  switch (element) {
  case Element::F16:
    return fromF16(memory.get<uint16_t>(at));
  case Element::BF16:
    return floatFromBf16(memory.get<uint16_t>(at));
  case Element::TF32:
    return fromTf32(memory.get<uint32_t>(at));
  case Element::E4M3:
    return fromE4m3(memory.get<uint8_t>(at));
  case Element::E5M2:
    return fromE5m2(memory.get<uint8_t>(at));
  case Element::S8:
    return memory.get<int8_t>(at);
  case Element::U8:
    return memory.get<uint8_t>(at);
  }
  return 0;
}

/// How the kernels make an element of random bits: small integers, or numbers with all their bits.
double integerOf(uint32_t bits) { return int(bits % 15) - 7; }
float fractionOf(uint32_t bits) {
  return floatFromBits((bits & 0x807fffff) | (124 + (bits >> 23) % 4) << 23);
}
float smallFractionOf(uint32_t bits) {
  return floatFromBits(bits << 31 | (123 + bits % 4) << 23 | (bits & 0xf0) << 15);
}

uint32_t registerOf(Element element, uint32_t bits, bool exact) {
  switch (element) {
  case Element::F16:
  case Element::BF16: {
    double low = exact ? integerOf(bits & 0xffff) : fractionOf(bits);
    double high = exact ? integerOf(bits >> 16) : fractionOf(bits * 0x9e3779b9);
    return element == Element::F16 ? uint32_t(toF16(high)) << 16 | toF16(low)
                                   : uint32_t(toBf16(high)) << 16 | toBf16(low);
  }
  case Element::TF32:
    return bitsOf(exact ? float(integerOf(bits)) : fractionOf(bits)) & ~0x1fffu;
  case Element::E4M3:
  case Element::E5M2: {
    uint32_t word = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t byte = bits >> 8 * i & 0xff;
      double number = exact ? integerOf(byte) : smallFractionOf(byte);
      word |= uint32_t(element == Element::E4M3 ? toE4m3(number) : toE5m2(number)) << 8 * i;
    }
    return word;
  }
  default:
    return bits;
  }
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

/// The lines of 32 bytes that a warp's registers make: register i of a lane is in line
/// lane / 4 + 8 (i % 2) for A, lane / 4 for B, from byte 4 (lane % 4) + 16 (i / 2), or 16 i for B.
Memory linesOfA(const std::function<uint32_t(unsigned lane, unsigned i)> &registers) {
  Memory lines(16 * 8, 0);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      lines.put(32 * (lane / 4 + i % 2 * 8) + 4 * (lane % 4) + i / 2 * 16, registers(lane, i));
  return lines;
}
Memory linesOfB(const std::function<uint32_t(unsigned lane, unsigned i)> &registers) {
  Memory lines(8 * 8, 0);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 2; ++i)
      lines.put(32 * (lane / 4) + 4 * (lane % 4) + 16 * i, registers(lane, i));
  return lines;
}

double dot(Element a, const Memory &rows, size_t row, Element b, const Memory &columns,
           size_t column) {
  double sum = 0;
  for (size_t k = 0; k < 32 / sizeOf(a); ++k)
    sum += elementAt(a, rows, 32 * row + k * sizeOf(a)) *
           elementAt(b, columns, 32 * column + k * sizeOf(b));
  return sum;
}

/// The kernels of matrix.cu multiply twice where the result is exact.
Reference multiply(Element elementA, Element elementB, bool exact) {
  return [=](const WrapperCase &, const Memory &in, Memory &out) {
    Results results(out, 64);
    for (unsigned warp = 0; warp < 2; ++warp) {
      auto word = [&](unsigned lane, unsigned i) { return in[16 * (32 * warp + lane) + i]; };
      Memory a = linesOfA(
          [&](unsigned lane, unsigned i) { return registerOf(elementA, word(lane, i), exact); });
      Memory b = linesOfB([&](unsigned lane, unsigned i) {
        return registerOf(elementB, word(lane, 4 + i), exact);
      });
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < 4; ++i) {
          double product =
              dot(elementA, a, lane / 4 + i / 2 * 8, elementB, b, lane % 4 * 2 + i % 2);
          uint32_t start = word(lane, 6 + i);
          if (elementA >= Element::S8)
            results.add(32 * warp + lane, start + uint32_t(2 * int64_t(product)));
          else if (exact)
            results.add(32 * warp + lane, float(integerOf(start) + 2 * product));
          else
            results.add(32 * warp + lane, float(fractionOf(start) + product));
        }
    }
  };
}

Reference multiplyFloat8(bool exact) {
  return [=](const WrapperCase &, const Memory &in, Memory &out) {
    Results results(out, 64);
    for (Element elementA : {Element::E4M3, Element::E5M2})
      for (Element elementB : {Element::E4M3, Element::E5M2})
        for (unsigned warp = 0; warp < 2; ++warp) {
          auto word = [&](unsigned lane, unsigned i) { return in[16 * (32 * warp + lane) + i]; };
          Memory a = linesOfA([&](unsigned lane, unsigned i) {
            return registerOf(elementA, word(lane, i), exact);
          });
          Memory b = linesOfB([&](unsigned lane, unsigned i) {
            return registerOf(elementB, word(lane, 4 + i), exact);
          });
          for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned i = 0; i < 4; ++i)
              results.add(32 * warp + lane, float((exact ? integerOf(word(lane, 6 + i)) : 0) +
                                                  dot(elementA, a, lane / 4 + i / 2 * 8, elementB,
                                                      b, lane % 4 * 2 + i % 2)));
        }
  };
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// Where the two 16-bit elements of a lane's register are in an 8x8 matrix.
void placeOf(unsigned lane, unsigned half, bool transposed, unsigned &row, unsigned &column) {
  row = lane / 4;
  column = lane % 4 * 2 + half;
  if (transposed)
    std::swap(row, column);
}

void loadMatrix(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 64);
  for (unsigned warp = 0; warp < 2; ++warp)
    for (unsigned count : {1, 2, 4})
      for (bool transposed : {false, true})
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned i = 0; i < count; ++i) {
            uint32_t word = 0;
            for (unsigned half = 0; half < 2; ++half) {
              unsigned row, column;
              placeOf(lane, half, transposed, row, column);
              size_t at = in[32 * warp + 8 * i + row] % 256 * 16 + 2 * column;
              word |= uint32_t(in.get<uint16_t>(at)) << 16 * half;
            }
            results.add(32 * warp + lane, word);
          }
}

void transposeMatrix(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned half = 0; half < 2; ++half) {
      unsigned row, column;
      placeOf(lane % 32, half, true, row, column);
      uint32_t from = in[lane / 32 * 32 + row * 4 + column / 2];
      out.put(4 * lane + 2 * half, uint16_t(from >> column % 2 * 16));
    }
}

void storeMatrix(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 32);
  for (unsigned count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      Memory shared(128, 0);
      for (unsigned i = 0; i < 128; ++i)
        shared.set(i, 0x11111111 * (i % 16));
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < count; ++i)
          for (unsigned half = 0; half < 2; ++half) {
            unsigned row, column;
            placeOf(lane, half, transposed, row, column);
            uint32_t place = ((8 * i + row) * (2 * (in[0] % 16) + 1) + in[1]) % 32;
            shared.put(16 * place + 2 * column, uint16_t(in[32 * i + lane] >> 16 * half));
          }
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = lane; i < 128; i += 32)
          results.add(lane, shared[i]);
    }
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

/// A matrix in shared memory: lines of A are its rows, of B its columns.
struct Operand {
  Element element;
  size_t start;
  unsigned span; ///< of the swizzle: 16 (none), 32, 64, 128
  bool transposed;

  /// The place of element k of a line, with the distances that the kernels' function descriptor
  /// gives.
  size_t at(size_t line, size_t k) const {
    size_t bytes = sizeOf(element), address;
    if (span == 16) {
      // Pieces of 8 x 16 bytes; two of them along K, which lie 128 bytes apart, then 256 across.
      size_t across = transposed ? line * bytes / 16 : line / 8;
      size_t along = transposed ? k / 8 : k * bytes / 16;
      size_t inPiece = transposed ? k % 8 * 16 + line * bytes % 16 : line % 8 * 16 + k * bytes % 16;
      return start + across * 256 + along * 128 + inPiece;
    }
    if (transposed)
      address = start + line * bytes / span * (16 * span) + k * span + line * bytes % span;
    else
      address = start + line * span + k * bytes;
    return address ^ (address / 128 % (span / 16)) * 16;
  }
};

constexpr unsigned kSpans[] = {16, 32, 64, 128};

/// The numbers of one multiplication, all that a kernel's accumulators are made of.
class Accumulators {
public:
  Accumulators(unsigned columns, double start) : columns(columns), d(64 * columns, start) {}
  void multiply(const std::function<double(size_t row, size_t k)> &a, const Operand &b,
                const Memory &shared) {
    size_t depth = 32 / sizeOf(b.element);
    std::vector<double> right(columns * depth);
    for (size_t column = 0; column < columns; ++column)
      for (size_t k = 0; k < depth; ++k)
        right[column * depth + k] = elementAt(b.element, shared, b.at(column, k));
    for (size_t row = 0; row < 64; ++row)
      for (size_t k = 0; k < depth; ++k) {
        double left = a(row, k);
        for (size_t column = 0; column < columns; ++column)
          d[row * columns + column] += left * right[column * depth + k];
      }
  }
  void multiply(const Operand &a, const Operand &b, const Memory &shared) {
    multiply([&](size_t row, size_t k) { return elementAt(a.element, shared, a.at(row, k)); }, b,
             shared);
  }
  /// As the threads hold them.
  void add(Results &results) const {
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned i = 0; i < columns / 2; ++i) {
        unsigned row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
        unsigned column = i / 4 * 8 + thread % 4 * 2 + i % 2;
        results.add(thread, float(d[row * columns + column]));
      }
  }

private:
  size_t columns;
  std::vector<double> d;
};

Memory fill(Element a, Element b, const Memory &in, bool exact) {
  Memory shared(10240, 0);
  for (unsigned i = 0; i < 10240; ++i)
    shared.set(i, registerOf(i < 2048 ? a : b, in[i], exact));
  return shared;
}

struct Layout {
  unsigned columns;
  unsigned span = 128;
  bool transposeA = false, transposeB = false;
};

void fromShared(Element a, Element b, const Layout &layout, const Memory &shared,
                Results &results) {
  auto [columns, span, transposeA, transposeB] = layout;
  size_t step = span == 128 ? 32 : 4096;
  Accumulators d(columns, 0);
  d.multiply({a, 0, span, transposeA}, {b, 8192, span, transposeB}, shared);
  d.multiply({a, transposeA ? 4096 : step, span, transposeA},
             {b, 8192 + (transposeB ? 4096 : step), span, transposeB}, shared);
  d.add(results);
}

/// The elements of A that threads hold for this step.
std::function<double(size_t row, size_t k)> heldFor(unsigned step, Element a, const Memory &in) {
  std::vector<Memory> lines;
  for (unsigned warp = 0; warp < 4; ++warp)
    lines.push_back(linesOfA([&](unsigned lane, unsigned i) {
      return registerOf(a, in[128 * i + 512 * step + 32 * warp + lane], true);
    }));
  return [=](size_t row, size_t k) {
    return elementAt(a, lines[row / 16], row % 16 * 32 + k * sizeOf(a));
  };
}

void fromRegisters(Element a, Element b, const Layout &layout, const Memory &in,
                   const Memory &shared, Results &results) {
  auto [columns, span, transposeA, transposeB] = layout;
  size_t step = span == 128 && !transposeB ? 32 : 4096;
  Accumulators d(columns, 3);
  for (unsigned turn = 0; turn < 2; ++turn)
    d.multiply(heldFor(turn, a, in), {b, 8192 + turn * step, span, transposeB}, shared);
  d.add(results);
}

Reference wgmma(Element a, Element b, std::vector<Layout> layouts, bool registers) {
  return [=](const WrapperCase &, const Memory &in, Memory &out) {
    Results results(out, 128);
    Memory shared = fill(a, b, in, true);
    for (const Layout &layout : layouts)
      if (registers)
        fromRegisters(a, b, layout, in, shared, results);
      else
        fromShared(a, b, layout, shared, results);
  };
}

Reference rounded(Element a, Element b) {
  return [=](const WrapperCase &, const Memory &in, Memory &out) {
    Results results(out, 128);
    Memory shared = fill(a, b, in, false);
    Accumulators d(64, 0);
    d.multiply({a, 0, 128, false}, {b, 8192, 128, false}, shared);
    d.add(results);
  };
}

void groups(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 128);
  Memory shared = fill(Element::BF16, Element::BF16, in, true);
  auto a = [](size_t at) { return Operand{Element::BF16, at, 128, false}; };
  auto b = [](size_t at) { return Operand{Element::BF16, 8192 + at, 128, false}; };
  Accumulators first(32, 3), second(64, in[0] & 1 ? 5 : 0);
  first.multiply(a(0), b(0), shared);
  second.multiply(a(32), b(32), shared);
  second.multiply(a(64), b(96), shared);
  first.add(results);
  second.add(results);
}

void steps(const WrapperCase &, const Memory &in, Memory &out) {
  const Element bf16 = Element::BF16;
  Results results(out, 128);
  Memory shared = fill(bf16, bf16, in, true);
  auto b = [](unsigned step) { return Operand{Element::BF16, 8192 + 32 * step, 128, false}; };
  Accumulators first(64, 0), last(64, 0);
  for (unsigned step = 0; step < 4; ++step)
    first.multiply({bf16, 32 * step, 128, false}, b(step), shared);
  first.add(results);
  for (unsigned step = 0; step < 4; ++step) {
    first.multiply(heldFor(step, bf16, in), b(step), shared);
    last.multiply(heldFor(step, bf16, in), b(step), shared);
  }
  first.add(results);
  for (unsigned count : {3, 4})
    for (unsigned step = 0; step < count; ++step)
      last.multiply(heldFor(step, bf16, in), {bf16, 8192 + 2048 * step, 128, true}, shared);
  last.add(results);
}

void descriptors(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 128);
  for (unsigned thread = 0; thread < 128; ++thread) {
    uint32_t bits = in[thread];
    // Bits 0-13, 16-29 and 32-45 count 16 bytes; bits 62-63: none, 128, 64, 32.
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
      uint64_t start = (bits & 0x3fff0) >> 4, stride = (bits >> 9 & 0x3fff0) >> 4;
      uint64_t leading = swizzle == 0 ? (bits >> 3 & 0x3fff0) >> 4 : 1;
      const uint64_t kinds[] = {0, 3, 2, 1};
      results.add(thread, start | leading << 16 | stride << 32 | kinds[swizzle] << 62);
    }
  }
}

std::vector<Layout> columnsOf(std::initializer_list<unsigned> columns) {
  std::vector<Layout> layouts;
  for (unsigned n : columns)
    layouts.push_back({n});
  return layouts;
}
std::vector<Layout> columnsOf(unsigned first, unsigned last) {
  std::vector<Layout> layouts;
  for (unsigned n = first; n <= last; n += 8)
    layouts.push_back({n});
  return layouts;
}
/// Every swizzle of every pair of transpositions.
std::vector<Layout> swizzlesOf(unsigned columns,
                               std::initializer_list<std::pair<bool, bool>> transposed) {
  std::vector<Layout> layouts;
  for (auto [a, b] : transposed)
    for (unsigned span : kSpans)
      layouts.push_back({columns, span, a, b});
  return layouts;
}
} // namespace

void swage::test::addMatrixReferences(References &references) {
  references["load_matrix"] = loadMatrix;
  references["transpose_matrix"] = transposeMatrix;
  references["store_matrix"] = storeMatrix;
  for (auto [name, element] : {std::pair("f16", Element::F16), std::pair("bf16", Element::BF16),
                               std::pair("tf32", Element::TF32)}) {
    std::string text = name;
    references["multiply_" + text + "_" + text] = multiply(element, element, true);
    references["multiply_" + text + "_rounded"] = multiply(element, element, false);
    references["wgmma_" + text + "_rounded"] = rounded(element, element);
  }
  for (auto [a, elementA] : {std::pair("s8", Element::S8), std::pair("u8", Element::U8)})
    for (auto [b, elementB] : {std::pair("s8", Element::S8), std::pair("u8", Element::U8)})
      references[std::string("multiply_") + a + "_" + b] = multiply(elementA, elementB, true);
  references["multiply_float8"] = multiplyFloat8(true);
  references["multiply_float8_rounded"] = multiplyFloat8(false);

  const Element f16 = Element::F16, bf16 = Element::BF16, tf32 = Element::TF32;
  auto both = [&](const std::string &name, Element a, Element b,
                  const std::vector<Layout> &layouts) {
    references["wgmma_" + name] = wgmma(a, b, layouts, false);
    references["wgmma_registers_" + name] = wgmma(a, b, layouts, true);
  };
  both("f16_8_to_128", f16, f16, columnsOf(8, 128));
  both("f16_136_to_200", f16, f16, columnsOf(136, 200));
  both("f16_208_to_256", f16, f16, columnsOf(208, 256));
  both("bf16", bf16, bf16, columnsOf({8, 40, 96, 256}));
  both("tf32", tf32, tf32, columnsOf({8, 40, 96, 256}));
  const std::pair<bool, bool> none(false, false), onlyA(true, false), onlyB(false, true),
      all(true, true);
  references["wgmma_layouts_f16_64"] =
      wgmma(f16, f16, swizzlesOf(64, {none, onlyB, onlyA, all}), false);
  references["wgmma_layouts_f16_128"] =
      wgmma(f16, f16, swizzlesOf(128, {none, onlyB, onlyA, all}), false);
  references["wgmma_registers_layouts_f16"] = wgmma(f16, f16, swizzlesOf(64, {none, onlyB}), true);
  references["wgmma_layouts_bf16_64"] = wgmma(bf16, bf16, swizzlesOf(64, {onlyB, onlyA}), false);
  references["wgmma_registers_layouts_bf16"] =
      wgmma(bf16, bf16, swizzlesOf(64, {none, onlyB}), true);
  references["wgmma_layouts_tf32_64"] = wgmma(tf32, tf32, swizzlesOf(64, {none}), false);
  references["wgmma_registers_layouts_tf32"] = wgmma(tf32, tf32, swizzlesOf(64, {none}), true);
  references["wgmma_layouts_f16_24"] = wgmma(f16, f16, swizzlesOf(24, {onlyB}), false);
  references["wgmma_groups"] = groups;
  references["wgmma_steps"] = steps;
  references["wgmma_descriptors"] = descriptors;
  for (auto [a, elementA] : {std::pair("e4m3", Element::E4M3), std::pair("e5m2", Element::E5M2)})
    for (auto [b, elementB] :
         {std::pair("e4m3", Element::E4M3), std::pair("e5m2", Element::E5M2)}) {
      std::string name = std::string(a) + "_" + b;
      both(name, elementA, elementB, columnsOf({8, 24, 64, 136, 256}));
      references["wgmma_layouts_" + name] =
          wgmma(elementA, elementB, swizzlesOf(64, {none}), false);
      references["wgmma_" + name + "_rounded"] = rounded(elementA, elementB);
    }
}
