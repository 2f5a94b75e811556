// Tokenizer: bytes, tokens and pairs a second on one thread, and what opening costs.
//
// With CROSSBILL_DATA set the pairs are the judged BM25 lists of TREC DL 2020, the same that
// compare_tokenizers.py gives the Python library; else a few sentences, repeated.
#include <benchmark/benchmark.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/encoding.hpp"
#include "tokenizer/huggingface_files.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/vocabulary.hpp"

namespace {

using crossbill::EncodeOptions;
using crossbill::tokenizer::AddedToken;
using crossbill::tokenizer::Settings;
using crossbill::tokenizer::Tokenizer;
using crossbill::tokenizer::Vocabulary;

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string read_gzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw std::runtime_error("can't open " + path);
  }
  std::string content;
  std::vector<char> buffer(1 << 20);
  int got = 0;
  while ((got = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
  gzclose(file);
  return content;
}

Pairs public_pairs(const std::string& folder) {
  Pairs pairs;
  const std::string lines = read_gzip(folder + "/pairs/dl20_bm25_top100.jsonl.gz");
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    const auto line = nlohmann::json::parse(lines.substr(at, end - at));
    pairs.emplace_back(line["query"].get<std::string>(), line["passage"].get<std::string>());
    at = end == std::string::npos ? lines.size() : end + 1;
  }
  return pairs;
}

Pairs built_in_pairs() {
  const std::string passage =
      "Crossbills are finches whose upper and lower mandibles cross at the tips; that lets them pry open the "
      "cones "
      "of spruce, larch and pine (Loxia curvirostra eats little else). They breed whenever cones are "
      "plentiful, "
      "even in January at \u221210 \u00B0C, and wander hundreds of kilometres when a crop fails.";
  return Pairs(5000, {"why do the bills of crossbills cross?", passage});
}

const Pairs& pairs() {
  static const Pairs all = [] {
    const char* folder = std::getenv("CROSSBILL_DATA");
    return folder != nullptr ? public_pairs(folder) : built_in_pairs();
  }();
  return all;
}

std::string vocab_txt() {
  std::ifstream stream(std::string(CROSSBILL_TEST_DATA) + "/tokenizer/vocab.txt", std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const Vocabulary& vocabulary() {
  static const Vocabulary base = crossbill::tokenizer::parse_vocab_txt(vocab_txt());
  return base;
}

Settings settings() {
  Settings bert;
  bert.cls_id = 101;
  bert.sep_id = 102;
  for (const char* content : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    AddedToken token;
    token.content = content;
    token.id = vocabulary().find(content).value();
    token.special = true;
    bert.added_tokens.push_back(token);
  }
  return bert;
}

void report(benchmark::State& state, std::size_t bytes, std::size_t tokens, std::size_t items) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["tokens"] = benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsRate);
}

void passages(benchmark::State& state) {
  const Tokenizer tokenizer(settings(), vocabulary());
  std::size_t bytes = 0;
  std::size_t tokens = 0;
  for (auto _ : state) {
    for (const auto& [query, passage] : pairs()) {
      tokens += tokenizer.tokenize_side(passage, {}).ids.size();
      bytes += passage.size();
    }
  }
  report(state, bytes, tokens, state.iterations() * pairs().size());
}
BENCHMARK(passages)->Unit(benchmark::kMillisecond);

void encoded_pairs(benchmark::State& state) {
  const Tokenizer tokenizer(settings(), vocabulary());
  std::size_t bytes = 0;
  std::size_t tokens = 0;
  for (auto _ : state) {
    for (const auto& [query, passage] : pairs()) {
      tokens += tokenizer.encode(query, passage, {}).ids.size();
      bytes += query.size() + passage.size();
    }
  }
  report(state, bytes, tokens, state.iterations() * pairs().size());
}
BENCHMARK(encoded_pairs)->Unit(benchmark::kMillisecond);

void explained_pairs(benchmark::State& state) {
  const Tokenizer tokenizer(settings(), vocabulary());
  std::size_t bytes = 0;
  std::size_t tokens = 0;
  for (auto _ : state) {
    for (const auto& [query, passage] : pairs()) {
      tokens += tokenizer.explain(query, passage, {}).ids.size();
      bytes += query.size() + passage.size();
    }
  }
  report(state, bytes, tokens, state.iterations() * pairs().size());
}
BENCHMARK(explained_pairs)->Unit(benchmark::kMillisecond);

/// Ten megabytes cut to 512 tokens.
void cut_document(benchmark::State& state) {
  const Tokenizer tokenizer(settings(), vocabulary());
  std::string document;
  while (document.size() < 10 << 20) {
    document += "The quick brown fox, unbelievably, jumps over 13 lazy dogs. ";
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(tokenizer.encode("fox", document, {}));
  }
}
BENCHMARK(cut_document)->Unit(benchmark::kMicrosecond);

void build_vocabulary(benchmark::State& state) {
  const std::string text = vocab_txt();
  for (auto _ : state) {
    benchmark::DoNotOptimize(crossbill::tokenizer::parse_vocab_txt(text));
  }
}
BENCHMARK(build_vocabulary)->Unit(benchmark::kMicrosecond);

/// What a packed model pays: the checks of a ready-made block, then the tokenizer on top of it.
void open_block(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Tokenizer(settings(), Vocabulary::view(vocabulary().block(), nullptr)));
  }
}
BENCHMARK(open_block)->Unit(benchmark::kMicrosecond);

}  // namespace
