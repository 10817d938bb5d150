// SPDX-License-Identifier: Apache-2.0
#include "options/profile_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tfaot::toolkit {
namespace {

using EngineAndFile = std::pair<ProfiledEngine, std::string>;

Result<EngineAndFile> engine_and_file(const std::string& option, const std::string& text) {
  const std::size_t mark = text.find('=');
  const auto engine = parse_word<ProfiledEngine>(text.substr(0, mark));
  if (mark != std::string::npos && mark + 1 < text.size() && engine &&
      *engine != ProfiledEngine::kPackage) {
    return EngineAndFile(*engine, text.substr(mark + 1));
  }
  return fail(Error::usage(fmt::format("profile: {} '{}' is not ENGINE=FILE", option, text))
                  .note("engines: onnxruntime, litert, tensorflow"));
}

Result<std::vector<ComposeStrategy>> strategies_of(const ProfileCommand& command) {
  std::vector<ComposeStrategy> strategies;
  for (const std::string& word : command.strategies) {
    const auto strategy = parse_word<ComposeStrategy>(word);
    if (!strategy || *strategy == ComposeStrategy::kRules) {
      return fail(Error::usage(fmt::format("profile: --strategies: '{}' is no strategy", word))
                      .note("strategies: normal, stitching, padding; --batch-rule adds 'rules'"));
    }
    strategies.push_back(*strategy);
  }
  if (strategies.empty()) strategies.push_back(ComposeStrategy::kNormal);
  if (!command.batch_rules.empty()) strategies.push_back(ComposeStrategy::kRules);
  return strategies;
}

Status check_numbers(const ProfileCommand& command) {
  if (std::ranges::any_of(command.rows, [](std::int64_t rows) { return rows < 1; })) {
    return fail(Error::usage("profile: --batch-sizes: a batch has at least one row"));
  }
  if (command.rounds < 1 || command.rounds > kMostRounds) {
    return fail(Error::usage(fmt::format("profile: --rounds: from 1 to {}", kMostRounds)));
  }
  if (!std::ranges::all_of(command.machine, is_name_character) ||
      command.machine.starts_with('.')) {
    return fail(
        Error::usage("profile: --machine: a name of letters, digits and '.', '_', '+', '-'"));
  }
  if (!(command.round_ms > 0) || command.round_ms > kMostRoundMs) {
    return fail(Error::usage("profile: --round-ms: a positive number, at most 60000"));
  }
  return {};
}

// A library without a model that it could run is a mistake.
Status check_libraries(const ProfileCommand& command) {
  for (const std::string& library : command.libraries) {
    TFAOT_ASSIGN(const EngineAndFile named, engine_and_file("--library", library));
    bool has_peer = false;
    for (const std::string& peer : command.peers) {
      TFAOT_ASSIGN(const EngineAndFile model, engine_and_file("--peer", peer));
      has_peer = has_peer || model.first == named.first;
    }
    if (!has_peer) {
      return fail(Error::usage(
          fmt::format("profile: --library {0}=... needs a model for it: --peer {0}=MODEL",
                      word_of(named.first))));
    }
  }
  return {};
}

}  // namespace

Result<InputSource> named_inputs(const std::string& verb, const std::string& inputs,
                                 const Program& program) {
  InputSource source;
  if (const auto filling = parse_word<Filling>(inputs)) {
    source.filling = *filling;
    return source;
  }
  source.file = program.absolute(inputs);
  if (parse_word<ArrayFormat>(source.file.extension().string())) return source;
  return fail(Error::usage(fmt::format("{}: --inputs '{}' is neither a file of {} nor a word", verb,
                                       inputs, join(words_of<ArrayFormat>(), ", ")))
                  .note("words: " + join(words_of<Filling>(), ", ")));
}

