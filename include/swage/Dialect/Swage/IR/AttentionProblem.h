//===- AttentionProblem.h - Attention as a kernel ---------------*- C++ -*-===//
//
// What the places of an attention kernel's dimensions and operands mean, and what follows from its
// schedule for templates/swage/attention_{hopper,portable,decode}.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_ATTENTIONPROBLEM_H
#define SWAGE_DIALECT_SWAGE_IR_ATTENTIONPROBLEM_H

#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <string>

namespace swage {

/// The iteration space, in this order: the result, and what it is summed over.  `Group`: the query
/// heads that share a key head.
struct AttentionDim {
  enum : unsigned { Batch, KeyHead, Group, Query, ValueDim, Key, HeadDim, Count };
};
/// The first inputs; output 0 is the result.  `Table`: where keys and values are in pages.
struct AttentionInput {
  enum : unsigned { Queries, Keys, Values, Count, Table = Count };
};

/// An input with an element for each query and key, whose rows of keys may come through shared
/// memory: neighbours in memory, from multiples of `align` bytes on.
struct ScoreTile {
  unsigned input;
  int64_t elementBytes, align;

  /// Bytes of a row of so many keys there.
  int64_t rowBytes(int64_t keys) const;
};

struct AttentionProblem {
  mlir::Type element, result; ///< of queries and of output 0
  /// Of keys and values: `element`, or 8 bits, which become it in registers; few queries only.
  mlir::Type cache;
  /// Of a head, and of its values: what there is, and with what fills up a multiple of 8.
  int64_t headColumns = 0, valueColumns = 0, headDim = 0, valueDim = 0;
  /// Bytes of queries, keys and values that may be copied at once: 16, or for few queries 8 or 4.
  int64_t copyBytes = 16;
  /// Queries that share a key head, where their number is known; or 0.
  int64_t sharing = 0;
  /// Keys of a sequence at most, where that is known; or 0.
  int64_t keys = 0;
  /// Positions of a page of keys and values (`swage.pages`); 0: they are in no pages.
  int64_t pageSize = 0;
  /// Elements of a key that lie together, where the head dim is in runs with those of other keys
  /// between them, of 16 bytes; or 0.
  int64_t keyRun = 0;
  /// Whether values are the first columns of keys, as in latent attention: they are read once, for
  /// few queries.
  bool areValuesInKeys = false;
  /// Whether products of f32 are those of one number of tf32, not of two.
  bool isTf32 = false;
  /// Whether an output has the weight of each query and key, divided by the row's sum.
  bool hasProbabilities = false;
  /// Whether queries are made by the kernel, in shared memory, and whether it adds new keys and
  /// values to the ones that it reads.
  bool makesQueries = false, addsRows = false;
  /// Whether output 0 goes through shared memory and the copy engine, not from who computes it.
  bool hasTiledResult = false;
  /// What scores and weights read for each query and key, but for what is not neighbours in memory.
  llvm::SmallVector<ScoreTile, 2> scoreTiles;

  /// Elements of 8 bits whose products tensor cores add up at most: they keep 13 bits of sums, and
  /// longer ones are added in f32 (docs/numerics.md).
  static constexpr int64_t kMostRun = 2112;

  /// Inputs that the template reads by itself.
  unsigned ownInputs() const { return AttentionInput::Count + (pageSize ? 1 : 0); }
  /// Keys that one copy brings, of `keys` of them: those that are sure to be in one page, or as
  /// many of keys in runs as a box takes.
  int64_t keysTogether(int64_t keys) const;
  /// Whether these are enough for the copy engine, whose boxes begin where swizzled bytes repeat.
  bool isMovedInBulk(int64_t keys) const {
    return copyBytes == 16 && keysTogether(keys) % 8 == 0;
  }
  /// Whether the copy engine may bring the keys of a head, and its values, as the bytes that they
  /// are in memory: rows without gaps.
  bool areRowsAdjacent = false;
  /// Queries of a head, and of all heads that share one of keys, that the kernel of few queries is
  /// faster for: tiles of 128 queries of one head would be empty but for an eighth.
  static constexpr int64_t kFewQueries = 16, kMostSharing = 256;
  /// Chunks that a sequence's keys are summed in at most (Chunks in attention_chunks.cuh).
  static constexpr int64_t kMostChunks = 64;
  /// Of head dims, which but for few queries are at most those of a matrix instruction. Beyond
  /// those of a warp, which has all outputs of its rows, teams of warps share them.
  static constexpr int64_t kMostDim = 576, kMostDimOfWarp = 320, kMostDimOfMany = 256;

