# Who may depend on whom: a module depends only on modules of lower levels. This table is the one
# truth; fusefarm_module() and tests/tidy read it.
set(FUSEFARM_LEVEL_0 base)
set(FUSEFARM_LEVEL_1 graph net metrics)
set(FUSEFARM_LEVEL_2 records)
set(FUSEFARM_LEVEL_3 proto childlink configs store scheduler verify codegen)
set(FUSEFARM_LEVEL_4 search llm bundle)
set(FUSEFARM_LEVEL_5 runner compile probe judge worker coordinator)
set(FUSEFARM_LEVEL_6 cli)
set(FUSEFARM_LEVEL_MAX 6)

set(FUSEFARM_ALL_MODULES "")
foreach(level RANGE ${FUSEFARM_LEVEL_MAX})
  list(APPEND FUSEFARM_ALL_MODULES ${FUSEFARM_LEVEL_${level}})
endforeach()

# Sets `out` to the level of `module`, or to -1 when there is no such module.
function(fusefarm_level_of module out)
  foreach(level RANGE ${FUSEFARM_LEVEL_MAX})
    if(module IN_LIST FUSEFARM_LEVEL_${level})
      set(${out} ${level} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} -1 PARENT_SCOPE)
endfunction()

# Sets `out` to whether FUSEFARM_MODULES leaves `module` in this build.
function(fusefarm_wants_module module out)
  string(REPLACE "," ";" chosen "${FUSEFARM_MODULES}")
  if(NOT chosen OR module IN_LIST chosen)
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()
