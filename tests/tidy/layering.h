#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source_text.h"

// The rules between modules: who includes whom, and that every file is part of the build.
namespace fusefarm::tidy {

// What the CMakeLists.txt of a module says.
struct ModuleList {
  std::set<std::string> deps;    // of the module and of the programs in its folder
  std::set<std::string> tokens;  // every word outside comments: file names are among them
};

ModuleList parse_module_list(std::string_view cmake);

// The levels of ops/cmake/levels.cmake: module -> level.
std::map<std::string, int> parse_levels(std::string_view cmake);

// Includes of modules that the file's module neither is nor declares, or that are not below it.
std::vector<Finding> check_includes(const SourceFile& file, const ModuleList& list,
                                    const std::map<std::string, int>& levels);

// A source of a module that its CMakeLists.txt does not name.
std::vector<Finding> check_listed(const SourceFile& file, const ModuleList& list);

// The first folder of a path.
std::string module_of(std::string_view path);

}  // namespace fusefarm::tidy