  /// Whether elements have 8 bits: values are then transposed, and steps have 32 keys.
  bool isNarrow() const;
  /// Whether they have 32, which the portable template takes, of many queries and few.
  bool isWide() const { return element.isF32(); }
  /// Whether keys and values alone have 8 bits.
  bool hasNarrowCache() const { return cache != element; }
  /// Whether no kernel of many queries takes it.
  bool isForFewQueries() const {
    return pageSize || keyRun || hasNarrowCache() || hasProbabilities || makesQueries || addsRows ||
           copyBytes < 16 || std::max(headDim, valueDim) > kMostDimOfMany;
  }
  /// Warps that decode the same keys, each with its steps of 16 columns of both head dims.
  int64_t team() const {
    if (std::max(headDim, valueDim) <= kMostDimOfWarp)
      return 1;
    return headDim % 64 == 0 && valueDim % 64 == 0 ? 4 : 2;
  }
  /// Whether warps that decode hold queries in registers, which long outputs leave no room for.
  bool holdsQuery(DecodeScheduleAttr schedule) const {
    return schedule.getAtoms() == 1 &&
           (headDim / 4 + valueDim / 2) / team() <= (team() > 1 ? 160 : 96);
  }
  /// Where an element of the queries is in shared memory: rows of a head's queries, the heads of a
  /// group one after the other, and elements of a row.
  static LinearAccess queryPlace(int64_t headDim, mlir::AffineExpr queries);
  /// Of the queries that share a key head, the parts that are decoded one by one, and the largest
  /// one's rows.
  int64_t rowTiles(DecodeScheduleAttr schedule) const;
  int64_t rowsTogether(DecodeScheduleAttr schedule) const;
  /// Of the second product: of 8 bits it has the sums of weights beside the values' columns.
  int64_t columns() const;

  /// The kernel's, if the template can compute it; or nothing, and `why`.
  static std::optional<AttentionProblem> of(KernelOp kernel, std::string *why = nullptr);

  /// Queries that share a key head, at most, where the kernel makes them or adds rows: what these
  /// are made of is in registers beside the outputs of longer heads, and ptxas spills.
  int64_t mostSharingOfStep() const {
    int64_t dim = std::max(headDim, valueDim);
    return dim <= 128 ? 16 : dim <= 192 ? 4 : 2;
  }
  /// Why the kernel cannot make queries or add rows; or null.
  const char *stepProblem(KernelOp kernel) const;
  /// Why keys and values of another type than queries cannot be read; or null.
  const char *cacheProblem(KernelOp kernel) const;
  /// Shared memory of a block, as the template lays it out (AttentionLayout).
  int64_t sharedBytes(AttentionScheduleAttr schedule) const;
  int64_t sharedBytes(PortableAttentionScheduleAttr schedule) const;
  int64_t sharedBytes(DecodeScheduleAttr schedule) const;
  /// Bytes of a key and its values in memory.
  int64_t keyBytes() const;
  /// Bytes that they take there where few queries read them, `bulk`: by the copy engine, `linear`:
  /// as in memory.
  int64_t cacheRow(bool bulk, bool linear = false) const;
  /// Chunks of a sequence, where the schedule has such.
  int64_t mostChunks(DecodeScheduleAttr schedule) const;
  /// Memory of a launch for what blocks that decode leave to be merged (Parts).
  int64_t scratchBytes(DecodeScheduleAttr schedule) const;
  /// Of its shared memory, what scores read for each query and key: behind the barriers, for each
  /// stage 16 rows of each warp that computes. All of it; and where one input's is.
  int64_t scoreTileBytes(AttentionScheduleAttr schedule) const;
  int64_t scoreTileAt(AttentionScheduleAttr schedule, unsigned input) const;
  const ScoreTile *scoreTileOf(unsigned input) const {
    const auto *tile =
        llvm::find_if(scoreTiles, [&](const ScoreTile &of) { return of.input == input; });
    return tile == scoreTiles.end() ? nullptr : tile;
  }
  /// How queries, keys and values come to shared memory, and the result leaves it.
  llvm::SmallVector<mlir::Attribute> tiles(AttentionScheduleAttr schedule) const;
  llvm::SmallVector<mlir::Attribute> tiles(DecodeScheduleAttr schedule) const;
  /// 32-bit registers that a thread has for scores, weights, outputs and queries, and those that
  /// leave it enough for everything else.
  int64_t registers(AttentionScheduleAttr schedule) const;
  static int64_t mostRegisters(AttentionScheduleAttr schedule) {
    return schedule.getGroups() == 3 ? 128 : 204;
  }
  int64_t registers(PortableAttentionScheduleAttr schedule) const;
  static int64_t mostRegisters(PortableAttentionScheduleAttr schedule) {
    return schedule.getAtoms() == 2 ? 176 : 208;
  }
  int64_t registers(DecodeScheduleAttr schedule) const;
  static int64_t mostRegisters(DecodeScheduleAttr /*schedule*/) { return 208; }
};

/// Queries of a head, where their number is known: also where there is one at most, for of none
/// nothing is launched.
std::optional<int64_t> queriesOf(KernelOp kernel);
/// Key heads of all sequences, each as often as its rows are taken apart, where that is known: who
/// reads keys when few queries are decoded.
std::optional<int64_t> unitsOf(KernelOp kernel, int64_t rowTiles);
/// Whether an input of attention beside its operands, or an output, has an element for each key.
bool isOfKeys(ViewAttr view);
/// The kernel's two contractions, before it is prepared.
ContractOp scoresOf(KernelOp kernel);
ContractOp weightedValuesOf(KernelOp kernel);
/// What changes a weight behind the softmax, whose sum does not know it, from the last on: factors,
/// and conditions without which it is 0. In the end the weight itself.
llvm::SmallVector<mlir::Value> weightTerms(KernelOp kernel);
/// The input that a contraction takes, as it is or converted from integers; or null.
mlir::BlockArgument contractedInput(mlir::Value operand);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_ATTENTIONPROBLEM_H
