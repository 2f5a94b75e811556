// One run of `crossbill rank`: reads, ranks, prints.
#include "tools/rank_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tools/failures.hpp"
#include "tools/interrupt.hpp"
#include "tools/number_format.hpp"
#include "tools/progress_bar.hpp"
#include "tools/ranking_output.hpp"
#include "tools/standard_output.hpp"
#include "tools/terminal.hpp"

namespace crossbill::tools {
namespace {

using Clock = std::chrono::steady_clock;

// A writer gets this long to send the next request before we print what is ready.
constexpr std::chrono::milliseconds kPatience(5);

// Everything one run holds: the input, the model, where results go, and what is said at the end.
class RankRun {
 public:
  RankRun(const RankRunSettings& settings, const EngineOptions& engine)
      : settings_(settings),
        input_(settings.file, interrupt_.wake_fd()),
        reranker_(open_reranker(engine)),
        lines_(input_),
        fused_(settings.ranking.fusion.has_value()),
        as_table_(!settings.json && (settings.table || output_is_terminal())) {
    style_ = {terminal_width(STDOUT_FILENO), wants_colours(), shows_utf8()};
    check_label();
    if (input_.is_terminal()) say("reading from the terminal; Ctrl-D ends the input");
  }

  void run();
  void say_summary() const;

 private:
  void check_label() const;
  void rank_passages();
  std::vector<PassageRecord> read_passages();
  void rank_requests();
  void rank_request(RankRequest& request);
  std::vector<Hit> rank(const std::string& query, std::span<const Candidate> candidates);
  std::optional<double> share_done(std::size_t done, std::size_t total) const;
  std::string why_too_long(const std::string& query, const Candidate& candidate) const;
  void drop_too_long(std::vector<Candidate>& candidates, std::vector<std::size_t>& line_numbers);
  void print_passages(const std::string& query, std::span<const Hit> hits,
                      std::span<const Candidate> candidates, double seconds);
  void print_request(const RankRequest& request, std::span<const Hit> hits, double seconds);
  void print_table(const std::string& query, std::span<const Hit> hits, std::span<const Candidate> candidates,
                   double seconds);
  void note_bad(std::size_t line, const std::string& why);

