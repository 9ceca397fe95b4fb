# swage_library(name SOURCES ... LINK ...): one static library of ours, with our warnings as errors.
function(swage_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  swage_target(${name})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
endfunction()

# Include paths and warnings shared by every target of ours.
function(swage_target name)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>) # false alarms on optional in generated code
endfunction()
