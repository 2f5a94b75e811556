// Orders candidates by their score, alone or mixed with the first stage's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "tools/ranking_input.hpp"

namespace crossbill::tools {

struct RankingSettings {
  std::optional<std::size_t> top;  ///< at least 1; absent: all
  std::string label;               ///< see RankOptions
  /// Weight W of the first stage: a candidate's score becomes W·first + (1−W)·score, both as they are.
  /// Nothing is rescaled, so a candidate's score never depends on the other candidates.
  std::optional<double> fusion;
};

struct Hit {
  std::size_t index = 0;  ///< into the candidates
  float score = 0;        ///< what the order follows
  float model_score = 0;  ///< the model's own; the same unless fused
  float logit = 0;
  std::int32_t tokens = 0;
  bool truncated = false;
};

/// W·first + (1−W)·score, computed in double and rounded once.
float fused_score(double first_stage, float model_score, double weight);

/// Best first, ties by index, NaN last. Candidates need a first-stage score if `settings.fusion` is set.
std::vector<Hit> rank_candidates(const Reranker& reranker, const std::string& query,
                                 std::span<const Candidate> candidates, const RankingSettings& settings,
                                 const CallOptions& call);

/// Mixes the first stage into `hits`, orders them again and cuts them to `settings.top`.
void fuse(std::vector<Hit>& hits, std::span<const Candidate> candidates, const RankingSettings& settings);

}  // namespace crossbill::tools
