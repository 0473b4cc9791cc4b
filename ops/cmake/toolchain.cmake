# Build type, launcher, linker, sanitizers, hardening, where binaries land.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Programs land at the top of the build tree, so that they find each other beside themselves.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

find_program(FUSEFARM_CCACHE ccache)
if(FUSEFARM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache's manual asks for with precompiled headers. Relative paths and no
  # hash of the directory let build trees of the same depth share their objects.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=/
      ${FUSEFARM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  else()
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

find_program(FUSEFARM_MOLD mold)
if(FUSEFARM_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# -fPIC by hand and for all: CMake's property would give libraries and programs different flags, and
# then they could not share a precompiled header.
add_compile_options(-fno-omit-frame-pointer -fPIC)
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
if(FUSEFARM_SANITIZE)
  add_compile_options(-fsanitize=${FUSEFARM_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FUSEFARM_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS
                      -fstack-protector-strong -fcf-protection)
  add_link_options(-Wl,-z,relro,-z,now)
endif()

if(FUSEFARM_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "FUSEFARM_FUZZ needs clang: use the preset asan")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

find_package(Threads REQUIRED)
