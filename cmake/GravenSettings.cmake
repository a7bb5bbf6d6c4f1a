# graven_settings: what every target of ours is compiled with. Targets link it PRIVATE, so that
# nothing of it reaches users of the installed package.
add_library(graven_settings INTERFACE)
target_compile_features(graven_settings INTERFACE cxx_std_20)
target_compile_options(
  graven_settings
  INTERFACE -Wall
            -Wextra
            # Products and sums are fused where the optimiser says so, never by the compiler.
            -ffp-contract=off
            # Nothing takes the place of our functions at run time, so they may be inlined.
            -fno-semantic-interposition
            # A small call takes a quarter more time where its functions begin within a cache line.
            $<$<CONFIG:Release>:-falign-functions=64>
            # Programs of tests compile in half the time without it, and their loops are short.
            $<$<CONFIG:Release>:$<IF:$<BOOL:$<TARGET_PROPERTY:GRAVEN_IS_TEST>>,-O0,-O2>>
            $<$<CONFIG:Release>:-g1>)

if(GRAVEN_SANITIZE)
  target_compile_options(graven_settings INTERFACE -fsanitize=${GRAVEN_SANITIZE}
                                                   -fno-omit-frame-pointer -O1 -g1)
  # GCC's checks for sanitizers look to its own flow analysis like reads of unset variables.
  target_compile_options(graven_settings INTERFACE -Wno-maybe-uninitialized)
  target_link_options(graven_settings INTERFACE -fsanitize=${GRAVEN_SANITIZE})
  if(GRAVEN_SANITIZE MATCHES "undefined")
    target_compile_options(graven_settings INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()

if(GRAVEN_COVERAGE)
  # Threads count at once.
  target_compile_options(graven_settings INTERFACE --coverage -fprofile-update=atomic -O1 -g1)
  target_link_options(graven_settings INTERFACE --coverage)
endif()

# graven_set_properties(TARGET): hidden symbols, position-independent code, and where results go.
# Shared objects find each other by $ORIGIN, in the build tree and when installed.
function(graven_set_properties target)
  set_target_properties(
    ${target}
    PROPERTIES CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               POSITION_INDEPENDENT_CODE ON
               BUILD_RPATH_USE_ORIGIN ON
               RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin"
               LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
endfunction()
