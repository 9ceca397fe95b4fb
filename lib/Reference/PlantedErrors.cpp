//===- PlantedErrors.cpp - Wrong answers that must be rejected ------------===//
//
// A rule that accepts zeros accepts anything. The faults planted here are those that kernels really
// have: an output never written, a row reduced where it should be normalised, an index off by a
// row, a lost tail, a tile stored the wrong way round.
//
//===----------------------------------------------------------------------===//

#include "Examine.h"
#include "swage/Reference/Parallel.h"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

namespace swage::reference {

namespace {

class Plants {
public:
  explicit Plants(const Value &expected)
      : expected(expected), size(expected.size()),
        length(expected.shape().empty() ? 1 : expected.shape().back()),
        rows(length > 0 ? size / length : 0), tile(std::min<int64_t>({32, rows, length})) {}

  /// What is not finite stays, here and below, or its pattern would give the fault away.
  Element zero(int64_t i) const {
    Element element = right(i);
    return {std::isfinite(element.real) ? 0 : element.real, 0};
  }

  /// The mean of the row's finite elements.
  Element rowMean(int64_t i) const {
    Element element = right(i);
    double mean = means[i / length];
    if (!isFloat(expected.type()))
      return {0, std::llround(mean)};
    return {std::isfinite(element.real) ? roundTo(expected.type(), mean) : element.real, 0};
  }

  /// The previous row, or in a single row the previous element.
  Element shifted(int64_t i) const {
    int64_t by = rows > 1 ? length : 1;
    return right((i + size - by) % size);
  }

  Element droppedTail(int64_t i) const {
    int64_t kept = length - std::max<int64_t>(1, length / 16);
    return i % length < kept ? right(i) : zero(i);
  }

  /// The corner of the tensor, seen as rows by columns, transposed.
  Element transposedTile(int64_t i) const {
    int64_t row = i / length, column = i % length;
    return right(row < tile && column < tile ? column * length + row : i);
  }

  void computeMeans() {
    means.resize(rows);
    parallelFor(rows, rowChunk(length), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        double sum = 0, count = 0;
        for (int64_t i = r * length; i < (r + 1) * length; ++i) {
          Element element = right(i);
          double x = isFloat(expected.type()) ? element.real : static_cast<double>(element.integer);
          if (std::isfinite(x)) {
            sum += x;
            ++count;
          }
        }
        means[r] = count > 0 ? sum / count : 0;
      }
    });
  }

  Element right(int64_t i) const { return expectedElement(expected, i); }

private:
  const Value &expected;
  int64_t size, length, rows, tile;
  std::vector<double> means;
};

/// Whether the answer differs from the right one by something that inputs can be blamed for not
/// showing: more than 1/64 of the largest element.
bool applies(const Value &expected, Answer answer) {
  ElementType type = expected.type();
  std::vector<std::pair<double, double>> chunks((expected.size() + kElementChunk - 1) /
                                                kElementChunk);
  parallelFor(expected.size(), kElementChunk, [&](int64_t begin, int64_t end) {
    auto &[largest, moved] = chunks[begin / kElementChunk];
    for (int64_t i = begin; i < end; ++i) {
      Element right = expectedElement(expected, i);
      if (std::isinf(expected.load(i).error) || !std::isfinite(right.real))
        continue;
      double by = distance(type, answer(i), right);
      largest = std::max(largest, distance(type, right, {}));
      moved = std::max(moved, std::isfinite(by) ? by : 0);
    }
  });
  double largest = 0, moved = 0;
  for (auto [chunkLargest, chunkMoved] : chunks) {
    largest = std::max(largest, chunkLargest);
    moved = std::max(moved, chunkMoved);
  }
  return moved > largest / 64;
}

/// The first exact element from the middle on, or -1.
int64_t findExact(const Value &expected) {
  int64_t size = expected.size();
  for (int64_t k = 0; k < size; ++k) {
    int64_t i = (size / 2 + k) % size;
    if (expected.load(i).error == 0 && std::isfinite(expectedElement(expected, i).real))
      return i;
  }
  return -1;
}

Element movedByEightUlp(ElementType type, Element element) {
  if (type == ElementType::I1)
    return {0, 1 - element.integer};
  if (!isFloat(type))
    return {0, element.integer ^ 8};
  bool up = element.real < 1;
  for (int step = 0; step < 8; ++step)
    element.real = nextRepresentable(type, element.real, up);
  return element;
}

} // namespace

std::string findAcceptedPlant(const Value &expected, double maximumFactor, int &applied) {
  applied = 0;
  if (expected.size() == 0)
    return "";
  auto isRejected = [&](Answer answer) {
    return examine(expected, answer, maximumFactor, /*stopAtFirst=*/true).rule != 0;
  };
  Plants plants(expected);
  plants.computeMeans();
  const std::pair<const char *, Element (Plants::*)(int64_t) const> kPlants[] = {
      {"zeros", &Plants::zero},
      {"the mean of each row", &Plants::rowMean},
      {"rows shifted by one", &Plants::shifted},
      {"the last sixteenth of each row dropped", &Plants::droppedTail},
      {"a transposed tile", &Plants::transposedTile},
  };
  for (auto [name, plant] : kPlants) {
    auto answer = [&, plant = plant](int64_t i) { return (plants.*plant)(i); };
    // Rejecting is the common case and ends early, so it is tried first.
    bool rejected = isRejected(answer);
    if (!rejected && applies(expected, answer))
      return name;
    applied += rejected;
  }
  int64_t exact = findExact(expected);
  if (exact >= 0) {
    auto answer = [&](int64_t i) {
      Element right = plants.right(i);
      return i == exact ? movedByEightUlp(expected.type(), right) : right;
    };
    if (!isRejected(answer))
      return "an exact element off by 8 ulp";
    ++applied;
  }
  return "";
}

} // namespace swage::reference
