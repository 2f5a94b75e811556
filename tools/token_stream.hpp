// Tokenises a stream of texts in windows, the lines of a window on several threads.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "tools/line_reader.hpp"
#include "tools/standard_output.hpp"
#include "tools/text_reader.hpp"

namespace crossbill::tools {

struct TokenStreamSettings {
  bool json = false;      ///< all that is known of the tokens as JSON, instead of their spelling
  bool skip_bad = false;  ///< a bad line gives an empty line (JSON: null) instead of ending the run
  int threads = 1;        ///< that tokenise at the same time, the caller's included
};

struct TokenStreamSummary {
  std::size_t lines = 0;      ///< tokenised
  std::size_t truncated = 0;  ///< of them, shortened to fit
  std::size_t bad = 0;        ///< lines skipped
  std::string first_bad;      ///< FILE:LINE: why
};

/// A window ends when it is full, when the reader would have to wait, or at a bad line. Its lines are written
/// in the order of the input and flushed before the next one is read.
class TokenStream {
 public:
  TokenStream(const Reranker& reranker, LineReader& lines, TextReader& texts, StandardOutput& output,
              TokenStreamSettings settings)
      : reranker_(reranker), lines_(lines), texts_(texts), output_(output), settings_(settings) {}

  /// Until the end of the input. The first bad line is an InputError once everything before it is written.
  void run();

  const TokenStreamSummary& summary() const { return summary_; }

 private:
  // A line of the window and what becomes of it.
  struct Entry {
    TextRecord record;
    std::string output;
    bool truncated = false;
    std::exception_ptr trouble;  // what ends the run here, although the line isn't bad
  };

  bool fill_window();
  void tokenize_window();
  void tokenize(Entry& entry) const;
  void write_window();
  void note_bad(const TextRecord& record);

  const Reranker& reranker_;
  LineReader& lines_;
  TextReader& texts_;
  StandardOutput& output_;
  TokenStreamSettings settings_;
  TokenStreamSummary summary_;
  std::vector<Entry> window_;
  std::string failure_;  // why the run ends after this window
};

}  // namespace crossbill::tools
