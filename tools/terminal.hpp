// What the terminal is like, and text made fit to be shown on it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace crossbill::tools {

bool output_is_terminal();
bool errors_are_terminal();

/// Columns of the terminal behind `fd`; else the variable COLUMNS; else 100.
std::size_t terminal_width(int fd);

/// Colours suit a terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb".
bool wants_colours();

/// Whether the locale's variables speak of UTF-8, so that "█" and "…" can be shown.
bool shows_utf8();

/// Makes text harmless for a terminal and one line long: control characters become a space (they could move
/// the cursor or change colours), runs of white space one space, invalid UTF-8 U+FFFD.
std::string one_line(std::string_view text);

/// Columns that `text` takes on a terminal: wide East Asian characters and emoji two, combining marks none.
std::size_t display_width(std::string_view text);

/// `text` if it fits `columns`, else its beginning and an ellipsis ("…", or "..." without UTF-8).
std::string clipped(std::string_view text, std::size_t columns, bool utf8 = true);

}  // namespace crossbill::tools
