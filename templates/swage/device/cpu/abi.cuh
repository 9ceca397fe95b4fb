// What a kernel that was compiled for the simulator and the simulator (lib/Simt) know of each other.
// The kernel's module holds no state and calls nothing but this table, so that it can be loaded into
// any process and cached like a cubin.
//
// Both sides include this file: the kernel in C++20 without any header of the host, lib/Simt in
// C++17.  Whatever changes here changes kVersion; a module of another version is compiled again.
//
// No function returns when it finds something wrong: the thread that called is left where it is, and
// the launch ends with a report.  Where a call comes from is its return address.
#pragma once

namespace swage::simt {

constexpr unsigned kVersion = 1;

/// A place in shared memory as PTX sees it: 32 bits, the block's rank in its cluster plus one in the
/// upper eight (0: the own block).
using SharedAddress = unsigned;

/// The shared memory of a block: static (swage::arena) from the first address on, dynamic from the
/// second.  Never 0, so that a forgotten address is noticed.  Dynamic memory is the lower one: with
/// up to 227 KiB of it every address fits the 18 bits that a matrix descriptor has.
constexpr SharedAddress kStaticSharedBase = 0x39000, kDynamicSharedBase = 0x400;

/// The thread that runs, as its kernel sees it.
struct ThreadView {
  unsigned thread; ///< in its block
  unsigned block;  ///< in the grid
  unsigned threads, blocks;
  unsigned clusterRank, clusterSize;
  char *dynamicShared;
  unsigned dynamicSharedBytes;
};

enum class ReduceOp : unsigned char { Add, Min, Max, And, Or, Xor };
enum class AtomicOp : unsigned char { Add, Min, Max, And, Or, Xor, Exchange, CompareExchange, Load, Store };
/// How the bits of a number are meant.
enum class NumberKind : unsigned char { Unsigned, Signed, Float, F16x2, Bf16x2 };
/// Elements of the matrix instructions.
enum class MatrixElement : unsigned char { F16, Bf16, Tf32, E4m3, E5m2, S8, U8 };

/// One wgmma of a warpgroup; each thread passes its own.
struct WarpgroupMultiply {
  MatrixElement element, elementB; ///< of A and of B
  unsigned n;              ///< columns of D; D has 64 rows
  void *d;                 ///< n / 2 registers of this thread
  const unsigned *a;       ///< four registers, or null: A is in shared memory
  unsigned long long descriptorA, descriptorB;
  bool accumulate;         ///< otherwise D starts at zero
  bool transposeA, transposeB;
};

/// One tensor-map copy.
struct TensorCopy {
  unsigned rank;
  const void *map;
  SharedAddress shared;
  const int *coordinates; ///< innermost first
  SharedAddress mbarrier; ///< loads only
  unsigned short multicast; ///< blocks of the cluster, one bit each; 0: the own
  int reduce;             ///< stores only: -1, or a ReduceOp
};

struct Abi {
  ThreadView *(*current)();

  // Memory.  `access` is called for every load and store of a checked kernel, `code` being its place.
  void (*access)(const void *at, unsigned long bytes, bool write, const void *code);
  char *(*arena)(unsigned bytes);
  SharedAddress (*sharedAddress)(const void *at);
  char *(*sharedPointer)(SharedAddress at);
  SharedAddress (*mapShared)(SharedAddress at, unsigned rank);
  void (*loadCluster)(SharedAddress from, void *value, unsigned bytes);
  void (*storeCluster)(SharedAddress to, const void *value, unsigned bytes);
  void (*storeClusterAsync)(SharedAddress to, const void *value, unsigned bytes, SharedAddress mbarrier);
  /// At a global address, or at a shared one (of any block of the cluster).  `old` may be null.
  void (*atomicGlobal)(void *at, unsigned bytes, AtomicOp op, NumberKind kind, const void *operand,
                       const void *comparand, void *old);
  void (*atomicShared)(SharedAddress at, unsigned bytes, AtomicOp op, NumberKind kind,
                       const void *operand, const void *comparand, void *old);
  void (*fence)();
  /// Lets others run: what every loop that waits for another thread must call.
  void (*pause)();

