// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/page_parts.h"
#include "text/describe.h"
#include "text/profile_report.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/result.h"
#include "tfaot/cli/run_program.h"
#include "tfaot/profile/csv.h"
#include "tfaot/records/profile.h"
#include "tfaot/records/profile_json.h"
#include "tfaot/report/page.h"
#include "tfaot/report/plot.h"
#include "tfaot/report/quantities.h"
#include "tfaot/workflow/draw_profile.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/profile_models.h"
#include "tfaot/workflow/profile_study.h"

namespace tfaot::toolkit {
namespace {

using report::ColumnKind;
using report::Verdict;

// The options of `tfaot profile`, and the request they make.

struct ProfileCommand {
  std::vector<std::string> packages;
  std::string study;
  std::vector<std::int64_t> rows;
  std::vector<std::string> cpu_levels;
  std::vector<std::string> strategies;
  std::vector<std::string> batch_rules;
  std::string inputs = "random";
  std::optional<std::uint64_t> seed;
  std::vector<std::string> peers;      // "ENGINE=MODEL"
  std::vector<std::string> libraries;  // "ENGINE=FILE"
  std::vector<std::string> dimensions;
  std::int64_t rounds = 31;
  double round_ms = 10;
  ProfileClock clock = ProfileClock::kWall;
  std::optional<std::int64_t> core;
  std::string machine;
  bool operations = false;
  std::optional<HeapTool> heap_tool;
  bool allow_large = false;
  EngineRun engine;
  bool json = false;
  std::string output;
  std::string csv;
  std::vector<std::string> plots;
  PlotRequest plot;  // of all of them, without the file
  HtmlOption html;
  VerbosityOption verbosity;
};

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

// Inputs by a word or a file, for `verb`'s --inputs.
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

// "onnxruntime=net.onnx" with "onnxruntime=libonnxruntime.so" among `libraries`.
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

// What a study does not say itself: machine, core, rounds, engine, cache, heap.
// Usage error if a value is wrong.
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

// Usage error if one is given that the study's file says.
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

// Usage error if options contradict each other, or a file that is named does not exist.
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

// The page of `tfaot profile`, and its plots.

constexpr double kNanoseconds = 1000;  // in a microsecond

report::Cell time_cell(double ns) {
  return {.text = short_number(ns / kNanoseconds), .number = ns};
}

report::Cell memory_cell(std::int64_t bytes) {
  return {.text = report::bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0))),
          .number = static_cast<double>(bytes)};
}

report::Section machine_section(const Profile& profile) {
  const ProfiledMachine& machine = profile.machine;
  report::Section section{"Machine", {}, {}};
  if (!machine.warnings.empty()) {
    section.badge = {Verdict::kWarning, "doubtful times"};
    section.blocks.emplace_back(
        report::Callout{Verdict::kWarning, "What makes these times doubtful", machine.warnings});
  }
  section.blocks.emplace_back(report::Facts{
      {{"name", machine.name},
       {"CPU", machine.cpu},
       {"cores", std::to_string(machine.cores)},
       {"measured on", fmt::format("core {}, one thread", machine.core)},
       {"governor", machine.governor},
       {"clock", machine.mhz > 0 ? fmt::format("{:.0f} MHz", machine.mhz) : ""},
       {"load before", fmt::format("{:.2f}", machine.load)},
       {"noise", fmt::format("{:.1f} % (16 % to 84 % of the same work)", 100 * machine.noise)},
       {"rounds", fmt::format("{} of {:.3g} ms{}", profile.round_count, profile.round_ms,
                              clock_text(profile.clock))},
       {"inputs", profile.inputs}}});
  return section;
}

