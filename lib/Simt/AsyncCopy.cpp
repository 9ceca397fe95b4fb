//===- AsyncCopy.cpp - Copies that run beside the threads -----------------===//
//
// cp.async, bulk copies and st.async.  A copy takes effect when it is performed: it reads its
// source then, so that a source that changes too early is seen, and unless copies are eager its
// destination holds poison from its issue on.
//
//===----------------------------------------------------------------------===//
#include "Copy.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

#define CODE SWAGE_SIMT_CALLER

static Checker *checkerOf(const Thread &thread) { return thread.home->cluster->checker.get(); }

static bool isEager() { return Worker::current().options().async == Asynchrony::Eager; }

[[noreturn]] static void bad(const Thread &thread, const void *code, std::string message) {
  Worker::current().fail(thread, FindingKind::BadInstruction, code, std::move(message));
}

//===----------------------------------------------------------------------===//
// Completion on mbarriers
//===----------------------------------------------------------------------===//

static SharedAddress addressIn(const Block &block, SharedAddress at) {
  return at | (block.rank + 1) << kRankShift;
}

static std::string endedEarly(const Block &block, const char *what) {
  return fmt::format("block {} has finished while {} was under way in its shared memory",
                     block.index, what);
}

void SignallingCopy::begin(Thread &thread, const char *name, const void *place, Engine engine,
                           SharedAddress to, unsigned sharedByteCount, unsigned alignment,
                           unsigned byteCount, SharedAddress mbarrier, unsigned short multicast) {
  issuer = &thread;
  code = place;
  signals = true;
  what = name;
  sharedBytes = sharedByteCount;
  bytes = byteCount;
  Cluster &cluster = *thread.home->cluster;
  if (multicast >> cluster.blocks.size())
    bad(thread, code,
        fmt::format("{} to blocks 0x{:x} of a cluster of {}", what, multicast,
                    cluster.blocks.size()));
  if (!multicast) {
    SharedPlace destination = sharedPlace(thread, to, sharedBytes, alignment, what, code);
    SharedPlace counter = sharedPlace(thread, mbarrier, 0, 1, what, code);
    if (destination.block != counter.block)
      bad(thread, code,
          fmt::format("{} into block {} with an mbarrier of block {}: both must be in one block",
                      what, destination.block->index, counter.block->index));
    targets.push_back({destination.block, destination.at, counter.at});
  } else {
    for (unsigned rank = 0; rank < cluster.blocks.size(); ++rank)
      if (multicast >> rank & 1) {
        Block &block = *cluster.blocks[rank];
        sharedPlace(thread, addressIn(block, to & kOffsetMask), sharedBytes, alignment, what, code);
        targets.push_back({&block, to & kOffsetMask, mbarrier & kOffsetMask});
      }
  }
  for (const CopyTarget &target : targets)
    mbarrierAt(thread, addressIn(*target.block, target.mbarrier), what, code);
  if (Checker *checker = cluster.checker.get()) {
    Thread *issuers[] = {&thread};
    order = checker->begin(engine, issuers, 1);
    for (const CopyTarget &target : targets) {
      const Mbarrier &counter =
          mbarrierAt(thread, addressIn(*target.block, target.mbarrier), what, code);
      if (engine != Engine::CopyAsync && !counter.fenced)
        Worker::current().fail(
            thread, FindingKind::MissingFence, code,
            fmt::format("{} completes on mbarrier 0x{:x}, whose initialisation the "
                        "copy engine may not see: mbarrierFenceInit is missing",
                        what, target.mbarrier),
            {{fmt::format("the initialisation by {}", counter.begin.thread->str()),
              counter.begin.code}});
      forEachPiece(target.to, [&](SharedAddress at, unsigned size) {
        checker->sharedAccess(order, thread, *target.block, at, size, true, what, code);
      });
    }
  }
  if (!isEager())
    for (const CopyTarget &target : targets)
      forEachPiece(target.to, [&](SharedAddress at, unsigned size) {
        std::memset(target.block->shared + at, kPoisonByte, size);
      });
}

void SignallingCopy::perform() {
  for (const CopyTarget &target : targets) {
    if (target.block->live == 0)
      Worker::current().fail(*issuer, FindingKind::BarrierMisuse, code,
                             endedEarly(*target.block, what) + ": nobody waited for it");
    copyTo(target);
    Mbarrier &mbarrier = mbarrierAt(*issuer, addressIn(*target.block, target.mbarrier), what, code);
    if (Checker *checker = checkerOf(*issuer))
      checker->complete(order, mbarrier.clock);
    arriveAtMbarrier(mbarrier, *issuer, 0, bytes, what, code);
  }
}

