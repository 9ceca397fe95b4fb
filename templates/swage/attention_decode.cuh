// Attention of few queries and many keys, as when tokens are generated one by one: what counts is
// how fast keys and values are read.  What is computed: attention_hopper.cuh.
//
// The queries of all heads that share a key head are rows of one matrix, or of a few, so that keys
// are read once for all of them.  All keys of all sequences are dealt out evenly
// (attention_spans.cuh), so that a block has the end of one unit, several whole ones and the
// beginning of another, say.  A tile of keys is split among the block's warps: each has a ring of
// its own in shared memory, copies its keys and values and multiplies them, and waits for nobody.
// Copies run ahead into the next unit. Where keys and values have 8 bits these become 16 in
// registers (attention_narrow.cuh).  Of head dims whose outputs are too long for a warp a team of
// warps takes the place of each: its members have parts of the columns (TeamOf).
//
// At the end of a unit's keys the warps' parts are merged, and where other blocks have keys of the
// unit, by the block that is done last, in the order of the keys: results do not depend on who that
// is.  Where units are few a cluster of blocks has each, and all of these merge some of its outputs
// (attention_cluster.cuh).  Probabilities of keys are made where a unit is concluded
// (attention_probabilities.cuh).
#pragma once

#include "swage/attention_cluster.cuh"
#include "swage/attention_merge.cuh"
#include "swage/attention_narrow_warp.cuh"
#include "swage/attention_ring.cuh"
#include "swage/attention_spans.cuh"
#include "swage/attention_step.cuh"
#include "swage/attention_warp.cuh"

