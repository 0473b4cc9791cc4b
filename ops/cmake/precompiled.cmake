# Two shared precompiled headers, for code and for tests: every target reuses one of them, so each is
# built once a tree. The header checks compile without them, so they hide no missing include there.
set(headers
    <algorithm> <array> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <optional>
    <span> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector>
    <fmt/format.h> <spdlog/spdlog.h>)

function(fusefarm_precompile name)  # fusefarm_precompile(NAME HEADERS... LINKS targets...)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINKS" ${ARGN})
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled/${name}.cc.in "// Only carries the precompiled header.\n")
  configure_file(${CMAKE_BINARY_DIR}/precompiled/${name}.cc.in
                 ${CMAKE_BINARY_DIR}/precompiled/${name}.cc COPYONLY)
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/precompiled/${name}.cc)
  target_link_libraries(${name} PRIVATE fusefarm_warnings fmt::fmt spdlog::spdlog Threads::Threads ${ARG_LINKS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

fusefarm_precompile(fusefarm_pch HEADERS ${headers})
if(FUSEFARM_TESTS AND GTest_FOUND)
  fusefarm_precompile(fusefarm_test_pch HEADERS ${headers} <gtest/gtest.h> LINKS GTest::gtest)
endif()
