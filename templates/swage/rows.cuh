// Outputs of which only some rows are written, where memory says.
//
// The scalar function gives for each element also the number of its row, which a struct derived from
// Row, CircularRow or PagedRow stands for in the list of outputs, behind the output itself, whose
// Rows it is.  It has count(sizes), the number of rows that there are, and step(sizes), what one adds
// to the offset.  A row that does not exist is not written; circular ones are counted modulo their
// number; paged ones are so many of a page, ofPage(sizes), and pages begin apart(sizes) rows apart.
#pragma once

#include "swage/operand.cuh"

namespace swage {

struct Row {
  using Element = int;
  using Value = int;
  struct Pointer {};
  static constexpr __device__ Access access() { return Access::Splat; }
  /// Where row `row` is, or -1 for nowhere.
  template <class Rows, class Sizes>
  static __device__ __forceinline__ auto place(int row, const Sizes &sizes) {
    const auto count = Rows::count(sizes);
    return row >= 0 && row < count ? row : decltype(count)(-1);
  }
};
struct CircularRow : Row {
  template <class Rows, class Sizes>
  static __device__ __forceinline__ auto place(int row, const Sizes &sizes) {
    const auto count = Rows::count(sizes), rest = row % count;
    return rest < 0 ? rest + count : rest;
  }
};
struct PagedRow : Row {
  template <class Rows, class Sizes>
  static __device__ __forceinline__ auto place(int row, const Sizes &sizes) {
    using Index = decltype(Rows::count(sizes));
    const Index page = row / Rows::ofPage(sizes);
    const long long at =
        static_cast<long long>(page) * Rows::apart(sizes) + (row - page * Rows::ofPage(sizes));
    return row >= 0 && at < Rows::count(sizes) ? static_cast<Index>(at) : Index(-1);
  }
};

template <class Operand, int V>
  requires(__is_base_of(Row, Operand))
struct Result<Operand, V> {
  int values[V];

  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void store(typename Operand::Pointer, const Coord &,
                                        const Sizes &) const {}
};

/// Stores what is in rows that exist.  Elements of one vector are in one row.
template <int Dim, class Operand, int V, class Coord, class Sizes>
__device__ __forceinline__ void storeRows(const Result<Operand, V> &result,
                                          const Result<typename Operand::Rows, V> &rows,
                                          typename Operand::Pointer to, const Coord &coord,
                                          const Sizes &sizes) {
  using Rows = typename Operand::Rows;
  constexpr int kStep = Operand::access() == Access::Vector ? V : 1;
#pragma unroll
  for (int i = 0; i < V; i += kStep) {
    const auto row = Rows::template place<Rows>(rows.values[i], sizes);
    if (row < 0)
      continue;
    Coord at = coord;
    at[Dim] += i;
    Vector<typename Operand::Element, kStep> vector;
    if constexpr (kStep == V)
      vector.assign(result.values);
    else
      vector.assign({result.values[i]});
    vector.store(to + Operand::offset(at, sizes) + row * Rows::step(sizes));
  }
}

} // namespace swage
