#include "tests/tidy/layering.h"

#include <gtest/gtest.h>

namespace fusefarm::tidy {
namespace {

using Names = std::set<std::string>;

const std::map<std::string, int> kLevels{{"base", 0}, {"graph", 1}, {"net", 1}, {"store", 3}};

std::vector<Finding> includes(const std::string& path, const std::string& text) {
  return check_includes({path, text}, parse_module_list("f(DEPS base graph LINKS x)"), kLevels);
}

TEST(ModuleListTest, DepsEndAtTheNextKeywordOrParenthesis) {
  const ModuleList list = parse_module_list(
      "fusefarm_module(NAME a  # DEPS wrong\n  SOURCES a.cc sub/b.cc DEPS base\n graph LINKS z)\n"
      "fusefarm_program(NAME p SOURCES main.cc DEPS net)\n");
  EXPECT_EQ(list.deps, (Names{"base", "graph", "net"}));
  EXPECT_TRUE(list.tokens.contains("sub/b.cc"));
  EXPECT_TRUE(list.tokens.contains("main.cc"));
  EXPECT_FALSE(list.tokens.contains("wrong"));
}

TEST(LevelsTest, AreReadFromTheTableAlone) {
  const auto levels = parse_levels(
      "# text\nset(FUSEFARM_LEVEL_0 base)\nset(FUSEFARM_LEVEL_1 graph net)\n"
      "list(APPEND all ${FUSEFARM_LEVEL_${level}})\nfunction(other a)\n");
  EXPECT_EQ(levels, (std::map<std::string, int>{{"base", 0}, {"graph", 1}, {"net", 1}}));
}

TEST(IncludesTest, OwnAndDeclaredModulesPass) {
  EXPECT_TRUE(includes("store/a.cc", "#include \"store/a.h\"\n#include \"base/b.h\"\n").empty());
  EXPECT_TRUE(includes("store/a.cc", "#include <net/if.h>\n#include \"graph/g.h\"\n").empty());
}

TEST(IncludesTest, UndeclaredHigherAndUnknownFoldersFail) {
  EXPECT_EQ(includes("store/a.cc", "\n#include \"net/loop.h\"\n").size(), 1U);
  EXPECT_EQ(includes("base/a.cc", "#include \"graph/g.h\"\n").size(), 1U);
  EXPECT_EQ(includes("net/a.cc", "#  include \"graph/g.h\"\n").size(), 1U);
  EXPECT_EQ(includes("store/a.cc", "#include \"tests/fakes/f.h\"\n").size(), 1U);
  EXPECT_EQ(includes("store/a.cc", "#include \"a.h\"\n").size(), 1U);
  EXPECT_EQ(includes("store/a.cc", "\n#include \"net/loop.h\"\n").front().line, 2);
}

TEST(ListedTest, AFileOutsideItsListIsFound) {
  const ModuleList list = parse_module_list("fusefarm_module(NAME graph SOURCES a.cc cuda/b.cc)");
  EXPECT_TRUE(check_listed({"graph/a.cc", ""}, list).empty());
  EXPECT_TRUE(check_listed({"graph/cuda/b.cc", ""}, list).empty());
  EXPECT_EQ(check_listed({"graph/b.cc", ""}, list).size(), 1U);
}

}  // namespace
}  // namespace fusefarm::tidy
