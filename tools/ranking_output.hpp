// A ranking as a table for people, as tab-separated text, or as JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/ranking.hpp"
#include "tools/table.hpp"

namespace crossbill::tools {

/// {"rank", "index", "score", "logit", "tokens", "truncated"}, with `fused` also "model_score", then the
/// candidate's own fields. One of those whose name is taken is called "input_NAME". A plain passage gives
/// "text".
std::string hit_as_json(const Hit& hit, std::size_t rank, const Candidate& candidate, bool fused);

/// rank, score, index, tokens, passage; tabs and line ends in the passage become spaces.
std::string hit_as_tsv(const Hit& hit, std::size_t rank, const Candidate& candidate);

/// {request's fields…, "results": [hit_as_json, …]}.
std::string request_as_json(const RankRequest& request, std::span<const Hit> hits, bool fused);

/// Rank, score, a bar of the logit's probability, tokens ("*": shortened), passage clipped to the width.
std::string ranking_as_table(std::span<const Hit> hits, std::span<const Candidate> candidates, bool fused,
                             const TableStyle& style);

}  // namespace crossbill::tools
