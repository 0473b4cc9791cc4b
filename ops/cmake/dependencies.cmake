# Every third-party library is found here, once; modules name the targets in LINKS.
#   fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json fusefarm::yaml_cpp CLI11::CLI11
#   SQLite::SQLite3 PkgConfig::libb2 fusefarm::xxhash fusefarm::openblas fusefarm::onednn fusefarm::seccomp
# Imported targets carry their headers as SYSTEM.
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libb2 REQUIRED IMPORTED_TARGET GLOBAL libb2)  # BLAKE2b, for content digests

# fusefarm_import(NAME x HEADER x.h LIBRARY a b HINTS dir PACKAGE debian-package [OPTIONAL])
# Imports a C library that ships no CMake package as fusefarm::x.
function(fusefarm_import)
  cmake_parse_arguments(ARG "OPTIONAL" "NAME;HEADER;PACKAGE" "LIBRARY;HINTS" ${ARGN})
  string(TOUPPER ${ARG_NAME} upper)
  find_path(FUSEFARM_${upper}_INCLUDE ${ARG_HEADER} HINTS ${ARG_HINTS})
  find_library(FUSEFARM_${upper}_LIBRARY NAMES ${ARG_LIBRARY} HINTS ${ARG_HINTS})
  mark_as_advanced(FUSEFARM_${upper}_INCLUDE FUSEFARM_${upper}_LIBRARY)
  if(NOT FUSEFARM_${upper}_INCLUDE OR NOT FUSEFARM_${upper}_LIBRARY)
    if(ARG_OPTIONAL)
      return()
    endif()
    message(FATAL_ERROR "${ARG_NAME} was not found: install ${ARG_PACKAGE} (ops/deps.sh build)")
  endif()
  add_library(fusefarm_${ARG_NAME} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(fusefarm_${ARG_NAME} PROPERTIES
    IMPORTED_LOCATION ${FUSEFARM_${upper}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${FUSEFARM_${upper}_INCLUDE})
  add_library(fusefarm::${ARG_NAME} ALIAS fusefarm_${ARG_NAME})
endfunction()

set(multiarch /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
fusefarm_import(NAME xxhash HEADER xxhash.h LIBRARY xxhash PACKAGE libxxhash-dev)
# The versioned pthread build itself, not the alternatives link: a sandbox may show /usr without
# /etc/alternatives.
fusefarm_import(NAME openblas HEADER cblas.h LIBRARY openblas PACKAGE libopenblas-pthread-dev
  HINTS ${multiarch}/openblas-pthread /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread)
fusefarm_import(NAME onednn HEADER dnnl.hpp LIBRARY dnnl PACKAGE libdnnl-dev)
fusefarm_import(NAME seccomp HEADER seccomp.h LIBRARY seccomp PACKAGE libseccomp-dev OPTIONAL)

# The package of yaml-cpp 0.7 exports a plain target name, and newer ones a namespaced one.
add_library(fusefarm_yaml_cpp INTERFACE)
add_library(fusefarm::yaml_cpp ALIAS fusefarm_yaml_cpp)
if(TARGET yaml-cpp::yaml-cpp)
  target_link_libraries(fusefarm_yaml_cpp INTERFACE yaml-cpp::yaml-cpp)
else()
  target_link_libraries(fusefarm_yaml_cpp INTERFACE yaml-cpp)
endif()

if(FUSEFARM_TESTS)
  find_package(GTest)
endif()
if(FUSEFARM_BENCH)
  find_package(benchmark REQUIRED)
endif()
