//===- SelectShelvedRowSchedule.cpp - Rows in shared memory ---------------===//
//
// Part of --swage-select-schedule: rows that wait in shared memory between two walks.
//
//===----------------------------------------------------------------------===//

#include "RowSelection.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace mlir;
using namespace swage;

/// Elements of a row of which a multiprocessor's registers hold two, where vectors are aligned.
constexpr int64_t kLongElements = 16384;
/// Elements of a row of which a multiprocessor's registers hold two.
constexpr int64_t kPairElements = 18432;
/// The least bytes of a part of a row.
constexpr int64_t kLeastPart = 12 << 10;
/// Bytes of rows that a multiprocessor's registers hold beside what threads need.
constexpr int64_t kHeldInRegisters = 64 << 10;

/// Rows that wait in shared memory, all of them or `steps` steps.
SelectedSchedule ScheduleSelector::shelve(const Rows &rows, int64_t blocks, int64_t threads,
                                          int64_t perThread, int64_t steps) const {
  return makeRow(rows, RowClass::Looped, threads / rows.beside, rows.beside, perThread,
                 rows.name + " waits in shared memory of " + std::to_string(blocks) + " blocks",
                 blocks, /*staged=*/true, steps);
}

/// About how many registers a thread then has: two for each word of the inputs that it has at hand,
/// or three where each vector of gamma lies in two.
int64_t ScheduleSelector::shelfRegisters(const Rows &rows, int64_t perThread) const {
  auto one = cast<RowScheduleAttr>(shelve(rows, /*blocks=*/1, 32, 1, /*steps=*/1).schedule);
  return 24 + (rows.aligned ? 3 : 2) * perThread * stagedBytes(kernel, one) / (32 * 4);
}

/// Rows that wait there in so many blocks, dealt out so that enough of them and enough threads are
/// on a multiprocessor, then so that few places stay empty.  Few rows are there at once anyway.
SelectedSchedule ScheduleSelector::spread(Rows rows, int64_t blocks, bool few) const {
  // Nothing hides that a thread waits for each vector of gamma, so that it asks for two at once.
  // Where it may begin anywhere that takes too many registers.
  int64_t share = llvm::divideCeil(rows.beside * rows.vectors, blocks),
          perThread = !rows.aligned            ? std::max<int64_t>(2, 16 / rows.vector)
                      : few || !beginAligned() ? 1
                                               : 2;
  auto residentOf = [&](int64_t threads, int64_t each) {
    auto schedule = cast<RowScheduleAttr>(shelve(rows, blocks, threads, each).schedule);
    return std::min(device.sharedBytesPerSm / (sharedBytes(kernel, schedule) + kReservedBytes),
                    residentBlocks(threads, shelfRegisters(rows, each)));
  };
  auto costOf = [&](int64_t threads, int64_t each) {
    auto schedule = cast<RowScheduleAttr>(shelve(rows, blocks, threads, each).schedule);
    int64_t bytes = sharedBytes(kernel, schedule), places = llvm::alignTo(share, threads * each),
            resident = residentOf(threads, each);
    // Of rows that begin anywhere many small blocks are better.
    bool isSmall = rows.aligned && each > 1;
    auto shortage = [](int64_t wanted, int64_t there, int64_t step) {
      return llvm::divideCeil(std::max<int64_t>(0, wanted - there), step);
    };
    return std::tuple(
        resident == 0,
        shortage((isSmall ? 144 : 160) << 10, resident * bytes * share / places, 16 << 10) +
            shortage(isSmall ? 896 : 1400, resident * threads, 128),
        (places - share) * 25 / share + (rows.aligned ? 3 : 0) * (perThread - each),
        perThread - each, std::abs(threads - (isSmall ? 160 : 512)));
  };
  int64_t eighth = llvm::alignTo(llvm::divideCeil(share, 8), 32);
  std::pair best(std::clamp<int64_t>(eighth, 64, 512), perThread);
  auto cost = costOf(best.first, best.second);
  for (int64_t each = perThread; each >= 1; each /= 2)
    for (int64_t threads = 64; threads <= 736 && !few; threads += 32)
      if (auto other = costOf(threads, each); other < cost) {
        best = {threads, each};
        cost = other;
      }
  // Left to itself the compiler takes so few registers that it asks for one after the other, but
  // not where all counts are constants.
  if (!few && isNorm() && best.second > 1 && share % (best.first * best.second) != 0)
    rows.resident = residentOf(best.first, best.second);
  return shelve(rows, blocks, best.first, best.second);
}

