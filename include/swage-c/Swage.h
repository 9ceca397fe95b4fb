/*===- Swage.h - The C API --------------------------------------------------===*\
|*
|* Graphs to CUDA kernels and launches, for hosts in C and for bindings.  The
|* same functions are in libswage, which compiles, and in libswage_runtime,
|* which loads what libswage saved; those that only libswage has say so.
|*
|*   SwageProgram program;
|*   SwageError error =
|*       swageProgramParse(swageProcessContext(), swageStringRef(text), NULL, &program);
|*   if (swageIsError(error)) {
|*     fprintf(stderr, "%s\n", swageErrorGetText(error).data);
|*     swageErrorDestroy(error);
|*   }
|*   error = swageProgramRun(program, device, stream, inputs, 2, outputs, 1, NULL, 0);
|*
|* Errors.  A function that can fail returns a SwageError: null for success,
|* else an object to be destroyed.  Results come through the last parameters; a
|* handle is null after a failure.  Null handles and null pointers where values
|* are needed, indices out of range and unknown enumerators are errors of stage
|* Input.  Functions that return no error give zero, null or an empty string
|* for a null handle.  Nothing is thrown and nothing aborts.
|*
|* Ownership.  Each type with a ...Destroy function is a handle that the caller
|* owns; destroying null does nothing.  A handle keeps alive what it is made
|* of: a plan outlives its program, a program its context.  Arguments are read
|* during the call only; device memory, the workspace too, until the stream is
|* done with the work, and work that may overlap takes a workspace each.  Strings and arrays that a function gives belong to
|* the handle that it was asked of and live as long as that.
|*
|* Threads.  Every function may be called from several threads at once, also
|* with the same handles; destroying a handle must come after all other calls
|* with it.
|*
|* Growth.  Structs that begin with `size` grow at their end in later versions.
|* Set it to the struct's sizeof and everything else to zero, which asks for
|* defaults:  SwageContextOptions options = {.size = sizeof options};
|*
\*===----------------------------------------------------------------------===*/
#ifndef SWAGE_C_SWAGE_H
#define SWAGE_C_SWAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SWAGE_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*\
|* Strings and version
\*===----------------------------------------------------------------------===*/

/* Bytes that need not end in a zero; those that Swage gives do, after `length`
   bytes. */
typedef struct SwageStringRef {
  const char *data;
  size_t length;
} SwageStringRef;

/* Null is the empty string. */
static inline SwageStringRef swageStringRef(const char *text) {
  SwageStringRef ref;
  ref.data = text;
  ref.length = text ? strlen(text) : 0;
  return ref;
}

/* "0.1.0": of the library that was loaded. */
SWAGE_C_API SwageStringRef swageGetVersion(void);

/*===----------------------------------------------------------------------===*\
|* Errors
\*===----------------------------------------------------------------------===*/

typedef struct SwageError {
  void *ptr;
} SwageError;

typedef enum SwageStage {
  SwageStageInput,   /* arguments of a call */
  SwageStageParse,   /* text to a graph */
  SwageStageVerify,  /* a graph that is not valid */
  SwageStageLower,   /* passes and emission */
  SwageStageCompile, /* CUDA source to machine code */
  SwageStageCache,   /* the kernel cache */
  SwageStageLoad,    /* libraries, devices, bundles, machine code onto a device */
  SwageStageLaunch,  /* putting work on a stream */
  SwageStageRun      /* work that was launched, and memory */
} SwageStage;

static inline bool swageIsError(SwageError error) { return error.ptr != NULL; }

SWAGE_C_API SwageStage swageErrorGetStage(SwageError error);
/* The value found and the value needed. */
SWAGE_C_API SwageStringRef swageErrorGetMessage(SwageError error);
/* What a compiler printed, where the failing source was written, and a command
   line that shows the failure again; each may be empty. */
