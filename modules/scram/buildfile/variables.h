// SPDX-License-Identifier: Apache-2.0
// The variables of a BuildFile: those of <set> and of loops, in nested scopes, and those from the
// caller. One per file; one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

class Variables {
 public:
  explicit Variables(std::map<std::string, std::string> given) { scopes_.push_back(given); }

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  void set(const std::string& name, const std::string& value) { scopes_.back()[name] = value; }

  // `text` with ${NAME} and $(NAME) replaced, also in their values. An unknown name is an error:
  // scram leaves it to make, but make's variables do not exist here.
  Result<std::string> expand(const std::string& text) const;
  // The same for a shell's command line, which keeps unknown names.
  Result<std::string> expand_for_shell(const std::string& text) const;

 private:
  const std::string* find(const std::string& name) const;

  std::vector<std::map<std::string, std::string>> scopes_;
};

}  // namespace tfaot::toolkit