namespace swage {
namespace detail {

/// What a warp sees of a block's Spec: its share of the keys of a tile.
template <class Spec> struct DecodeSpec : Spec {
  enum : int {
    kWarps = Spec::kThreads / kWarpSize / TeamOf<Spec>::kMembers, ///< or teams
    kKeys = Spec::kKeys / kWarps,
    kThreads = kWarpSize,
    kBlockThreads = Spec::kThreads,
    /// Outputs of a row that a thread merges together: two, if that is all that it has.
    kMerged =
        Spec::kRows * Spec::kValueDim <= 2 * kBlockThreads || Spec::kValueColumns % 4 != 0 ? 2 : 4,
    kHasKeyRows = HasNarrowCache<Spec>
  };
};

/// Of a warp in shared memory are the parts of 16 rows, which are merged before the next ones.
template <class Spec> struct AtomSpec : Spec {
  enum : int { kRows = Spec::kRows < 16 ? Spec::kRows : 16 };
};

/// Shared memory: the warps' rings, their parts at the end of a unit, whether this block merges
/// it, or what the blocks of its cluster send, of its rows what makes probabilities of scores, and
/// queries where warps do not hold them or the block makes them, or what the members of teams add
/// up to scores.  Schedules ask for it, too: AttentionProblem.
template <class Spec, class Stages> struct DecodeLayout : Stages {
  enum : int {
    kPartsAt = Stages::kRingsAt + Spec::kWarps * Stages::kRingBytes,
    kLastAt = kPartsAt + Spec::kWarps * PartLayout<AtomSpec<Spec>>::kBytes,
    kRowsAt = kLastAt + (partsOf<Spec>() > 1 ? UnitCluster<Spec>::kBytes : 16),
    kRowBytes = HasProbabilities<Spec> ? Spec::kRows * ProbabilityRow::kBytes : 0,
    kQueryAt = (kRowsAt + kRowBytes + 15) / 16 * 16,
    kQueryRow = paddedRow(16 * Stages::kHeadSteps),
    kWarpRows = 0, ///< from a warp's first one to the next's: all have the same
    kQueryBytes = Spec::kHoldsQuery && !MakesQueries<Spec> ? 0 : 16 * Spec::kAtoms * kQueryRow,
    kSumsAt = kQueryAt + kQueryBytes,
    kSumBytes = TeamOf<Spec>::kMembers * Spec::kKeys * 16 * 4
  };
  static __device__ __forceinline__ int sumsOf(int team) { return kSumsAt + team * kSumBytes; }
  static __device__ __forceinline__ SharedAddress queriesOf(SharedAddress ring, int warp) {
    return ring - Stages::kRingsAt - warp * Stages::kRingBytes + kQueryAt;
  }
};

template <class Spec, class Arguments, class Layout, class Part> struct WarpOf {
  using Type = AttentionWarp<Spec, Arguments, Layout>;
};
template <HasNarrowCache Spec, class Arguments, class Layout, class Part>
struct WarpOf<Spec, Arguments, Layout, Part> {
  using Type = NarrowWarp<Spec, Arguments, Layout, Part>;
};

template <class BlockSpec, class Arguments> struct AttentionDecoder {
  using Spec = DecodeSpec<BlockSpec>;
  using Ring = typename RingOf<Spec, Arguments>::Type;
  using Layout = DecodeLayout<Spec, typename Ring::Layout>;
  using WarpPart = PartLayout<AtomSpec<Spec>>;
  using Warp = typename WarpOf<Spec, Arguments, Layout, WarpPart>::Type;
  using Spans = KeySpans<BlockSpec, Arguments>;
  using Cursor = SpanCursor<BlockSpec, Arguments>;
  using Part = PartLayout<Spec>;
  enum : int {
    kBlockThreads = Spec::kBlockThreads,
    kTeam = TeamOf<Spec>::kMembers,
    kAtOnce = 16,
    kColumns = Spec::kMerged,
    kRowGroups = Spec::kValueDim / kColumns
  };
  using Columns = MergedColumns<kColumns>;
  using Group = BlockGroup<kAtOnce>;

  const Arguments arguments;
  const Spans spans;
  const Parts<Spec> parts;
  Warp mine;
  Cursor loading, computing;
  TicketBegin firstTickets, ownTickets; ///< of the first unit's counter, and of the block's own

  /// Of a team's members the first one copies.
  __device__ __forceinline__ bool leads() const {
    if constexpr (kTeam > 1)
      return mine.member == 0;
    return true;
  }
  __device__ __forceinline__ void syncTeam() const {
    if constexpr (kTeam > 1)
      mine.syncTeam();
  }

  /// Whether the next unit's queries are on their way while one is concluded; where most blocks
  /// have parts of one unit that is code that they only wait for.
  __device__ __forceinline__ bool asksEarly() const {
    return Spec::kHoldsQuery && !MakesQueries<Spec> && !HasNarrowCache<Spec> && !IsChunked<Spec> &&
           arguments.units() > static_cast<int>(Spans::blockCount());
  }

  /// The warp's keys of a tile, counted by warps' shares.
  __device__ __forceinline__ int shareOf(int block) const {
    return block * Spec::kWarps + mine.warp;
  }

  /// Asks for what is read beside the keys from `first` on, factors perhaps, so that it is near
  /// when these have come.  Once for each 32 bytes: a request for each key, or for what all keys
  /// share, takes as much of L2 as the keys do.
  template <class... L> __device__ __forceinline__ void askFor(List<L...>, int first) const {
    const int key = first + mine.lane % Spec::kKeys, last = arguments.keys() - 1;
    const auto coord = loading.tile.template at<typename Spec::Coord>(0, key < last ? key : last);
    const auto ask = [&](auto operand) {
      using Operand = decltype(operand);
      if constexpr (Operand::source() == Source::Memory) {
        const auto *const from =
            static_cast<const swage::Slot<Operand> &>(arguments.pointers).pointer;
        typename Spec::Coord zero{}, one{};
        one[AttentionDim::Key] = 1;
        const int step = int(sizeof(*from)) * int(Operand::offset(one, arguments.sizes) -
                                                  Operand::offset(zero, arguments.sizes));
        if (mine.lane * step % 32 < step)
          prefetchGlobal(from + Operand::offset(coord, arguments.sizes));
      }
    };
    (ask(L{}), ...);
  }

  /// Starts copies of the next tile, if there is one.
  __device__ __forceinline__ void load(Ring &ring, int stage) {
    if (loading.left > 0) {
      const int first = shareOf(loading.block) * Spec::kKeys;
      if (leads())
        ring.load(loading.tile, first, stage);
      if constexpr (HasNarrowCache<Spec>) {
        askFor(typename Spec::PrologueLoads{}, first);
        if constexpr (HasWeight<Spec>)
          askFor(typename Spec::WeightLoads{}, first);
      }
      if (loading.advance(spans) && loading.left > 0 && loading.proceed(spans))
        ring.enter(loading.tile);
    }
    ring.commit();
  }

  /// What a unit's queries and new rows are made of.
  struct Made {
    NewQueries<BlockSpec, Arguments> queries;
    NewRows<Spec, Layout, Arguments> rows;
  };
  /// Asks for it in front of keys and values, behind which it would wait.
  __device__ __forceinline__ void askForUnit(Made &made) const {
    made.queries.ask(arguments, mine.tile);
    enterRows(made.rows);
  }
  /// Finds out which of the unit's new rows are the warp's, and asks for one of them.
  __device__ __forceinline__ void enterRows(decltype(Made::rows) &newRows) const {
    if (!leads())
      return;
    newRows.enter(arguments, mine.tile);
    const int left = computing.block + computing.left, end = mine.tile.endBlock;
    newRows.ask(arguments, mine.tile, mine.warp, computing.block, left < end ? left : end);
  }
  __device__ __forceinline__ void addRows(decltype(Made::rows) &newRows, int share,
                                          int stage) const {
    if (leads())
      newRows.add(arguments, mine.tile, mine.arena, stage, share);
  }

  /// What a thread has of 16 columns of a query, those from `first` on: two of each eight, if they
  /// exist.
  template <class T>
  static __device__ __forceinline__ void loadStep(const T *own, int first, int column,
                                                  unsigned (&parts)[2]) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int from = first + 8 * part;
      unsigned pair[1];
      if (from + 8 <= Spec::kHeadColumns ||
          (from < Spec::kHeadColumns && from + column < Spec::kHeadColumns)) {
        loadGlobal<4, Spec::Queries::traffic()>(own + from, pair);
        parts[part] = pair[0];
      }
    }
  }

