# cmake --install: the C++ package (headers, shared objects, find_package(Graven)), or, with
# GRAVEN_WHEEL, the shared objects beside the Python extension.
if(NOT TARGET libgraven)
  return()
endif()
get_property(graven_plugins GLOBAL PROPERTY GRAVEN_PLUGINS)

if(GRAVEN_WHEEL)
  install(TARGETS libgraven ${graven_plugins} LIBRARY DESTINATION graven COMPONENT wheel)
  # Messages name pages by this path, here relative to the package; `python -m graven` prints them.
  install(DIRECTORY docs DESTINATION graven COMPONENT wheel FILES_MATCHING PATTERN "*.md")
  # What these need beyond the C++ runtime lies beside them, each under the name it is asked for.
  # Not install(RUNTIME_DEPENDENCY_SET): its symbolic links become second copies in a wheel.
  set(graven_objects "$<TARGET_FILE:libgraven>")
  foreach(plugin IN LISTS graven_plugins)
    list(APPEND graven_objects "$<TARGET_FILE:${plugin}>")
  endforeach()
  install(
    CODE "
      include(\"${CMAKE_CURRENT_LIST_DIR}/CopyLicense.cmake\")
      file(MAKE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}/graven/licenses\")
      file(
        GET_RUNTIME_DEPENDENCIES
        LIBRARIES ${graven_objects}
        RESOLVED_DEPENDENCIES_VAR found
        PRE_INCLUDE_REGEXES \"^lib(dnnl|gomp|hwy|hwy_contrib|OpenCL)[.]so\"
        PRE_EXCLUDE_REGEXES \".*\")
      foreach(file IN LISTS found)
        cmake_path(GET file FILENAME name)
        file(REAL_PATH \"\${file}\" file)
        message(STATUS \"Copying \${file} as \${name}\")
        file(COPY_FILE \"\${file}\" \"\${CMAKE_INSTALL_PREFIX}/graven/\${name}\")
        copy_license(\"\${file}\" \"\${name}\" \"\${CMAKE_INSTALL_PREFIX}/graven/licenses\")
      endforeach()
      # Compiled or linked into objects of Graven's own.
      copy_license(
        \"${BOOST_INCLUDE_DIR}/boost/math/special_functions/gamma.hpp\" boost
        \"\${CMAKE_INSTALL_PREFIX}/graven/licenses\")
      copy_license(
        \"${OPENBLAS_SERIAL_LIBRARY}\" openblas
        \"\${CMAKE_INSTALL_PREFIX}/graven/licenses\")"
    COMPONENT wheel)
  return()
endif()

# The pages that messages name as docs/<page>.md, and those that these lead to.
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")

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
  PATTERN "python" EXCLUDE
  PATTERN "*testing.h" EXCLUDE  # Helpers of a room's own tests, as the next.
  PATTERN "*_test.h" EXCLUDE)
install(DIRECTORY "${PROJECT_BINARY_DIR}/printed/graven/"
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/graven FILES_MATCHING PATTERN "*.h")
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
