// How a Spec names what it reads and writes.
//
// An operand is a struct derived from Input or Output with one function, the element offset at
// given coordinates.  Its access kind says what that offset does along the vectorised dimension, or
// from point to point where these are counted through (CountedCoord), so that a template can move
// `V` neighbouring ones at once:
// - Vector: stride one, every V-element group aligned to its size (16 bytes at most): vector
//   accesses
// - Splat: stride zero, one scalar for all
// - Gather: anything else, V scalar accesses
// - Transposed: stride one along the dimension kTransposedDim (permute only)
// - Staged: stride one, in a slab or on a shelf in shared memory (slab.cuh, shelf.cuh)
// - Aligned, Shifted, Anywhere: stride one, at coordinates that need not be in the row
//   (row_aligned.cuh).  Aligned operands have them in one aligned vector, beside elements of other
//   rows maybe, the others in two: Shifted ones, because their rows begin with an aligned vector,
//   and Anywhere, of which nothing is known
// - StagedInStep: on a shelf if the row's vectors turn out to be aligned, or else as Anywhere
// - Tiled: stride one along attention's keys, in shared memory with a warp's scores
//   (attention_score_tile.cuh)
// Lists name operands in the order in which a scalar function takes them; Bind holds the pointers
// of all of them.
#pragma once

#include "swage/index.cuh"
#include "swage/vector.cuh"