  /// A unit's queries as the products take them, in registers or for all warps in shared memory;
  /// those that pad 16 rows, or the head dim, are zero.
  __device__ __forceinline__ void loadQueries(const PackedTile &tile, const Made &made) {
    if constexpr (HasNarrowCache<Spec>)
      mine.loadQueries();
    else if constexpr (MakesQueries<Spec>)
      loadMadeQueries(tile, made.queries);
    else
      loadWideQueries(tile);
  }
  __device__ __forceinline__ void loadMadeQueries(const PackedTile &tile,
                                                  const decltype(Made::queries) &newQueries) {
    char *const made = dynamicArena() + Layout::kQueryAt;
    newQueries.make(arguments, tile, made);
    barrier();
    if constexpr (Spec::kHoldsQuery) {
#pragma unroll
      for (int half = 0; half < 2 * Spec::kAtoms; ++half) {
        const int row = mine.lane / 4 + 8 * half;
#pragma unroll
        for (int step = 0; step < Warp::kHeadSteps; ++step)
#pragma unroll
          for (int part = 0; part < 2; ++part) {
            const int column = 16 * (kTeam * step + mine.member) + 8 * part + mine.lane % 4 * 2;
            unsigned pair[1] = {};
            if (row < Spec::kRows && column < Spec::kHeadColumns)
              loadShared<4>(made + row * Layout::kQueryRow + column * 2, pair);
            mine.queries[half / 2][step][2 * part + half % 2] = pair[0];
          }
      }
    }
  }
  /// What pads rows and columns, where queries are multiplied as they are in shared memory.
  static __device__ __forceinline__ void clearQueries() {
    if constexpr (MakesQueries<Spec> && !Spec::kHoldsQuery) {
      const unsigned zeros[4] = {};
      for (int at = static_cast<int>(threadIndex()) * 16; at < Layout::kQueryBytes;
           at += kBlockThreads * 16)
        storeShared<16>(dynamicArena() + Layout::kQueryAt + at, zeros);
      barrier();
    }
  }
  __device__ __forceinline__ void loadWideQueries(const PackedTile &tile) {
    using Queries = typename Spec::Queries;
    const auto *const from = static_cast<const swage::Slot<Queries> &>(arguments.pointers).pointer;
    const int rows = rowsOf<Spec>(tile, arguments);
#pragma unroll
    for (int half = 0; half < 2 * Spec::kAtoms; ++half) {
      const int row = mine.lane / 4 + 8 * half;
      auto coord = tile.template at<typename Spec::Coord>(
          tile.firstQuery + (row < rows ? row : rows - 1), 0);
      coord[AttentionDim::HeadDim] = mine.lane % 4 * 2;
      const auto *const own = from + Queries::offset(coord, arguments.sizes);
#pragma unroll
      for (int step = 0; step < Warp::kHeadSteps; ++step) {
        unsigned parts[2] = {};
        if (row < rows)
          loadStep(own, 16 * (kTeam * step + mine.member), mine.lane % 4 * 2, parts);
#pragma unroll
        for (int part = 0; part < 2; ++part)
          if constexpr (Spec::kHoldsQuery)
            mine.queries[half / 2][step][2 * part + half % 2] = parts[part];
          else if (mine.warp == 0)
            storeShared<4>(dynamicArena() + Layout::kQueryAt + row * Layout::kQueryRow +
                               (16 * (kTeam * step + mine.member) + 8 * part + mine.lane % 4 * 2) *
                                   2,
                           &parts[part]);
      }
    }
    if constexpr (!Spec::kHoldsQuery)
      barrier();
  }