// Microseconds over rows, a curve for each of the model's.
report::Plot time_plot(const ModelCurves& model, PlotTime time,
                       PlotErrors errors = PlotErrors::kBand) {
  report::Plot plot;
  plot.x.title = "rows of a call";
  plot.y.title = time == PlotTime::kRow ? "µs a row" : "µs a call";
  plot.uncertainty =
      errors == PlotErrors::kBars ? report::Uncertainty::kBars : report::Uncertainty::kBand;
  for (std::size_t j = 0; j < model.curves.size(); ++j) {
    report::PlotCurve& curve = plot.curves.emplace_back();
    curve.name = model.labels[j];
    for (const ProfiledSize& size : model.curves[j].sizes) {
      const auto rows = static_cast<double>(size.rows);
      const double unit = kNanoseconds * (time == PlotTime::kRow ? rows : 1);
      curve.points.push_back(
          {rows, size.call.median / unit, size.call.low / unit, size.call.high / unit});
    }
  }
  return plot;
}

report::Figure figure_of(const ModelCurves& model, PlotTime time) {
  const bool of_row = time == PlotTime::kRow;
  const std::string what = of_row ? "Microseconds a row" : "Microseconds a call";
  return {.title = what + " of " + model.title,
          .caption = what +
                     ": medians, with 16 % to 84 % of the rounds as bands. Point at a dot "
                     "for its numbers.",
          .svg = report::svg_of(time_plot(model, time))};
}

report::Table times_table(const ModelCurves& model) {
  report::Table table{.caption = "Times of " + model.title,
                      .columns = {{"rows", ColumnKind::kNumber},
                                  {"engine"},
                                  {"µs a call", ColumnKind::kNumber},
                                  {"16 %", ColumnKind::kNumber},
                                  {"84 %", ColumnKind::kNumber},
                                  {"µs a row", ColumnKind::kNumber},
                                  {"over the first", ColumnKind::kNumber},
                                  {"had the core", ColumnKind::kNumber},
                                  {"allocations", ColumnKind::kNumber},
                                  {"run as"}}};
  for (const auto& [curve, size, times] : sizes_by_rows(model)) {
    report::Cell allocations;
    if (size->allocations >= 0) {
      allocations = {.text = short_number(size->allocations), .number = size->allocations};
    }
    table.rows.push_back({number_cell(size->rows),
                          {model.labels[curve]},
                          time_cell(size->call.median),
                          time_cell(size->call.low),
                          time_cell(size->call.high),
                          time_cell(size->call.median / static_cast<double>(size->rows)),
                          {.text = fmt::format("{:.2f}", times), .number = times},
                          {.text = fmt::format("{:.0f} %", 100 * size->busy), .number = size->busy},
                          std::move(allocations),
                          {size->run_as}});
  }
  return table;
}

// Of a run at another level than the curve's it says so.
report::Cell heap_cell_of(const ProfiledCurve& curve) {
  if (curve.heap.peak < 0) return {};
  report::Cell cell = memory_cell(curve.heap.peak);
  if (curve.heap.cpu_level != curve.cpu_level) cell.text += " (" + curve.heap.cpu_level + ")";
  return cell;
}

report::Table memory_table_of(const ModelCurves& model, const Profile& profile) {
  report::Table table{.caption = "Memory of a process, and the time to load",
                      .columns = {{"engine"},
                                  {"load ms", ColumnKind::kNumber},
                                  {"resident", ColumnKind::kNumber},
                                  {"proportional", ColumnKind::kNumber},
                                  {"temporaries", ColumnKind::kNumber}}};
  table.rows.push_back({{"empty process"},
                        {},
                        memory_cell(profile.empty_resident),
                        memory_cell(profile.empty_proportional),
                        {}});
  if (profile.heap_tool) {
    table.columns.push_back({heap_title(profile), ColumnKind::kNumber});
    table.rows.back().push_back(memory_cell(profile.empty_heap.peak));
  }
  for (std::size_t j = 0; j < model.curves.size(); ++j) {
    const ProfiledCurve& curve = model.curves[j];
    report::Cell temporaries;
    if (curve.engine == ProfiledEngine::kPackage) temporaries = memory_cell(curve.temporaries);
    const ProfiledSize& last = curve.sizes.back();
    table.rows.push_back(
        {{model.labels[j]},
         {.text = short_number(curve.load.median / 1e6), .number = curve.load.median},
         memory_cell(last.resident),
         memory_cell(last.proportional),
         std::move(temporaries)});
    if (profile.heap_tool) table.rows.back().push_back(heap_cell_of(curve));
  }
  return table;
}

