# cmake -DMODULE=m -DDEP=d -P check_deps_test.cmake: runs the build's level check on one arrow.
cmake_minimum_required(VERSION 3.25)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/../../ops/cmake)
include(levels)
include(check_deps)
fusefarm_check_deps(${MODULE} ${DEP})
