//===- Mbarrier.cpp - Barriers in shared memory ---------------------------===//
//
// As the PTX manual has them ("mbarrier"): a phase is over when no arrivals are pending and as many
// bytes have come as were expected; bytes may come before they are expected.  Their state is beside
// shared memory (Machine.h); the eight bytes hold a constant, so that an mbarrier that something
// else was written over is noticed.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

#define CODE SWAGE_SIMT_CALLER

static constexpr unsigned kMaxCount = (1u << 20) - 1; ///< of arrivals and of bytes
static constexpr unsigned kBytes = 8;
static constexpr SharedAddress kOffsetMask = 0xffffff;
/// What an initialised mbarrier's bytes hold: NaNs for whoever takes them for floats.
static constexpr uint64_t kMark = 0xffff'a55a'ffff'5aa5;

static std::vector<RelatedPlace>
related(std::initializer_list<std::pair<const char *, Event>> events) {
  std::vector<RelatedPlace> places;
  for (const auto &[what, event] : events)
    if (event.thread)
      places.push_back({fmt::format("{} by {}", what, event.thread->str()), event.code});
  return places;
}

static bool isStrict() { return Worker::current().options().strict; }

static Event waitOf(const Thread &thread) { return {&thread, thread.wait.what, thread.wait.code}; }

/// "mbarrier 0x418 of block 3"
static std::string nameOf(const Thread &thread, const Block &block, SharedAddress at) {
  std::string name = fmt::format("mbarrier 0x{:x}", at);
  return &block == thread.home ? name : fmt::format("{} of block {}", name, block.index);
}

[[noreturn]] static void misuse(Thread &thread, const void *code, std::string message,
                                std::vector<RelatedPlace> places = {}) {
  Worker::current().fail(thread, FindingKind::BarrierMisuse, code, std::move(message),
                         std::move(places));
}

/// The place of an mbarrier, which may hold none.
static SharedPlace placeOf(Thread &thread, SharedAddress at, bool ownBlock, const char *what,
                           const void *code) {
  if (at % kBytes != 0)
    misuse(thread, code,
           fmt::format("{}: the mbarrier address 0x{:x} is not a multiple of {}", what,
                       at & kOffsetMask, kBytes));
  SharedPlace place = sharedPlace(thread, at, kBytes, kBytes, what, code);
  if (ownBlock && place.block != thread.home)
    misuse(thread, code,
           fmt::format("{}: {} belongs to another block, which alone may do this", what,
                       nameOf(thread, *place.block, place.at)));
  return place;
}

/// The valid mbarrier there.
static Mbarrier &find(Thread &thread, const SharedPlace &place, const char *what,
                      const void *code) {
  auto found = place.block->mbarriers.find(place.at);
  if (found == place.block->mbarriers.end())
    misuse(thread, code,
           fmt::format("{}: {} is not initialised", what, nameOf(thread, *place.block, place.at)));
  Mbarrier &mbarrier = found->second;
  if (!mbarrier.valid)
    misuse(thread, code,
           fmt::format("{}: {} is invalidated", what, nameOf(thread, *place.block, place.at)),
           related({{"the invalidation", mbarrier.end}}));
  if (std::memcmp(place.data(), &kMark, kBytes) != 0)
    misuse(thread, code,
           fmt::format("{}: something was written over {}", what,
                       nameOf(thread, *place.block, place.at)),
           related({{"the initialisation", mbarrier.begin}}));
  return mbarrier;
}

/// An mbarrier operation of a thread: ordered with the others on it, but not with its
/// initialisation and end, nor with what else is done with its bytes.
static Mbarrier &use(Thread &thread, SharedAddress at, bool ownBlock, const char *what,
                     const void *code) {
  SharedPlace place = placeOf(thread, at, ownBlock, what, code);
  Mbarrier &mbarrier = find(thread, place, what, code);
  if (Checker *checker = thread.home->cluster->checker.get())
    checker->sharedAtomic(thread, *place.block, place.at, kBytes, what, code);
  return mbarrier;
}

Mbarrier &swage::simt::mbarrierAt(Thread &thread, SharedAddress at, const char *what,
                                  const void *code) {
  return find(thread, placeOf(thread, at, false, what, code), what, code);
}

std::vector<RelatedPlace> swage::simt::historyOf(const Mbarrier &mbarrier) {
  return related({{"the last arrival", mbarrier.arrival},
                  {"the last bytes expected", mbarrier.expectation},
                  {"the initialisation", mbarrier.begin}});
}

