# Tests, test libraries, fuzz targets, benchmarks. Each label L gets a target tests_L, so that a CI
# stage builds only what it runs.
if(FUSEFARM_SANITIZE)
  set(FUSEFARM_TIMEOUT_FACTOR 4)
else()
  set(FUSEFARM_TIMEOUT_FACTOR 1)
endif()

# The labels. The sanitizer stages leave out what is also labelled no_asan or no_tsan.
set(FUSEFARM_LABELS unit threads sim e2e e2e_sanitized fuzz gpu slow no_asan no_tsan)
foreach(label IN LISTS FUSEFARM_LABELS)
  add_custom_target(tests_${label})
endforeach()

function(fusefarm_label_target target)
  foreach(label IN LISTS ARGN)
    if(NOT label IN_LIST FUSEFARM_LABELS)
      message(FATAL_ERROR "test ${target}: label ${label} is not one of ${FUSEFARM_LABELS}")
    endif()
    add_dependencies(tests_${label} ${target})
  endforeach()
endfunction()

# What every test target shares: the module targets, the place of the tree, the precompiled header.
function(fusefarm_setup_test target)  # ARGN: modules, test libraries, imported targets
  foreach(dep IN LISTS ARGN)
    if(TARGET fusefarm::${dep})
      target_link_libraries(${target} PUBLIC fusefarm::${dep})
    elseif(dep MATCHES "::")
      target_link_libraries(${target} PUBLIC ${dep})
    else()
      fusefarm_require_module(${dep} "test ${target}")
    endif()
  endforeach()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE fusefarm_warnings PUBLIC GTest::gtest fmt::fmt
                        spdlog::spdlog Threads::Threads)
  target_compile_definitions(${target} PRIVATE FUSEFARM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_precompile_headers(${target} REUSE_FROM fusefarm_test_pch)
endfunction()

# fusefarm_test(NAME graph SOURCES a_test.cc DEPS graph [LABELS unit] [TIMEOUT 60]
#               [PROGRAMS fusefarm-runner | all] [SERIAL])
# One gtest program tests/graph_test; each of its tests is one ctest entry graph.Suite.Test.
# FUSEFARM_SOURCE_DIR is the root of the tree as a string literal. A test that starts programs names
# them, and finds them in FUSEFARM_BINARY_DIR; labels e2e* imply all programs. SERIAL: no other test
# runs beside its tests (they time something).
function(fusefarm_test)
  cmake_parse_arguments(ARG "SERIAL" "NAME;TIMEOUT" "SOURCES;DEPS;LABELS;PROGRAMS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fusefarm_test(${ARG_NAME}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(ARG_LABELS MATCHES "e2e")
    set(ARG_PROGRAMS all)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  math(EXPR timeout "${ARG_TIMEOUT} * ${FUSEFARM_TIMEOUT_FACTOR}")
  set(target ${ARG_NAME}_test)
  add_executable(${target} ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  fusefarm_setup_test(${target} ${ARG_DEPS})
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  fusefarm_label_target(${target} ${ARG_LABELS})
  if(ARG_PROGRAMS)
    # Only here: a build path in every command line would keep build trees from sharing objects.
    target_compile_definitions(${target} PRIVATE FUSEFARM_BINARY_DIR="${CMAKE_BINARY_DIR}")
    list(TRANSFORM ARG_PROGRAMS REPLACE "^all$" programs)
    add_dependencies(${target} ${ARG_PROGRAMS})
  endif()
  gtest_discover_tests(${target} TEST_PREFIX ${ARG_NAME}. DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60 WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    PROPERTIES TIMEOUT ${timeout} RUN_SERIAL ${ARG_SERIAL})
  # gtest_discover_tests cannot carry a list as a property, so the labels are set by an include after
  # its own.
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
  file(WRITE ${labels_file} "foreach(test IN LISTS ${target}_TESTS)\n"
       "  set_tests_properties(\${test} PROPERTIES LABELS \"${ARG_LABELS}\")\nendforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
endfunction()

# fusefarm_test_library(NAME fakes SOURCES a.cc HEADERS a.h DEPS base graph)
# A library that tests share, included as "tests/fakes/a.h" and named in DEPS of fusefarm_test.
function(fusefarm_test_library)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;HEADERS;DEPS" ${ARGN})
  set(target fusefarm_${ARG_NAME})
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${ARG_SOURCES} ${ARG_HEADERS})
  add_library(fusefarm::${ARG_NAME} ALIAS ${target})
  fusefarm_setup_test(${target} ${ARG_DEPS})
endfunction()

# fusefarm_fuzz(NAME graph_text SOURCES graph_text_fuzz.cc DEPS graph)
# A source with LLVMFuzzerTestOneInput. With FUSEFARM_FUZZ it is a libFuzzer program; otherwise a
# program that replays tests/fuzz/corpus/graph_text, so every preset runs the corpora.
function(fusefarm_fuzz)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;DEPS" ${ARGN})
  set(target fuzz_${ARG_NAME})
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${ARG_NAME})
  add_executable(${target} ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  fusefarm_setup_test(${target} ${ARG_DEPS})
  if(FUSEFARM_FUZZ)
    # The precompiled header is built with other flags than these.
    set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${ARG_NAME} COMMAND ${target} -runs=0 ${corpus})
  else()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/ops/cmake/fuzz_replay.cc)
    add_test(NAME fuzz.${ARG_NAME} COMMAND ${target} ${corpus})
  endif()
  math(EXPR timeout "60 * ${FUSEFARM_TIMEOUT_FACTOR}")
  set_tests_properties(fuzz.${ARG_NAME} PROPERTIES LABELS "unit;fuzz" TIMEOUT ${timeout})
  fusefarm_label_target(${target} unit fuzz)
endfunction()

# fusefarm_bench(NAME graph SOURCES graph_bench.cc DEPS graph): bench/graph_bench in the build tree.
function(fusefarm_bench)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;DEPS" ${ARGN})
  foreach(dep IN LISTS ARG_DEPS)
    fusefarm_require_module(${dep} "benchmark ${ARG_NAME}")
  endforeach()
  list(TRANSFORM ARG_DEPS PREPEND fusefarm::)
  add_executable(${ARG_NAME}_bench ${ARG_SOURCES})
  set_target_properties(${ARG_NAME}_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  target_link_libraries(${ARG_NAME}_bench PRIVATE ${ARG_DEPS} fusefarm_warnings benchmark::benchmark_main)
endfunction()
