# graven_python_extension(SOURCES <a.cc>... [HEADERS <a.h>...])
# The extension module graven._engine. It links libgraven.so and lies in
# build/<preset>/python/graven/, where tools/graven_path.py finds it; a wheel holds it and
# the shared objects in one folder with the package, whose _engine.pyi describes it.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()

function(graven_python_extension)
  cmake_parse_arguments(PARSE_ARGV 0 extension "" "" "SOURCES;HEADERS")
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT
    RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT status EQUAL 0)
    message(
      FATAL_ERROR
        "${Python_EXECUTABLE} has no nanobind, which the Python extension is built with. "
        "./dev bootstrap makes .venv, whose Python has it and is found by itself; or pass "
        "-DPython_EXECUTABLE=... with another that has, or -DGRAVEN_BUILD_PYTHON=OFF for the C++ "
        "package alone.")
  endif()
  find_package(nanobind CONFIG REQUIRED)

  nanobind_add_module(_engine NB_STATIC NB_DOMAIN graven NOMINSIZE ${extension_SOURCES}
                      ${extension_HEADERS})
  graven_set_properties(_engine)
  set(folder "${CMAKE_BINARY_DIR}/python/graven")
  set_target_properties(
    _engine
    PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${folder}"
               BUILD_RPATH "${CMAKE_BINARY_DIR}/lib"
               INSTALL_RPATH "$ORIGIN")
  # nanobind's headers are not ours to warn about.
  get_target_property(includes nanobind-static INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(_engine SYSTEM PRIVATE ${includes})
  target_link_libraries(_engine PRIVATE graven_settings Graven::graven)

  if(GRAVEN_WHEEL)
    # What type checkers see of functions that records make, which no source shows.
    set(stubs "${CMAKE_BINARY_DIR}/stubs")
    add_custom_command(
      TARGET _engine POST_BUILD
      COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/stubs.py" "${stubs}" --engine
              "${folder}"
      VERBATIM)
    install(
      DIRECTORY "${stubs}/"
      DESTINATION graven
      COMPONENT wheel)
    install(TARGETS _engine LIBRARY DESTINATION graven COMPONENT wheel)
    # It is linked statically.
    file(GLOB license "${nanobind_ROOT}/../../nanobind-*.dist-info/licenses/LICENSE")
    if(NOT license)
      message(FATAL_ERROR "nanobind's licence was not found beside ${nanobind_ROOT}")
    endif()
    install(
      FILES ${license}
      DESTINATION graven/licenses
      RENAME nanobind.txt
      COMPONENT wheel)
  endif()
endfunction()