// The process's memory as it ran more and more rows.
report::Plot memory_plot(const ModelCurves& model) {
  report::Plot plot;
  plot.x.title = "rows";
  plot.y.title = "proportional MB";
  for (std::size_t j = 0; j < model.curves.size(); ++j) {
    report::PlotCurve& curve = plot.curves.emplace_back();
    curve.name = model.labels[j];
    for (const ProfiledSize& size : model.curves[j].sizes) {
      const double megabytes = static_cast<double>(size.proportional) / 1e6;
      curve.points.push_back({static_cast<double>(size.rows), megabytes, megabytes, megabytes});
    }
  }
  return plot;
}

report::Plot heap_plot(const ModelCurves& model) {
  report::Plot plot;
  plot.x = {"ms", report::Scale::kLinear};
  plot.y.title = "heap kB";
  for (std::size_t j = 0; j < model.curves.size(); ++j) {
    report::PlotCurve& curve = plot.curves.emplace_back();
    curve.name = model.labels[j];
    for (const HeapMoment& moment : model.curves[j].heap.over_time) {
      const double kilobytes = static_cast<double>(moment.bytes) / 1000;
      curve.points.push_back({moment.ms, kilobytes, kilobytes, kilobytes});
    }
  }
  return plot;
}

report::Table operations_table(const ProfiledOperations& operations) {
  report::Table table{.caption = operations_title(operations),
                      .columns = {{"share", ColumnKind::kNumber},
                                  {"µs", ColumnKind::kNumber},
                                  {"kind", ColumnKind::kCode},
                                  {"operation", ColumnKind::kCode},
                                  {"inside", ColumnKind::kCode},
                                  {"of the model", ColumnKind::kCode}}};
  for (const ProfiledOperation& operation : operations.operations) {
    report::Cell time;
    if (operations.call > 0) time = time_cell(operation.share * operations.call);
    table.rows.push_back({{.text = fmt::format("{:.1f} %", 100 * operation.share),
                           .number = operation.share,
                           .share = operation.share},
                          std::move(time),
                          {operation.category},
                          {operation.name},
                          {operation.inside},
                          {operation.origin}});
  }
  return table;
}

report::Section model_section(const ModelCurves& model, const Profile& profile) {
  report::Section section{model.title, {}, {}};
  section.blocks.emplace_back(figure_of(model, PlotTime::kCall));
  section.blocks.emplace_back(figure_of(model, PlotTime::kRow));
  section.blocks.emplace_back(times_table(model));
  if (std::vector<std::string> advice = tuning_advice(model); !advice.empty()) {
    section.blocks.emplace_back(report::Callout{
        Verdict::kNote, "The package runs some batches slower than it could", std::move(advice)});
  }
  section.blocks.emplace_back(memory_table_of(model, profile));
  section.blocks.emplace_back(report::Figure{
      .title = "Memory of " + model.title,
      .caption = "Memory of the process after predictions of so many rows, in this order; pages "
                 "that processes share are divided by their number.",
      .svg = report::svg_of(memory_plot(model))});
  if (profile.heap_tool) {
    section.blocks.emplace_back(report::Figure{
        .title = "Heap of " + model.title + " over time",
        .caption = fmt::format("What the process had asked the allocator for and not given back, "
                               "by {}: it loads, and then predicts these numbers of rows one after "
                               "the other. Below that tool it is slower.",
                               word_of(*profile.heap_tool)),
        .svg = report::svg_of(heap_plot(model))});
  }
  for (const ProfiledOperations& one : profile.operations) {
    if (one.model + " " + one.version == model.title) {
      section.blocks.emplace_back(operations_table(one));
    }
  }
  return section;
}

// The number of rows with the fastest row.
report::Highlight highlight_of(const ModelCurves& model, const std::string& where) {
  const auto row_time = [](const ProfiledSize& size) {
    return size.call.median / static_cast<double>(size.rows);
  };
  const ProfiledSize& fastest = *std::ranges::min_element(model.curves.front().sizes, {}, row_time);
  return {model.title + where, short_number(row_time(fastest) / kNanoseconds) + " µs a row",
          fmt::format("{}, {}", model.labels.front(),
                      counted(static_cast<std::size_t>(fastest.rows), "row"))};
}

