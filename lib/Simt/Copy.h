//===- Copy.h - What the copies that run beside the threads share ---------===//
#ifndef SWAGE_LIB_SIMT_COPY_H
#define SWAGE_LIB_SIMT_COPY_H

#include "Machine.h"

#include <functional>

namespace swage::simt {

constexpr unsigned kRankShift = 24; ///< of a shared address
constexpr SharedAddress kOffsetMask = (1u << kRankShift) - 1;

/// Where a copy into shared memory puts its bytes, and the mbarrier of that block that counts them.
struct CopyTarget {
  Block *block;
  SharedAddress to, mbarrier; ///< without rank
};

/// A copy into shared memory that completes on an mbarrier in every block it writes to.
class SignallingCopy : public AsyncOperation {
public:
  /// Resolves the addresses, tells the checker and poisons the destination; fails on what the
  /// hardware forbids.  `multicast`: blocks of the cluster, one bit each; 0: the block of `to`.
  /// `sharedBytes` are written to, `bytes` of them are counted.
  void begin(Thread &thread, const char *what, const void *code, Engine engine, SharedAddress to,
             unsigned sharedBytes, unsigned alignment, unsigned bytes, SharedAddress mbarrier,
             unsigned short multicast);
  void perform() final;

protected:
  using Visit = std::function<void(SharedAddress at, unsigned bytes)>;
  virtual void copyTo(const CopyTarget &target) = 0;
  /// The pieces of shared memory at `to` that it writes.
  virtual void forEachPiece(SharedAddress to, const Visit &visit) { visit(to, sharedBytes); }

  const char *what = nullptr;
  unsigned sharedBytes = 0, bytes = 0;
  std::vector<CopyTarget> targets;
  EngineOperation order;
};

/// A copy out of shared memory to global memory: it reads first, and writes some time later.
class BulkStore : public AsyncOperation {
public:
  /// As SignallingCopy::begin, for the source.
  void begin(Thread &thread, const char *what, const void *code, SharedAddress from,
             unsigned sharedBytes, unsigned alignment);
  void perform() final;
  /// Reads the source if that has not happened.
  void read();
  /// The thread has waited for the reading.
  void acquire(Thread &thread);

protected:
  using Visit = std::function<void(SharedAddress at, unsigned bytes)>;
  /// The pieces of shared memory that it needs.
  virtual void forEachPiece(const Visit &visit) { visit(from, sharedBytes); }
  /// From `block->shared` at `at` into `staged`.
  virtual void readFrom(const char *shared, SharedAddress at) = 0;
  virtual void write() = 0;

  const char *what = nullptr;
  unsigned sharedBytes = 0;
  SharedAddress from = 0; ///< without rank
  std::vector<char> staged;
  EngineOperation order;
  bool hasRead = false, isAcquired = false;
};

/// Tensor-map copies. (TensorCopy.cpp)
void tensorLoad(const TensorCopy *copy);
void tensorStore(const TensorCopy *copy);

/// Issues the store; it belongs to the thread's open group.
void issueStore(Thread &thread, std::shared_ptr<BulkStore> store);

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_COPY_H
