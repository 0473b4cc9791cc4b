# The targets of the tree: modules, programs. Tests are in fusefarm_test.cmake.
add_custom_target(programs)       # every program, nothing else
add_custom_target(header_checks)  # every module header compiled alone
add_custom_target(link_checks)    # every module linked with only its declared dependencies

# fusefarm_module(NAME store SOURCES a.cc HEADERS a.h DEPS base records
#                 [LINKS SQLite::SQLite3] [PUBLIC_LINKS ...])
# A static library fusefarm::store whose headers are included as "store/a.h". DEPS are modules of
# lower levels; LINKS are third-party libraries that its sources use, PUBLIC_LINKS those that its
# headers show.
function(fusefarm_module)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;HEADERS;DEPS;LINKS;PUBLIC_LINKS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fusefarm_module(${ARG_NAME}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  fusefarm_check_deps(${ARG_NAME} ${ARG_DEPS})
  set(target fusefarm_${ARG_NAME})
  list(TRANSFORM ARG_DEPS PREPEND fusefarm::)
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)

  if(ARG_SOURCES)
    set(scope PUBLIC)
    set(private PRIVATE)
    add_library(${target} STATIC ${ARG_SOURCES})
    target_link_libraries(${target} PRIVATE fusefarm_warnings fmt::fmt spdlog::spdlog)
    target_precompile_headers(${target} REUSE_FROM fusefarm_pch)
  else()
    set(scope INTERFACE)
    set(private INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(fusefarm::${ARG_NAME} ALIAS ${target})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                 FILES ${ARG_HEADERS})
  target_link_libraries(${target} ${scope} ${ARG_DEPS} ${ARG_PUBLIC_LINKS} Threads::Threads
                        ${private} ${ARG_LINKS})
  fusefarm_add_header_check(${ARG_NAME} ${ARG_HEADERS})
  if(ARG_SOURCES)
    fusefarm_add_link_check(${ARG_NAME})
  endif()
endfunction()

# Compiles each header alone, twice included and without a precompiled header.
function(fusefarm_add_header_check name)
  set(sources "")
  foreach(header IN LISTS ARGN)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${header})
    set(source ${CMAKE_BINARY_DIR}/header_checks/${path}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${path}\"\n#include \"${path}\"\n")
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(headers_${name} OBJECT EXCLUDE_FROM_ALL ${sources})
    # -O0 and no debug info: only the front end matters here.
    target_compile_options(headers_${name} PRIVATE -U_FORTIFY_SOURCE -O0 -g0)
    target_link_libraries(headers_${name} PRIVATE fusefarm_${name} fusefarm_warnings)
    add_dependencies(header_checks headers_${name})
  endif()
endfunction()

function(fusefarm_add_link_check name)
  add_executable(link_${name} EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/ops/cmake/link_test.cc)
  set_target_properties(link_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/link_checks)
  target_link_libraries(link_${name} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,fusefarm_${name}>)
  add_dependencies(link_checks link_${name})
endfunction()

# fusefarm_program(NAME fusefarm-runner SOURCES main.cc DEPS runner [LINKS CLI11::CLI11])
# A program at the top of the build tree, part of the target `programs`. It may use every module.
function(fusefarm_program)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;DEPS;LINKS" ${ARGN})
  foreach(dep IN LISTS ARG_DEPS)
    fusefarm_require_module(${dep} "program ${ARG_NAME}")
  endforeach()
  list(TRANSFORM ARG_DEPS PREPEND fusefarm::)
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} ${ARG_LINKS} fusefarm_warnings
                        fmt::fmt spdlog::spdlog Threads::Threads)
  target_precompile_headers(${ARG_NAME} REUSE_FROM fusefarm_pch)
  if(FUSEFARM_SANITIZE MATCHES "address")
    target_sources(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/ops/cmake/sanitizer_options.cc)
  endif()
  add_dependencies(programs ${ARG_NAME})
endfunction()
