// Pairs with the logits that PyTorch gave them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace crossbill::engine::test {

struct GoldenScore {
  std::string query;
  std::string passage;
  std::size_t tokens = 0;
  std::vector<double> logits;
};

/// One JSON object a line: "query", "passage", "ids_len" and "logit" or, of several labels, "logits".
/// {"repeat": [s, n]} stands for s, n times.
std::vector<GoldenScore> read_golden_scores(const std::filesystem::path& file);

/// The folder that CROSSBILL_DATA names, if it is set.
std::optional<std::filesystem::path> data_folder();

}  // namespace crossbill::engine::test
