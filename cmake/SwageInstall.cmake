# What `cmake --install` writes, in three components: the libraries; headers, CMake package and pkg-config files; the
# tools. The tree can be moved afterwards.
include(CMakePackageConfigHelpers)

install(TARGETS swage swage_runtime EXPORT SwageTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT development)
if(SWAGE_BUILD_TOOLS)
  install(TARGETS swage-bench swage-cache swage-doctor swage-opt swage-run swage-sim swage-translate
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()

# The headers that a host needs; those with MLIR in them, and those of the libraries' insides, stay here.
install(DIRECTORY include/swage-c DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY include/swage/Runtime include/swage/Support DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/swage
  COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN Subprocess.h EXCLUDE PATTERN Text.h EXCLUDE PATTERN TextGuard.h EXCLUDE)
file(GLOB swage_jit_headers CONFIGURE_DEPENDS include/swage/JIT/Program.h include/swage/JIT/GraphBuilder.h)
install(FILES ${swage_jit_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/swage/JIT COMPONENT development)
install(FILES include/swage/Simt/Simulator.h include/swage/Simt/SimulatorOptions.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/swage/Simt COMPONENT development)

# find_package(Swage).
set(swage_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Swage)
install(EXPORT SwageTargets NAMESPACE Swage:: DESTINATION ${swage_package_dir} COMPONENT development)
configure_package_config_file(cmake/SwageConfig.cmake.in "${PROJECT_BINARY_DIR}/SwageConfig.cmake"
  INSTALL_DESTINATION ${swage_package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/SwageConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/SwageConfig.cmake" "${PROJECT_BINARY_DIR}/SwageConfigVersion.cmake"
  DESTINATION ${swage_package_dir} COMPONENT development)

# pkg-config, whose paths are relative to the file.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR swage_absolute_libdir)
if(swage_absolute_libdir)
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR is ${CMAKE_INSTALL_LIBDIR}, needed: a path below the prefix")
endif()
file(RELATIVE_PATH swage_prefix_of_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
foreach(name IN ITEMS swage swage-runtime)
  configure_file(cmake/${name}.pc.in "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()
