// A crowd: blocks of a launch that are more than a cluster holds, all over the device.  They meet
// in global memory.
//
// Each block leaves what it knows of its part in entries, in words whose upper halves say that the
// lower ones are there.  So no write waits for another, and who looks has an entry as soon as it is
// written.  Memory holds anything before: an entry counts where all of its words say so, and the
// last block takes that back from all of them.
//
// Nothing says that all blocks are on the device at once: other kernels may have a part of it, or
// it is smaller than the one that the schedule was made for.  So a block that has waited for long
// works out what is missing, and no block needs another one to begin.  A part's state is claimed
// first: one block alone writes it, and where results take the place of what is read, no other
// block still reads the part when its own goes on.
#pragma once

#include "swage/tickets.cuh"

namespace swage::detail {

/// Looks at an entry, about half a microsecond each, after which a block works out what is missing.
enum : int { kPatience = 100 };

/// In the upper half of a word, that the lower one is there; and that a part has been claimed.  As
/// floats these are NaN that no instruction makes.
enum : unsigned long long { kThere = 0xffb5c3e7ull << 32, kClaimed = 0xffb5c3e7ff9a0d53ull };

/// What the blocks leave for each other at one exchange: a word for each block that says who has
/// claimed its part, and its entries of so many positions, word by word.
template <class Entry, int Blocks, int Positions = 1> struct CrowdEntries {
  enum : int { kWords = sizeof(Entry) / 4, kAll = Blocks * (1 + kWords * Positions) };
  struct Words {
    unsigned word[kWords];
  };
  unsigned long long *words;

  __device__ __forceinline__ bool claim(int part) const {
    return atomicExchange(words + part, static_cast<unsigned long long>(kClaimed)) != kClaimed;
  }
  __device__ __forceinline__ void write(int part, const Entry &entry, int position = 0) const {
    const auto all = __builtin_bit_cast(Words, entry);
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      storeRelaxed(at(part, i, position), kThere | all.word[i]);
  }
  /// Whether it is there.
  __device__ __forceinline__ bool read(int part, Entry &entry, int position = 0) const {
    Words all;
    bool isThere = true;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const unsigned long long word = loadRelaxed(at(part, i, position));
      all.word[i] = static_cast<unsigned>(word);
      isThere &= word >> 32 == kThere >> 32;
    }
    entry = __builtin_bit_cast(Entry, all);
    return isThere;
  }

private:
  __device__ __forceinline__ unsigned long long *at(int part, int word, int position) const {
    return words + Blocks + (part * kWords + word) * Positions + position;
  }
};

/// Who of the crowd leaves last, for one thread of each block: tickets in a word of their memory.
struct CrowdExit {
  unsigned long long *word;
  TicketBegin begin{};
  unsigned ticket = 0;

  __device__ __forceinline__ void ask() { begin = askTickets(word); }
  /// After the last exchange.
  __device__ __forceinline__ void draw() {
    beginTickets(word, begin);
    ticket = drawTicket(word);
  }
};

/// Words of shared memory that meetCrowd takes; `kClaimedWord` is left to `work`.
enum : int { kMissingWord = 0, kOursWord = 1, kClaimedWord = 2, kCrowdHead = 16 };

/// What a block does until each of its threads has what it looks for.  `work(part, isClaimed)`
/// works a part out; thread 0 knows whether the block is the one that writes it.  `look(begins)`
/// says whether the thread has all, `eachMissing(f)` calls f(part) for what it has not; where it
/// begins it has nothing, so that nothing takes registers beside the work.  `head`: of kCrowdHead
/// bytes.
template <int Blocks, class Entries, class Work, class Look, class EachMissing>
__device__ __forceinline__ void meetCrowd(const Entries &entries, int rank, unsigned *head,
                                          const Work &work, const Look &look,
                                          const EachMissing &eachMissing) {
  const bool isFirst = threadIndex() == 0;
  bool isClaimed = isFirst && entries.claim(rank), works = true;
  for (int part = rank;;) {
    if (works)
      work(part, isClaimed);
    bool hasAll = false;
#pragma unroll 1
    for (int looks = 0; !hasAll && looks < kPatience; ++looks) {
      hasAll = look(looks == 0);
      if (!hasAll)
        pause();
    }
    if (!barrierAny(!hasAll))
      return;
    // Each block begins behind itself, so that they share what is missing.
    if (isFirst)
      head[kMissingWord] = Blocks;
    barrier();
    eachMissing([&](int of) {
      atomicMinShared(sharedAddress(head + kMissingWord),
                      static_cast<unsigned>((of - rank + Blocks) % Blocks));
    });
    barrier();
    part = static_cast<int>(rank + head[kMissingWord]) % Blocks;
    isClaimed = isFirst && entries.claim(part);
    if (isFirst)
      head[kOursWord] = isClaimed;
    barrier();
    works = head[kOursWord];
  }
}

} // namespace swage::detail