  // Warps.  `mask` names the lanes that take part.
  void (*shuffle)(unsigned mask, void *value, unsigned bytes, unsigned sourceLane, const char *name);
  unsigned (*ballot)(unsigned mask, bool predicate, const char *name);
  unsigned (*match)(unsigned mask, unsigned long long value);
  unsigned (*reduce)(unsigned mask, unsigned value, ReduceOp op, NumberKind kind);
  void (*syncWarp)(unsigned mask);
  bool (*elect)();

  // Blocks.  `threads` 0: all of them.
  void (*barrier)(unsigned id, unsigned threads);
  void (*barrierArrive)(unsigned id, unsigned threads);
  /// Of how many threads the predicate holds.
  unsigned (*barrierCount)(bool predicate);

  // Clusters.
  void (*clusterArrive)();
  void (*clusterWait)();

  // Matrices.
  void (*loadMatrix)(unsigned count, bool transposed, SharedAddress row, unsigned *registers);
  void (*storeMatrix)(unsigned count, bool transposed, SharedAddress row, const unsigned *registers);
  /// d += a b; `d` is float or int by the element type.
  void (*multiply)(MatrixElement elementA, MatrixElement elementB, unsigned k, void *d,
                   const unsigned *a, const unsigned *b);
  void (*warpgroupFence)();
  void (*warpgroupMultiply)(const WarpgroupMultiply *multiply);
  void (*warpgroupCommit)();
  void (*warpgroupWait)(unsigned pending);

  // Copies that run beside the threads.
  void (*copyAsync)(SharedAddress to, const void *from, unsigned bytes, unsigned sourceBytes);
  void (*copyAsyncCommit)();
  void (*copyAsyncWait)(unsigned pending);
  void (*copyAsyncArrive)(SharedAddress mbarrier);
  void (*bulkLoad)(SharedAddress to, const void *from, unsigned bytes, SharedAddress mbarrier,
                   unsigned short multicast);
  void (*bulkStore)(void *to, SharedAddress from, unsigned bytes);
  void (*bulkCopyShared)(SharedAddress to, SharedAddress from, unsigned bytes, SharedAddress mbarrier);
  void (*tensorLoad)(const TensorCopy *copy);
  void (*tensorStore)(const TensorCopy *copy);
  void (*bulkCommit)();
  void (*bulkWait)(unsigned pending, bool onlyReads);
  void (*fenceProxyAsync)();

  // Barriers in shared memory.
  void (*mbarrierInit)(SharedAddress at, unsigned arrivals);
  void (*mbarrierInvalidate)(SharedAddress at);
  void (*mbarrierFenceInit)();
  void (*mbarrierArrive)(SharedAddress at, unsigned arrivals);
  void (*mbarrierExpect)(SharedAddress at, unsigned bytes);
  void (*mbarrierArriveExpect)(SharedAddress at, unsigned bytes);
  bool (*mbarrierTest)(SharedAddress at, unsigned parity);
  void (*mbarrierWait)(SharedAddress at, unsigned parity);

  // Launch control.
  void (*setRegisters)(unsigned registers, bool increase);
  void (*waitForPriorGrids)();
  void (*allowDependentGrids)();

  /// What UndefinedBehaviorSanitizer found, in a few words, and where.
  void (*undefined)(const char *what, const void *code);
  /// A load or store at an address that is not a multiple of `alignment`.
  void (*misaligned)(const void *at, unsigned alignment, bool write, const void *code);
};

/// One kernel of a module.
struct KernelInfo {
  const char *name;
  void (*invoke)(void *const *arguments);
  unsigned parameters;
  const struct ParameterInfo *parameter;
};

struct ParameterInfo {
  unsigned bytes;
  bool isPointer;
  bool isReadOnly; ///< a pointer to const
};

/// What a module exports as `swageSimtModule`.
struct ModuleInfo {
  unsigned version;
  bool checked; ///< calls `access` and `undefined`
  unsigned kernels;
  const KernelInfo *kernel;
  const char *source; ///< the text of the kernels, for reports
  const Abi **abi;    ///< to be set before a kernel runs
};

} // namespace swage::simt
