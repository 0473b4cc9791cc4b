#include "tests/tidy/rules.h"

#include <gtest/gtest.h>

namespace fusefarm::tidy {
namespace {

std::size_t banned(const std::string& path, const std::string& text) {
  return check_banned_words({path, text}).size();
}

TEST(BlankProseTest, CommentsAndLiteralsGoAndLinesStay) {
  EXPECT_EQ(blank_prose("a // b\nc"), "a     \nc");
  EXPECT_EQ(blank_prose("a /* b\nb */ c"), "a     \n     c");
  EXPECT_EQ(blank_prose(R"(f("x\"y") + 1)"), R"(f("    ") + 1)");
  EXPECT_EQ(blank_prose("c = 'x'; n = 1'000;"), "c = ' '; n = 1'000;");
  EXPECT_EQ(blank_prose("s = R\"z(new int\n)z\";"), "s =            \n   ;");
  EXPECT_EQ(blank_prose("unclosed \"abc\nnext"), "unclosed \"   \nnext");
}

TEST(LengthTest, FourHundredLinesPassAndOneMoreFails) {
  std::string text;
  for (std::size_t i = 0; i < kLinesMax; ++i) {
    text += "x\n";
  }
  EXPECT_TRUE(check_length({"base/a.cc", text}).empty());
  EXPECT_EQ(check_length({"base/a.cc", text + "x\n"}).size(), 1U);
}

TEST(ColumnsTest, CharactersCountNotBytes) {
  std::string wide;
  for (std::size_t i = 0; i < kColumnsMax; ++i) {
    wide += "\xC3\xA4";
  }
  EXPECT_TRUE(check_columns({"base/a.cc", "short\n" + wide}).empty());
  const auto findings = check_columns({"base/a.cc", "short\n" + wide + "x"});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].line, 2);
}

TEST(HeaderTest, PragmaOnceIsDueAndUsingNamespaceIsNot) {
  EXPECT_TRUE(check_header({"base/a.h", "#pragma once\nusing std::swap;\n"}).empty());
  EXPECT_EQ(check_header({"base/a.h", "int a;\n"}).size(), 1U);
  EXPECT_EQ(check_header({"base/a.h", "// #pragma once\n"}).size(), 1U);
  EXPECT_EQ(check_header({"base/a.h", "#pragma once\nusing namespace std;\n"}).size(), 1U);
}

TEST(BannedWordsTest, TheClockIsReadInOneFile) {
  const std::string text = "auto now = std::chrono::steady_clock::now();\nclock_gettime(0, &t);\n";
  EXPECT_EQ(banned("base/clock.cc", text), 0U);
  EXPECT_EQ(banned("base/clock_other.cc", text), 2U);
  EXPECT_EQ(banned("tests/graph/a_test.cc", text), 2U);
}

TEST(BannedWordsTest, EachWordIsFoundInCode) {
  EXPECT_EQ(banned("graph/a.cc", "std::this_thread::sleep_for(1s);"), 1U);
  EXPECT_EQ(banned("graph/a.cc", "int x = rand() + std::rand ();"), 1U);
  EXPECT_EQ(banned("graph/a.cc", "std::cout << 1;"), 1U);
  EXPECT_EQ(banned("graph/a.cc", "::getenv(\"HOME\");"), 1U);
  EXPECT_EQ(banned("graph/a.cc", "auto* p = new Thing;"), 1U);
  EXPECT_EQ(banned("graph/a.cc", "new (place) Thing;"), 1U);
  EXPECT_EQ(banned("graph/a.cc", "delete p;"), 1U);
  EXPECT_EQ(banned("graph/a.cc", "delete[] p;"), 1U);
  EXPECT_EQ(banned("graph/a.cc", "thread.detach();"), 1U);
}

TEST(BannedWordsTest, WhatOnlyLooksLikeThemPasses) {
  EXPECT_EQ(banned("graph/a.cc", "// new words, rand() and sleep_for\n"), 0U);
  EXPECT_EQ(banned("graph/a.cc", "log(\"delete rows by new rules; std::cout\");"), 0U);
  EXPECT_EQ(banned("graph/a.cc", "Thing(const Thing&) = delete;\n#include <new>\n"), 0U);
  EXPECT_EQ(banned("graph/a.cc", "void operator delete(void*); int brand(int); operand(1);"), 0U);
  EXPECT_EQ(banned("graph/a.cc", "int new_size = 1; bool renew = false; detach(node);"), 0U);
}

TEST(BannedWordsTest, SomeFoldersMay) {
  EXPECT_EQ(banned("cli/render.cc", "std::cout << getenv(\"X\");"), 0U);
  EXPECT_EQ(banned("configs/load.cc", "getenv(\"X\");"), 0U);
  EXPECT_EQ(banned("configs/load.cc", "std::cout << 1;"), 1U);
}

TEST(OpenEndsTest, AreFoundInCommentsOfEveryKindOfFile) {
  const std::string mark = std::string("TO") + "DO";
  EXPECT_EQ(check_open_ends({"ops/a.sh", "# " + mark + ": later\n"}).size(), 1U);
  EXPECT_EQ(check_file({"graph/a.cc", "int a;  // " + mark + "\n"}).size(), 1U);
  EXPECT_TRUE(check_open_ends({"ops/a.sh", "# " + mark + "S\n"}).empty());
}

}  // namespace
}  // namespace fusefarm::tidy
