# Compiles through ccache where it is installed. Paths below the source tree are hashed
# relative to it, so a second checkout finds what the first one compiled.
find_program(GRAVEN_CCACHE ccache)
if(GRAVEN_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${GRAVEN_CCACHE}"
      CACHE STRING "Program that runs the C++ compiler")
endif()