/// In how many parts of kLeastPart, or up to twice that, a row of so many bytes is; 0 if it has
/// more than `most`. Where nothing is read again, like gamma, small blocks cost nothing, and leave
/// less of a multiprocessor idle at the end.
static int64_t smallParts(int64_t bytes, int64_t most) {
  int64_t parts = 1;
  while (2 * parts <= most && bytes >= 2 * parts * kLeastPart)
    parts *= 2;
  return bytes < 2 * parts * kLeastPart ? parts : 0;
}

/// Rows that wait in shared memory: those that lie beside each other, and those that one block's
/// registers cannot hold, unless a few blocks' do: for few rows, and where elements do not grow
/// there.
///
/// Memory is busy while some of a multiprocessor's blocks look at their rows: three of them fill
/// its shared memory, or six of half the size.  But the more blocks a cluster has the fewer
/// multiprocessors have room for it, and the longer they wait for each other.  Of the longest rows
/// a part waits, so that two blocks fit, and the rest is read again.
std::optional<SelectedSchedule> ScheduleSelector::shelvedRows(const Rows &rows) const {
  int64_t one = rows.ofOneBlock(), most = device.ccMajor < 9 ? 1 : 16, least = 1;
  bool grows = rows.bytes / rows.vector < 4;
  if (rows.aligned)
    one = kLongElements / rows.vector - 1;
  else if (grows)
    one = std::min(one, kPairElements / rows.vector);
  if (!product(true) || rows.grouped > 1 || rows.bytes < 8)
    return std::nullopt;
  while (rows.count && 2 * least * *rows.count <= device.smCount * rows.beside &&
         2 * least < most && rows.beside * rows.vectors >= 2 * least * 512)
    least *= 2;
  int64_t few = blocksOfFew(rows);
  // Registers have no room for all of few rows of a norm at once, as GroupNorm's.
  bool isTooMuch = rows.count && isNorm() && !readsAgain() &&
                   *rows.count * rows.vectors * rows.widest > kHeldInRegisters * device.smCount;
  bool inRegisters = !rows.aligned && ((few > 1 && !isTooMuch) || !(grows || isNorm()));
  int64_t inCluster = (few > 1 ? few : 8) * 512 * rows.capacity;
  if (rows.beside == 1 && (rows.vectors <= one || (inRegisters && rows.vectors <= inCluster)))
    return std::nullopt;
  auto bytesOf = [&](const SelectedSchedule &selected) {
    return sharedBytes(kernel, cast<RowScheduleAttr>(selected.schedule));
  };
  auto room = [&](int64_t resident) { return device.sharedBytesPerSm / resident - kReservedBytes; };
  if (stagedBytes(kernel, cast<RowScheduleAttr>(shelve(rows, least, 64, 1).schedule)) == 0)
    return std::nullopt;
  if (!rows.aligned && rows.beside == 1 && rows.widest == 16 && least == 1 && !readsAgain()) {
    // Without the places of the last step that stay empty.
    int64_t places = llvm::alignTo(rows.vectors, 128 * 4),
            bytes = bytesOf(shelve(rows, /*blocks=*/1, 128, 4)) * rows.vectors / places;
    if (int64_t parts = smallParts(bytes, most))
      return shelve(rows, parts, 128, 4);
  }
  // Without loads of gamma that may begin anywhere, and where there is more to wait for, more
  // blocks pay.
  bool isSplit = beginAligned() && (rows.aligned || !grows);
  for (auto [resident, largest] : {std::pair(6, isSplit ? 8 : 2), {3, 8}, {2, 16}})
    for (int64_t blocks = least; blocks <= std::min<int64_t>(most, largest); blocks *= 2) {
      SelectedSchedule shelved = spread(rows, blocks, /*few=*/least > 1);
      // Few rows may leave a multiprocessor to each block.
      int64_t places = blocks > 2 ? device.smCount * 7 / 8 : device.smCount;
      bool isAlone = least > 1 && *rows.count * blocks <= places * rows.beside;
      if (bytesOf(shelved) <= room(isAlone ? 1 : resident))
        return shelved;
    }
  int64_t perThread = std::min(std::max<int64_t>(4, 16 / rows.vector), rows.capacity);
  while (perThread > 1 && residentBlocks(512, shelfRegisters(rows, perThread)) < 2)
    perThread /= 2;
  // Two steps tell what one more of them takes.
  int64_t first = bytesOf(shelve(rows, most, 512, perThread, 1)),
          step = bytesOf(shelve(rows, most, 512, perThread, 2)) - first,
          steps = 1 + (room(2) - first) / step;
  if (first > room(2) || 8 * steps * most * 512 * perThread < rows.beside * rows.vectors)
    return std::nullopt;
  return shelve(rows, most, 512, perThread, steps);
}
