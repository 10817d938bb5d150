// SPDX-License-Identifier: Apache-2.0
// Expected failures as values. An Error says where, what and what to do; a Result<T> is a T or an
// Error. Third-party exceptions are turned into Errors in the room that owns the library. Plain
// values: no thread rule.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace tfaot::toolkit {

// Decides the exit code of the tool, see exit_code() in cli.
enum class ErrorKind {
  kInput,  // 1: the model, the config or the package is wrong, or the machine refused (disk full)
  kUsage,  // 2: the command line is wrong
  kInternal,  // 3: a defect of tfaot itself
};

// A place in a text file. Lines and columns count from 1; 0 means unknown.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  std::string key = {};  // of a config, "model.outputs[0]", whose line is not known yet
};

class Error {
 public:
  explicit Error(std::string message, ErrorKind kind = ErrorKind::kInput)
      : message_(std::move(message)), kind_(kind) {}
  static Error at(Location where, std::string message) {
    Error error(std::move(message));
    error.where_ = std::move(where);
    return error;
  }
  static Error usage(std::string message) { return Error(std::move(message), ErrorKind::kUsage); }
  static Error internal(std::string message) {
    return Error(std::move(message), ErrorKind::kInternal);
  }

  // Adds an indented line below the message: the cause, what is allowed, what to do.
  Error& note(std::string text) & {
    notes_.push_back(std::move(text));
    return *this;
  }
  Error&& note(std::string text) && {
    notes_.push_back(std::move(text));
    return std::move(*this);
  }

  // The same error at another place: that which the user knows.
  Error&& moved_to(Location where) && {
    where_ = std::move(where);
    return std::move(*this);
  }

  // For programs: the kind of fault in a word, and the parts of the input to blame, by their names.
  Error&& about(std::string topic, std::vector<std::string> places = {}) && {
    topic_ = std::move(topic);
    places_ = std::move(places);
    return std::move(*this);
  }

  // Another fault of the input, found in the same step. text() leaves it out.
  Error& also(Error other) & {
    others_.push_back(std::move(other));
    return *this;
  }

  ErrorKind kind() const { return kind_; }
  const Location& where() const { return where_; }
  const std::string& message() const { return message_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::string& topic() const { return topic_; }  // empty: none was given
  const std::vector<std::string>& places() const { return places_; }
  const std::vector<Error>& others() const { return others_; }

  // "file:line:column: message", then one indented line per note; no trailing newline.
  std::string text() const;

 private:
  std::string message_;
  ErrorKind kind_;
  Location where_;
  std::vector<std::string> notes_;
  std::string topic_;
  std::vector<std::string> places_;
  std::vector<Error> others_;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// Success if there are no errors, or else the first one with the others in others().
Status all_or_first(std::vector<Error> errors);

// Makes the failing side of any Result: `return fail(Error(...).note(...));`
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace tfaot::toolkit

// Returns from the enclosing function when `expr` (a Result or Status) failed.
#define TFAOT_TRY(expr)                                             \
  do {                                                              \
    if (auto tfaot_try_ = (expr); !tfaot_try_)                      \
      return ::tfaot::toolkit::fail(std::move(tfaot_try_).error()); \
  } while (false)

// Declares `decl` with the value of `expr`, or returns its Error: TFAOT_ASSIGN(auto text,
// fs.read(path));
#define TFAOT_ASSIGN(decl, expr) TFAOT_ASSIGN_(TFAOT_CONCAT_(tfaot_result_, __LINE__), decl, expr)
#define TFAOT_ASSIGN_(tmp, decl, expr)                             \
  auto tmp = (expr);                                               \
  if (!tmp) return ::tfaot::toolkit::fail(std::move(tmp).error()); \
  decl = std::move(tmp).value()
#define TFAOT_CONCAT_(a, b) TFAOT_CONCAT2_(a, b)
#define TFAOT_CONCAT2_(a, b) a##b