SWAGE_C_API SwageStringRef swageErrorGetLog(SwageError error);
SWAGE_C_API SwageStringRef swageErrorGetSourcePath(SwageError error);
SWAGE_C_API SwageStringRef swageErrorGetReproduce(SwageError error);
/* All of it, for people. */
SWAGE_C_API SwageStringRef swageErrorGetText(SwageError error);
SWAGE_C_API void swageErrorDestroy(SwageError error);

/*===----------------------------------------------------------------------===*\
|* Contexts: options, the kernel cache, compile threads, counters
\*===----------------------------------------------------------------------===*/

typedef struct SwageContext {
  void *ptr;
} SwageContext;

typedef enum SwageEventKind {
  SwageEventParse,    /* text to a verified graph */
  SwageEventLower,    /* passes and emission of a variant */
  SwageEventCompile,  /* one kernel, source to machine code */
  SwageEventCacheHit, /* one kernel that was found; `detail` says where */
  SwageEventLoad,     /* machine code of one kernel onto a device */
  SwageEventVariant,  /* a variant was made; `reason` says why no other served */
  SwageEventPlan,     /* a plan for shapes that had none */
  SwageEventEvict,    /* the plan that was unused for longest made room */
  SwageEventProgress, /* a stage that takes long, or a step of a warm-up */
  SwageEventVariantHit /* what passes would make was found on disk: instead of SwageEventLower */
} SwageEventKind;

/* Lives during the callback only.  Later versions append members. */
typedef struct SwageEvent {
  SwageEventKind kind;
  SwageStringRef name;   /* of the kernel, else of the program */
  SwageStringRef detail; /* for people */
  SwageStringRef reason; /* why it was needed */
  int64_t begin, end;    /* nanoseconds of the monotonic clock; equal where it takes no time */
  uint64_t thread;
} SwageEvent;

typedef struct SwageContextOptions {
  size_t size;
  /* "SWAGE_CACHE=off", ...: a null-terminated list that takes precedence over the environment;
     null: none.  docs/jit.md lists the variables.  SWAGE_CUDA_DRIVER, SWAGE_NVRTC and
     SWAGE_HOST_COMPILER name libraries that a process opens once and are errors here. */
  const char *const *settings;
  bool ignoreEnvironment; /* `settings` is all there is */
  bool simulator;         /* programs may be compiled for simulated devices; needs g++ or clang++ */
  unsigned compileThreads; /* 0: one for each core, at most 8 */
  size_t planLimit; /* of each program: plans beyond go, least recently used first; 0: 4096 */
  /* Called on the thread that did it, several at once, and must not call back into Swage.  Null:
     one line on stderr for a compile that takes over a second.  May be called until the context
     and all that was made with it are destroyed. */
  void (*onEvent)(const SwageEvent *event, void *userData);
  void *userData;
  /* As for swageDeviceOpenSimulator: kernels that are checked are compiled differently. */
  SwageStringRef simulatorOptions;
} SwageContextOptions;

/* Since the context was made. */
typedef struct SwageContextStats {
  size_t size;
  uint64_t memoryHits, diskHits, misses; /* of the kernel cache */
  uint64_t rejected;                     /* entries found damaged, foreign or of another version */
  uint64_t published, evicted;           /* entries */
  uint64_t programs;
  uint64_t variants;        /* made by the passes */
  uint64_t kernelsCompiled; /* by the compiler, not found in a cache */
  uint64_t kernelsLoaded;
  uint64_t plans, plansEvicted;
  uint64_t launches; /* by swageProgramRun; swagePlanLaunch counts nothing */
  double lowerMilliseconds, compileMilliseconds, loadMilliseconds; /* sums over threads */
  uint64_t variantHits; /* results of passes found on disk; the hits above are of kernels */
} SwageContextStats;

/* Null options ask for defaults. */
SWAGE_C_API SwageError swageContextCreate(const SwageContextOptions *options,
                                          SwageContext *context);
