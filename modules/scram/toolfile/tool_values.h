// SPDX-License-Identifier: Apache-2.0
// The values of the $NAMES in a tool file: from its <environment> elements, else from scram's
// environment. Plain value; one thread.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace tfaot::toolkit {

// A value with its $NAME and ${NAME} replaced.
struct ResolvedValue {
  std::string text{};       // empty if a name is undefined, because scram drops the whole value
  std::string undefined{};  // NAME, the first undefined one
  std::string blank{};      // NAME, a variable whose value contains a space
  bool is_endless = false;  // a variable refers to itself: scram never ends
};

class ToolValues {
 public:
  explicit ToolValues(std::map<std::string, std::string> environment)
      : environment_(std::move(environment)) {}

  // The last definition of a name counts.
  void define(const std::string& name, const std::string& value) { own_[name] = value; }
  bool defines(const std::string& name) const { return own_.contains(name); }
  ResolvedValue resolve(const std::string& value) const;

 private:
  std::map<std::string, std::string> own_;
  std::map<std::string, std::string> environment_;
};

}  // namespace tfaot::toolkit
