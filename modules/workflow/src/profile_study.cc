// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/profile_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "tfaot/base/hash.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config.h"
#include "tfaot/config/study.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/profile_json.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kUnnamedMachine = "machine";
constexpr std::size_t kHashLetters = 12;

// The step of a study is a model.
class StudyDiagnostics final : public Diagnostics {
 public:
  explicit StudyDiagnostics(Diagnostics& other) : other_(other) {}
  void warning(const std::string& text) override { other_.warning(text); }
  void verbose(const std::string& text) override { other_.verbose(text); }
  void progress(std::size_t, std::size_t, const std::string& step) override {
    other_.verbose(step);
  }

 private:
  Diagnostics& other_;
};

// A file, or all files of a folder.
Result<std::string> hash_of_path(const FileSystem& files, const Path& path) {
  if (is_folder(files, path)) return sha256_of_tree(files, path);
  return sha256_of_file(files, path);
}

// A fault in what the study's file names there.
template <class T>
Result<T> named_at(const Location& where, Result<T> result) {
  if (result) return result;
  return fail(std::move(result).error().note(
      fmt::format("named in {}:{}:{}", where.file, where.line, where.column)));
}

class StudyRun {
 public:
  StudyRun(Context& context, const StudyRequest& request) : context_(context), request_(request) {}

  Result<StudyResult> run() {
    TFAOT_ASSIGN(study_, load_study(context_.files, request_.file));
    TFAOT_TRY(take_options());
    result_.output = study_.output;
    // What is wrong with one of them is said before anything is measured.
    std::vector<ProfiledModel> models;
    std::vector<std::string> names;
    for (const StudyModel& model : study_.models) {
      ProfiledModel made = model_of(model);
      for (const StudyPeer& peer : model.peers) {
        TFAOT_TRY(named_at(peer.where, check_peer_model(context_.files, peer.engine, peer.model,
                                                        shown(peer.model))));
      }
      TFAOT_ASSIGN(std::string name, named_at(model.where, file_name(made)));
      models.push_back(std::move(made));
      names.push_back(std::move(name));
    }
    for (std::size_t i = 0; i < models.size(); ++i) {
      const Path file = study_.output / options_.machine / names[i];
      const bool kept = is_file(context_.files, file);
      if (!kept) TFAOT_TRY(measure(models[i], file));
      ++(kept ? result_.kept : result_.measured);
      context_.diagnostics.progress(i + 1, models.size(),
                                    models[i].name + (kept ? " (measured before)" : ""));
    }
    TFAOT_TRY(collect(names));
    return std::move(result_);
  }

 private:
  // As in the study's file, which is beside it in most cases.
  std::string shown(const Path& path) const {
    const std::string relative = path.lexically_relative(request_.file.parent_path()).string();
    return relative.empty() || relative.starts_with("..") ? path.string() : relative;
  }

  Status take_options() {
    options_ = request_.common;
    if (options_.machine.empty()) options_.machine = kUnnamedMachine;
    options_.rows = study_.batch_sizes;
    std::ranges::sort(options_.rows);
    options_.cpu_levels = study_.cpu_levels;
    options_.strategies = study_.strategies;
    if (options_.strategies.empty()) options_.strategies = {ComposeStrategy::kNormal};
    options_.batch_rules = study_.batch_rules;
    if (!options_.batch_rules.empty()) options_.strategies.push_back(ComposeStrategy::kRules);
    if (!study_.inputs.empty()) {
      options_.inputs_name = shown(study_.inputs);
      const auto filling = parse_word<Filling>(study_.inputs);
      if (filling) {
        options_.inputs.filling = *filling;
        options_.inputs_name = study_.inputs;
      } else {
        options_.inputs.file = study_.inputs;
        TFAOT_TRY(named_at(study_.inputs_where, array_format(options_.inputs.file)));
        if (!is_file(context_.files, options_.inputs.file)) {
          return fail(
              Error::at(study_.inputs_where, fmt::format("there is no file '{}'", study_.inputs)));
        }
      }
    }
    options_.measure.rounds = study_.rounds.value_or(options_.measure.rounds);
    if (study_.round_ms) {
      options_.measure.round = std::chrono::microseconds(static_cast<int>(*study_.round_ms * 1000));
    }
    return {};
  }