// "181 times as fast as TensorFlow for 1 row": the first curve beside those of other engines, at
// the smallest number of rows that both have.
std::vector<std::string> comparisons_of(const ModelCurves& model) {
  std::vector<std::string> lines;
  const ProfiledCurve& first = model.curves.front();
  for (std::size_t j = 1; j < model.curves.size(); ++j) {
    const ProfiledCurve& other = model.curves[j];
    if (other.engine == first.engine) continue;
    for (const ProfiledSize& size : other.sizes) {
      const auto same = std::ranges::find(first.sizes, size.rows, &ProfiledSize::rows);
      if (same == first.sizes.end()) continue;
      lines.push_back(fmt::format(
          "{} times as fast as {} for {}", short_number(size.call.median / same->call.median),
          model.labels[j], counted(static_cast<std::size_t>(size.rows), "row")));
      break;
    }
  }
  return lines;
}

// Of one machine, or of several that measured the same.
report::Page profile_page(const std::vector<Profile>& profiles) {
  report::Page page;
  page.kind = "profile";
  bool doubtful = false;
  std::vector<report::Section> machines;
  for (const Profile& profile : profiles) {
    const std::string where = profiles.size() < 2 ? "" : " on " + profile.machine.name;
    const std::vector<ModelCurves> models = curves_by_model(profile);
    if (page.title.empty()) {
      page.title = models.size() == 1 ? models.front().title : counted(models.size(), "model");
      page.summary = machine_text(profile.machine);
    }
    doubtful = doubtful || !profile.machine.warnings.empty();
    for (const ModelCurves& model : models) {
      page.highlights.push_back(highlight_of(model, where));
      for (const std::string& line : comparisons_of(model)) {
        page.highlights.push_back({model.labels.front() + where, line, model.title});
      }
      page.sections.push_back(model_section(model, profile));
      page.sections.back().title += where;
    }
    machines.push_back(machine_section(profile));
    machines.back().title += where.empty() ? "" : " " + profile.machine.name;
  }
  if (profiles.size() > 1) page.summary = counted(profiles.size(), "machine");
  page.badge = {doubtful ? Verdict::kWarning : Verdict::kNone, "doubtful times"};
  page.sections.insert(page.sections.end(), machines.begin(), machines.end());
  return page;
}

// A plain SVG, which so needs nothing else.
bool is_drawn_by_us(const Path& output, PlotStyle style) {
  return output.extension() == ".svg" && style == PlotStyle::kPlain;
}

Status check_outputs(const ProfileCommand& command, Program& program) {
  if (!command.output.empty()) {
    TFAOT_TRY(check_output_file(program.files, "--output", program.absolute(command.output)));
  }
  if (!command.csv.empty()) {
    TFAOT_TRY(check_output_folder(program.files, "--csv", program.absolute(command.csv)));
    TFAOT_TRY(check_outside_packages(program.files, "--csv", program.absolute(command.csv)));
  }
  for (const std::string& plot : command.plots) {
    const std::string extension = Path(plot).extension().string();
    if (extension != ".svg" && extension != ".png" && extension != ".pdf") {
      return fail(Error::usage(fmt::format("profile: --plot '{}' is no .svg, .png or .pdf", plot)));
    }
    const Path output = program.absolute(plot);
    TFAOT_TRY(check_output_file(program.files, "--plot", output));
    if (!is_drawn_by_us(output, command.plot.style)) TFAOT_TRY(check_drawing(program, output));
  }
  return command.html.check(program);
}

Status write_plot(const PlotRequest& request, const Profile& profile, Program& program) {
  if (!is_drawn_by_us(request.output, request.style)) {
    return draw_profile(program, profile, request);
  }
  const report::Plot plot = time_plot(all_curves(profile), request.time, request.errors);
  TFAOT_ASSIGN(const Path place, place_for_named_file(program.files, request.output));
  return program.files.replace_atomically(place, report::svg_of(plot));
}

