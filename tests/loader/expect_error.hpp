// Expecting a crossbill::Error: its code, and words that its sentence has to have.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "crossbill/error.hpp"

namespace crossbill::loader {

inline void expect_error(const std::function<void()>& call, ErrorCode code,
                         std::initializer_list<std::string> words) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_STREQ(to_string(error.code()), to_string(code)) << error.what();
    for (const auto& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "no \"" << word << "\" in: " << error.what();
    }
    return;
  }
  ADD_FAILURE() << "no error, expected " << to_string(code);
}

}  // namespace crossbill::loader
