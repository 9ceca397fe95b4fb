# How our targets meet LLVM: swage_mlir carries include paths, definitions and the RTTI and exception flags that
# LLVM was built with; with SWAGE_STATIC_LLVM the monolithic `LLVM` shared library in the imported targets' link
# interface is replaced by the few component archives that our code reaches.
add_library(swage_mlir INTERFACE)
target_include_directories(swage_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(swage_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(swage_mlir INTERFACE ${swage_llvm_definitions})
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(swage_mlir INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
if(NOT LLVM_ENABLE_EH)
  target_compile_options(swage_mlir INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
endif()

if(SWAGE_STATIC_LLVM)
  llvm_map_components_to_libnames(swage_llvm_components
    Support Core Remarks BitReader BitstreamReader BinaryFormat Object TargetParser Demangle AsmParser
    DebugInfoDWARF FrontendOpenMP)
  foreach(target IN LISTS MLIR_ALL_LIBS MLIR_EXPORTED_TARGETS)
    if(TARGET ${target})
      get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
      if(links AND "LLVM" IN_LIST links)
        list(REMOVE_ITEM links LLVM)
        list(APPEND links ${swage_llvm_components})
        set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
      endif()
    endif()
  endforeach()
  target_link_libraries(swage_mlir INTERFACE ${swage_llvm_components})
  target_link_options(swage_mlir INTERFACE -static-libstdc++ -static-libgcc)
else()
  target_link_libraries(swage_mlir INTERFACE LLVM)
endif()