/// Its phase is over: those that wait for it go on.
static void advance(Mbarrier &mbarrier, Thread &by, const char *what, const void *code) {
  if (!mbarrier.woken.empty()) {
    const Thread &late = *mbarrier.woken.back();
    misuse(
        by, code,
        fmt::format("{}: phase {} of an mbarrier is over before {} has seen the end of phase {}: "
                    "it may wait forever",
                    what, mbarrier.phase, late.str(), mbarrier.phase - 1),
        related({{"the initialisation", mbarrier.begin}}));
  }
  ++mbarrier.phase;
  mbarrier.pending = mbarrier.count;
  mbarrier.completed = mbarrier.clock;
  mbarrier.woken = std::move(mbarrier.waiting);
  mbarrier.waiting.clear();
  // The first that waited runs first: it is taken from the end of `woken`.
  std::reverse(mbarrier.woken.begin(), mbarrier.woken.end());
  Worker &worker = Worker::current();
  bool forward = worker.options().order == Order::Forward;
  for (size_t i = 0, count = mbarrier.woken.size(); i < count; ++i)
    worker.wake(*mbarrier.woken[forward ? i : count - 1 - i]);
}

static void expect(Mbarrier &mbarrier, Thread &thread, unsigned bytes, const char *what,
                   const void *code) {
  if (mbarrier.transactions + bytes > kMaxCount)
    misuse(thread, code,
           fmt::format("{}: {} bytes expected by one phase of an mbarrier; allowed: {}", what,
                       mbarrier.transactions + bytes, kMaxCount),
           related({{"bytes expected before", mbarrier.expectation},
                    {"the initialisation", mbarrier.begin}}));
  mbarrier.transactions += bytes;
  mbarrier.expectation = {&thread, what, code};
}