namespace {
class BulkLoad final : public SignallingCopy {
public:
  const void *from = nullptr;

protected:
  void copyTo(const CopyTarget &target) override {
    std::memcpy(target.block->shared + target.to, from, bytes);
  }
};

class BulkCopyShared final : public SignallingCopy {
public:
  using SignallingCopy::order;
  Block *source = nullptr;
  SharedAddress from = 0;

protected:
  void copyTo(const CopyTarget &target) override {
    if (source->live == 0)
      Worker::current().fail(*issuer, FindingKind::BarrierMisuse, code, endedEarly(*source, what));
    std::memmove(target.block->shared + target.to, source->shared + from, bytes);
  }
};

class StoreAsync final : public SignallingCopy {
public:
  char value[16];

protected:
  void copyTo(const CopyTarget &target) override {
    std::memcpy(target.block->shared + target.to, value, bytes);
  }
};
} // namespace

static void checkBulkBytes(const Thread &thread, unsigned bytes, const char *what,
                           const void *code) {
  if (bytes % 16 != 0)
    bad(thread, code, fmt::format("{} of {} bytes; needed: a multiple of 16", what, bytes));
}

static void checkHasClusters(const Thread &thread, const char *what, const void *code) {
  if (thread.clusterSize == 1)
    bad(thread, code, fmt::format("{} in a launch without clusters", what));
}

static void bulkLoad(SharedAddress to, const void *from, unsigned bytes, SharedAddress mbarrier,
                     unsigned short multicast) {
  const char *what = multicast ? "bulkLoadMulticast" : "bulkLoad";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  checkBulkBytes(thread, bytes, what, code);
  accessGlobal(thread, from, bytes, 16, false, what, code);
  auto copy = std::make_shared<BulkLoad>();
  copy->from = from;
  copy->begin(thread, what, code, Engine::BulkLoad, to, bytes, 16, bytes, mbarrier, multicast);
  Worker::current().issue(copy);
}

static void bulkCopyShared(SharedAddress to, SharedAddress from, unsigned bytes,
                           SharedAddress mbarrier) {
  constexpr const char *what = "bulkCopyShared";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  checkHasClusters(thread, what, code);
  checkBulkBytes(thread, bytes, what, code);
  SharedPlace source = sharedPlace(thread, from, bytes, 16, what, code);
  if (source.block != thread.home)
    bad(thread, code, fmt::format("{} from the memory of another block", what));
  auto copy = std::make_shared<BulkCopyShared>();
  copy->source = source.block;
  copy->from = source.at;
  copy->begin(thread, what, code, Engine::BulkLoad, to, bytes, 16, bytes, mbarrier, 0);
  if (Checker *checker = checkerOf(thread))
    checker->sharedAccess(copy->order, thread, *source.block, source.at, bytes, false, what, code);
  Worker::current().issue(copy);
}

static void storeClusterAsync(SharedAddress to, const void *value, unsigned bytes,
                              SharedAddress mbarrier) {
  constexpr const char *what = "storeClusterAsync";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  checkHasClusters(thread, what, code);
  auto copy = std::make_shared<StoreAsync>();
  std::memcpy(copy->value, value, bytes);
  copy->begin(thread, what, code, Engine::CopyAsync, to, bytes, bytes, bytes, mbarrier, 0);
  Worker::current().issue(copy);
}

//===----------------------------------------------------------------------===//
// Bulk groups
//===----------------------------------------------------------------------===//

void BulkStore::begin(Thread &thread, const char *name, const void *place, SharedAddress source,
                      unsigned sharedByteCount, unsigned alignment) {
  issuer = &thread;
  code = place;
  what = name;
  sharedBytes = sharedByteCount;
  SharedPlace resolved = sharedPlace(thread, source, sharedBytes, alignment, what, code);
  if (resolved.block != thread.home)
    bad(thread, code, fmt::format("{} from the memory of another block", what));
  from = resolved.at;
  if (Checker *checker = checkerOf(thread)) {
    Thread *issuers[] = {&thread};
    order = checker->begin(Engine::BulkStore, issuers, 1);
    forEachPiece([&](SharedAddress at, unsigned size) {
      checker->sharedAccess(order, thread, *thread.home, at, size, false, what, code);
    });
  }
}

