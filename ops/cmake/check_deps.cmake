# Stops the configuration when `module` may not depend on one of the names that follow.
function(fusefarm_check_deps module)
  fusefarm_level_of(${module} own)
  if(own LESS 0)
    message(FATAL_ERROR "module ${module} is not in ops/cmake/levels.cmake")
  endif()
  foreach(dep IN LISTS ARGN)
    fusefarm_level_of(${dep} level)
    if(level LESS 0)
      message(FATAL_ERROR "module ${module} depends on ${dep}, which is no module")
    elseif(NOT level LESS own)
      message(FATAL_ERROR "module ${module} (level ${own}) may not depend on ${dep} (level ${level}):"
                          " only lower levels, see ops/cmake/levels.cmake")
    endif()
    fusefarm_require_module(${dep} "module ${module}")
  endforeach()
endfunction()

# Stops the configuration when the module `dep` is not part of this build.
function(fusefarm_require_module dep user)
  if(NOT TARGET fusefarm_${dep})
    message(FATAL_ERROR "${user} needs module ${dep}, which is missing or left out by"
                        " FUSEFARM_MODULES='${FUSEFARM_MODULES}'")
  endif()
endfunction()
