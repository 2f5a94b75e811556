#include "golden_scores.hpp"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace crossbill::engine::test {

namespace {

std::string text(const nlohmann::json& field) {
  if (field.is_string()) return field.get<std::string>();
  std::string repeated;
  for (auto left = field.at("repeat").at(1).get<std::size_t>(); left > 0; --left)
    repeated += field["repeat"].at(0).get<std::string>();
  return repeated;
}

std::vector<double> logits(const nlohmann::json& line) {
  if (line.contains("logit")) return {line["logit"].get<double>()};
  return line.at("logits").get<std::vector<double>>();
}

}  // namespace

std::vector<GoldenScore> read_golden_scores(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("can't read " + file.string());
  std::vector<GoldenScore> scores;
  for (std::string line; std::getline(stream, line);) {
    const auto json = nlohmann::json::parse(line);
    scores.push_back({text(json.at("query")), text(json.at("passage")), json.at("ids_len"), logits(json)});
  }
  return scores;
}

std::optional<std::filesystem::path> data_folder() {
  const char* folder = std::getenv("CROSSBILL_DATA");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

}  // namespace crossbill::engine::test
