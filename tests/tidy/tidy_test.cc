// Holds the tree itself to the rules.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/tidy/layering.h"
#include "tests/tidy/rules.h"

namespace fusefarm::tidy {
namespace {

class TidyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<SourceFile> cmake = read_tree(root_, {"ops"});
    for (const SourceFile& file : cmake) {
      if (file.path == "ops/cmake/levels.cmake") {
        levels_ = parse_levels(file.text);
      }
    }
    ASSERT_GE(levels_.size(), 22U) << "the level table was not read";
  }

  std::vector<std::string> module_folders() const {
    std::vector<std::string> folders;
    folders.reserve(levels_.size());
    for (const auto& [module, level] : levels_) {
      folders.push_back(module);
    }
    return folders;
  }

  static void expect_none(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      ADD_FAILURE() << to_string(finding);
    }
  }

  const std::filesystem::path root_{FUSEFARM_SOURCE_DIR};
  std::map<std::string, int> levels_;
};

TEST_F(TidyTest, EveryFileKeepsTheRulesOfItsKind) {
  std::vector<std::string> folders = module_folders();
  folders.insert(folders.end(), {"", "tests", "bench", "ops"});
  const std::vector<SourceFile> files = read_tree(root_, folders);
  EXPECT_GT(files.size(), 20U);
  for (const SourceFile& file : files) {
    if (!file.path.starts_with("tests/fuzz/corpus/")) {  // inputs, and nobody's code
      expect_none(check_file(file));
    }
  }
}

TEST_F(TidyTest, ModulesIncludeOnlyWhatTheyDeclareAndListEveryFile) {
  std::size_t checked = 0;
  for (const std::string& module : module_folders()) {
    const std::vector<SourceFile> files = read_tree(root_, {module});
    ModuleList list;
    for (const SourceFile& file : files) {
      if (file.path == module + "/CMakeLists.txt") {
        list = parse_module_list(file.text);
      }
    }
    for (const SourceFile& file : files) {
      if (is_cpp(file)) {
        expect_none(check_includes(file, list, levels_));
        expect_none(check_listed(file, list));
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 10U);
}

}  // namespace
}  // namespace fusefarm::tidy
