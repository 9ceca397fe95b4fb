// A program that uses another LLVM and MLIR, shared ones, and loads libswage: each must find its
// own symbols, in either order of first use.
//
//   beside_llvm LIBSWAGE swage-first|llvm-first
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "swage-c/Swage.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

static const char kGraph[] = "func.func @main(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {\n"
                             "  %y = math.exp %x : tensor<?x64xf32>\n"
                             "  return %y : tensor<?x64xf32>\n"
                             "}\n";

/// Compiles a graph for the simulator, by functions found by name.
static bool useSwage(void *library) {
#define FIND(NAME) auto NAME##_ = reinterpret_cast<decltype(&NAME)>(dlsym(library, #NAME))
  FIND(swageContextCreate);
  FIND(swageProgramParse);
  FIND(swageDeviceOpenSimulator);
  FIND(swageProgramWarmup);
  FIND(swageErrorGetText);
  FIND(swageProgramDestroy);
  FIND(swageContextDestroy);
  FIND(swageDeviceDestroy);
#undef FIND
  SwageContextOptions options = {};
  options.size = sizeof options;
  options.simulator = true;
  SwageContext context = {};
  SwageDevice device = {};
  SwageProgram program = {};
  const int64_t extents[] = {8, 64};
  const SwageShape shape = {extents, 2};
  SwageError error = swageContextCreate_(&options, &context);
  if (!swageIsError(error))
    error = swageDeviceOpenSimulator_({}, {}, &device);
  if (!swageIsError(error))
    error = swageProgramParse_(context, swageStringRef(kGraph), nullptr, &program);
  if (!swageIsError(error))
    error = swageProgramWarmup_(program, device, &shape, 1);
  if (swageIsError(error))
    std::puts(swageErrorGetText_(error).data);
  swageProgramDestroy_(program);
  swageDeviceDestroy_(device);
  swageContextDestroy_(context);
  return !swageIsError(error);
}

/// Parses with the other MLIR, in which Swage's dialect does not exist.
static bool useMlir() {
  mlir::MLIRContext context;
  auto module = mlir::parseSourceString<mlir::ModuleOp>("module {}", &context);
  return module && !context.isOperationRegistered("swage.softmax") &&
         context.isOperationRegistered("builtin.module");
}

int main(int argc, char **argv) {
  bool swageFirst = argc > 2 && std::strcmp(argv[2], "swage-first") == 0;
  if (!swageFirst && !useMlir())
    return std::puts("MLIR failed before libswage was loaded"), 1;
  // Global: the symbols of the one that comes later must not replace those of the other.
  void *library = dlopen(argc > 1 ? argv[1] : "libswage.so", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return std::puts(dlerror()), 1;
  if (!useSwage(library))
    return 1;
  if (!useMlir())
    return std::puts("MLIR failed after libswage was used"), 1;
  if (!useSwage(library))
    return 1;
  return std::puts("both work"), 0;
}