Result<PeerModel> named_peer(const std::string& peer_text,
                             const std::vector<std::string>& libraries, const Program& program) {
  TFAOT_ASSIGN(const EngineAndFile named, engine_and_file("--peer", peer_text));
  PeerModel peer;
  peer.engine = named.first;
  peer.name = named.second;
  peer.model = program.absolute(named.second);
  if (!is_file(program.files, peer.model) && !is_folder(program.files, peer.model)) {
    return fail(Error::at({peer.name}, "no such file").note("named by --peer"));
  }
  TFAOT_TRY(check_peer_model(program.files, peer.engine, peer.model, peer.name));
  for (const std::string& library : libraries) {
    TFAOT_ASSIGN(const EngineAndFile file, engine_and_file("--library", library));
    if (file.first == peer.engine) peer.library = program.absolute(file.second);
  }
  if (peer.engine == ProfiledEngine::kTensorFlow) return peer;
  const char* const word = word_of(peer.engine);
  if (peer.library.empty()) {
    return fail(Error::usage(fmt::format("profile: --peer {0} needs its library: --library "
                                         "{0}=FILE.so",
                                         word))
                    .note("it is in the engine's Python wheel (see docs/profile.md)"));
  }
  if (is_file(program.files, peer.library)) return peer;
  return fail(Error::at({peer.library.string()}, "no such file").note("named by --library"));
}

Result<ProfileRequest> common_request(const ProfileCommand& command, const Program& program) {
  TFAOT_TRY(check_numbers(command));
  ProfileRequest request;
  request.measure.rounds = command.rounds;
  request.measure.round = std::chrono::microseconds(static_cast<int>(command.round_ms * 1000));
  request.measure.clock = command.clock;
  request.core = command.core;
  request.machine = command.machine;
  request.toolkit_version = TFAOT_VERSION;
  request.engine = command.engine;
  request.operations = command.operations;
  request.heap_tool = command.heap_tool;
  TFAOT_ASSIGN(request.cache, code_cache(program));
  return request;
}

Status check_study_options(const CLI::App& app) {
  for (const char* const option :
       {"PACKAGE", "--plot", "--batch-sizes", "--cpu-levels", "--strategies", "--batch-rule",
        "--inputs", "--seed", "--peer", "--library"}) {
    if (app.count(option) == 0) continue;
    const bool is_plot = std::string(option) == "--plot";
    return fail(Error::usage(fmt::format("profile: --study excludes {}", option))
                    .note(is_plot ? "its page has the plots of each model: --html FILE"
                                  : "the study's file says that"));
  }
  return {};
}

Result<ProfileRequest> profile_request(const ProfileCommand& command, const Program& program) {
  if (command.packages.empty()) {
    return fail(Error::usage("profile: PACKAGE is missing")
                    .note("name a package tree, an archive, an installed model or a config"));
  }
  if (!command.peers.empty() && command.packages.size() > 1) {
    return fail(Error::usage("profile: --peer is for one PACKAGE: it is the same model"));
  }
  TFAOT_TRY(check_libraries(command));
  TFAOT_ASSIGN(ProfileRequest request, common_request(command, program));
  for (const std::string& package : command.packages) {
    ProfiledModel model;
    model.name = package;
    model.package = {program.absolute(package), command.allow_large, "tfaot profile"};
    for (const std::string& peer : command.peers) {
      TFAOT_ASSIGN(PeerModel named, named_peer(peer, command.libraries, program));
      model.peers.push_back(std::move(named));
    }
    request.models.push_back(std::move(model));
  }
  const std::set<std::int64_t> rows(command.rows.begin(), command.rows.end());
  request.rows.assign(rows.begin(), rows.end());
  request.cpu_levels = command.cpu_levels;
  request.dimensions = command.dimensions;
  TFAOT_ASSIGN(request.strategies, strategies_of(command));
  request.batch_rules = command.batch_rules;
  TFAOT_ASSIGN(request.inputs, named_inputs("profile", command.inputs, program));
  request.inputs.seed = command.seed.value_or(request.inputs.seed);
  request.inputs_name = command.inputs;
  return request;
}