  const RankRunSettings& settings_;
  Interrupt interrupt_;
  TextInput input_;
  Reranker reranker_;
  LineReader lines_;
  StandardOutput output_;
  ProgressBar progress_{"passages"};
  bool fused_, as_table_;
  TableStyle style_;
  std::size_t passages_ = 0, shown_ = 0, truncated_ = 0, requests_ = 0, bad_ = 0;
  std::string first_bad_;
};

void RankRun::run() {
  settings_.query ? rank_passages() : rank_requests();
  if (passages_ + requests_ + bad_ == 0) {
    say("note: " + input_.name() + " holds no " + (settings_.query ? "passages" : "requests"));
  }
}

void RankRun::check_label() const {
  const std::vector<std::string>& labels = reranker_.info().labels;
  const std::string& wanted = settings_.ranking.label;
  const bool known = std::find(labels.begin(), labels.end(), wanted) != labels.end();
  if (known || (wanted.empty() && labels.size() <= 1)) return;
  std::string names;
  for (const std::string& label : labels) names += (names.empty() ? "" : ", ") + label;
  throw UsageError((wanted.empty() ? "the model has several labels, choose one with --label: "
                                   : "the model has no label \"" + wanted + "\"; it has: ") +
                   names);
}

// A bad line is skipped and counted, or ends the run.
void RankRun::note_bad(std::size_t line, const std::string& why) {
  const std::string sentence = lines_.place(line) + ": " + why;
  if (!settings_.skip_bad) throw InputError(sentence);
  if (++bad_ == 1) first_bad_ = sentence;
}

// Of the passages if they are all in memory, else of the file.
std::optional<double> RankRun::share_done(std::size_t done, std::size_t total) const {
  const auto share = [](auto part, auto whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  if (settings_.query) return total > 0 ? share(done, total) : 0;
  if (!input_.size() || *input_.size() == 0) return std::nullopt;
  return std::min(1.0, share(input_.consumed(), *input_.size()));
}

std::vector<Hit> RankRun::rank(const std::string& query, std::span<const Candidate> candidates) {
  CallOptions call;
  call.stop = interrupt_.token();
  call.progress = [this](std::size_t done, std::size_t total) {
    progress_.update(share_done(done, total), passages_ + done);
  };
  std::vector<Hit> hits = rank_candidates(reranker_, query, candidates, settings_.ranking, call);
  progress_.clear();
  passages_ += candidates.size();
  shown_ += hits.size();
  for (const Hit& hit : hits) truncated_ += hit.truncated ? 1 : 0;
  return hits;
}

// Why a pair is too long for --truncate to help; empty if it isn't. The library refuses a call for one such
// passage; this serves to find which.
std::string RankRun::why_too_long(const std::string& query, const Candidate& candidate) const {
  try {
    (void)reranker_.encode(query, candidate.text);
    return {};
  } catch (const Error& fault) {
    if (fault.code() != ErrorCode::input_too_long) throw;
    return fault.what();
  }
}

void RankRun::drop_too_long(std::vector<Candidate>& candidates, std::vector<std::size_t>& line_numbers) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string why = why_too_long(*settings_.query, candidates[i]);
    if (!why.empty()) {
      note_bad(line_numbers[i], why);
      continue;
    }
    std::swap(candidates[kept], candidates[i]);
    line_numbers[kept++] = line_numbers[i];
  }
  candidates.resize(kept);
  line_numbers.resize(kept);
}

std::vector<PassageRecord> RankRun::read_passages() {
  PassageReader reader(lines_, settings_.format, fused_);
  std::vector<PassageRecord> records;
  for (PassageRecord record; reader.next(record);) {
    if (record.fault.empty()) {
      records.push_back(std::move(record));
    } else {
      note_bad(record.line, record.fault);
    }
  }
  return records;
}

void RankRun::rank_passages() {
  std::vector<Candidate> candidates;
  std::vector<std::size_t> line_numbers;
  for (PassageRecord& record : read_passages()) {
    candidates.push_back(std::move(record.candidate));
    line_numbers.push_back(record.line);
  }
  const Clock::time_point begin = Clock::now();
  std::vector<Hit> hits;
  try {
    if (!candidates.empty()) hits = rank(*settings_.query, candidates);
  } catch (const Error& fault) {
    if (fault.code() != ErrorCode::input_too_long) throw;
    drop_too_long(candidates, line_numbers);
    if (!candidates.empty()) hits = rank(*settings_.query, candidates);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (!hits.empty()) print_passages(*settings_.query, hits, candidates, seconds);
  output_.flush();
}

void RankRun::rank_requests() {
  RequestReader reader(lines_, fused_);
  RankRequest request;
  while (true) {
    try {
      if (!lines_.ready(kPatience)) output_.flush();
      if (!reader.next(request)) break;
      ++requests_;
      if (!request.fault.empty()) throw BadLine(request.fault);
      rank_request(request);
    } catch (const BadLine& fault) {
      if (!settings_.skip_bad) output_.flush();
      note_bad(request.line, fault.what());
      if (settings_.json) output_.line("null");
    } catch (...) {
      output_.flush();  // what was ranked before the trouble is not lost
      throw;
    }
    output_.flush_if_full();
  }
  output_.flush();
}

void RankRun::rank_request(RankRequest& request) {
  const Clock::time_point begin = Clock::now();
  std::vector<Hit> hits;
  try {
    if (!request.candidates.empty()) hits = rank(request.query, request.candidates);
  } catch (const Error& fault) {
    if (fault.code() != ErrorCode::input_too_long) throw;
    for (std::size_t i = 0; i < request.candidates.size(); ++i) {
      const std::string why = why_too_long(request.query, request.candidates[i]);
      if (!why.empty()) throw BadLine("passages[" + std::to_string(i) + "]: " + why);
    }
    throw;
  }
  print_request(request, hits, std::chrono::duration<double>(Clock::now() - begin).count());
}

void RankRun::print_passages(const std::string& query, std::span<const Hit> hits,
                             std::span<const Candidate> candidates, double seconds) {
  if (as_table_) return print_table(query, hits, candidates, seconds);
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const Candidate& candidate = candidates[hits[i].index];
    output_.line(settings_.json ? hit_as_json(hits[i], i + 1, candidate, fused_)
                                : hit_as_tsv(hits[i], i + 1, candidate));
  }
}

void RankRun::print_request(const RankRequest& request, std::span<const Hit> hits, double seconds) {
  if (settings_.json) return output_.line(request_as_json(request, hits, fused_));
  if (as_table_) {
    if (requests_ > 1) output_.line("");
    return print_table(request.query, hits, request.candidates, seconds);
  }
  for (std::size_t i = 0; i < hits.size(); ++i) {
    output_.line(std::to_string(requests_) + '\t' +
                 hit_as_tsv(hits[i], i + 1, request.candidates[hits[i].index]));
  }
}

void RankRun::print_table(const std::string& query, std::span<const Hit> hits,
                          std::span<const Candidate> candidates, double seconds) {
  const ModelInfo& info = reranker_.info();
  output_.line(
      coloured(clipped("query: " + one_line(query), style_.width, style_.utf8), "1", style_.colours));
  output_.write(ranking_as_table(hits, candidates, fused_, style_));
  const std::string time =
      seconds < 1 ? fixed(seconds * 1e3, seconds < 0.01 ? 1 : 0) + " ms" : fixed(seconds, 2) + " s";
  std::string footer = counted(candidates.size(), "passage") + " in " + time + ", " +
                       short_model_name(info.name) + ", " + info.precision + " on " + info.isa + ", " +
                       counted(static_cast<std::uint64_t>(info.threads), "thread");
  if (info.activation != "none") footer += ", " + info.activation + " of the logit";
  output_.line(coloured(footer, "2", style_.colours));
}

void RankRun::say_summary() const {
  if (truncated_ > 0) {
    say("note: " + grouped(truncated_) + " of " + counted(shown_, "passage") + " shown " +
        was_or_were(truncated_) + " cut to " + std::to_string(reranker_.info().max_length) + " tokens");
  }
  if (bad_ > 0) {
    say("note: " + counted(bad_, "bad line") + " " + was_or_were(bad_) +
        " skipped; the first: " + first_bad_);
  }
}

}  // namespace

int run_rank(const RankRunSettings& settings, const EngineOptions& engine) {
  RankRun run(settings, engine);
  try {
    run.run();
  } catch (const InputError&) {
    run.say_summary();
    throw;
  }
  run.say_summary();
  return exit_fine;
}

}  // namespace crossbill::tools