namespace swage {

enum class Access {
  Vector,
  Splat,
  Gather,
  Transposed,
  Boxed,
  Staged,
  Aligned,
  Shifted,
  Anywhere,
  StagedInStep,
  Tiled
};

/// The coordinates of a vector of which only the elements from `begin` on and before `end` are in the
/// row.  The row's first vector begins `phase` elements before the row, the thread's first one `from`
/// elements behind that, and this one `ahead` elements further; goesOn: the row has elements behind
/// this vector.  Where it is neither a row's first nor its last one, all but `from` and `phase` are
/// constants.
template <class Coord> struct PartialCoord : Coord {
  int phase, from, ahead, begin, end;
  bool goesOn;
};
template <class Coord> concept IsPartial = requires(Coord coord) { coord.begin; };
/// Those of V points that are counted through, wherever a row ends: its own are those of the first.
template <class Coord, int V> struct CountedCoord : Coord { Coord each[V]; };
template <class Coord>
concept IsCounted = requires(Coord coord) {
  coord.each;
};
/// Those of element i of a vector along a dimension.
template <int Dim, class Coord>
__device__ __forceinline__ auto elementCoord(const Coord &coord, int i) {
  if constexpr (IsCounted<Coord>) {
    return coord.each[i];
  } else {
    Coord at = coord;
    at[Dim] += i;
    return at;
  }
}
/// Those of one element, wherever it lies, of operands that are read by vectors elsewhere.
template <class Coord> struct ElementCoord : Coord {
  using Element = Coord;
};
template <class Coord> concept IsElement = requires { typename Coord::Element; };

/// The coordinates of such a vector where more is known of it: the quarter of an aligned one in which
/// Shifted and Anywhere operands have its beginning; or (kInStep) that Anywhere ones have it in one.
enum : int { kInStep = -1 };
template <class Coord, int Quarter> struct PlacedCoord : Coord {
  enum : int { kQuarter = Quarter };
};
template <class Coord> concept IsPlaced = requires { requires Coord::kQuarter >= 0; };
template <class Coord> concept IsInStep = requires { requires Coord::kQuarter == kInStep; };

/// Of what need not be in one aligned vector.
template <Access Kind>
concept IsAnywhere =
    Kind == Access::Shifted || Kind == Access::Anywhere || Kind == Access::StagedInStep;

/// Where an operand of stride one has the row's first such vector.
template <class Operand, int Dim, class Coord, class Sizes>
__device__ __forceinline__ auto rowStart(typename Operand::Pointer pointer, Coord coord,
                                         const Sizes &sizes) {
  coord[Dim] = -coord.phase;
  return pointer + Operand::offset(coord, sizes);
}
/// Where it has this one.
template <class Operand, int Dim, class Coord, class Sizes>
__device__ __forceinline__ auto partialAt(typename Operand::Pointer pointer, const Coord &coord,
                                          const Sizes &sizes) {
  return rowStart<Operand, Dim>(pointer, coord, sizes) + coord.from + coord.ahead;
}

/// Where an input's elements come from; all but memory is in computed.cuh.
enum class Source { Memory, Coordinate, Random };

template <class T, Access Kind, Traffic Use = Traffic::Stream> struct Input {
  using Element = T;
  using Value = typename Widened<T>::Type;
  using Pointer = const T *;
  static constexpr __device__ Access access() { return Kind; }
  static constexpr __device__ Source source() { return Source::Memory; }
  static constexpr __device__ Traffic traffic() { return Use; }
};
template <class T, Access Kind = Access::Vector> struct Output {
  using Element = T;
  using Value = typename Widened<T>::Type;
  using Pointer = T *;
  static constexpr __device__ Access access() { return Kind; }
};

template <class Operand> concept IsInput = requires { Operand::traffic(); };

/// Whether one thread reads each vector of an input, once.
template <class Operand>
concept IsOwn = requires {
  requires Operand::source() == Source::Memory && Operand::access() == Access::Vector &&
               Operand::traffic() == Traffic::Stream;
};

template <class... Operands> struct List {
  static constexpr __device__ bool empty() { return sizeof...(Operands) == 0; }
  static constexpr __device__ int count() { return sizeof...(Operands); }
};

/// The pointers of a kernel, one per operand: Bind<X, Y>{x, y}.
/// Slots of operands without a pointer take no room: attention's pointers end up in local memory
/// where they are too many for the compiler to follow through its structs.
template <class Operand> struct Slot { [[no_unique_address]] typename Operand::Pointer pointer; };
template <class... Operands> struct Bind : Slot<Operands>... {};

/// What V neighbouring coordinates read from one input, as it came from memory.
template <class Operand, int V, Access Kind = Operand::access(), Source From = Operand::source()>
struct Fragment : Vector<typename Operand::Element, V> {
  template <int Dim, Traffic Use = Operand::traffic(), class Coord, class Sizes>
  __device__ __forceinline__ void load(typename Operand::Pointer from, const Coord &coord,
                                       const Sizes &sizes) {
    if constexpr (Kind == Access::Vector || IsElement<Coord>)
      this->template fetch<Use>(from + Operand::offset(coord, sizes));
    else if constexpr (Kind == Access::Staged)
      this->fetchShared(from + Operand::offset(coord, sizes));
    else if constexpr (Kind == Access::Aligned || (Kind == Access::Anywhere && IsInStep<Coord>))
      this->template fetchAround<Operand::traffic()>(
          partialAt<Operand, Dim>(from, coord, sizes), coord.begin, coord.end);
    else if constexpr (IsAnywhere<Kind>)
      fetchPair<Dim>(from, coord, sizes);
  }

private:
  using Element = typename Operand::Element;
  /// A vector out of the two aligned ones that it lies in.  One without elements of the row is not
  /// touched.
  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void fetchPair(const Element *from, const Coord &coord,
                                            const Sizes &sizes) {
    const Element *const start = rowStart<Operand, Dim>(from, coord, sizes);
    const int skew = Kind == Access::Shifted ? (V - coord.phase) % V : skewOf<V>(start);
    const Element *const at = pinned(alignedAt<V>(start) + coord.from);
    const int begin = coord.begin + skew, end = coord.end + skew;
    const int low = coord.begin == 0 || begin < V ? 0 : V, high = coord.goesOn || end > V ? V : 0;
    Vector<Element, V> pair[2];
    pair[0].template fetchAround<Operand::traffic()>(at + coord.ahead + low, begin - low, end - low);
    pair[1].template fetchAround<Operand::traffic()>(at + coord.ahead + high, begin - high,
                                                    end - high);
    using Elements = Vector<Element, V>;
    auto &mine = static_cast<Elements &>(*this);
    if constexpr (IsPlaced<Coord> && Kind != Access::StagedInStep)
      mine = Elements::template between<Coord::kQuarter>(pair[0], pair[1], skew);
    else
      mine = Elements::between(pair[0], pair[1], skew);
  }
};
template <class Operand, int V> struct Fragment<Operand, V, Access::Splat, Source::Memory> {
  Vector<typename Operand::Element, 1> scalar;

  __device__ __forceinline__ typename Operand::Value value(int) const { return scalar.value(0); }
  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void load(typename Operand::Pointer from, const Coord &coord,
                                       const Sizes &sizes) {
    scalar.template fetch<Operand::traffic()>(from + Operand::offset(coord, sizes));
  }
};
template <class Operand, int V> struct Fragment<Operand, V, Access::Gather, Source::Memory> {
  Vector<typename Operand::Element, 1> scalars[V];

  __device__ __forceinline__ typename Operand::Value value(int i) const {
    return scalars[i].value(0);
  }
  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void load(typename Operand::Pointer from, const Coord &coord,
                                       const Sizes &sizes) {
#pragma unroll
    for (int i = 0; i < V; ++i) {
      auto at = elementCoord<Dim>(coord, i);
      if constexpr (IsPartial<Coord>)
        at[Dim] = coord[Dim] + (i < coord.begin ? coord.begin : i < coord.end ? i : coord.begin);
      scalars[i].template fetch<Operand::traffic()>(from + Operand::offset(at, sizes));
    }
  }
};

/// All inputs of a list at V neighbouring coordinates along dimension Dim.  Transposed inputs are
/// filled by permute.
template <class Operands, int V, int Dim> struct Inputs;
template <class... Operands, int V, int Dim>
struct Inputs<List<Operands...>, V, Dim> : Fragment<Operands, V>... {
  /// What lies in memory should be on its way before anything is computed.
  template <class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void load(const Pointers &pointers, const Coord &coord,
                                       const Sizes &sizes) {
    if constexpr ((... && (Operands::source() == Source::Memory))) {
      (Fragment<Operands, V>::template load<Dim>(
           static_cast<const Slot<Operands> &>(pointers).pointer, coord, sizes),
       ...);
    } else {
      loadWhere<true>(pointers, coord, sizes);
      loadWhere<false>(pointers, coord, sizes);
    }
  }
  /// Whether each operand of this kind, of which nothing is known, has these vectors of a row in
  /// aligned ones.
  template <Access Kind, class Pointers, class Coord, class Sizes>
  static __device__ __forceinline__ bool areInStep(const Pointers &pointers, const Coord &coord,
                                                   const Sizes &sizes) {
    return (true && ... && [&] {
      if constexpr (Operands::access() == Kind)
        return skewOf<V>(rowStart<Operands, Dim>(
                   static_cast<const Slot<Operands> &>(pointers).pointer, coord, sizes)) == 0;
      else
        return true;
    }());
  }
  enum : bool { kIsAnywhere = (false || ... || (Operands::access() == Access::Anywhere)) };
  /// The element of an aligned vector in which these ones begin, if it is the same in all operands that
  /// are Shifted or Anywhere, and `skew` in those before them; or -1.  Of no operands it is V.
  template <class Pointers, class Coord, class Sizes>
  static __device__ __forceinline__ int commonSkew(int skew, const Pointers &pointers,
                                                   const Coord &coord, const Sizes &sizes) {
    (
        [&] {
          int mine = skew;
          if constexpr (Operands::access() == Access::Shifted)
            mine = (V - coord.phase) % V;
          else if constexpr (Operands::access() == Access::Anywhere)
            mine = skewOf<V>(rowStart<Operands, Dim>(
                static_cast<const Slot<Operands> &>(pointers).pointer, coord, sizes));
          skew = skew == V || skew == mine ? mine : -1;
        }(),
        ...);
    return skew;
  }
  /// In two parts: what a thread has for itself, at this place of the text; and the others.
  template <bool Own, class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void loadPart(const Pointers &pointers, const Coord &coord,
                                           const Sizes &sizes) {
    (
        [&] {
          const auto from = static_cast<const Slot<Operands> &>(pointers).pointer;
          if constexpr (Own && IsOwn<Operands>)
            Fragment<Operands, V>::template load<Dim, Traffic::Reused>(from, coord, sizes);
          else if constexpr (!Own && !IsOwn<Operands>)
            Fragment<Operands, V>::template load<Dim>(from, coord, sizes);
        }(),
        ...);
  }
  /// The registers that the first of them takes, and all vectors that are read from memory.
  template <class Operand>
  static constexpr __device__ int wordsOfOne() {
    return Vector<typename Operand::Element, V>::kWords;
  }
  enum : int {
    kOwnWords = (0 + ... + (IsOwn<Operands> ? wordsOfOne<Operands>() : 0)),
    kWords = (0 + ... +
              (Operands::source() == Source::Memory && Operands::access() == Access::Vector
                   ? wordsOfOne<Operands>()
                   : 0))
  };
  /// Whether random bits are among them, which take their time.
  enum : bool { kMakesBits = (false || ... || (Operands::source() == Source::Random)) };
  /// Whether one of them is a thread's own, and not among those of `Before`.
  template <class Operand, class... Before> static constexpr __device__ bool isAhead() {
    return IsOwn<Operand> && !(__is_base_of(Fragment<Operand, V>, Before) || ...);
  }
  template <class... Before> static constexpr __device__ int aheadWords() {
    return (0 + ... + (isAhead<Operands, Before...>() ? wordsOfOne<Operands>() : 0));
  }
  /// What loadAfter with Ahead leaves out.
  template <class... Before, class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void loadAhead(const Pointers &pointers, const Coord &coord,
                                            const Sizes &sizes) {
    (
        [&] {
          if constexpr (isAhead<Operands, Before...>())
            Fragment<Operands, V>::template load<Dim, Traffic::Reused>(
                static_cast<const Slot<Operands> &>(pointers).pointer, coord, sizes);
        }(),
        ...);
  }
  /// All, at coordinates where what is `before` has been loaded: what is there is copied.  Ahead:
  /// loadAhead has been called.
  template <bool Ahead, class Pointers, class Coord, class Sizes, class... Before>
  __device__ __forceinline__ void loadAfter(const Pointers &pointers, const Coord &coord,
                                            const Sizes &sizes, const Before &...before) {
    (
        [&] {
          using Mine = Fragment<Operands, V>;
          if constexpr ((__is_base_of(Mine, Before) || ...))
            (copyFrom<Mine>(before), ...);
          else if constexpr (!Ahead || !isAhead<Operands, Before...>())
            Mine::template load<Dim>(static_cast<const Slot<Operands> &>(pointers).pointer, coord,
                                     sizes);
        }(),
        ...);
  }
  /// What is a thread's own and has been loaded before, at the same coordinates, is copied;
  /// loadAhead of the same has brought the rest of that, and all else is read.
  template <class Pointers, class Coord, class Sizes, class... Before>
  __device__ __forceinline__ void loadOthers(const Pointers &pointers, const Coord &coord,
                                             const Sizes &sizes, const Before &...before) {
    (
        [&] {
          using Mine = Fragment<Operands, V>;
          if constexpr (IsOwn<Operands>)
            (copyFrom<Mine>(before), ...);
          else
            Mine::template load<Dim>(static_cast<const Slot<Operands> &>(pointers).pointer, coord,
                                     sizes);
        }(),
        ...);
  }

private:
  template <class Mine, class Before>
  __device__ __forceinline__ void copyFrom(const Before &before) {
    if constexpr (__is_base_of(Mine, Before))
      static_cast<Mine &>(*this) = before;
  }
  template <bool Memory, class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void loadWhere(const Pointers &pointers, const Coord &coord,
                                            const Sizes &sizes) {
    (
        [&] {
          if constexpr ((Operands::source() == Source::Memory) == Memory)
            Fragment<Operands, V>::template load<Dim>(
                static_cast<const Slot<Operands> &>(pointers).pointer, coord, sizes);
        }(),
        ...);
  }
};

/// The values that the scalar functions of a Spec have computed for one output.
template <class Operand, int V> struct Result {
  typename Operand::Value values[V];

  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void store(typename Operand::Pointer to, const Coord &coord,
                                        const Sizes &sizes) const {
    static_assert(Operand::access() == Access::Vector || Operand::access() == Access::Staged ||
                  Operand::access() == Access::Gather || Operand::access() == Access::Aligned);
    if constexpr (Operand::access() == Access::Vector || IsElement<Coord>) {
      Vector<typename Operand::Element, V> vector;
      vector.assign(values);
      vector.store(to + Operand::offset(coord, sizes));
    } else if constexpr (Operand::access() == Access::Staged) {
      Vector<typename Operand::Element, V> vector;
      vector.assign(values);
      vector.storeShared(to + Operand::offset(coord, sizes));
    } else if constexpr (Operand::access() == Access::Aligned) {
      Vector<typename Operand::Element, V> vector;
      vector.assign(values);
      auto *const at =
          pinned(rowStart<Operand, Dim>(to, coord, sizes) + coord.from) + coord.ahead;
      if (coord.begin == 0 && coord.end >= V)
        vector.store(at);
      else
        vector.storeSome(at, coord.begin, coord.end);
    } else {
#pragma unroll
      for (int i = 0; i < V; ++i) {
        if constexpr (IsPartial<Coord>)
          if (i < coord.begin || i >= coord.end)
            continue;
        Coord at = coord;
        at[Dim] += i;
        Vector<typename Operand::Element, 1> scalar;
        scalar.assign({values[i]});
        scalar.store(to + Operand::offset(at, sizes));
      }
    }
  }
};

/// An output that is written by rows: see rows.cuh.
template <class Operand> concept IsByRows = requires { typename Operand::Rows; };

/// All outputs of a list at V neighbouring coordinates along dimension Dim.
template <class Operands, int V, int Dim> struct Outputs;
template <class... Operands, int V, int Dim>
struct Outputs<List<Operands...>, V, Dim> : Result<Operands, V>... {
  template <class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void store(const Pointers &pointers, const Coord &coord,
                                        const Sizes &sizes) const {
    (
        [&] {
          const auto to = static_cast<const Slot<Operands> &>(pointers).pointer;
          const auto &result = static_cast<const Result<Operands, V> &>(*this);
          if constexpr (IsByRows<Operands>)
            storeRows<Dim, Operands, V>(
                result, static_cast<const Result<typename Operands::Rows, V> &>(*this), to, coord,
                sizes);
          else
            result.template store<Dim>(to, coord, sizes);
        }(),
        ...);
  }
};

} // namespace swage
