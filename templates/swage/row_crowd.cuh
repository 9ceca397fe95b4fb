// A crowd: the blocks of a row that are more than a cluster holds, all over the device.  They meet
// in global memory.
//
// Each block leaves the state of its part of the row in an entry, in words whose upper halves say
// that the lower ones are there.  So no write waits for another, and who looks has an entry as soon
// as it is written.  Memory holds anything before: an entry counts where all of its words say so,
// and the last block of the row takes that back from all of them.
//
// Nothing says that all blocks are on the device at once: other kernels may have a part of it, or
// it is smaller than the one that the schedule was made for.  So a block that has waited for long
// works out what is missing, and no block needs another one to begin.  A part's state is claimed
// first: one block alone writes it, and where results take the place of the row, no other block
// still reads the part when its own goes on.
#pragma once

#include "swage/row_parts.cuh"
#include "swage/tickets.cuh"

namespace swage::detail {

/// Looks at an entry, about half a microsecond each, after which a block works out what is missing.
enum : int { kPatience = 100 };

/// In the upper half of a word, that the lower one is there; and that a part has been claimed.  As
/// floats these are NaN that no instruction makes.
enum : unsigned long long { kThere = 0xffb5c3e7ull << 32, kClaimed = 0xffb5c3e7ff9a0d53ull };

/// What the blocks of a row leave for each other at one exchange: a word for each block that says
/// who has claimed its part, and the entries.
template <class Entry, int Blocks> struct CrowdEntries {
  enum : int { kWords = sizeof(Entry) / 4, kAll = Blocks * (1 + kWords) };
  struct Words {
    unsigned word[kWords];
  };
  unsigned long long *words;

  __device__ __forceinline__ bool claim(int part) const {
    return atomicExchange(words + part, static_cast<unsigned long long>(kClaimed)) != kClaimed;
  }
  __device__ __forceinline__ void write(int part, const Entry &entry) const {
    const auto all = __builtin_bit_cast(Words, entry);
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      storeRelaxed(at(part) + i, kThere | all.word[i]);
  }
  /// Whether it is there.
  __device__ __forceinline__ bool read(int part, Entry &entry) const {
    Words all;
    bool isThere = true;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const unsigned long long word = loadRelaxed(at(part) + i);
      all.word[i] = static_cast<unsigned>(word);
      isThere &= word >> 32 == kThere >> 32;
    }
    entry = __builtin_bit_cast(Entry, all);
    return isThere;
  }

private:
  __device__ __forceinline__ unsigned long long *at(int part) const {
    return words + Blocks + part * kWords;
  }
};

/// The blocks of a row: of a cluster, if there is more than one.
template <class Spec> struct RowBlocks {
  const int rank = rankInCluster<blocksPerRow<Spec>()>();

  __device__ __forceinline__ explicit RowBlocks(void *) {}
  template <class Stage, class T, class StateOf>
  __device__ __forceinline__ auto meet(T &count, char *exchange, const StateOf &stateOf) const {
    return stateOf(rank, count, exchange);
  }
  __device__ __forceinline__ void draw() {}
  __device__ __forceinline__ void leave() const {}
};

/// A crowd, whose memory is a part of `scratch`.
template <class Spec>
requires IsCrowd<Spec>
class RowBlocks<Spec> {
  template <class Stage>
  using Entry =
      typename RowTeam<Spec>::template Entry<StageStats<Spec, Stage>, typename Spec::Compute>;
  template <class Stage> using Entries = CrowdEntries<Entry<Stage>, blocksPerRow<Spec>()>;
  template <class... Stages> static constexpr __device__ int wordsOf(List<Stages...>) {
    return (0 + ... + int(Entries<Stages>::kAll));
  }
  enum : int {
    kBlocks = blocksPerRow<Spec>(),
    kWords = 1 + wordsOf(StagesOfRow<Spec>{}) ///< behind the tickets of those that leave
  };
  static_assert(kBlocks <= Spec::kThreads);

  unsigned long long *words;
  TicketBegin begin{};
  unsigned ticket = 0;

public:
  const int rank;

  __device__ __forceinline__ explicit RowBlocks(void *scratch)
      : words(static_cast<unsigned long long *>(scratch) +
              static_cast<long long>(blockIndex() / kBlocks) * kWords),
        rank(static_cast<int>(blockIndex() % kBlocks)) {
    if (threadIndex() == 0)
      begin = askTickets(words);
  }

  /// The state of the row.  `stateOf(part, count, exchange)` gives the block's threads that of a
  /// part, with its number of elements; `exchange`: shared memory of bytesOfExchange.
  template <class Stage, class T, class StateOf>
  __device__ __forceinline__ auto meet(T &count, char *exchange, const StateOf &stateOf) const {
    using S = StageStats<Spec, Stage>;
    const Entries<Stage> entries{words + 1 + wordsOf(StagesBefore<Spec, Stage>{})};
    auto *const missing = reinterpret_cast<unsigned *>(exchange), *const isOurs = missing + 1;
    exchange += kCrowdHead;
    auto *const all =
        reinterpret_cast<Entry<Stage> *>(exchange + RowTeam<Spec>::template exchangeBytes<S, T>());
    const int thread = static_cast<int>(threadIndex());
    bool isClaimed = thread == 0 && entries.claim(rank), has = thread >= kBlocks;
    bool works = true;
    for (int part = rank;;) {
      if (works) {
        T ofPart;
        const auto state = stateOf(part, ofPart, exchange);
        if (isClaimed) {
          // Its block may write on it from now on.
          if (part != rank)
            fenceGpu();
          entries.write(part, {state, ofPart});
        }
      }
#pragma unroll 1
      for (int look = 0; !has && look < kPatience; ++look) {
        has = entries.read(thread, all[thread]);
        if (!has)
          pause();
      }
      if (!barrierAny(!has))
        break;
      // Each block begins behind itself, so that they share what is missing.
      if (thread == 0)
        *missing = kBlocks;
      barrier();
      if (!has)
        atomicMinShared(sharedAddress(missing),
                        static_cast<unsigned>((thread - rank + kBlocks) % kBlocks));
      barrier();
      part = static_cast<int>(rank + *missing) % kBlocks;
      isClaimed = thread == 0 && entries.claim(part);
      if (thread == 0)
        *isOurs = isClaimed;
      barrier();
      works = *isOurs;
    }
    return mergeEntries<S, RowTeam<Spec>, kBlocks, false>(all, count);
  }

  /// After the last exchange.
  __device__ __forceinline__ void draw() {
    if (threadIndex() == 0) {
      beginTickets(words, begin);
      ticket = drawTicket(words);
    }
  }
  /// At the end, when the ticket has come.
  __device__ __forceinline__ void leave() const {
    if (threadIndex() >= kWarpSize || shuffleFrom(ticket, 0) != kBlocks - 1)
      return;
    for (int i = static_cast<int>(threadIndex()); i < kWords; i += kWarpSize)
      words[i] = 0;
  }
};

} // namespace swage::detail
