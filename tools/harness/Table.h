//===- Table.h - Aligned columns ------------------------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_TABLE_H
#define SWAGE_TOOLS_HARNESS_TABLE_H

#include <cstdio>
#include <string>
#include <vector>

namespace swage {

/// Rows of cells, printed with columns as wide as their widest cell.
class Table {
public:
  explicit Table(std::vector<std::string> header) { rows.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  void print() const {
    std::vector<size_t> widths;
    for (const auto &row : rows)
      for (size_t i = 0; i < row.size(); ++i) {
        widths.resize(std::max(widths.size(), i + 1));
        widths[i] = std::max(widths[i], row[i].size());
      }
    for (const auto &row : rows) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        line += row[i];
        if (i + 1 < row.size())
          line.append(widths[i] - row[i].size() + 2, ' ');
      }
      std::puts(line.c_str());
    }
  }

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_TABLE_H
