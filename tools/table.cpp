// Lays rows out in columns for a person to read.
#include "tools/table.hpp"

#include <algorithm>
#include <cmath>

#include "tools/terminal.hpp"

namespace crossbill::tools {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowestFlexible = 10;

std::vector<std::size_t> column_widths(const std::vector<Column>& columns, const std::vector<Row>& rows,
                                       const TableStyle& style) {
  std::vector<std::size_t> widths;
  for (const Column& column : columns) widths.push_back(display_width(column.title));
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i]));
    }
  }
  std::size_t total = kGap * (widths.size() - 1);
  for (const std::size_t width : widths) total += width;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!columns[i].flexible || total <= style.width) continue;
    const std::size_t excess = total - style.width;
    widths[i] = std::max(widths[i] - std::min(widths[i], excess), kNarrowestFlexible);
  }
  return widths;
}

std::string render_line(const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
                        const std::vector<std::string>& cells, bool utf8) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = clipped(cells[i], widths[i], utf8);
    const std::string padding(widths[i] - std::min(widths[i], display_width(cell)), ' ');
    if (i > 0) line.append(kGap, ' ');
    line += columns[i].align == Align::right ? padding + cell : cell + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string coloured(const std::string& text, const std::string& colour, bool colours) {
  if (!colours || colour.empty()) return text;
  return "\x1b[" + colour + "m" + text + "\x1b[0m";
}

std::string render_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                         const TableStyle& style) {
  const std::vector<std::size_t> widths = column_widths(columns, rows, style);
  std::vector<std::string> titles;
  for (const Column& column : columns) titles.push_back(column.title);
  std::string text = coloured(render_line(columns, widths, titles, style.utf8), "2", style.colours) + "\n";
  for (const Row& row : rows) {
    text += coloured(render_line(columns, widths, row.cells, style.utf8), row.colour, style.colours) + "\n";
  }
  return text;
}

std::string bar(double share, std::size_t cells, bool utf8) {
  const double filled = std::clamp(std::isnan(share) ? 0.0 : share, 0.0, 1.0) * static_cast<double>(cells);
  if (!utf8) return std::string(static_cast<std::size_t>(std::lround(filled)), '#');
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::lround(filled * 8));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

}  // namespace crossbill::tools
