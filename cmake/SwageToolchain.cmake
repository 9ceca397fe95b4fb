# Compiler launcher and linker: ccache and lld when they are there, because a tool links 60 MLIR archives.
find_program(SWAGE_CCACHE ccache)
if(SWAGE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Clones of the tree share objects, and files may use precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR}"
    CCACHE_SLOPPINESS=pch_defines,time_macros "${SWAGE_CCACHE}")
endif()
find_program(SWAGE_LLD NAMES ld.lld-22 ld.lld)
if(SWAGE_LLD)
  get_filename_component(swage_lld_real "${SWAGE_LLD}" REALPATH)
  get_filename_component(swage_lld_dir "${swage_lld_real}" DIRECTORY)
  add_link_options(-fuse-ld=lld -B${swage_lld_dir})
endif()
# By which the cache tells builds of the passes apart (lib/JIT/VariantCache.cpp); not every compiler asks for it.
add_link_options(-Wl,--build-id=sha1)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Debian installs LLVM under a versioned prefix that CMake does not search.
find_program(SWAGE_LLVM_CONFIG NAMES llvm-config-22 llvm-config)
if(SWAGE_LLVM_CONFIG AND NOT MLIR_DIR)
  execute_process(COMMAND "${SWAGE_LLVM_CONFIG}" --prefix
    OUTPUT_VARIABLE swage_llvm_prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND CMAKE_PREFIX_PATH "${swage_llvm_prefix}")
endif()
