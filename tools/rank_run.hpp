// One run of `crossbill rank`: reads, ranks, prints.
#pragma once

#include <optional>
#include <string>

#include "tools/engine_options.hpp"
#include "tools/ranking.hpp"
#include "tools/ranking_input.hpp"

namespace crossbill::tools {

struct RankRunSettings {
  std::string file = "-";
  std::optional<std::string> query;  ///< absent: the input holds requests
  LineFormat format = LineFormat::automatic;
  RankingSettings ranking;
  bool json = false;
  bool table = false;  ///< a table even where standard output is no terminal
  bool skip_bad = false;
};

/// Returns the exit code. InputError for a bad line, once every request before it is printed.
int run_rank(const RankRunSettings& settings, const EngineOptions& engine);

}  // namespace crossbill::tools