/* The one of the process, made on the first call; destroying the handle leaves it alone. */
SWAGE_C_API SwageContext swageProcessContext(void);
/* What was wrong with the environment, one line each; empty if nothing was. */
SWAGE_C_API SwageStringRef swageContextGetWarnings(SwageContext context);
/* Where kernels are kept; empty: in memory only. */
SWAGE_C_API SwageStringRef swageContextGetCacheDirectory(SwageContext context);
SWAGE_C_API SwageError swageContextGetStats(SwageContext context, SwageContextStats *stats);
SWAGE_C_API void swageContextDestroy(SwageContext context);

/*===----------------------------------------------------------------------===*\
|* Devices
\*===----------------------------------------------------------------------===*/

/* A GPU with its primary context, which the CUDA runtime uses also, or a simulated one. */
typedef struct SwageDevice {
  void *ptr;
} SwageDevice;

/* A CUstream or cudaStream_t; null is the default stream. */
typedef struct CUstream_st *SwageStream;

typedef struct SwageDeviceProperties {
  size_t size;
  SwageStringRef name; /* "NVIDIA H200" */
  SwageStringRef arch; /* as kernels and bundles are made for it: "sm_90a", "sim:sm_90a" */
  int32_t ordinal;
  bool isSimulator;
  int32_t multiprocessors;
  uint64_t memoryBytes, l2Bytes;
  double memoryBandwidth; /* peak, bytes per second; 0 when the driver does not say */
} SwageDeviceProperties;

/* An error where there is no driver. */
SWAGE_C_API SwageError swageDeviceGetCount(int *count);
/* `ordinal` counts as the driver does, within CUDA_VISIBLE_DEVICES. */
SWAGE_C_API SwageError swageDeviceOpen(int ordinal, SwageDevice *device);
/* A device on the CPU, to try and check kernels with.  `options` such as "check,order=random" are
   explained by `swage-run --help`; empty: fastest.  `arch` is the GPU that it stands for, empty:
   "sm_90a".  Its streams are done with whatever is put on them when the call returns. */
SWAGE_C_API SwageError swageDeviceOpenSimulator(SwageStringRef options, SwageStringRef arch,
                                                SwageDevice *device);
SWAGE_C_API SwageError swageDeviceGetProperties(SwageDevice device,
                                                SwageDeviceProperties *properties);
/* Makes the device's context current on this thread and leaves it so; needed to launch on the null
   stream by a thread that has not used the device through CUDA. */
SWAGE_C_API SwageError swageDeviceMakeCurrent(SwageDevice device);
/* Waits for all work of the device. */
SWAGE_C_API SwageError swageDeviceSynchronize(SwageDevice device);
SWAGE_C_API void swageDeviceDestroy(SwageDevice device);

/* For hosts without the CUDA runtime, and for simulated devices: memory and streams.  Copies are
   complete when they return and wait for work on streams made here.  Memory that is not freed is
   not freed with the device either. */
SWAGE_C_API SwageError swageDeviceAllocate(SwageDevice device, size_t bytes, void **memory);
SWAGE_C_API SwageError swageDeviceFree(SwageDevice device, void *memory);
SWAGE_C_API SwageError swageDeviceCopyToDevice(SwageDevice device, void *to, const void *from,
                                               size_t bytes);
SWAGE_C_API SwageError swageDeviceCopyToHost(SwageDevice device, void *to, const void *from,
                                             size_t bytes);
SWAGE_C_API SwageError swageDeviceCreateStream(SwageDevice device, SwageStream *stream);
SWAGE_C_API SwageError swageDeviceSynchronizeStream(SwageDevice device, SwageStream stream);
/* Whether work on the stream, of any owner, goes into a graph: then nothing can be compiled or
   loaded. */
SWAGE_C_API SwageError swageDeviceIsCapturing(SwageDevice device, SwageStream stream,
                                              bool *isCapturing);
