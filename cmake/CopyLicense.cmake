# copy_license(<library> <name> <folder>)
# Copies what Debian says of the licence of a library's package, /usr/share/doc/<package>/copyright,
# and the texts of licences that it refers to. Runs while a wheel is installed, whose copies of
# libraries must come with their licences.
function(copy_license library name folder)
  execute_process(
    COMMAND dpkg-query --search "${library}"
    OUTPUT_VARIABLE owner
    ERROR_QUIET)
  string(REGEX MATCH "^[^:]+" package "${owner}")
  set(text "/usr/share/doc/${package}/copyright")
  if(NOT package OR NOT EXISTS "${text}")
    message(WARNING "no Debian package tells the licence of ${library}: the wheel lacks it")
    return()
  endif()
  file(REAL_PATH "${text}" text)  # libgomp's is a link into that of the compiler.
  file(COPY_FILE "${text}" "${folder}/${name}.txt")
  file(READ "${text}" text)
  string(REGEX MATCHALL "/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]" common "${text}")
  foreach(license IN LISTS common)
    if(EXISTS "${license}")
      cmake_path(GET license FILENAME title)
      file(REAL_PATH "${license}" license)
      file(COPY_FILE "${license}" "${folder}/${title}.txt")
    endif()
  endforeach()
endfunction()
