// Orders candidates by their score, alone or mixed with the first stage's.
#include "tools/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace crossbill::tools {

float fused_score(double first_stage, float model_score, double weight) {
  return static_cast<float>(weight * first_stage + (1 - weight) * static_cast<double>(model_score));
}

void fuse(std::vector<Hit>& hits, std::span<const Candidate> candidates, const RankingSettings& settings) {
  for (Hit& hit : hits) {
    hit.score =
        fused_score(candidates[hit.index].first_stage.value(), hit.model_score, settings.fusion.value());
  }
  std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
    if (std::isnan(a.score) != std::isnan(b.score)) return std::isnan(b.score);
    if (a.score != b.score && !std::isnan(a.score)) return a.score > b.score;
    return a.index < b.index;
  });
  if (settings.top && *settings.top < hits.size()) hits.resize(*settings.top);
}

std::vector<Hit> rank_candidates(const Reranker& reranker, const std::string& query,
                                 std::span<const Candidate> candidates, const RankingSettings& settings,
                                 const CallOptions& call) {
  std::vector<std::string_view> passages;
  passages.reserve(candidates.size());
  for (const Candidate& candidate : candidates) passages.push_back(candidate.text);
  RankOptions options;
  static_cast<CallOptions&>(options) = call;
  options.label = settings.label;
  if (!settings.fusion) options.top_n = settings.top;  // fused, any candidate may still come to the top
  std::vector<Hit> hits;
  for (const RankedPassage& ranked : reranker.rank(query, passages, options)) {
    hits.push_back({ranked.index, ranked.score, ranked.score, ranked.logit, ranked.tokens, ranked.truncated});
  }
  if (settings.fusion) fuse(hits, candidates, settings);
  return hits;
}

}  // namespace crossbill::tools
