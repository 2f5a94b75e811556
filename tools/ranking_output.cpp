// A ranking as a table for people, as tab-separated text, or as JSON.
#include "tools/ranking_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "tools/json_line.hpp"
#include "tools/number_format.hpp"
#include "tools/terminal.hpp"

namespace crossbill::tools {
namespace {

constexpr std::array<std::string_view, 8> kHitFields = {"rank",   "index",     "score",       "logit",
                                                        "tokens", "truncated", "model_score", "not_finite"};
constexpr std::array<std::string_view, 1> kRequestFields = {"results"};
constexpr std::size_t kBarCells = 8;

// The name under which a field of an input object is passed on; `ours` are the names that we write ourselves.
std::string kept_name(const std::string& name, const Json& fields, std::span<const std::string_view> ours) {
  if (std::find(ours.begin(), ours.end(), name) == ours.end()) return name;
  std::string kept = "input_" + name;
  while (fields.contains(kept)) kept.insert(0, "input_");
  return kept;
}

// What share of the bar a logit fills: the probability that the usual sigmoid makes of it. It serves the eye
// alone; scores are printed beside it.
double probability(float logit) {
  return 1 / (1 + std::exp(-static_cast<double>(logit)));
}

}  // namespace

std::string hit_as_json(const Hit& hit, std::size_t rank, const Candidate& candidate, bool fused) {
  JsonObjectWriter line;
  line.integer("rank", static_cast<long long>(rank)).integer("index", static_cast<long long>(hit.index));
  line.number("score", hit.score);
  if (fused) line.number("model_score", hit.model_score);
  line.number("logit", hit.logit).integer("tokens", hit.tokens).boolean("truncated", hit.truncated);
  if (!std::isfinite(hit.score)) line.boolean("not_finite", true);
  if (candidate.fields.is_null()) {
    line.string("text", candidate.text);
  } else {
    for (const auto& field : candidate.fields.items()) {
      line.raw(kept_name(field.key(), candidate.fields, kHitFields), to_line(field.value()));
    }
  }
  return line.take();
}

std::string hit_as_tsv(const Hit& hit, std::size_t rank, const Candidate& candidate) {
  std::string passage = candidate.text;
  std::replace_if(
      passage.begin(), passage.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return std::to_string(rank) + '\t' + shortest(hit.score) + '\t' + std::to_string(hit.index) + '\t' +
         std::to_string(hit.tokens) + '\t' + passage;
}

std::string request_as_json(const RankRequest& request, std::span<const Hit> hits, bool fused) {
  JsonObjectWriter line;
  for (const auto& field : request.fields.items()) {
    line.raw(kept_name(field.key(), request.fields, kRequestFields), to_line(field.value()));
  }
  std::size_t rank = 0;
  line.raw("results", json_array(hits, [&](const Hit& hit) {
             return hit_as_json(hit, ++rank, request.candidates[hit.index], fused);
           }));
  return line.take();
}

std::string ranking_as_table(std::span<const Hit> hits, std::span<const Candidate> candidates, bool fused,
                             const TableStyle& style) {
  std::vector<Column> columns = {{"rank", Align::right}, {"score", Align::right}};
  if (fused) columns.insert(columns.end(), {{"model", Align::right}, {"first", Align::right}});
  columns.insert(columns.end(), {{""}, {"tokens", Align::right}, {"passage", Align::left, true}});
  std::vector<Row> rows;
  for (const Hit& hit : hits) {
    Row row;
    row.cells = {std::to_string(rows.size() + 1), fixed(hit.score, 3)};
    if (fused) {
      row.cells.push_back(fixed(hit.model_score, 3));
      row.cells.push_back(fixed(candidates[hit.index].first_stage.value(), 3));
    }
    const double share = probability(hit.logit);
    row.cells.push_back(bar(share, kBarCells, style.utf8));
    row.cells.push_back(std::to_string(hit.tokens) + (hit.truncated ? "*" : " "));
    row.cells.push_back(one_line(candidates[hit.index].text));
    row.colour = rows.empty() && share >= 0.5 ? "1;32" : share >= 0.5 ? "32" : "";
    rows.push_back(std::move(row));
  }
  return render_table(columns, rows, style);
}

}  // namespace crossbill::tools
