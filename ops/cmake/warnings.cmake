# The warnings of our own code, all of them errors. Third-party headers are SYSTEM, so are exempt.
add_library(fusefarm_warnings INTERFACE)
set(warnings
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Wimplicit-fallthrough -Wformat=2 -Wextra-semi -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of impossible accesses inside its own std::string (GCC bugs 105329, 105651), and of
  # the inactive alternatives of a std::variant as uninitialised (GCC bug 80635).
  list(APPEND warnings -Wduplicated-cond -Wlogical-op -Wuseless-cast -Wno-restrict
       -Wno-array-bounds -Wno-stringop-overflow -Wno-maybe-uninitialized)
endif()
target_compile_options(fusefarm_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
