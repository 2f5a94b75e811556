// Finds added tokens ("[SEP]", "[MASK]", a user's own) in a text: at the leftmost place, there the longest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/settings.hpp"

namespace crossbill::tokenizer {

/// A set of byte strings, as a trie.
class AddedTokenTrie {
 public:
  struct Match {
    std::size_t token = 0;  ///< index of the string, in the order of `add`
    std::size_t end = 0;    ///< byte after its last one in the text
  };

  /// `content` must not be empty. Of equal strings, which tokens can become by normalisation, the last stays.
  void add(std::string_view content, std::size_t token);
  bool empty() const noexcept { return nodes_.size() == 1; }
  /// Whether a string of the set begins with this byte.
  bool begins_with(char byte) const noexcept { return first_[static_cast<std::uint8_t>(byte)]; }
  /// The longest string of the set that stands at text[position].
  std::optional<Match> longest_at(std::string_view text, std::size_t position) const noexcept;

 private:
  struct Edge {
    char byte;
    std::uint32_t node;
  };
  struct Node {
    std::vector<Edge> edges;  ///< sorted by byte
    std::optional<std::size_t> token;
  };
  const Edge* edge(const Node& node, char byte) const noexcept;

  std::vector<Node> nodes_{1};
  std::array<bool, 256> first_{};
};

/// One added token where it was found. Positions are bytes of the text.
struct AddedTokenMatch {
  std::size_t token = 0;  ///< index into the settings' added tokens
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Walks one text from left to right. Matches don't overlap; one that is turned down (`single_word`, or
/// special tokens read as text) still uses up its characters, as in the Hugging Face library.
class AddedTokenFinder {
 public:
  AddedTokenFinder(const AddedTokenTrie& trie, const std::vector<AddedToken>& tokens, std::string_view text,
                   bool special_tokens_as_text)
      : trie_(&trie), tokens_(&tokens), text_(text), special_tokens_as_text_(special_tokens_as_text) {}

  bool may_begin(std::size_t position) const noexcept {
    return position >= used_up_to_ && trie_->begins_with(text_[position]);
  }
  /// The match that begins at `position`, if there is one. Positions must rise from call to call.
  std::optional<AddedTokenMatch> match_at(std::size_t position);

 private:
  bool stands_alone(std::size_t begin, std::size_t end) const noexcept;

  const AddedTokenTrie* trie_;
  const std::vector<AddedToken>* tokens_;
  std::string_view text_;
  bool special_tokens_as_text_;
  std::size_t used_up_to_ = 0;
};

/// Where the white space that ends at `position` begins, but not before `least`.
std::size_t skip_white_space_back(std::string_view text, std::size_t position, std::size_t least) noexcept;
/// Where the white space that begins at `position` ends.
std::size_t skip_white_space(std::string_view text, std::size_t position) noexcept;

}  // namespace crossbill::tokenizer
