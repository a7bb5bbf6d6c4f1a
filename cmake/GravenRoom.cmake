# graven_room(NAME <room> SOURCES <a.cc>... HEADERS <a.h>... [DEPENDS <room>...]
#             [LIBRARIES <target>...]
#             [TESTS <a_test.cc>...] [TEST_HEADERS <helper.h>...] [TEST_ROOMS <room>...])
#
# One folder graven/<room>/ is one object library graven_<room>, for instance
#
#   graven_room(
#     NAME tensor
#     SOURCES
#       dtype.cc
#       shape.cc
#     HEADERS
#       dtype.h
#       shape.h
#     DEPENDS base
#     TESTS
#       dtype_test.cc
#       shape_test.cc)
#
# DEPENDS names the rooms that stand on this room's line of the house; what these include comes
# along. LIBRARIES are libraries from outside, found by find_package in the room's file. Object
# libraries and not archives, because the linker would drop a file of op records from an archive:
# nothing refers to it by name.
#
# TESTS make one doctest program graven_<room>_test, which links the objects of this room and of
# those below, so hidden symbols are no hindrance and an include that goes up the house does not
# link. TEST_ROOMS are the other rooms whose objects the tests need: a room below `ops` tests with
# the real ops and names `ops` and what lies between.
function(graven_room)
  cmake_parse_arguments(PARSE_ARGV 0 room "" "NAME"
                        "SOURCES;HEADERS;DEPENDS;LIBRARIES;TESTS;TEST_HEADERS;TEST_ROOMS")
  if(room_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "graven_room(${room_NAME}): unknown ${room_UNPARSED_ARGUMENTS}")
  endif()
  set(target graven_${room_NAME})

  set(below "")
  foreach(other IN LISTS room_DEPENDS)
    if(NOT TARGET graven_${other})
      message(FATAL_ERROR "graven_room(${room_NAME}): no room below it is named ${other}")
    endif()
    get_target_property(others graven_${other} GRAVEN_ROOMS_BELOW)
    list(APPEND below ${others} ${other})
  endforeach()
  list(REMOVE_DUPLICATES below)

  add_library(${target} OBJECT)
  graven_set_properties(${target})
  set_target_properties(${target} PROPERTIES GRAVEN_ROOMS_BELOW "${below}" LINKER_LANGUAGE CXX)
  target_sources(${target} PRIVATE ${room_SOURCES} ${room_HEADERS})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE graven_settings PUBLIC ${room_LIBRARIES})
  foreach(other IN LISTS room_DEPENDS)
    target_link_libraries(${target} PUBLIC graven_${other})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY GRAVEN_BUILT_ROOMS ${room_NAME})

  if(room_TESTS AND GRAVEN_BUILD_TESTS)
    graven_test(NAME ${target}_test SOURCES ${room_TESTS} ${room_TEST_HEADERS})
    foreach(other IN LISTS below room_TEST_ROOMS ITEMS ${room_NAME})
      target_link_libraries(${target}_test PRIVATE graven_${other})
    endforeach()
  endif()
endfunction()

# graven_test(NAME <target> SOURCES <a_test.cc>... [LIBRARIES <target>...])
# A doctest program, registered in CTest under its own name, with its folder as label.
function(graven_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "" "NAME" "SOURCES;LIBRARIES")
  add_executable(${test_NAME})
  graven_set_properties(${test_NAME})
  # What a test opens by name (libgraven_onednn.so) lies beside libgraven.so.
  set_target_properties(${test_NAME} PROPERTIES BUILD_RPATH "$ORIGIN/../lib" GRAVEN_IS_TEST ON)
  target_sources(${test_NAME} PRIVATE ${test_SOURCES})
  target_link_libraries(${test_NAME} PRIVATE graven_settings graven_doctest_main
                                             ${test_LIBRARIES})
  add_test(NAME ${test_NAME} COMMAND ${test_NAME} --force-colors=false)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}"
             OUTPUT_VARIABLE folder)
  set_tests_properties(${test_NAME} PROPERTIES LABELS "${folder}")
  if(GRAVEN_SANITIZE)  # Sanitizers intercept dlopen, which then no longer sees the caller's $ORIGIN.
    set_tests_properties(${test_NAME} PROPERTIES ENVIRONMENT
                                                 "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/lib")
  endif()
  set_property(GLOBAL APPEND PROPERTY GRAVEN_TESTS ${test_NAME})
