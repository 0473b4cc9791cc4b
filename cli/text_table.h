// Left-aligned columns, two blanks apart, as kubectl prints them.
#pragma once

#include <string>
#include <vector>

namespace fusefarm::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

  // As many cells as the header has.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fusefarm::cli