// Of a study: a list, with one for each machine.
nlohmann::ordered_json profiles_to_json(const ProfileCommand& command,
                                        const std::vector<Profile>& profiles) {
  if (command.study.empty()) return profile_to_json(profiles.front());
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Profile& profile : profiles) json.push_back(profile_to_json(profile));
  return json;
}

Status write_outputs(const ProfileCommand& command, const std::vector<Profile>& profiles,
                     Program& program) {
  const InterruptWatch watch;
  const nlohmann::ordered_json json = profiles_to_json(command, profiles);
  if (!command.output.empty()) {
    TFAOT_ASSIGN(const Path place,
                 place_for_named_file(program.files, program.absolute(command.output)));
    TFAOT_TRY(program.files.replace_atomically(place, json_text(json)));
  }
  for (const Profile& profile : profiles) {
    if (command.csv.empty()) break;
    Path folder = program.absolute(command.csv);
    if (!command.study.empty()) folder /= profile.machine.name;
    std::set<std::string> names;
    for (const ProfiledCurve& curve : profile.curves) {
      std::string name = csv_file_name(curve);
      for (int number = 2; !names.insert(name).second; ++number) {  // two packages of one model
        name = Path(csv_file_name(curve)).stem().string() + fmt::format("_{}.csv", number);
      }
      TFAOT_ASSIGN(const Path place, place_for_named_file(program.files, folder / name));
      TFAOT_TRY(program.files.replace_atomically(place, curve_to_csv(curve)));
    }
  }
  for (const std::string& plot : command.plots) {
    PlotRequest request = command.plot;
    request.output = program.absolute(plot);
    TFAOT_TRY(write_plot(request, profiles.front(), program));
  }
  if (!command.html.given()) return {};
  return command.html.write(program, profile_page(profiles), json);
}

Result<std::vector<Profile>> measured_study(const ProfileCommand& command, Program& program) {
  TFAOT_TRY(check_outputs(command, program));
  TFAOT_ASSIGN(ProfileRequest common, common_request(command, program));
  StudyRequest request{program.absolute(command.study), std::move(common)};
  TFAOT_ASSIGN(StudyResult result, profile_study(program, request));
  program.console.verbose(fmt::format("{}: {} models measured, {} measured before",
                                      result.output.string(), result.measured, result.kept));
  return std::move(result.machines);
}

Result<std::vector<Profile>> measured_packages(const ProfileCommand& command, Program& program) {
  TFAOT_ASSIGN(const ProfileRequest request, profile_request(command, program));
  TFAOT_TRY(check_outputs(command, program));
  TFAOT_ASSIGN(Profile measured, profile_models(program, request));
  return std::vector<Profile>{std::move(measured)};
}

Status profile(const ProfileCommand& command, const CLI::App& app, Program& program) {
  command.verbosity.apply(program.console);
  if (!command.study.empty()) TFAOT_TRY(check_study_options(app));
  TFAOT_ASSIGN(const std::vector<Profile> profiles, command.study.empty()
                                                        ? measured_packages(command, program)
                                                        : measured_study(command, program));
  TFAOT_TRY(write_outputs(command, profiles, program));
  if (command.json) {
    program.console.print(json_text(profiles_to_json(command, profiles)));
    return {};
  }
  for (const Profile& profile : profiles) program.console.print(profile_text(profile));
  return {};
}

}  // namespace

Action add_profile(CLI::App& app) {
  auto command = std::make_shared<ProfileCommand>();
  add_profile_options(app, *command);
  app.footer(
      "Each engine runs in a process of its own, with one thread; all of one model take turns on "
      "one\n"
      "core. Predictions are compared with the package's before anything is timed.\n"
      "Examples:\n"
      "  tfaot profile area/tagger --batch-sizes 1,3,16,100 --strategies normal,padding\n"
      "  tfaot profile out --peer tensorflow=saved_model --html profile.html\n"
      "  tfaot profile --study profile.yaml --html study.html");
  return [command, &app](Program& program) { return profile(*command, app, program); };
}

}  // namespace tfaot::toolkit