endfunction()
if(GRAVEN_BUILD_TESTS)
  find_package(doctest REQUIRED)
  add_library(graven_doctest_main OBJECT cmake/doctest_main.cc)
  graven_set_properties(graven_doctest_main)
  target_link_libraries(graven_doctest_main PRIVATE graven_settings PUBLIC doctest::doctest)
endif()

# graven_program(NAME <target> SOURCES <a.cc>...)
# A program in build/<preset>/bin that links libgraven.so, as a user's would.
function(graven_program)
  cmake_parse_arguments(PARSE_ARGV 0 program "" "NAME" "SOURCES")
  add_executable(${program_NAME})
  graven_set_properties(${program_NAME})
  target_sources(${program_NAME} PRIVATE ${program_SOURCES})
  target_link_libraries(${program_NAME} PRIVATE graven_settings Graven::graven)
endfunction()

# graven_plugin(NAME <name> SOURCES <a.cc>... [HEADERS <a.h>...] [LIBRARIES <target>...])
# A shared object libgraven_<name>.so that the engine opens at run time with
# dlopen("libgraven_<name>.so", RTLD_NOW | RTLD_LOCAL): a plain name, found by the caller's
# $ORIGIN. It exports one C factory and links nothing of the engine, whose headers it may include.
function(graven_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 plugin "" "NAME" "SOURCES;HEADERS;LIBRARIES")
  set(target graven_${plugin_NAME})
  add_library(${target} SHARED)
  graven_set_properties(${target})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  target_sources(${target} PRIVATE ${plugin_SOURCES} ${plugin_HEADERS})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE graven_settings ${plugin_LIBRARIES})
  if(NOT GRAVEN_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  if(GRAVEN_WHEEL)  # An RPATH, unlike a RUNPATH, also finds what the libraries themselves need.
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  endif()
  set_property(GLOBAL APPEND PROPERTY GRAVEN_PLUGINS ${target})
endfunction()

# graven_engine_library(): libgraven.so of all rooms; link it as Graven::graven, which is also its
# name in the installed package.
function(graven_engine_library)
  get_property(rooms GLOBAL PROPERTY GRAVEN_BUILT_ROOMS)
  get_property(plugins GLOBAL PROPERTY GRAVEN_PLUGINS)
  if(NOT rooms)
    return()
  endif()
  add_library(libgraven SHARED)
  add_library(Graven::graven ALIAS libgraven)
  graven_set_properties(libgraven)
  set_target_properties(
    libgraven
    PROPERTIES OUTPUT_NAME graven
               EXPORT_NAME graven
               INSTALL_RPATH "$ORIGIN"
               BUILD_WITH_INSTALL_RPATH ON
               LINKER_LANGUAGE CXX)
  if(NOT GRAVEN_WHEEL)  # A wheel cannot hold the symbolic links of a version.
    set_target_properties(libgraven PROPERTIES VERSION ${PROJECT_VERSION}
                                               SOVERSION ${PROJECT_VERSION_MAJOR})
  endif()
  target_compile_features(libgraven PUBLIC cxx_std_20)
  target_include_directories(
    libgraven PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                     "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/printed>"
                     "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(libgraven PRIVATE $<BUILD_INTERFACE:graven_settings>)
  foreach(room IN LISTS rooms)
    target_link_libraries(libgraven PRIVATE $<BUILD_INTERFACE:graven_${room}>)
  endforeach()
  # Symbols of archives that are linked in stay hidden.
  target_link_options(libgraven PRIVATE -Wl,--exclude-libs,ALL)
  # Its own functions call each other without a look-up.
  target_link_options(libgraven PRIVATE -Wl,-Bsymbolic-functions)
  # What the engine opens at run time is there when it, or a test of it, has been built.
  get_property(tests GLOBAL PROPERTY GRAVEN_TESTS)
  if(plugins)
    foreach(target IN LISTS tests ITEMS libgraven)
      add_dependencies(${target} ${plugins})
    endforeach()
  endif()
endfunction()
