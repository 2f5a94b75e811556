// The BERT normaliser: clean-up, spaces around Chinese characters, accent stripping, lower-casing.
//
// It takes code points one by one and hands normalised ones on, so that no normalised copy of a text is made.
// Only canonical reordering needs a memory: marks wait until the next starter, then go in the order of their
// combining classes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "crossbill/encoding.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/unicode.hpp"

namespace crossbill::tokenizer {

/// The normaliser's switches, `strip_accents` resolved.
struct NormaliserRules {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;

  explicit NormaliserRules(const Settings& settings)
      : clean_text(settings.clean_text),
        handle_chinese_chars(settings.handle_chinese_chars),
        strip_accents(settings.strip_accents.value_or(settings.lowercase)),
        lowercase(settings.lowercase) {}
};

/// `Receiver` has `void code_point(char32_t, CodePointProperties, TokenOffset)`, which takes a normalised
/// code point with the span of the text that it stands for. Spans are kept only if `kWithOffsets`.
template <class Receiver, bool kWithOffsets>
class Normaliser {
 public:
  Normaliser(const NormaliserRules& rules, Receiver& receiver) : rules_(rules), receiver_(&receiver) {}

  /// The next code point of the text.
  void feed(char32_t value, TokenOffset span) {
    const CodePointProperties properties = properties_of(value);
    if (rules_.clean_text && (properties.flags & (kRemovedByCleaning | kSpaceByCleaning)) != 0) {
      if ((properties.flags & kRemovedByCleaning) == 0) {
        space(span);
      }
      return;
    }
    const bool alone = rules_.handle_chinese_chars && (properties.flags & kChineseCharacter) != 0;
    if (alone) {
      space(span);
    }
    strip(value, properties, span);
    if (alone) {
      space(span);
    }
  }

  /// The text ends, or an added token begins.
  void end() {
    flush();
    before_ = {};
  }

  /// Whether marks are waiting for the next starter.
  bool waiting() const noexcept { return !marks_.empty(); }
  /// Lets the waiting marks go, since a starter comes by another way.
  void flush() {
    if (!marks_.empty()) {
      reorder();
    }
  }

 private:
  struct Mark {
    char32_t value;
    CodePointProperties properties;
    bool first;  ///< of the parts of its code point
    TokenOffset span;
  };

  void space(TokenOffset span) {
    flush();
    before_ = span;
    receiver_->code_point(' ', properties_of(' '), span);
  }

  void strip(char32_t value, CodePointProperties properties, TokenOffset span) {
    if (!rules_.strip_accents) {
      lower(value, properties, span);
    } else if ((properties.flags & kHasDecomposition) == 0) {
      part(value, properties, true, span);
    } else {
      const Expansion parts = decompose(value);
      for (std::size_t i = 0; i < parts.count; ++i) {
        part(parts.code_points[i], properties_of(parts.code_points[i]), i == 0, span);
      }
    }
  }

  /// One code point of the decomposed text, still in the text's own order.
  void part(char32_t value, CodePointProperties properties, bool first, TokenOffset span) {
    const bool removed = (properties.flags & kNonspacingMark) != 0;
    if (properties.combining_class != 0) {
      // A mark that will be removed changes no other mark's place, only how spans are handed out.
      if (kWithOffsets || !removed) {
        marks_.push_back({value, properties, first, span});
      }
      return;
    }
    flush();
    before_ = span;
    if (!removed) {
      lower(value, properties, span);
    }
  }

  /// Canonical order, stable within a class. The Hugging Face library gives spans by position: each code
  /// point that is the first part of its own takes the next span of the text, any other repeats the span
  /// before it.
  void reorder() {
    if (kWithOffsets) {
      spans_.clear();
      for (const Mark& mark : marks_) {
        if (mark.first) {
          spans_.push_back(mark.span);
        }
      }
    }
    if (marks_.size() > 1) {
      sort_by_class();
    }
    std::size_t next = 0;
    for (const Mark& mark : marks_) {
      if (kWithOffsets && mark.first) {
        before_ = spans_[next++];
      }
      if ((mark.properties.flags & kNonspacingMark) == 0) {
        lower(mark.value, mark.properties, before_);
      }
    }
    marks_.clear();
  }

  /// By counting, since a text may have a million marks in a row.
  void sort_by_class() {
    std::array<std::size_t, 256> place{};  // of the next mark of each class
    for (const Mark& mark : marks_) {
      ++place[mark.properties.combining_class];
    }
    std::size_t before = 0;
    for (std::size_t& entry : place) {
      before += std::exchange(entry, before);
    }
    sorted_.resize(marks_.size());
    for (const Mark& mark : marks_) {
      sorted_[place[mark.properties.combining_class]++] = mark;
    }
    marks_.swap(sorted_);
  }

  void lower(char32_t value, CodePointProperties properties, TokenOffset span) {
    if (!rules_.lowercase || (properties.flags & kHasLowerCase) == 0) {
      receiver_->code_point(value, properties, span);
      return;
    }
    const Expansion parts = lower_case(value);
    for (std::size_t i = 0; i < parts.count; ++i) {
      receiver_->code_point(parts.code_points[i], properties_of(parts.code_points[i]), span);
    }
  }

  NormaliserRules rules_;
  Receiver* receiver_;
  TokenOffset before_;  ///< span of the last code point that took one
  std::vector<Mark> marks_;
  std::vector<Mark> sorted_;  ///< room for sort_by_class
  std::vector<TokenOffset> spans_;
};

}  // namespace crossbill::tokenizer