SWAGE_C_API SwageError swageDeviceDestroyStream(SwageDevice device, SwageStream stream);

/*===----------------------------------------------------------------------===*\
|* Tensors
\*===----------------------------------------------------------------------===*/

typedef uint8_t SwageElementType;
enum {
  SwageElementI1 = 0, /* a byte each, 0 or 1 */
  SwageElementI8 = 1,
  SwageElementI32 = 2,
  SwageElementI64 = 3,
  SwageElementF16 = 4,
  SwageElementBF16 = 5,
  SwageElementF32 = 6,
  SwageElementF64 = 7,
  SwageElementF8E4M3FN = 8, /* without infinities: NaN stands for what is too large */
  SwageElementF8E5M2 = 9
};

/* Bytes that an element takes in memory; 0 for an unknown type. */
SWAGE_C_API size_t swageElementGetBytes(SwageElementType type);
/* "f16"; empty for an unknown type. */
SWAGE_C_API SwageStringRef swageElementGetName(SwageElementType type);

/* Memory of the caller on the device. */
typedef struct SwageTensor {
  void *data;
  SwageElementType elementType;
  uint32_t rank;
  const int64_t *shape;   /* `rank` extents */
  const int64_t *strides; /* in elements; null: row-major without gaps */
} SwageTensor;

/* In a shape of SwageTensorType: the extent comes with the input. */
#define SWAGE_DYNAMIC ((int64_t)-1)

/* An input or a result as the graph declares it. */
typedef struct SwageTensorType {
  SwageElementType elementType;
  uint32_t rank;
  const int64_t *shape; /* of the program */
} SwageTensorType;

/* The extents of one input. */
typedef struct SwageShape {
  const int64_t *extents;
  size_t rank;
} SwageShape;

/*===----------------------------------------------------------------------===*\
|* Programs
\*===----------------------------------------------------------------------===*/

/* A graph that runs with any shapes its types allow. */
typedef struct SwageProgram {
  void *ptr;
} SwageProgram;

/* The launches for fixed shapes on one device, frozen. */
typedef struct SwagePlan {
  void *ptr;
} SwagePlan;

typedef struct SwageParseOptions {
  size_t size;
  SwageStringRef filename; /* for messages; empty: "<input>" */
  SwageStringRef entry;    /* empty: "main" */
} SwageParseOptions;

typedef enum SwagePlanMode {
  SwagePlanBlocking,  /* what is missing is compiled, now */
  SwagePlanCachedOnly /* what is missing is an error that names it */
} SwagePlanMode;

typedef struct SwagePlanOptions {
  size_t size;
  SwagePlanMode mode;
  /* In bytes, powers of two: one for all addresses, or one for each input and then each result;
     null: 16 for all. */
  const uint8_t *alignment;
  size_t alignmentCount;
} SwagePlanOptions;

/* Parses and verifies a module of MLIR.  Text from anywhere: whatever is wrong with it is an
   error.  Null options ask for defaults.  Only in libswage. */
SWAGE_C_API SwageError swageProgramParse(SwageContext context, SwageStringRef text,
                                         const SwageParseOptions *options, SwageProgram *program);
/* A bundle that swageProgramSave wrote.  Shapes outside of what it was saved for are errors. */
SWAGE_C_API SwageError swageProgramLoad(SwageContext context, SwageStringRef path,
                                        SwageProgram *program);
/* Writes a bundle with the kernels that these shapes need on these architectures ("sm_90a",
   "sm_80", "sim:sm_90a"), and with those for any number of rows and queries where these are for
   few.  `shapes` holds `setCount` times one shape for each input. */
SWAGE_C_API SwageError swageProgramSave(SwageProgram program, SwageStringRef path,
                                        const SwageStringRef *archs, size_t archCount,
                                        const SwageShape *shapes, size_t setCount);
SWAGE_C_API void swageProgramDestroy(SwageProgram program);

