// What a block of permute_boxes.cuh has of each input.
#pragma once

#include "swage/box_places.cuh"

namespace swage {
namespace detail {

/// What a block has of an input: nothing but the pointer where that lies as the outputs do.
template <class Spec, class In, Access Kind = In::access()> struct BoxInput {
  const typename In::Element *from;
  static constexpr __device__ int bytes() { return 0; }

  template <class Sizes>
  __device__ __forceinline__ void load(char *, const typename In::Element *given,
                                       const BoxOfBlock<Spec> &, const Sizes &) {
    from = given;
  }
  __device__ __forceinline__ void deposit() const {}
};

template <class Spec, class In> struct BoxInput<Spec, In, Access::Boxed> {
  using Part = PartOfBox<Spec, In>;
  using Chunk = Vector<signed char, 16>;
  enum : int {
    kChunks = Part::chunks(),
    kAll = Part::readRuns() * kChunks,
    kSteps = (kAll + Spec::kThreads - 1) / Spec::kThreads
  };
  char *arena;
  int begin; ///< of the box's first element in the arena, less than 16
  Chunk chunks[kSteps];
  int places[kSteps];
  static constexpr __device__ int bytes() { return Part::bytes() + PlaceTable<Spec, In>::bytes(); }
  __device__ __forceinline__ PlaceTable<Spec, In> table() const { return {arena + Part::bytes()}; }

  /// From memory into registers, and from there into shared memory.
  template <class Sizes>
  __device__ __forceinline__ void load(char *to, const typename In::Element *from,
                                       const BoxOfBlock<Spec> &box, const Sizes &sizes) {
    arena = to;
    begin = In::kReadAligned
                ? 0
                : skewOf<16>(reinterpret_cast<const char *>(from + In::offset(box.origin, sizes)));
    int length = Part::kSize;
    forEach<0, In::kReadRun>([&](auto k) {
      if constexpr (constexpr int dim = Part::readDim(k); Part::step(dim) != 0)
        length *= box.read[dim];
    });
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const unsigned number = threadIndex() + step * Spec::kThreads;
      const int ahead = static_cast<int>(number % kChunks) * 16;
      unsigned rest = number / kChunks, place = begin;
      // Where all boxes are whole so are all of their runs, whatever the coordinates.
      bool exists = (!Part::isEven() && Part::outermost() >= 0) ||
                    (step + 1) * Spec::kThreads <= kAll || number < kAll;
      auto at = box.origin;
      forEach<In::kReadRun, Part::kRank>([&](auto k) {
        if constexpr (constexpr int dim = Part::readDim(k); Part::reach(dim) > 1) {
          // Beyond the last dimension's end nothing exists.
          const int coordinate =
              static_cast<int>(dim == Part::outermost() ? rest : rest % Part::reach(dim));
          rest /= Part::reach(dim);
          at[dim] += coordinate;
          place += coordinate * Part::step(dim);
          exists = exists && (Part::isEven() || coordinate < box.read[dim]);
        }
      });
      const int phase = In::kReadAligned ? 0 : place % 16;
      exists = exists && (Part::isEven() || ahead < phase + length);
      places[step] = exists ? static_cast<int>(place) - phase + ahead : -1;
      if (exists)
        chunks[step].template fetchAround<In::traffic()>(
            reinterpret_cast<const signed char *>(from + In::offset(at, sizes)) - phase + ahead,
            phase - ahead, phase + length - ahead);
    }
  }
  __device__ __forceinline__ void deposit() const {
    table().fill();
    constexpr int kPiece = In::kSkewed ? Part::pad() : 16;
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      if (places[step] >= 0) {
#pragma unroll
        for (int byte = 0; byte < 16; byte += kPiece)
          storeShared<kPiece>(arena + Part::skewed(places[step]) + byte,
                              chunks[step].words + byte / 4);
      }
  }
};

template <class Spec, class Operands> struct BoxInputs;
template <class Spec, class... Operands>
struct BoxInputs<Spec, List<Operands...>> : BoxInput<Spec, Operands>... {
  enum : int { kBytes = (0 + ... + BoxInput<Spec, Operands>::bytes()) };

  template <class Pointers, class Sizes>
  __device__ __forceinline__ void read(const Pointers &pointers, const BoxOfBlock<Spec> &box,
                                       const Sizes &sizes) {
    static_assert(kBytes <= kMaxDeclaredArena, "as IR/BoxLayout.h says of boxes");
    char *at = arena<kBytes>();
    ((BoxInput<Spec, Operands>::load(at, static_cast<const Slot<Operands> &>(pointers).pointer, box,
                                     sizes),
      at += BoxInput<Spec, Operands>::bytes()),
     ...);
    (BoxInput<Spec, Operands>::deposit(), ...);
  }
};

} // namespace detail
} // namespace swage
