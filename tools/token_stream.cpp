// Tokenises a stream of texts in windows, the lines of a window on several threads.
#include "tools/token_stream.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/failures.hpp"
#include "tools/json_line.hpp"

namespace crossbill::tools {
namespace {

constexpr std::size_t kMostLines = 1024;
constexpr std::size_t kMostBytes = std::size_t{8} << 20;
// Lines a thread takes at a time: starting a thread costs about as much as tokenising a few of them.
constexpr std::size_t kShare = 16;
// A writer gets this long to send the next line before we print what there is.
constexpr std::chrono::milliseconds kPatience(5);

std::string as_json(const Tokenization& tokenization) {
  JsonObjectWriter line;
  line.raw("ids", json_array(tokenization.ids, [](std::int32_t id) { return std::to_string(id); }));
  line.raw("type_ids", json_array(tokenization.type_ids, [](unsigned type) { return std::to_string(type); }));
  line.raw("tokens",
           json_array(tokenization.tokens, [](const std::string& token) { return json_string(token); }));
  line.raw("offsets", json_array(tokenization.offsets, [](const TokenOffset& offset) {
             std::string range(1, '[');
             range += std::to_string(offset.begin) + ',';
             return range += std::to_string(offset.end) + ']';
           }));
  line.boolean("truncated", tokenization.truncated);
  return line.take();
}

std::string as_text(const Tokenization& tokenization) {
  std::string text;
  for (const std::string& token : tokenization.tokens) {
    if (!text.empty()) text += ' ';
    text += token;
  }
  return text;
}

}  // namespace

void TokenStream::run() {
  bool more = true;
  while (more && failure_.empty()) {
    more = fill_window();
    tokenize_window();
    write_window();
  }
  if (!failure_.empty()) throw InputError(failure_);
}

// Returns whether there may be more behind this window.
bool TokenStream::fill_window() {
  window_.clear();
  std::size_t bytes = 0;
  while (window_.size() < kMostLines && bytes < kMostBytes) {
    TextRecord record;
    try {
      if (!window_.empty() && !texts_.ready(kPatience)) return true;
      if (!texts_.next(record)) return false;
    } catch (const InputError& fault) {
      failure_ = fault.what();
      return false;
    }
    const bool bad = !record.fault.empty();
    bytes += record.text.size() + (record.passage ? record.passage->size() : 0);
    window_.emplace_back().record = std::move(record);
    if (bad && !settings_.skip_bad) return false;
  }
  return true;
}

// Threads take shares of the window until none is left.
void TokenStream::tokenize_window() {
  std::atomic<std::size_t> taken{0};
  const auto work = [this, &taken] {
    for (std::size_t begin = 0; (begin = taken.fetch_add(kShare)) < window_.size();) {
      const std::size_t end = std::min(begin + kShare, window_.size());
      for (std::size_t i = begin; i < end; ++i) tokenize(window_[i]);
    }
  };
  const std::size_t shares = (window_.size() + kShare - 1) / kShare;
  const std::size_t threads = std::min(static_cast<std::size_t>(settings_.threads), shares);
  std::vector<std::jthread> helpers;  // the caller works too
  try {
    while (helpers.size() + 1 < threads) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // The system gives no more threads; those that run do the work.
  }
  work();
}

void TokenStream::tokenize(Entry& entry) const {
  TextRecord& record = entry.record;
  if (!record.fault.empty()) return;
  try {
    const Tokenization tokenization =
        record.passage ? reranker_.tokenize(record.text, *record.passage) : reranker_.tokenize(record.text);
    entry.output = settings_.json ? as_json(tokenization) : as_text(tokenization);
    entry.truncated = tokenization.truncated;
  } catch (const Error& fault) {
    if (fault.code() == ErrorCode::input_too_long) {
      record.fault = fault.what();
    } else {
      entry.trouble = std::current_exception();
    }
  } catch (...) {
    entry.trouble = std::current_exception();
  }
}

void TokenStream::write_window() {
  for (const Entry& entry : window_) {
    if (entry.trouble) {
      output_.flush();  // what came before the trouble is not lost
      std::rethrow_exception(entry.trouble);
    }
    if (entry.record.fault.empty()) {
      output_.line(entry.output);
      ++summary_.lines;
      summary_.truncated += entry.truncated ? 1 : 0;
      continue;
    }
    note_bad(entry.record);
    if (!settings_.skip_bad) break;
    output_.line(settings_.json ? "null" : "");
  }
  output_.flush();
}

void TokenStream::note_bad(const TextRecord& record) {
  const std::string sentence = lines_.place(record.line) + ": " + record.fault;
  if (!settings_.skip_bad) {
    failure_ = sentence;
    return;
  }
  if (++summary_.bad == 1) summary_.first_bad = sentence;
}

}  // namespace crossbill::tools