void swage::simt::arriveAtMbarrier(Mbarrier &mbarrier, Thread &by, unsigned arrivals,
                                   int64_t bytesArrived, const char *what, const void *code) {
  if (arrivals > mbarrier.pending) {
    std::string message =
        mbarrier.pending
            ? fmt::format("{}: {} arrivals where {} of {} are pending", what, arrivals,
                          mbarrier.pending, mbarrier.count)
            : fmt::format("{}: all {} arrivals of phase {} have happened, and {} bytes have yet to "
                          "come: nobody has waited for them",
                          what, mbarrier.count, mbarrier.phase, mbarrier.transactions);
    misuse(by, code, std::move(message),
           related(
               {{"the arrival before", mbarrier.arrival}, {"the initialisation", mbarrier.begin}}));
  }
  mbarrier.pending -= arrivals;
  if (arrivals)
    mbarrier.arrival = {&by, what, code};
  mbarrier.transactions -= bytesArrived;
  if (mbarrier.transactions < -int64_t(kMaxCount))
    misuse(by, code,
           fmt::format("{}: {} bytes came to one phase of an mbarrier before they were expected; "
                       "allowed: {}",
                       what, -mbarrier.transactions, kMaxCount),
           related({{"bytes expected before", mbarrier.expectation},
                    {"the initialisation", mbarrier.begin}}));
  if (mbarrier.pending != 0)
    return;
  if (mbarrier.transactions == 0)
    advance(mbarrier, by, what, code);
  else if (mbarrier.transactions < 0)
    misuse(by, code,
           fmt::format("{}: {} bytes more than expected came to phase {} of an mbarrier, which is "
                       "never over now",
                       what, -mbarrier.transactions, mbarrier.phase),
           historyOf(mbarrier));
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

static void mbarrierInit(SharedAddress at, unsigned arrivals) {
  constexpr const char *what = "mbarrierInit";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  SharedPlace place = placeOf(thread, at, true, what, code);
  if (arrivals == 0 || arrivals > kMaxCount)
    misuse(thread, code,
           fmt::format("{}: {} arrivals a phase; allowed: 1 to {}", what, arrivals, kMaxCount));
  Mbarrier &mbarrier = place.block->mbarriers[place.at];
  if (!mbarrier.waiting.empty())
    misuse(thread, code,
           fmt::format("{}: {} is initialised again while {} waits for it", what,
                       nameOf(thread, *place.block, place.at), mbarrier.waiting.front()->str()),
           related({{"the first initialisation", mbarrier.begin},
                    {"the wait", waitOf(*mbarrier.waiting.front())}}));
  // Undefined by the manual, but it works.
  if (isStrict() && mbarrier.valid)
    misuse(thread, code,
           fmt::format("{}: {} is initialised again without mbarrierInvalidate", what,
                       nameOf(thread, *place.block, place.at)),
           related({{"the first initialisation", mbarrier.begin}}));
  if (Checker *checker = thread.home->cluster->checker.get())
    checker->sharedAccess(thread, *place.block, place.at, kBytes, true, what, code);
  mbarrier = Mbarrier();
  mbarrier.count = mbarrier.pending = arrivals;
  mbarrier.valid = true;
  mbarrier.begin = {&thread, what, code};
  std::memcpy(place.data(), &kMark, kBytes);
}

static void mbarrierInvalidate(SharedAddress at) {
  constexpr const char *what = "mbarrierInvalidate";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  SharedPlace place = placeOf(thread, at, true, what, code);
  Mbarrier &mbarrier = find(thread, place, what, code);
  if (!mbarrier.waiting.empty())
    misuse(thread, code,
           fmt::format("{}: {} waits for {}", what, mbarrier.waiting.front()->str(),
                       nameOf(thread, *place.block, place.at)),
           related({{"the wait",
                     {mbarrier.waiting.front(), "", mbarrier.waiting.front()->wait.code}}}));
  if (Checker *checker = thread.home->cluster->checker.get())
    checker->sharedAccess(thread, *place.block, place.at, kBytes, true, what, code);
  mbarrier.valid = false;
  mbarrier.end = {&thread, what, code};
  std::memset(place.data(), kPoisonByte, kBytes);
}

void swage::simt::fenceMbarriers(Thread &thread, bool onlyOwn) {
  for (auto &[at, mbarrier] : thread.home->mbarriers)
    if (!onlyOwn || mbarrier.begin.thread == &thread)
      mbarrier.fenced = true;
}

static void mbarrierFenceInit() { fenceMbarriers(Worker::thread(), true); }

static void arrive(SharedAddress at, unsigned arrivals, const char *what, const void *code,
                   bool expects, unsigned bytes) {
  Thread &thread = Worker::thread();
  Mbarrier &mbarrier = use(thread, at, false, what, code);
  if (arrivals == 0)
    misuse(thread, code, fmt::format("{}: 0 arrivals; allowed: 1 to {}", what, kMaxCount));
  if (expects)
    expect(mbarrier, thread, bytes, what, code);
  if (Checker *checker = thread.home->cluster->checker.get())
    checker->release(thread, mbarrier.clock);
  arriveAtMbarrier(mbarrier, thread, arrivals, 0, what, code);
}

static void mbarrierArrive(SharedAddress at, unsigned arrivals) {
  arrive(at, arrivals, "mbarrierArrive", CODE, false, 0);
}

static void mbarrierArriveExpect(SharedAddress at, unsigned bytes) {
  arrive(at, 1, "mbarrierArriveExpect", CODE, true, bytes);
}

static void mbarrierExpect(SharedAddress at, unsigned bytes) {
  constexpr const char *what = "mbarrierExpect";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  expect(use(thread, at, false, what, code), thread, bytes, what, code);
}

/// Whether the phase of this parity, the present one or the one before, is over.
static bool isOver(const Mbarrier &mbarrier, Thread &thread, unsigned parity, const char *what,
                   const void *code) {
  // The manual knows 0 and 1 only; the hardware takes the lowest bit.
  if (isStrict() && parity > 1)
    misuse(thread, code, fmt::format("{}: parity {}; a phase has parity 0 or 1", what, parity),
           related({{"the initialisation", mbarrier.begin}}));
  return (mbarrier.phase & 1) != (parity & 1);
}

static void acquire(Thread &thread, const Mbarrier &mbarrier) {
  if (Checker *checker = thread.home->cluster->checker.get())
    checker->acquire(thread, mbarrier.completed);
}

static bool mbarrierTest(SharedAddress at, unsigned parity) {
  constexpr const char *what = "mbarrierTest";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  const Mbarrier &mbarrier = use(thread, at, true, what, code);
  if (!isOver(mbarrier, thread, parity, what, code))
    return false;
  acquire(thread, mbarrier);
  return true;
}

static void mbarrierWait(SharedAddress at, unsigned parity) {
  constexpr const char *what = "mbarrierWait";
  const void *code = CODE;
  Thread &thread = Worker::thread();
  Mbarrier &mbarrier = use(thread, at, true, what, code);
  if (!isOver(mbarrier, thread, parity, what, code)) {
    mbarrier.waiting.push_back(&thread);
    Wait wait;
    wait.kind = Wait::For::Mbarrier;
    wait.what = what;
    wait.code = code;
    wait.a = at & kOffsetMask;
    wait.b = parity & 1;
    Worker::current().suspend(wait);
    auto &woken = mbarrier.woken;
    auto self = std::find(woken.rbegin(), woken.rend(), &thread);
    if (self != woken.rend())
      woken.erase(std::next(self).base());
  }
  acquire(thread, mbarrier);
}

void swage::simt::addMbarrierFunctions(Abi &abi) {
  abi.mbarrierInit = mbarrierInit;
  abi.mbarrierInvalidate = mbarrierInvalidate;
  abi.mbarrierFenceInit = mbarrierFenceInit;
  abi.mbarrierArrive = mbarrierArrive;
  abi.mbarrierExpect = mbarrierExpect;
  abi.mbarrierArriveExpect = mbarrierArriveExpect;
  abi.mbarrierTest = mbarrierTest;
  abi.mbarrierWait = mbarrierWait;
}
