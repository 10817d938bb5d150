// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/area_policy.h"

#include <fmt/format.h>

#include <set>

#include "problems.h"
#include "yaml_text.h"

namespace tfaot::toolkit {
namespace {

using config::YamlKind;

constexpr config::DocumentName kPolicyDocument = {"the policy",
                                                  "it needs the key 'require_signature'"};

// The faults of one policy.
class PolicyReader {
 public:
  explicit PolicyReader(const std::string& file) : problems_(file) {}

  Result<AreaPolicy> read(const YAML::Node& root) {
    AreaPolicy policy;
    if (!root.IsMap()) {
      problems_.add(root.Mark(), "the policy must be a map");
      return fail(problems_.to_error());
    }
    std::set<std::string> seen;
    for (const auto& entry : root) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (!seen.insert(key).second) {
        problems_.add(entry.first.Mark(), fmt::format("'{}' comes twice", key));
      } else if (key == "require_signature") {
        read_flag(entry.second, policy.require_signature);
      } else if (key == "keys") {
        read_keys(entry.second, policy.keys);
      } else {
        problems_.add(entry.first.Mark(), fmt::format("unknown key '{}'", key))
            .note("allowed: keys, require_signature");
      }
    }
    if (policy.require_signature && policy.keys.empty() && problems_.count() == 0) {
      problems_.add(root.Mark(), "signatures are required, but 'keys' lists no key");
    }
    if (problems_.count() > 0) return fail(problems_.to_error());
    return policy;
  }

 private:
  void read_flag(const YAML::Node& node, bool& flag) {
    if (config::kind_of(node) == YamlKind::kBool) {
      flag = node.as<bool>();
      return;
    }
    problems_.add(node.Mark(),
                  "'require_signature' must be true or false, not " + config::describe(node));
  }

  void read_keys(const YAML::Node& node, std::vector<std::string>& keys) {
    if (config::kind_of(node) != YamlKind::kList) {
      problems_.add(node.Mark(),
                    "'keys' must be a list of public keys, not " + config::describe(node));
      return;
    }
    for (const YAML::Node& key : node) {
      if (config::kind_of(key) == YamlKind::kText) {
        keys.push_back(key.Scalar());
      } else {
        problems_.add(key.Mark(), "a key is a text, not " + config::describe(key));
      }
    }
  }

  config::Problems problems_;
};

}  // namespace

Result<AreaPolicy> parse_area_policy(const std::string& text, const std::string& file) {
  TFAOT_ASSIGN(const YAML::Node root, config::parse_yaml(text, file, kPolicyDocument));
  return PolicyReader(file).read(root);
}

}  // namespace tfaot::toolkit