  /// The warp's part of 16 rows to shared memory.
  template <int Atom> __device__ __forceinline__ void leave() const {
    char *const part = dynamicArena() + Layout::kPartsAt + mine.warp * WarpPart::kBytes;
    if constexpr (HasNarrowCache<Spec>)
      mine.template leave<Atom>(part);
    else
      leaveWide<Atom>(part);
  }
  template <int Atom> __device__ __forceinline__ void leaveWide(char *part) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = mine.lane / 4 + 8 * r;
      const auto &rows = mine.rows[Atom];
      const float total = rows.totalOf(r);
      if (row >= Spec::kRows - 16 * Atom)
        continue;
      const unsigned ofRow[2] = {__builtin_bit_cast(unsigned, rows.highest[r]),
                                 __builtin_bit_cast(unsigned, total)};
      if (mine.lane % 4 == 0 && leads())
        storeShared<8>(part + WarpPart::rowAt(row), ofRow);
      const auto outputOf = [&](int j, int c) {
        return __builtin_bit_cast(unsigned, mine.output[Atom][4 * j + 2 * r + c]);
      };
#pragma unroll
      for (int j = 0; j < Warp::kOutputs / 4; ++j) {
        const unsigned pair[2] = {outputOf(j, 0), outputOf(j, 1)};
        const int first = 16 * (kTeam * (j / 2) + mine.member) + j % 2 * 8;
        storeShared<8>(part + WarpPart::outputAt(row, first + mine.lane % 4 * 2), pair);
      }
    }
  }

  static __device__ __forceinline__ float scaleLog2() {
    return AttentionRows<Spec, Arguments>::scaleLog2();
  }
  /// Calls `body` for each row of so many, and the first one of each group of its columns, that are
  /// the thread's.
  template <class Body> static __device__ __forceinline__ void forColumns(int rows, Body body) {
    for (int i = static_cast<int>(threadIndex()); i < rows * kRowGroups; i += kBlockThreads)
      body(i / kRowGroups, i % kRowGroups * kColumns);
  }
  /// Gives all outputs of a unit to `use`, merged from the block's warps.
  template <class Use> __device__ __forceinline__ void mergeWarps(Use use) const {
#pragma unroll 1
    for (int atom = 0; atom < Spec::kAtoms; ++atom) {
      if (atom == 0)
        leave<0>();
      else
        leave<Spec::kAtoms - 1>();
      barrier();
      const int left = Spec::kRows - 16 * atom;
      forColumns(left < 16 ? left : 16, [&](int row, int column) {
        typename Columns::Part columns[Spec::kWarps];
#pragma unroll
        for (int warp = 0; warp < Spec::kWarps; ++warp) {
          const char *const part = dynamicArena() + Layout::kPartsAt + warp * WarpPart::kBytes;
          loadShared<8>(part + WarpPart::rowAt(row), columns[warp].ofRow);
          loadShared<4 * kColumns>(part + WarpPart::outputAt(row, column), columns[warp].output);
        }
        Columns merged;
        merged.add(columns, scaleLog2());
        use(merged, row + 16 * atom, column);
      });
      if (atom + 1 < Spec::kAtoms)
        barrier(); // before parts are overwritten
    }
  }

  /// The same from `count` parts in memory: the first one, and the others as if `others` were the
  /// first.
  template <class Use>
  __device__ __forceinline__ void mergeParts(unsigned count, const char *first, const char *others,
                                             Use use) const {
    forColumns(Spec::kRows, [&](int row, int column) {
      Columns merged;
      const char *part = others;
#pragma unroll 1
      for (unsigned from = 0; from < count; from += kAtOnce) {
        typename Columns::Part columns[kAtOnce];
#pragma unroll
        for (unsigned i = 0; i < kAtOnce; ++i)
          if (from + i < count) {
            const char *const at = i == 0 && from == 0 ? first : part + i * Parts<Spec>::kStep;
            loadGlobal<8, Traffic::Coherent>(at + Part::rowAt(row), columns[i].ofRow);
            loadGlobal<4 * kColumns, Traffic::Coherent>(at + Part::outputAt(row, column),
                                                        columns[i].output);
          } else {
            columns[i] = Columns::Part::none();
          }
        merged.add(columns, scaleLog2());
        part += kAtOnce * Parts<Spec>::kStep;
      }
      use(merged, row, column);
    });
  }
  /// The same of a unit's chunks.  `first`: the unit's first tile.
  template <class Use>
  __device__ __forceinline__ void mergeChunks(int first, const Chunks<Spec> &chunks,
                                              Use use) const {
    const unsigned begun = spans.blockOf(first);
    const ChunkOwner before{begun, static_cast<int>(begun + 1) * spans.span - first};
    forColumns(Spec::kRows, [&](int row, int column) {
      Columns merged;
      ChunkOwner owner = before;
#pragma unroll 1
      for (int from = 0; from < chunks.count; from += kAtOnce) {
        typename Columns::Part columns[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i)
          if (from + i < chunks.count) {
            const char *const at = chunkAt(owner.block, begun, from + i);
            loadGlobal<8, Traffic::Coherent>(at + Part::rowAt(row), columns[i].ofRow);
            loadGlobal<4 * kColumns, Traffic::Coherent>(at + Part::outputAt(row, column),
                                                        columns[i].output);
            owner.advance(chunks.tiles, spans.span);
          } else {
            columns[i] = Columns::Part::none();
          }
        merged.add(columns, scaleLog2());
      }
      use(merged, row, column);
    });
  }
  /// Where a block leaves a chunk of a unit that begins in block `begun`.
  __device__ __forceinline__ char *chunkAt(unsigned block, unsigned begun, int chunk) const {
    return parts.at(block, block == begun ? PartOf::Begun : PartOf::Carried, chunk);
  }

  static __device__ __forceinline__ void storePart(char *at, const Columns &merged, int row,
                                                   int column) {
    const auto part = merged.part();
    storeGlobal<4 * kColumns>(at + Part::outputAt(row, column), part.output);
    if (column == 0)
      storeGlobal<8>(at + Part::rowAt(row), part.ofRow);
  }

  /// The result of the unit, and its row results.
  __device__ __forceinline__ void finish(Columns merged, int ofUnit, int column) const {
    if (ofUnit >= rowsOf<Spec>(mine.tile, arguments) ||
        (Spec::kValueColumns < Spec::kValueDim && column >= Spec::kValueColumns))
      return;
    const int row = mine.tile.firstQuery + ofUnit;
    AttentionRows<Spec, Arguments> rows{arguments, row};
    if constexpr (HasSink<Spec>)
      if (const float sink = rows.sinkOf(row, mine.tile); sink != unseen())
        merged.template add<1>(
            {{{__builtin_bit_cast(unsigned, sink), __builtin_bit_cast(unsigned, 1.0f)}, {}}},
            scaleLog2());
    const AttentionStatistics statistics{merged.highest * static_cast<float>(Spec::scale()),
                                         merged.sum};
    const float scale = rows.scaleOf(merged.sum);
    unsigned narrow[kColumns / 2];
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) {
      float pair[2] = {merged.output[2 * i] * scale, merged.output[2 * i + 1] * scale};
      if constexpr (HasEpilogue<Spec>)
        rows.finishPair(typename Spec::EpilogueLoads{}, typename Spec::EpilogueStores{}, pair, 0,
                        column + 2 * i, statistics, mine.tile);
      if constexpr (HasTiledResult<Spec>)
        narrow[i] = narrowPair(typename Spec::Result{}, pair[0], pair[1]);
    }
    if (column == 0)
      rows.finishRow(row, statistics, mine.tile);
    if constexpr (HasProbabilities<Spec>)
      if (column == 0)
        ProbabilityRow{merged.highest == unseen() ? 0.0f : merged.highest, scale}.store(
            dynamicArena() + Layout::kRowsAt, ofUnit);
    if constexpr (HasTiledResult<Spec>) {
      auto coord = mine.tile.template at<typename Spec::Coord>(row, 0);
      auto *const result =
          static_cast<const swage::Slot<typename Spec::Results> &>(arguments.pointers).pointer;
      coord[AttentionDim::ValueDim] = column;
      storeGlobal<2 * kColumns>(result + Spec::Results::offset(coord, arguments.sizes), narrow);
    }
  }

  /// Behind a unit's result.
  __device__ __forceinline__ void finishProbabilities() const {
    if constexpr (HasProbabilities<Spec>) {
      barrier();
      makeProbabilities<Spec, kBlockThreads>(arguments, mine.tile,
                                             dynamicArena() + Layout::kRowsAt);
    }
  }

  /// Whether this block is the last one of `count` to leave its part.
  __device__ __forceinline__ bool isLastOf(unsigned count, unsigned long long *tickets,
                                           TicketBegin begun) const {
    barrier();
    unsigned isLast[1];
    char *const at = dynamicArena() + Layout::kLastAt;
    if (threadIndex() == 0) {
      beginTickets(tickets, begun);
      isLast[0] = drawTicketInOrder(tickets) == count - 1;
      storeShared<4>(at, isLast);
      if (isLast[0])
        endTickets(tickets);
    }
    barrier();
    loadShared<4>(at, isLast);
    return isLast[0];
  }

  /// `first`: the unit's first tile.
  __device__ __forceinline__ Group groupOf(const PackedTile &tile, int first) const {
    const int tiles = tile.endBlock - tile.firstBlock;
    return {spans.blockOf(first), spans.blockOf(first + tiles - 1), blockIndex()};
  }

  /// The block's keys of a unit are done: `begins` and `ends`, whether these are the unit's first
  /// and last.  `first`: the unit's first tile.
  __device__ __forceinline__ void conclude(bool begins, bool ends, int first) const {
    const Group group = groupOf(mine.tile, first);
    const bool isAlone = begins && ends;
    char *const own = parts.at(blockIndex(), group.kindOf(blockIndex()));
    mergeWarps([&](const Columns &merged, int row, int column) {
      if (isAlone)
        finish(merged, row, column);
      else
        storePart(own, merged, row, column);
    });
    if (isAlone) {
      finishProbabilities();
      barrier(); // before parts are overwritten
      return;
    }
    // Parts of the block's group, then of all groups, by the same text: copies of it were half of
    // the kernel.
    PartOf kind = PartOf::Carried, leads = group.kindOf(group.leader);
    unsigned leader = group.leader, members = group.members;
    TicketBegin begun = begins ? ownTickets : firstTickets;
    for (bool isAll = members == group.count;; isAll = true) {
      if (!isLastOf(members, parts.tickets(leader, leads), begun))
        return;
      mergeParts(members, parts.at(leader, leads), parts.at(leader, kind),
                 [&](const Columns &merged, int row, int column) {
                   if (isAll)
                     finish(merged, row, column);
                   else
                     storePart(parts.at(group.first + group.number, PartOf::Group), merged, row,
                               column);
                 });
      if (isAll)
        return finishProbabilities();
      leader = group.first;
      members = (group.count + group.ofGroup - 1) / group.ofGroup;
      kind = leads = PartOf::Group;
      begun = askTickets(parts.tickets(leader, leads));
    }
  }

  static __device__ __forceinline__ UnitCluster<Spec> cluster() {
    return {dynamicArena() + Layout::kLastAt};
  }
  /// The block's keys of the unit that its cluster has are done.
  __device__ __forceinline__ void concludeTogether() const {
    clusterBarrierWait(); // all blocks are there, and ready
    mergeWarps(
        [&](const Columns &merged, int row, int column) { cluster().send(merged, row, column); });
    cluster().merge(scaleLog2(), [&](const Columns &merged, int row, int column) {
      finish(merged, row, column);
    });
  }

  /// The keys of a chunk are done.  `first`: its unit's first tile.
  __device__ __forceinline__ void concludeChunk(int first) const {
    const Chunks<Spec> chunks(mine.tile.endBlock - mine.tile.firstBlock);
    const int number = (computing.block - 1 - mine.tile.firstBlock) / chunks.tiles;
    const unsigned begun = spans.blockOf(first),
                   last = spans.blockOf(first + (chunks.count - 1) * chunks.tiles);
    char *const own = chunkAt(blockIndex(), begun, number);
    mergeWarps([&](const Columns &merged, int row, int column) {
      if (chunks.count == 1)
        finish(merged, row, column);
      else
        storePart(own, merged, row, column);
    });
    if (chunks.count == 1)
      finishProbabilities();
    const bool goesOn = number + 1 < chunks.count && computing.left > 0;
    if (chunks.count == 1 || goesOn || begun == last)
      barrier(); // before parts are overwritten, or read
    if (chunks.count == 1 || goesOn)
      return;
    const bool begins = begun == blockIndex();
    if (begun == last || isLastOf(last - begun + 1, parts.tickets(begun, PartOf::Begun),
                                  begins ? ownTickets : firstTickets)) {
      mergeChunks(first, chunks,
                  [&](const Columns &merged, int row, int column) { finish(merged, row, column); });
      finishProbabilities();
    }
  }

  /// Takes the warp's share of a tile's keys in, if a query may see some.
  template <class... Beside>
  __device__ __forceinline__ void multiply(int share, int place, const Beside &...beside) {
    const int from = share * Spec::kKeys, to = from + Spec::kKeys;
    typename Warp::Scores scores;
    if (from >= computing.open.first && to <= computing.open.last) {
      mine.multiplyKeys(scores, place);
      mine.template accumulate<false>(scores, share, place, beside...);
    } else if (from < mine.tile.endKey && to > mine.tile.firstKey) {
      mine.multiplyKeys(scores, place);
      mine.template accumulate<true>(scores, share, place, beside...);
    }
  }

  __device__ __forceinline__ void run(const typename Ring::Maps &maps) {
    const int begin = spans.firstOf(blockIndex()), end = spans.firstOf(blockIndex() + 1);
    if (begin == end)
      return;
    auto start = spans.find(begin);
    if (!loading.begin(spans, start, end - begin))
      return;
    clearQueries();
    computing = loading;
    int first = begin - start.before; // tile of the unit
    Ring ring(arguments, maps, mine.arena, mine.warp, leads(), loading.tile);
    syncTeam();
    mine.tile = computing.tile;
    Made made;
    askForUnit(made);
    for (int stage = 0; stage < Spec::kStages - 1; ++stage)
      load(ring, stage);
    Slot<Spec::kStages> place; // of what is computed
    if constexpr (Spans::kIsShared)
      cluster().open();
    // Both counters that this block may draw from, well before it does.
    else if (threadIndex() == 0) {
      if constexpr (IsChunked<Spec>) {
        firstTickets = askTickets(parts.tickets(spans.blockOf(first), PartOf::Begun));
      } else {
        const Group group = groupOf(computing.tile, first);
        firstTickets = askTickets(parts.tickets(group.leader, group.kindOf(group.leader)));
      }
      ownTickets = askTickets(parts.tickets(blockIndex(), PartOf::Begun));
    }
    bool hasQueries = false; // already
    for (bool isFirst = true; computing.left > 0; isFirst = false) {
      mine.tile = computing.tile;
      if (!isFirst)
        askForUnit(made);
      const bool begins = computing.block == mine.tile.firstBlock;
      if (!hasQueries)
        loadQueries(mine.tile, made);
      mine.template begin<false>();
      if constexpr (HasNarrowCache<Spec>)
        mine.askBeside(shareOf(computing.block));
#pragma unroll 1
      for (bool done = false; !done;) {
        const int share = shareOf(computing.block);
        ring.wait(mine.tile, share * Spec::kKeys, place);
        addRows(made.rows, share, place.stage);
        syncTeam(); // all have multiplied the tile before, whose place is filled again
        load(ring, place.stage == 0 ? Spec::kStages - 1 : place.stage - 1);
        if constexpr (HasNarrowCache<Spec>) {
          const auto beside = mine.beside;
          mine.askBeside(share + Spec::kWarps);
          multiply(share, place.stage, beside);
        } else {
          multiply(share, place.stage);
        }
        place.advance();
        done = computing.advance(spans);
      }
      if constexpr (IsChunked<Spec>) {
        concludeChunk(first);
        hasQueries = computing.left > 0 && !computing.proceed(spans);
        if (!hasQueries)
          first += spans.lengthOf(mine.tile);
      } else if constexpr (Spans::kIsShared) {
        concludeTogether();
      } else {
        const bool ends = computing.block == mine.tile.endBlock;
        if (computing.left > 0) {
          computing.proceed(spans);
          hasQueries = asksEarly();
          if (hasQueries)
            loadQueries(computing.tile, made);
        }
        conclude(begins, ends, first);
        first += spans.lengthOf(mine.tile);
      }
    }
  }
};

