// SPDX-License-Identifier: Apache-2.0
// Stands in for CMSSW's: an exception of a category, with a message that is streamed into it.
#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <utility>

namespace cms {

class Exception : public std::exception {
 public:
  explicit Exception(std::string category) : category_(std::move(category)) {}

  const std::string& category() const { return category_; }
  std::string message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

  template <class T>
  friend const Exception& operator<<(const Exception& exception, const T& part) {
    std::ostringstream text;
    text << part;
    const_cast<Exception&>(exception).message_ += text.str();  // of a temporary, as in CMSSW
    return exception;
  }

 private:
  std::string category_;
  std::string message_;
};

}  // namespace cms
