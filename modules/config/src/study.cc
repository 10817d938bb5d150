// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/study.h"

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "problems.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "yaml_text.h"

namespace tfaot::toolkit {
namespace {

using config::NodeKind;

// Reads one study; faults go to the problems.
class StudyReader {
 public:
  explicit StudyReader(const Path& file) : folder_(file.parent_path()), problems_(file.string()) {}

  Result<Study> read(const YAML::Node& root) {
    Study study;
    study.output = folder_ / "profile";
    const Keys keys = {
        {"output", [&](const YAML::Node& node) { study.output = path_of(node); }},
        {"models", [&](const YAML::Node& node) { read_models(node, study.models); }},
        {"libraries", [&](const YAML::Node& node) { read_paths(node, study.libraries); }},
        {"batch_sizes",
         [&](const YAML::Node& node) {
           each(node,
                [&](const YAML::Node& item) { study.batch_sizes.push_back(whole_number(item)); });
         }},
        {"cpu_levels", [&](const YAML::Node& node) { read_texts(node, study.cpu_levels); }},
        {"strategies", [&](const YAML::Node& node) { read_texts(node, study.strategies); }},
        {"batch_rules", [&](const YAML::Node& node) { read_texts(node, study.batch_rules); }},
        {"inputs", [&](const YAML::Node& node) { study.inputs = inputs_of(node); }},
        {"rounds", [&](const YAML::Node& node) { study.rounds = whole_number(node); }},
        {"round_ms", [&](const YAML::Node& node) { study.round_ms = number(node); }},
    };
    read_map(root, "the study", keys);
    if (study.models.empty() && problems_.count() == 0) {
      problems_.add(root.Mark(), "the study has no 'models'");
    }
    if (problems_.count() > 0) return fail(problems_.to_error());
    return study;
  }

 private:
  using Reader = std::function<void(const YAML::Node&)>;
  using Keys = std::map<std::string, Reader>;

  void read_map(const YAML::Node& node, const std::string& what, const Keys& keys) {
    if (!node.IsMap()) {
      wrong(node, fmt::format("{} is {}, but must be a map", what, config::describe(node)));
      return;
    }
    std::vector<std::string> names;
    for (const auto& [name, reader] : keys) names.push_back(name);
    std::map<std::string, bool> seen;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const auto reader = keys.find(key);
      if (reader == keys.end()) {
        Error& error =
            problems_.add(entry.first.Mark(), fmt::format("unknown key '{}' in {}", key, what));
        if (const auto guess = closest_match(key, names)) {
          error.note(fmt::format("did you mean '{}'?", *guess));
        }
        error.note("allowed: " + join(names, ", "));
      } else if (std::exchange(seen[key], true)) {
        problems_.add(entry.first.Mark(), fmt::format("the key '{}' comes twice", key));
      } else {
        reader->second(entry.second);
      }
    }
  }

  void read_models(const YAML::Node& node, std::vector<StudyModel>& models) {
    each(node, [&](const YAML::Node& item) {
      StudyModel model;
      if (item.IsScalar()) {  // short for a map with only "package"
        model.package = path_of(item);
      } else {
        read_map(item, "a model",
                 {{"package", [&](const YAML::Node& path) { model.package = path_of(path); }},
                  {"peers", [&](const YAML::Node& peers) { read_paths(peers, model.peers); }}});
        if (model.package.empty()) wrong(item, "a model needs the key 'package'");
      }
      models.push_back(std::move(model));
    });
  }

  void read_paths(const YAML::Node& node, NamedPaths& paths) {
    if (!node.IsMap()) {
      return wrong(
          node, fmt::format("expected a map of engines and files, not {}", config::describe(node)));
    }
    for (const auto& entry : node) {
      paths.emplace_back(text_of_node(entry.first), path_of(entry.second));
    }
  }

  void read_texts(const YAML::Node& node, std::vector<std::string>& texts) {
    each(node, [&](const YAML::Node& item) { texts.push_back(text_of_node(item)); });
  }

  void each(const YAML::Node& node, const Reader& read) {
    if (!node.IsSequence()) {
      return wrong(node, fmt::format("expected a list, not {}", config::describe(node)));
    }
    for (const YAML::Node& item : node) read(item);
  }

  std::string text_of_node(const YAML::Node& node) {
    if (node.IsScalar() && !node.Scalar().empty()) return node.Scalar();
    wrong(node, fmt::format("expected a text, not {}", config::describe(node)));
    return "";
  }

  Path path_of(const YAML::Node& node) { return (folder_ / text_of_node(node)).lexically_normal(); }

  // A word has no ending.
  std::string inputs_of(const YAML::Node& node) {
    const std::string text = text_of_node(node);
    return text.find('.') == std::string::npos ? text
                                               : (folder_ / text).lexically_normal().string();
  }

  std::int64_t whole_number(const YAML::Node& node) {
    if (config::kind_of(node) == NodeKind::kInteger) {
      return std::strtoll(node.Scalar().c_str(), nullptr, 10);
    }
    wrong(node, fmt::format("expected a whole number, not {}", config::describe(node)));
    return 0;
  }

  double number(const YAML::Node& node) {
    const NodeKind kind = config::kind_of(node);
    if (kind == NodeKind::kInteger || kind == NodeKind::kFloat) {
      return std::strtod(node.Scalar().c_str(), nullptr);
    }
    wrong(node, fmt::format("expected a number, not {}", config::describe(node)));
    return 0;
  }

  void wrong(const YAML::Node& node, std::string message) {
    problems_.add(node.Mark(), std::move(message));
  }

  Path folder_;
  config::Problems problems_;
};

}  // namespace

Result<Study> load_study(const FileSystem& fs, const Path& file) {
  TFAOT_ASSIGN(const std::string text, read_limited(fs, file, kConfigLimit));
  TFAOT_ASSIGN(const YAML::Node root, config::parse_yaml(text, file.string()));
  return StudyReader(file).read(root);
}

}  // namespace tfaot::toolkit