/// `scratch`: what Parts says, for this launch alone; it holds anything at first.
template <class Spec, class Pointers, class... Maps>
__device__ __forceinline__ void decodeAttention(const Pointers &pointers, void *scratch,
                                                const typename Spec::Sizes &sizes,
                                                const Maps &...maps) {
  using Arguments = PackedArguments<Spec, Pointers>;
  using Decoder = AttentionDecoder<Spec, Arguments>;
  using Layout = typename Decoder::Layout;
  const Arguments arguments{{pointers, sizes, nullptr}};
  if constexpr (IsPaged<Spec>)
    prefetchTable(arguments);
  // Reduced, and so in a uniform register with all that depends on it.
  const int warp = static_cast<int>(reduceLanes<LaneOp::Max>(warpIndex()));
  const auto make = [&](int team, auto... member) {
    return Decoder::Warp::of(
        arguments, sharedAddress(dynamicArena()) + Layout::kRingsAt + team * Layout::kRingBytes,
        team, static_cast<int>(laneIndex()), member...);
  };
  const auto mine = [&] {
    if constexpr (constexpr int kTeam = Decoder::kTeam; kTeam > 1)
      return make(warp / kTeam, warp % kTeam);
    else
      return make(warp);
  };
  Decoder{arguments,
          typename Decoder::Spans(arguments),
          {static_cast<char *>(scratch), Decoder::Spans::blockCount()},
          mine()}
      .run({maps...});
}

} // namespace detail

template <class Spec, class Pointers>
__device__ __forceinline__ void attentionDecode(const Pointers &pointers, void *scratch,
                                                const typename Spec::Sizes &sizes) {
  detail::decodeAttention<Spec>(pointers, scratch, sizes);
}
/// By the copy engine.
template <class Spec, class Pointers>
__device__ __forceinline__ void attentionDecode(const TensorMap &keys, const TensorMap &values,
                                                const Pointers &pointers, void *scratch,
                                                const typename Spec::Sizes &sizes) {
  if (threadIndex() == 0) {
    prefetchTensorMap(keys);
    prefetchTensorMap(values);
  }
  detail::decodeAttention<Spec>(pointers, scratch, sizes, keys, values);
}

} // namespace swage