void add_profile_options(CLI::App& app, ProfileCommand& command) {
  app.add_option(
         "PACKAGE", command.packages,
         "package trees, archives, AREA/NAME[/VERSION] of installed\nmodels, configs or models")
      ->option_text(" ");
  app.add_option(
         "--study", command.study,
         "instead of PACKAGE: measure what a profile.yaml says, as\nfar as it is not measured "
         "yet")
      ->option_text("FILE");
  app.add_option("--batch-sizes", command.rows, "numbers of rows [the compiled batch sizes]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("N,...");
  app.add_option("--cpu-levels", command.cpu_levels,
                 "levels of the packages' code, or 'all' that this\nCPU can run [the best one]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B");
  app.add_option("--strategies", command.strategies,
                 "how other numbers of rows run: normal, stitching,\npadding [normal]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B");
  app.add_option("--batch-rule", command.batch_rules,
                 "also measure with this rule: 5:2,4 runs 5 rows as\n2 and 4; may be repeated")
      ->option_text("ROWS:SIZES")
      ->expected(1)
      ->take_all();
  app.add_option("-i,--inputs", command.inputs,
                 "a .npz, .npy or .csv file; or " + join(words_of<Filling>(), ", ") + "\n[random]")
      ->option_text("FILE|WORD");
  app.add_option("--seed", command.seed, "of random inputs [1]")->option_text("N");
  app.add_option("--peer", command.peers,
                 "the same model in another engine: onnxruntime,\nlitert or tensorflow; may be "
                 "repeated")
      ->option_text("ENGINE=MODEL")
      ->expected(1)
      ->take_all();
  app.add_option("--library", command.libraries, "an engine's shared library; not of tensorflow")
      ->option_text("ENGINE=FILE")
      ->expected(1)
      ->take_all();
  add_dimensions(app, command.dimensions);
  app.add_flag("--per-op", command.operations,
               "also the share of each operation; of configs, models")
      ->option_text(" ");
  add_word_option<HeapTool>(app, "--heap", command.heap_tool,
                            "also the heap over time, by valgrind's massif or by\nheaptrack, "
                            "which must be installed");
  app.add_option("--rounds", command.rounds, "timings of each engine and number of rows [31]")
      ->option_text("N");
  app.add_option("--round-ms", command.round_ms, "milliseconds of a timing, about [10]")
      ->option_text("T");
  add_word_option<ProfileClock>(app, "--clock", command.clock,
                                "processor: for a machine that is busy [wall]");
  app.add_option("--core", command.core, "the core that runs everything [the last one]")
      ->option_text("N");
  app.add_option("--machine", command.machine, "a name of this machine, for the report")
      ->option_text("NAME");
  app.add_flag("--json", command.json, "print JSON instead of text");
  app.add_option("-o,--output", command.output, "also write the JSON to a file")
      ->option_text("FILE");
  app.add_option("--csv", command.csv, "also write each curve as MLProf does")
      ->option_text("FOLDER");
  app.add_option("--plot", command.plots,
                 "also draw the curves: .svg; or .png and .pdf by\nmatplotlib; may be repeated")
      ->option_text("FILE")
      ->expected(1)
      ->take_all();
  add_word_option<PlotStyle>(app, "--plot-style", command.plot.style,
                             "of a plot; cms needs matplotlib [plain]");
  add_word_option<PlotTime>(app, "--plot-time", command.plot.time,
                            "the time of a row or of a call [row]");
  add_word_option<PlotErrors>(app, "--plot-errors", command.plot.errors,
                              "how 16 % to 84 % are drawn [band]");
  command.html.add_to(app);
  add_allow_large(app, command.allow_large);
  command.verbosity.add_to(app);
  add_engine_program(app, command.engine, "");
}

}  // namespace tfaot::toolkit
