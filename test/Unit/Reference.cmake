# Unit tests of the oracle: number formats, files, the acceptance rule, op by op evaluation.
find_package(GTest REQUIRED)
add_executable(swage-reference-tests
  ${CMAKE_CURRENT_LIST_DIR}/AcceptanceTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/AttentionBoundTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ErrorBoundTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/NpyTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/NumberFormatTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/OdsExamplesTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ReferenceScalarsTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ReferenceTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ResultReportTest.cpp)
swage_target(swage-reference-tests)
target_compile_definitions(swage-reference-tests PRIVATE
  SWAGE_OPS_TD="${PROJECT_SOURCE_DIR}/include/swage/Dialect/Swage/IR/SwageOps.td")
target_include_directories(swage-reference-tests PRIVATE "${PROJECT_SOURCE_DIR}/tools/harness")
target_link_libraries(swage-reference-tests PRIVATE SwageReference SwageSupport MLIRParser GTest::gtest_main)
add_test(NAME swage-reference-tests COMMAND swage-reference-tests)
swage_precompile(swage-reference-tests)

# What swage-bench is made of, beside the GPU.
add_executable(swage-bench-tests
  ${CMAKE_CURRENT_LIST_DIR}/BenchTest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/TunerTest.cpp)
swage_target(swage-bench-tests)
target_link_libraries(swage-bench-tests PRIVATE SwageHarness SwageSimt GTest::gtest_main)
add_test(NAME swage-bench-tests COMMAND swage-bench-tests)
swage_precompile(swage-bench-tests)

# What a pass must not change is what the oracle says of a graph.
target_sources(swage-transforms-tests PRIVATE ${CMAKE_CURRENT_LIST_DIR}/RecognizeTest.cpp)
target_compile_definitions(swage-transforms-tests PRIVATE
  SWAGE_RECOGNIZE_ATTENTION="${PROJECT_SOURCE_DIR}/test/Transforms/recognize-attention.mlir")
target_link_libraries(swage-transforms-tests PRIVATE SwageReference)
