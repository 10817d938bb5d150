// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/study.h"

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "problems.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "yaml_text.h"

namespace tfaot::toolkit {
namespace {

using config::YamlKind;

constexpr config::DocumentName kStudyDocument = {"the study", "it needs the key 'models'"};

// Reads one study; faults go to the problems.
class StudyReader {
 public:
  StudyReader(const FileSystem& files, const Path& file)
      : files_(files), file_(file), problems_(file.string()) {}

  Result<Study> read(const YAML::Node& root) {
    Study study;
    study.output = file_.parent_path() / "profile";
    const Keys keys = {
        {"output", [&](const YAML::Node& node) { study.output = path_of(node); }},
        {"models", [&](const YAML::Node& node) { read_models(node, study.models); }},
        {"libraries", [&](const YAML::Node& node) { read_libraries(node); }},
        {"batch_sizes",
         [&](const YAML::Node& node) {
           each(node, [&](const YAML::Node& item) {
             study.batch_sizes.push_back(whole_number(
                 item, std::numeric_limits<std::int64_t>::max(), "a batch has at least one row"));
           });
         }},
        {"cpu_levels", [&](const YAML::Node& node) { read_texts(node, study.cpu_levels); }},
        {"strategies",
         [&](const YAML::Node& node) {
           each(node,
                [&](const YAML::Node& item) { study.strategies.push_back(strategy_of(item)); });
         }},
        {"batch_rules", [&](const YAML::Node& node) { read_texts(node, study.batch_rules); }},
        {"inputs",
         [&](const YAML::Node& node) {
           study.inputs = inputs_of(node);
           study.inputs_where = where(node);
         }},
        {"rounds",
         [&](const YAML::Node& node) {
           study.rounds = whole_number(node, kMostRounds,
                                       fmt::format("there are 1 to {} rounds", kMostRounds));
         }},
        {"round_ms", [&](const YAML::Node& node) { study.round_ms = round_ms_of(node); }},
    };
    read_map(root, "the study", keys);
    std::size_t peer_count = 0;
    for (StudyModel& model : study.models) {
      for (StudyPeer& peer : model.peers) find_library(peer, peer_marks_.at(peer_count++));
    }
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
    const auto names = mapped(keys, [](const auto& key) { return key.first; });
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
      model.where = where(item);
      if (item.IsScalar()) {  // short for a map with only "package"
        model.package = path_of(item);
      } else {
        read_map(item, "a model",
                 {{"package", [&](const YAML::Node& path) { model.package = path_of(path); }},
                  {"peers", [&](const YAML::Node& peers) { read_peers(peers, model.peers); }}});
        if (model.package.empty()) wrong(item, "a model needs the key 'package'");
      }
      models.push_back(std::move(model));
    });
  }

  // Each engine and its file.
  void read_files(const YAML::Node& node,
                  const std::function<void(ProfiledEngine, const YAML::Node&)>& read) {
    if (!node.IsMap()) {
      return wrong(
          node, fmt::format("expected a map of engines and files, not {}", config::describe(node)));
    }
    for (const auto& entry : node) {
      const std::string word = text_of_node(entry.first);
      const auto engine = parse_word<ProfiledEngine>(word);
      if (engine && *engine != ProfiledEngine::kPackage) {
        read(*engine, entry.second);
      } else {
        problems_.add(entry.first.Mark(), fmt::format("unknown engine '{}'", word))
            .note("engines: onnxruntime, litert, tensorflow");
      }
    }
  }

  void read_peers(const YAML::Node& node, std::vector<StudyPeer>& peers) {
    read_files(node, [&](ProfiledEngine engine, const YAML::Node& file) {
      peers.push_back({engine, path_of(file), {}, where(file)});
      peer_marks_.push_back(file.Mark());
      if (!is_file(files_, peers.back().model) && !is_folder(files_, peers.back().model)) {
        wrong(file, fmt::format("there is no file '{}'", peers.back().model.string()));
      }
    });
  }

  void read_libraries(const YAML::Node& node) {
    read_files(node, [&](ProfiledEngine engine, const YAML::Node& file) {
      libraries_[engine] = path_of(file);
      if (!is_file(files_, libraries_[engine])) {
        wrong(file, fmt::format("there is no file '{}'", libraries_[engine].string()));
      }
    });
  }

  // The libraries may come after the models.
  void find_library(StudyPeer& peer, const YAML::Mark& mark) {
    if (peer.engine == ProfiledEngine::kTensorFlow) return;
    if (const auto library = libraries_.find(peer.engine); library != libraries_.end()) {
      peer.library = library->second;
      return;
    }
    problems_.add(mark,
                  fmt::format("the peer '{0}' needs its library: 'libraries: {{{0}: FILE.so}}'",
                              word_of(peer.engine)));
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

  Path path_of(const YAML::Node& node) {
    return (file_.parent_path() / text_of_node(node)).lexically_normal();
  }

  // A word has no ending.
  std::string inputs_of(const YAML::Node& node) {
    const std::string text = text_of_node(node);
    return text.find('.') == std::string::npos
               ? text
               : (file_.parent_path() / text).lexically_normal().string();
  }

  // From 1 to `most`; else `fault` is what is wrong.
  std::int64_t whole_number(const YAML::Node& node, std::int64_t most, const std::string& fault) {
    if (config::kind_of(node) != YamlKind::kInteger) {
      wrong(node, fmt::format("expected a whole number, not {}", config::describe(node)));
      return 0;
    }
    const std::int64_t number = std::strtoll(node.Scalar().c_str(), nullptr, 10);
    if (number < 1 || number > most) wrong(node, fault);
    return number;
  }

  double round_ms_of(const YAML::Node& node) {
    const double ms = number(node);
    if (is_number(node) && (!(ms > 0) || ms > kMostRoundMs)) {
      wrong(node, fmt::format("a round has more than 0 and at most {} ms", kMostRoundMs));
    }
    return ms;
  }

  ComposeStrategy strategy_of(const YAML::Node& node) {
    const std::string word = text_of_node(node);
    const auto strategy = parse_word<ComposeStrategy>(word);
    if (strategy && *strategy != ComposeStrategy::kRules) return *strategy;
    problems_.add(node.Mark(), fmt::format("unknown strategy '{}'", word))
        .note("strategies: normal, stitching, padding");
    return ComposeStrategy::kNormal;
  }

  static bool is_number(const YAML::Node& node) {
    const YamlKind kind = config::kind_of(node);
    return kind == YamlKind::kInteger || kind == YamlKind::kFloat;
  }

  double number(const YAML::Node& node) {
    if (is_number(node)) {
      return std::strtod(node.Scalar().c_str(), nullptr);
    }
    wrong(node, fmt::format("expected a number, not {}", config::describe(node)));
    return 0;
  }

  void wrong(const YAML::Node& node, std::string message) {
    problems_.add(node.Mark(), std::move(message));
  }

  Location where(const YAML::Node& node) const {
    return config::location_of(file_.string(), node.Mark());
  }

  const FileSystem& files_;
  Path file_;
  config::Problems problems_;
  std::map<ProfiledEngine, Path> libraries_;
  std::vector<YAML::Mark> peer_marks_;  // of all models
};

}  // namespace

Result<Study> load_study(const FileSystem& fs, const Path& file) {
  TFAOT_ASSIGN(const std::string text, read_limited(fs, file, kConfigLimit));
  TFAOT_ASSIGN(const YAML::Node root, config::parse_yaml(text, file.string(), kStudyDocument));
  return StudyReader(fs, file).read(root);
}

}  // namespace tfaot::toolkit
