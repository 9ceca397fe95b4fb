# The concurrency tests as a plain executable, and once more with ThreadSanitizer over the runtime's own sources: a
# sanitizer must see all of a program, and these few files are quick to build in any build directory.
swage_unit_test(swage-concurrency-tests
  SOURCES
    ConcurrencyTest.cpp
  LINK
    SwageRuntime
    SwageSupport)
target_compile_definitions(swage-concurrency-tests PRIVATE FAKE_CUDA="$<TARGET_FILE:swage-fake-cuda>")
add_dependencies(swage-concurrency-tests swage-fake-cuda)

find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -fsanitize=thread)
check_cxx_source_compiles("int main() { return 0; }" SWAGE_HAVE_TSAN)
unset(CMAKE_REQUIRED_FLAGS)
# One sanitizer at a time.
if(SWAGE_HAVE_TSAN AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  function(swage_tsan_target name)
    swage_target(${name})
    target_compile_options(${name} PRIVATE -fsanitize=thread -O1 -g1)
    target_link_options(${name} PRIVATE -fsanitize=thread)
  endfunction()
  get_target_property(runtime_sources SwageRuntime SOURCES)
  get_target_property(support_sources SwageSupport SOURCES)
  list(TRANSFORM runtime_sources PREPEND "${PROJECT_SOURCE_DIR}/lib/Runtime/" REGEX "^[^/]")
  list(TRANSFORM support_sources PREPEND "${PROJECT_SOURCE_DIR}/lib/Support/" REGEX "^[^/]")
  add_library(swage-fake-cuda-tsan MODULE ../FakeDriver/FakeCuda.cpp)
  swage_tsan_target(swage-fake-cuda-tsan)
  set_target_properties(swage-fake-cuda-tsan PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
  add_executable(swage-concurrency-tests-tsan
    ConcurrencyTest.cpp ContextTest.cpp ${runtime_sources} ${support_sources})
  swage_tsan_target(swage-concurrency-tests-tsan)
  target_include_directories(swage-concurrency-tests-tsan SYSTEM PRIVATE "${SWAGE_XXHASH_INCLUDE_DIR}")
  target_link_libraries(swage-concurrency-tests-tsan PRIVATE
    fmt::fmt-header-only GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
  target_compile_definitions(swage-concurrency-tests-tsan PRIVATE
    FAKE_CUDA="$<TARGET_FILE:swage-fake-cuda-tsan>")
  add_dependencies(swage-concurrency-tests-tsan swage-fake-cuda-tsan)
  # The end of a process that leaves threads behind is what one of the tests is about.
  add_test(NAME swage-concurrency-tests-tsan COMMAND swage-concurrency-tests-tsan)
  set_tests_properties(swage-concurrency-tests-tsan PROPERTIES
    ENVIRONMENT "TSAN_OPTIONS=halt_on_error=1 die_after_fork=0")
endif()