void BulkStore::read() {
  if (hasRead)
    return;
  hasRead = true;
  Block &block = *issuer->home;
  if (block.live == 0)
    Worker::current().fail(*issuer, FindingKind::BarrierMisuse, code,
                           endedEarly(block, what) + ": bulkWaitRead is missing");
  readFrom(block.shared, from);
}

void BulkStore::perform() {
  read();
  write();
  staged = {};
}

void BulkStore::acquire(Thread &thread) {
  if (Checker *checker = checkerOf(thread); checker && !isAcquired)
    checker->acquire(thread, order);
  isAcquired = true;
}

namespace {
class LinearStore final : public BulkStore {
public:
  void *to = nullptr;

protected:
  void readFrom(const char *shared, SharedAddress at) override {
    staged.assign(shared + at, shared + at + sharedBytes);
  }
  void write() override { std::memcpy(to, staged.data(), staged.size()); }
};
} // namespace

void swage::simt::issueStore(Thread &thread, std::shared_ptr<BulkStore> store) {
  thread.bulkStores.open.push_back(store);
  Worker::current().issue(store);
}

static void bulkStore(void *to, SharedAddress from, unsigned bytes) {
  constexpr const char *what = "bulkStore";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  checkBulkBytes(thread, bytes, what, code);
  accessGlobal(thread, to, bytes, 16, true, what, code);
  auto store = std::make_shared<LinearStore>();
  store->to = to;
  store->begin(thread, what, code, from, bytes, 16);
  issueStore(thread, std::move(store));
}

static void commit(AsyncGroups &groups) {
  Worker::thread().home->hasCopies = true;
  groups.committed.push_back(std::move(groups.open));
  groups.open.clear();
}

static void bulkCommit() { commit(Worker::thread().bulkStores); }

/// Groups of one thread that have read their sources and are kept from writing, at most.
static constexpr size_t kGroupsKept = 64;