  ProfiledModel model_of(const StudyModel& model) const {
    ProfiledModel made;
    made.package = {model.package, false, "tfaot profile"};
    made.name = shown(model.package);
    for (const StudyPeer& peer : model.peers) {
      made.peers.push_back({peer.engine, peer.model, shown(peer.model), peer.library});
    }
    return made;
  }

  // Its hash is of all that decides about the results, apart from the machine.
  Result<std::string> file_name(const ProfiledModel& model) const {
    const FileSystem& files = context_.files;
    const Path& path = model.package.package;
    std::string text = "profile 2\n";
    std::string name;
    if (named_path(files, path).kind == PathKind::kConfig) {
      TFAOT_ASSIGN(const ModelSpec spec, load_model_spec(files, path));
      TFAOT_ASSIGN(const std::string source, hash_of_path(files, spec.model.source));
      TFAOT_ASSIGN(const std::string config, sha256_of_file(files, path));
      text += source + config;
      name = spec.model.name + "_" + spec.model.version;
    } else {
      TFAOT_ASSIGN(const FoundPackage found, find_package(context_, model.package));
      const Path described = found.is_archive ? found.path : found.path / kManifestName;
      TFAOT_ASSIGN(const std::string hash, sha256_of_file(files, described));
      text += hash;
      name = found.manifest.name + "_" + found.manifest.version;
    }
    for (const PeerModel& peer : model.peers) {
      TFAOT_ASSIGN(const std::string hash, hash_of_path(files, peer.model));
      text += fmt::format("\n{} {} {}", word_of(peer.engine), hash, peer.library.string());
    }
    text += fmt::format("\n{} {} {} {}", options_.toolkit_version, options_.inputs_name,
                        options_.measure.rounds, options_.measure.round.count());
    for (const std::int64_t rows : options_.rows) text += fmt::format(" {}", rows);
    for (const std::string& level : options_.cpu_levels) text += " " + level;
    for (const ComposeStrategy strategy : options_.strategies) {
      text += fmt::format(" {}", word_of(strategy));
    }
    for (const std::string& rule : options_.batch_rules) text += " " + rule;
    if (options_.operations) text += " operations";
    if (options_.heap_tool) text += fmt::format(" {}", word_of(*options_.heap_tool));
    text += fmt::format(" {}", word_of(options_.measure.clock));
    return fmt::format("{}-{}.json", name, sha256_of(text).substr(0, kHashLetters));
  }

  Status measure(const ProfiledModel& model, const Path& file) {
    StudyDiagnostics diagnostics(context_.diagnostics);
    Context inner = context_.telling(diagnostics);
    ProfileRequest request = options_;
    request.models = {model};
    TFAOT_ASSIGN(const Profile profile, profile_models(inner, request));
    const InterruptWatch watch;
    return write_named_file(context_.files, file, profile_to_text(profile, 1) + "\n");
  }

  // The results of all machines, each as one profile.
  Status collect(const std::vector<std::string>& names) {
    TFAOT_ASSIGN(const std::vector<std::string> machines, context_.files.list(study_.output));
    for (const std::string& machine : machines) {
      std::optional<Profile> all;
      for (const std::string& name : names) {
        const Path file = study_.output / machine / name;
        if (!is_file(context_.files, file)) continue;
        TFAOT_ASSIGN(const std::string text, context_.files.read(file));
        TFAOT_ASSIGN(Profile one, profile_from_json(text, file.string()));
        if (!all) {
          all = std::move(one);
          continue;
        }
        std::ranges::move(one.curves, std::back_inserter(all->curves));
        std::ranges::move(one.operations, std::back_inserter(all->operations));
        for (const std::string& warning : one.machine.warnings) {
          add_new(all->machine.warnings, warning);
        }
        all->machine.noise = std::max(all->machine.noise, one.machine.noise);
        all->machine.load = std::max(all->machine.load, one.machine.load);
      }
      if (all) result_.machines.push_back(*std::move(all));
    }
    return {};
  }

  Context& context_;
  const StudyRequest& request_;
  Study study_;
  ProfileRequest options_;
  StudyResult result_;
};

}  // namespace

Result<StudyResult> profile_study(Context& context, const StudyRequest& request) {
  return StudyRun(context, request).run();
}

}  // namespace tfaot::toolkit
