// One pair's score as a line of output.
#include "tools/score_format.hpp"

#include <algorithm>
#include <cmath>

#include "tools/json_line.hpp"
#include "tools/number_format.hpp"

namespace crossbill::tools {
namespace {

std::string number_array(const std::vector<float>& values) {
  return json_array(values, [](float value) { return json_number(value); });
}

}  // namespace

std::string score_as_text(const Score& score) {
  std::string text;
  for (const float value : score.values) {
    if (!text.empty()) text += '\t';
    text += shortest(value);
  }
  return text;
}

std::string score_as_json(const Score& score, const std::vector<std::string>& labels) {
  JsonObjectWriter line;
  if (score.values.size() == 1) {
    line.number("score", score.values.front()).number("logit", score.logits.front());
  } else {
    line.raw("scores", number_array(score.values)).raw("logits", number_array(score.logits));
    line.raw("labels", json_array(labels, [](const std::string& label) { return json_string(label); }));
  }
  line.integer("tokens", score.tokens).boolean("truncated", score.truncated);
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(score.logits.begin(), score.logits.end(), is_finite)) line.boolean("not_finite", true);
  return line.take();
}

}  // namespace crossbill::tools