static void bulkWait(unsigned pending, bool onlyReads) {
  Thread &thread = Worker::thread();
  Worker &worker = Worker::current();
  auto &groups = thread.bulkStores.committed;
  size_t count = groups.size() > pending ? groups.size() - pending : 0;
  for (size_t i = 0; i < count; ++i)
    for (AsyncRef &operation : groups[i]) {
      auto &store = static_cast<BulkStore &>(*operation);
      if (onlyReads)
        store.read();
      else
        worker.finish(store);
      store.acquire(thread);
    }
  // Of what is done nothing is left to wait for.
  auto isDone = [](const AsyncRef &operation) { return operation->done; };
  for (; count; --count, groups.pop_front()) {
    auto &oldest = groups.front();
    if (count > kGroupsKept)
      for (AsyncRef &operation : oldest)
        worker.finish(*operation);
    if (!std::all_of(oldest.begin(), oldest.end(), isDone))
      break;
  }
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

namespace {
/// Copies of one thread in one group.
class CopyAsync final : public AsyncOperation {
public:
  struct Part {
    char *to;
    const void *from;
    unsigned bytes, sourceBytes;

    void perform() const {
      std::memcpy(to, from, sourceBytes);
      std::memset(to + sourceBytes, 0, bytes - sourceBytes);
    }
  };

  void perform() override {
    for (const Part &part : parts)
      part.perform();
  }

  std::vector<Part> parts;
  EngineOperation order; ///< of the last one, if checked: those of a thread are done in order
};

/// The arrival when all earlier copies of a thread are done.
class CopyAsyncArrival final : public AsyncOperation {
public:
  void perform() override {
    Worker &worker = Worker::current();
    for (AsyncRef &copy : copies)
      worker.finish(*copy);
    if (home->live == 0)
      return;
    Mbarrier &arrivedAt = mbarrierAt(*issuer, addressIn(*home, mbarrier), what, code);
    if (Checker *checker = checkerOf(*issuer))
      checker->complete(order, arrivedAt.clock);
    arriveAtMbarrier(arrivedAt, *issuer, 1, 0, what, code);
  }

  const char *what = nullptr;
  Block *home = nullptr;
  SharedAddress mbarrier = 0;
  std::vector<AsyncRef> copies;
  EngineOperation order; ///< behind all of them, those that were waited for before too
};
} // namespace

static void copyAsync(SharedAddress to, const void *from, unsigned bytes, unsigned sourceBytes) {
  constexpr const char *what = "copyAsync";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  if (sourceBytes > bytes)
    bad(thread, code,
        fmt::format("{} of {} bytes from {} bytes of the source", what, bytes, sourceBytes));
  if (sourceBytes)
    accessGlobal(thread, from, sourceBytes, bytes, false, what, code);
  SharedPlace place = sharedPlace(thread, to, bytes, bytes, what, code);
  if (place.block != thread.home)
    bad(thread, code, fmt::format("{} into the memory of another block", what));
  CopyAsync::Part part{place.data(), from, bytes, sourceBytes};
  Checker *checker = checkerOf(thread);
  bool eager = isEager();
  if (eager)
    part.perform();
  else
    std::memset(part.to, kPoisonByte, bytes);
  if (eager && !checker)
    return;
  auto &open = thread.copies.open;
  if (open.empty() || (open.back()->done && !eager)) {
    auto copies = std::make_shared<CopyAsync>();
    copies->issuer = &thread;
    copies->code = code;
    open.push_back(copies);
    Worker::current().issue(copies);
  }
  auto &copies = static_cast<CopyAsync &>(*open.back());
  if (!eager)
    copies.parts.push_back(part);
  if (checker) {
    Thread *issuers[] = {&thread};
    copies.order = checker->begin(Engine::CopyAsync, issuers, 1);
    checker->sharedAccess(copies.order, thread, *place.block, place.at, bytes, true, what, code);
  }
}

/// Whether copies are kept until something waits for them.
static bool keepsCopies(const Thread &thread) { return checkerOf(thread) || !isEager(); }

static void copyAsyncCommit() {
  Thread &thread = Worker::thread();
  if (keepsCopies(thread))
    commit(thread.copies);
}

static void copyAsyncWait(unsigned pending) {
  Thread &thread = Worker::thread();
  auto &groups = thread.copies.committed;
  for (; groups.size() > pending; groups.pop_front())
    for (AsyncRef &operation : groups.front()) {
      Worker::current().finish(*operation);
      if (Checker *checker = checkerOf(thread))
        checker->acquire(thread, static_cast<CopyAsync &>(*operation).order);
    }
}

static void copyAsyncArrive(SharedAddress mbarrier) {
  constexpr const char *what = "copyAsyncArrive";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  mbarrierAt(thread, mbarrier, what, code);
  if (sharedPlace(thread, mbarrier, 0, 1, what, code).block != thread.home)
    bad(thread, code, fmt::format("{} at an mbarrier of another block", what));
  auto arrival = std::make_shared<CopyAsyncArrival>();
  arrival->issuer = &thread;
  arrival->code = code;
  arrival->signals = true;
  arrival->what = what;
  arrival->home = thread.home;
  arrival->mbarrier = mbarrier & kOffsetMask;
  for (const auto &group : thread.copies.committed)
    arrival->copies.insert(arrival->copies.end(), group.begin(), group.end());
  auto &open = thread.copies.open;
  arrival->copies.insert(arrival->copies.end(), open.begin(), open.end());
  if (Checker *checker = checkerOf(thread)) {
    Thread *issuers[] = {&thread};
    arrival->order = checker->begin(Engine::CopyAsync, issuers, 1);
  }
  Worker::current().issue(arrival);
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

static void fenceProxyAsync() {
  Thread &thread = Worker::thread();
  if (Checker *checker = checkerOf(thread)) {
    fenceMbarriers(thread, false);
    checker->fenceProxyAsync(thread);
  }
}

void swage::simt::addCopyFunctions(Abi &abi) {
  abi.storeClusterAsync = storeClusterAsync;
  abi.copyAsync = copyAsync;
  abi.copyAsyncCommit = copyAsyncCommit;
  abi.copyAsyncWait = copyAsyncWait;
  abi.copyAsyncArrive = copyAsyncArrive;
  abi.bulkLoad = bulkLoad;
  abi.bulkStore = bulkStore;
  abi.bulkCopyShared = bulkCopyShared;
  abi.tensorLoad = tensorLoad;
  abi.tensorStore = tensorStore;
  abi.bulkCommit = bulkCommit;
  abi.bulkWait = bulkWait;
  abi.fenceProxyAsync = fenceProxyAsync;
}
