// Lays rows out in columns for a person to read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace crossbill::tools {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool flexible = false;  ///< takes the room that is left, and is clipped to it; at most one
};

struct TableStyle {
  std::size_t width = 100;  ///< columns that a line may take
  bool colours = false;     ///< ANSI escape codes for the header, and for rows that ask for them
  bool utf8 = true;
};

/// A cell is one line of text that is safe to show (terminal.hpp, one_line).
struct Row {
  std::vector<std::string> cells;
  std::string colour;  ///< ANSI parameters, such as "1;32"; empty for none
};

/// The rows below a header line, each line ended by "\n", two spaces between columns, no trailing spaces.
std::string render_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                         const TableStyle& style);

/// A bar of `cells` columns filled to `share` in [0, 1], in eighths of a cell ("█▌") or, without UTF-8,
/// in whole ones ("##").
std::string bar(double share, std::size_t cells, bool utf8);

/// `text` between the escape codes of `colour`, or as it is if colours are off or `colour` is empty.
std::string coloured(const std::string& text, const std::string& colour, bool colours);

}  // namespace crossbill::tools