SWAGE_C_API size_t swageProgramGetInputCount(SwageProgram program);
SWAGE_C_API size_t swageProgramGetResultCount(SwageProgram program);
SWAGE_C_API SwageError swageProgramGetInputType(SwageProgram program, size_t index,
                                                SwageTensorType *type);
SWAGE_C_API SwageError swageProgramGetResultType(SwageProgram program, size_t index,
                                                 SwageTensorType *type);

/* Checks the tensors, finds the plan and launches it: allocates nothing when shapes were seen
   before.  The workspace holds `workspaceBytes` bytes, at least swageProgramGetWorkspaceBytes, and
   is aligned to 256; it may be null when none is needed.  What is missing is compiled first; while
   the stream is captured that is an error that names it. */
SWAGE_C_API SwageError swageProgramRun(SwageProgram program, SwageDevice device, SwageStream stream,
                                       const SwageTensor *inputs, size_t inputCount,
                                       const SwageTensor *outputs, size_t outputCount,
                                       void *workspace, uint64_t workspaceBytes);

/* The functions below take one shape for each input. */

/* The extents of the first result, then those of the next: `extentCount` is the sum of the results'
   ranks.  May compile, where no shape was seen before. */
SWAGE_C_API SwageError swageProgramGetResultShapes(SwageProgram program, SwageDevice device,
                                                   const SwageShape *shapes, size_t inputCount,
                                                   int64_t *extents, size_t extentCount);
/* What swageProgramRun needs for these shapes; makes the plan.  Null options ask for defaults. */
SWAGE_C_API SwageError swageProgramGetWorkspaceBytes(SwageProgram program, SwageDevice device,
                                                     const SwageShape *shapes, size_t inputCount,
                                                     const SwagePlanOptions *options,
                                                     uint64_t *bytes);
/* Whether swageProgramRun with these shapes and addresses aligned to 16 would compile nothing. */
SWAGE_C_API bool swageProgramIsReady(SwageProgram program, SwageDevice device,
                                     const SwageShape *shapes, size_t inputCount);
/* Null options ask for defaults. */
SWAGE_C_API SwageError swageProgramPlan(SwageProgram program, SwageDevice device,
                                        const SwageShape *shapes, size_t inputCount,
                                        const SwagePlanOptions *options, SwagePlan *plan);
/* Compiles, loads and plans, several kernels at once.  `shapes` holds `setCount` times one shape
   for each input. */
SWAGE_C_API SwageError swageProgramWarmup(SwageProgram program, SwageDevice device,
                                          const SwageShape *shapes, size_t setCount);

/*===----------------------------------------------------------------------===*\
|* Plans
\*===----------------------------------------------------------------------===*/

/* A buffer that the caller passes to swagePlanLaunch. */
typedef struct SwageBufferSpec {
  uint64_t bytes;     /* the launch touches nothing beyond; 0: the pointer may be null */
  uint64_t alignment; /* that the kernels rely on: a power of two */
} SwageBufferSpec;

SWAGE_C_API size_t swagePlanGetInputCount(SwagePlan plan);
SWAGE_C_API size_t swagePlanGetOutputCount(SwagePlan plan);
SWAGE_C_API SwageError swagePlanGetInput(SwagePlan plan, size_t index, SwageBufferSpec *spec);
SWAGE_C_API SwageError swagePlanGetOutput(SwagePlan plan, size_t index, SwageBufferSpec *spec);
SWAGE_C_API uint64_t swagePlanGetWorkspaceBytes(SwagePlan plan);
/* Of the kernels that have something to do. */
SWAGE_C_API size_t swagePlanGetKernelCount(SwagePlan plan);
/* Puts the kernels on the stream, in order; never compiles, loads, allocates or locks.  One device
   pointer for each input and each output, row-major without gaps; the workspace holds
   swagePlanGetWorkspaceBytes bytes, aligned to 256, and may be null when that is 0. */
