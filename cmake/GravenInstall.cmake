# cmake --install: the C++ package (headers, shared objects, find_package(Graven)), or, with
# GRAVEN_WHEEL, the shared objects beside the Python extension.
if(NOT TARGET libgraven)
  return()
endif()
get_property(graven_plugins GLOBAL PROPERTY GRAVEN_PLUGINS)

if(GRAVEN_WHEEL)
  install(TARGETS libgraven ${graven_plugins} LIBRARY DESTINATION graven COMPONENT wheel)
  return()
endif()

include(CMakePackageConfigHelpers)
set(graven_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Graven")
install(
  TARGETS libgraven
  EXPORT GravenTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(graven_plugins)
  install(TARGETS ${graven_plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(
  DIRECTORY graven/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/graven
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "python" EXCLUDE)
install(
  EXPORT GravenTargets
  NAMESPACE Graven::
  DESTINATION ${graven_package_folder})
configure_package_config_file(cmake/GravenConfig.cmake.in "${CMAKE_BINARY_DIR}/GravenConfig.cmake"
                              INSTALL_DESTINATION ${graven_package_folder})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/GravenConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/GravenConfig.cmake"
              "${CMAKE_BINARY_DIR}/GravenConfigVersion.cmake"
        DESTINATION ${graven_package_folder})
