#include "verify/elf_check.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/random.h"

namespace fusefarm::verify {
namespace {

std::string artifact(const std::string& name) {
  const auto content = read_file(std::string(FUSEFARM_ELF_DIR) + "/" + name + ".so");
  EXPECT_TRUE(content.ok()) << content.error().message;
  return content.value_or("");
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(ElfCheckTest, AnHonestArtifactMayBeLoaded) {
  const std::string file = artifact("honest");
  const auto verdict = elf_check(bytes_of(file), {"entry"});
  EXPECT_FALSE(verdict.has_value()) << verdict->detail;
  const auto elf = read_elf(bytes_of(file));
  ASSERT_TRUE(elf.ok());
  EXPECT_EQ(elf->exported, std::vector<std::string>{"entry"});
  EXPECT_EQ(elf->undefined, std::vector<std::string>{"expf"});
  EXPECT_EQ(elf->writable_bytes, 0U);
}

TEST(ElfCheckTest, AMissingEntryIsRefused) {
  const auto verdict = elf_check(bytes_of(artifact("honest")), {"entry", "other"});
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->klass, VerdictClass::kRejectBuild);
  EXPECT_EQ(verdict->reason, "policy");
}

TEST(ElfCheckTest, EachDishonestArtifactIsRefusedForItsReason) {
  const std::pair<const char*, const char*> expected[] = {{"dishonest1", "constructors"},
                                                          {"dishonest2", "writable"},
                                                          {"dishonest3", "getpid"},
                                                          {"dishonest4", "malloc"},
                                                          {"dishonest5", ""},
                                                          {"dishonest6", ""},
                                                          {"dishonest7", ""}};
  for (const auto& [name, reason] : expected) {
    const auto verdict = elf_check(bytes_of(artifact(name)), {"entry"});
    ASSERT_TRUE(verdict.has_value()) << name;
    EXPECT_NE(verdict->detail.find(reason), std::string::npos) << name << ": " << verdict->detail;
  }
}

TEST(ElfCheckTest, IndirectFunctionsAreSeenWithAndWithoutTheirSymbol) {
  for (const char* name : {"dishonest6", "dishonest7"}) {
    const std::string file = artifact(name);
    const auto elf = read_elf(bytes_of(file));
    ASSERT_TRUE(elf.ok()) << name;
    EXPECT_TRUE(elf->indirect_functions) << name;
  }
}

TEST(ElfCheckTest, TruncatedAndCorruptedFilesNeverReadOutside) {
  const std::string honest = artifact("honest");
  for (std::size_t size = 0; size < honest.size(); size += 37) {
    const std::string part = honest.substr(0, size);
    elf_check(bytes_of(part), {"entry"});
  }
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string broken = honest;
    // Headers and dynamic tables lie in the first kilobytes or before the end.
    for (int i = 0; i < 4; ++i) {
      broken[random.below(broken.size())] = static_cast<char>(random.next());
    }
    for (int i = 0; i < 2; ++i) {
      broken[random.below(1024)] = static_cast<char>(random.next());
    }
    if (const auto elf = read_elf(bytes_of(broken)); elf.ok()) {
      EXPECT_LE(elf->exported.size(), broken.size());
    }
  }
}

TEST(ElfCheckTest, OtherFilesAndHugeOnesAreRefused) {
  EXPECT_TRUE(elf_check(bytes_of("#!/bin/sh\n"), {}).has_value());
  EXPECT_TRUE(elf_check({}, {}).has_value());
  ElfPolicy policy;
  policy.file_bytes_max = 100;
  EXPECT_TRUE(elf_check(bytes_of(artifact("honest")), {"entry"}, policy).has_value());
}

}  // namespace
}  // namespace fusefarm::verify