SWAGE_C_API SwageError swagePlanLaunch(SwagePlan plan, SwageStream stream,
                                       const void *const *inputs, size_t inputCount,
                                       void *const *outputs, size_t outputCount, void *workspace);
SWAGE_C_API void swagePlanDestroy(SwagePlan plan);

/*===----------------------------------------------------------------------===*\
|* Explanations: which kernels serve some shapes, and what it would take
\*===----------------------------------------------------------------------===*/

typedef struct SwageExplanation {
  void *ptr;
} SwageExplanation;

SWAGE_C_API SwageError swageProgramExplain(SwageProgram program, SwageDevice device,
                                           const SwageShape *shapes, size_t inputCount,
                                           SwageExplanation *explanation);
/* Whether the next run costs a lookup. */
SWAGE_C_API bool swageExplanationHasPlan(SwageExplanation explanation);
/* Whether no kernel would be compiled. */
SWAGE_C_API bool swageExplanationHasVariant(SwageExplanation explanation);
/* What the variant that serves, or would be made, relies on: "sm_90a, 32-bit offsets, ...". */
SWAGE_C_API SwageStringRef swageExplanationGetGuards(SwageExplanation explanation);
/* Why no variant serves: the first guard that does not hold, with both values; else empty. */
SWAGE_C_API SwageStringRef swageExplanationGetReason(SwageExplanation explanation);
/* All of it, for people, several lines. */
SWAGE_C_API SwageStringRef swageExplanationGetText(SwageExplanation explanation);
SWAGE_C_API void swageExplanationDestroy(SwageExplanation explanation);

/*===----------------------------------------------------------------------===*\
|* Artifacts: how the kernels for some shapes came to be
\*===----------------------------------------------------------------------===*/

typedef struct SwageArtifact {
  void *ptr;
} SwageArtifact;

/* A pass that ran, and the IR after it. */
typedef struct SwagePass {
  SwageStringRef name, ir;
} SwagePass;

typedef struct SwageKernelInfo {
  size_t size;
  SwageStringRef name;     /* "row_3f2a91c0" */
  SwageStringRef family;   /* the template: "row" */
  SwageStringRef schedule; /* the attribute, as text */
  SwageStringRef source;   /* CUDA */
  SwageStringRef ptx;
  SwageStringRef sass;        /* empty without a disassembler; */
  SwageStringRef sassProblem; /* then this says why */
  SwageStringRef log;         /* of the compiler */
  SwageStringRef image;       /* the machine code: an ELF file */
  SwageStringRef key;         /* of the cache entry */
  uint32_t threads;           /* of a block */
  uint32_t indexBits;         /* of offsets: 32 or 64 */
  uint32_t registers;         /* of a thread */
  uint32_t spillBytes;        /* stored and loaded, of a thread */
  uint32_t sharedBytes;       /* of a block */
} SwageKernelInfo;

/* Compiles again what the cache does not have.  Of a loaded bundle: what it holds. */
SWAGE_C_API SwageError swageProgramGetArtifact(SwageProgram program, SwageDevice device,
                                               const SwageShape *shapes, size_t inputCount,
                                               SwageArtifact *artifact);
SWAGE_C_API size_t swageArtifactGetPassCount(SwageArtifact artifact);
SWAGE_C_API SwageError swageArtifactGetPass(SwageArtifact artifact, size_t index, SwagePass *pass);
SWAGE_C_API size_t swageArtifactGetKernelCount(SwageArtifact artifact);
SWAGE_C_API SwageError swageArtifactGetKernel(SwageArtifact artifact, size_t index,
                                              SwageKernelInfo *kernel);
SWAGE_C_API double swageArtifactGetLowerMilliseconds(SwageArtifact artifact);
SWAGE_C_API double swageArtifactGetCompileMilliseconds(SwageArtifact artifact);
SWAGE_C_API void swageArtifactDestroy(SwageArtifact artifact);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SWAGE_C_SWAGE_H */
