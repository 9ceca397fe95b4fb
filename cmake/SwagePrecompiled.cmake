# MLIR's headers take half the time of a file that includes them: swage_precompile(target) lets targets share them, read
# once. What is precompiled is included nowhere by that alone: every file names what it uses.
option(SWAGE_PRECOMPILE_HEADERS "Read MLIR's headers once" ON)
if(SWAGE_PRECOMPILE_HEADERS)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/Precompiled.cpp" CONTENT "")
  add_library(SwagePrecompiled OBJECT "${PROJECT_BINARY_DIR}/Precompiled.cpp")
  swage_target(SwagePrecompiled)
  target_link_libraries(SwagePrecompiled PRIVATE swage_mlir)
  target_precompile_headers(SwagePrecompiled PRIVATE
    <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <set> <string> <string_view> <vector>
    <llvm/ADT/MapVector.h> <llvm/ADT/SetVector.h> <llvm/ADT/TypeSwitch.h> <llvm/Support/JSON.h>
    <llvm/Support/MathExtras.h> <llvm/Support/raw_ostream.h>
    <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/Tensor/IR/Tensor.h> <mlir/IR/Builders.h> <mlir/IR/DialectImplementation.h> <mlir/IR/IRMapping.h>
    <mlir/IR/Matchers.h> <mlir/IR/PatternMatch.h> <mlir/IR/TypeUtilities.h> <mlir/Parser/Parser.h>
    <mlir/Pass/PassManager.h>)
endif()

function(swage_precompile target)
  if(NOT SWAGE_PRECOMPILE_HEADERS)
    return()
  endif()
  # The compiler takes what was precompiled as -fPIC only for -fPIC, and CMake compiles programs as -fPIE.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM SwagePrecompiled)
endfunction()
