#include "tokenizer/added_tokens.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/settings.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"

namespace crossbill::tokenizer {
namespace {

bool has(char32_t code_point, std::uint16_t flag) noexcept {
  return (properties_of(code_point).flags & flag) != 0;
}

}  // namespace

const AddedTokenTrie::Edge* AddedTokenTrie::edge(const Node& node, char byte) const noexcept {
  const auto found = std::lower_bound(node.edges.begin(), node.edges.end(), byte,
                                      [](const Edge& e, char b) { return e.byte < b; });
  return found != node.edges.end() && found->byte == byte ? &*found : nullptr;
}

void AddedTokenTrie::add(std::string_view content, std::size_t token) {
  first_[static_cast<std::uint8_t>(content.front())] = true;
  std::uint32_t at = 0;
  for (const char byte : content) {
    if (const Edge* next = edge(nodes_[at], byte)) {
      at = next->node;
      continue;
    }
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    auto& edges = nodes_[at].edges;
    const auto place =
        std::lower_bound(edges.begin(), edges.end(), byte, [](const Edge& e, char b) { return e.byte < b; });
    edges.insert(place, {byte, made});
    nodes_.emplace_back();
    at = made;
  }
  nodes_[at].token = token;
}

std::optional<AddedTokenTrie::Match> AddedTokenTrie::longest_at(std::string_view text,
                                                                std::size_t position) const noexcept {
  std::optional<Match> longest;
  const Node* node = nodes_.data();
  while (position < text.size()) {
    const Edge* next = edge(*node, text[position]);
    if (next == nullptr) {
      break;
    }
    node = &nodes_[next->node];
    ++position;
    if (node->token) {
      longest = Match{*node->token, position};
    }
  }
  return longest;
}

std::optional<AddedTokenMatch> AddedTokenFinder::match_at(std::size_t position) {
  const auto found = trie_->longest_at(text_, position);
  if (!found) {
    return std::nullopt;
  }
  used_up_to_ = found->end;
  const AddedToken& token = (*tokens_)[found->token];
  if ((token.special && special_tokens_as_text_) ||
      (token.single_word && !stands_alone(position, found->end))) {
    return std::nullopt;
  }
  return AddedTokenMatch{found->token, position, found->end};
}

bool AddedTokenFinder::stands_alone(std::size_t begin, std::size_t end) const noexcept {
  const bool word_before = begin > 0 && has(decode_code_point_before(text_, begin).value, kWordCharacter);
  const bool word_after = end < text_.size() && has(decode_code_point(text_, end).value, kWordCharacter);
  return !word_before && !word_after;
}

std::size_t skip_white_space_back(std::string_view text, std::size_t position, std::size_t least) noexcept {
  while (position > least) {
    const DecodedCodePoint before = decode_code_point_before(text, position);
    if (!has(before.value, kWhiteSpace)) {
      break;
    }
    position -= before.bytes;
  }
  return std::max(position, least);
}

std::size_t skip_white_space(std::string_view text, std::size_t position) noexcept {
  while (position < text.size()) {
    const DecodedCodePoint next = decode_code_point(text, position);
    if (!has(next.value, kWhiteSpace)) {
      break;
    }
    position += next.bytes;
  }
  return position;
}

}  // namespace crossbill::tokenizer
