// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/cli/run_program.h"
#include "tfaot/profile/csv.h"
#include "tfaot/records/profile.h"
#include "tfaot/records/profile_json.h"
#include "tfaot/report/page.h"
#include "tfaot/report/plot.h"
#include "tfaot/workflow/draw_profile.h"
#include "tfaot/workflow/frameworks.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/profile_models.h"
#include "tfaot/workflow/profile_study.h"

namespace tfaot::toolkit {
namespace {

using report::ColumnKind;
using report::Verdict;
using report::Where;

// The options of `tfaot profile`, and the request they make.

struct ProfileCommand {
  ProfileRequest request;  // without what other members say in the user's words
  std::vector<std::string> packages;
  std::string study;
  std::vector<std::string> strategies;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> peers;      // "ENGINE=MODEL"
  std::vector<std::string> libraries;  // "ENGINE=FILE"
  double round_ms = 10;
  bool allow_large = false;
  Path output;
  Path csv;
  std::vector<std::string> plots;
  PlotRequest plot;  // of all of them, without the file
  HtmlOption html;
};

Result<std::vector<ComposeStrategy>> strategies_of(const ProfileCommand& command) {
  std::vector<ComposeStrategy> strategies;
  for (const std::string& word : command.strategies) {
    const auto strategy = parse_word<ComposeStrategy>(word);
    if (!strategy || *strategy == ComposeStrategy::kRules) {
      return fail(Error::usage(fmt::format("profile: --strategies: unknown strategy '{}'", word))
                      .note("strategies: normal, stitching, padding; --batch-rule adds 'rules'"));
    }
    strategies.push_back(*strategy);
  }
  if (strategies.empty()) strategies.push_back(ComposeStrategy::kNormal);
  if (!command.request.batch_rules.empty()) strategies.push_back(ComposeStrategy::kRules);
  return strategies;
}

Status check_numbers(const ProfileCommand& command) {
  const ProfileRequest& request = command.request;
  if (std::ranges::any_of(request.rows, [](std::int64_t rows) { return rows < 1; })) {
    return fail(Error::usage("profile: --batch-sizes: a batch has at least one row"));
  }
  if (request.measure.rounds < 1 || request.measure.rounds > kMostRounds) {
    return fail(Error::usage(fmt::format("profile: --rounds: from 1 to {}", kMostRounds)));
  }
  if (!std::ranges::all_of(request.machine, is_name_character) ||
      request.machine.starts_with('.')) {
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
  std::set<ProfiledEngine> with_model;
  for (const std::string& peer : command.peers) {
    TFAOT_ASSIGN(const EngineAndFile model, engine_and_file("profile", "--peer", peer));
    with_model.insert(model.first);
  }
  for (const std::string& library : command.libraries) {
    TFAOT_ASSIGN(const EngineAndFile named, engine_and_file("profile", "--library", library));
    if (with_model.contains(named.first)) continue;
    return fail(Error::usage(
        fmt::format("profile: --library {0}=... needs a model for it: --peer {0}=MODEL",
                    word_of(named.first))));
  }
  return {};
}

// "onnxruntime=net.onnx" with "onnxruntime=libonnxruntime.so" among `libraries`.
Result<PeerModel> named_peer(const std::string& peer_text,
                             const std::vector<std::string>& libraries, const Program& program) {
  TFAOT_ASSIGN(const EngineAndFile named, engine_and_file("profile", "--peer", peer_text));
  PeerModel peer;
  peer.engine = named.first;
  peer.name = named.second;
  peer.model = program.absolute(named.second);
  if (!is_file(program.files, peer.model) && !is_folder(program.files, peer.model)) {
    return fail(Error::at({peer.name}, "no such file").note("named by --peer"));
  }
  TFAOT_TRY(check_peer_model(program.files, peer.engine, peer.model, peer.name));
  for (const std::string& library : libraries) {
    TFAOT_ASSIGN(const EngineAndFile file, engine_and_file("profile", "--library", library));
    if (file.first == peer.engine) peer.library = program.absolute(file.second);
  }
  if (peer.library.empty()) {
    TFAOT_ASSIGN(peer.library,
                 find_framework(program, peer.engine,
                                fmt::format("--library {}=FILE.so", word_of(peer.engine))));
    return peer;
  }
  if (is_file(program.files, peer.library)) return peer;
  return fail(Error::at({peer.library.string()}, "no such file").note("named by --library"));
}

// Usage error if a value is wrong. All that a study's file does not say.
Result<ProfileRequest> common_request(const ProfileCommand& command, const Program& program) {
  TFAOT_TRY(check_numbers(command));
  ProfileRequest request = command.request;
  request.measure.round = std::chrono::microseconds(static_cast<int>(command.round_ms * 1000));
  request.toolkit_version = TFAOT_VERSION;
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
  const std::set<std::int64_t> rows(request.rows.begin(), request.rows.end());
  request.rows.assign(rows.begin(), rows.end());
  TFAOT_ASSIGN(request.strategies, strategies_of(command));
  TFAOT_ASSIGN(request.inputs, named_inputs("profile", request.inputs_name, program));
  request.inputs.seed = command.seed.value_or(request.inputs.seed);
  return request;
}

void add_profile_options(CLI::App& app, ProfileCommand& command) {
  ProfileRequest& request = command.request;
  add_value(app, "PACKAGE", command.packages,
            "package trees, archives, AREA/NAME[/VERSION] of installed\nmodels, configs or models");
  add_value(app, "--study FILE", command.study,
            "instead of PACKAGE: measure what a profile.yaml says, as\nfar as it is not measured "
            "yet");
  add_list(app, "--batch-sizes N,...", request.rows, "numbers of rows [the compiled batch sizes]");
  add_list(app, "--cpu-levels A,B", request.cpu_levels,
           "levels of the packages' code, or 'all' that this\nCPU can run [the best one]");
  add_list(app, "--strategies A,B", command.strategies,
           "how other numbers of rows run: normal, stitching,\npadding [normal]");
  add_repeated(app, "--batch-rule ROWS:SIZES", request.batch_rules,
               "also measure with this rule: 5:2,4 runs 5 rows as\n2 and 4; may be repeated");
  add_value(app, "-i,--inputs FILE|WORD", request.inputs_name,
            "a .npz, .npy or .csv file; or " + join(words_of<Filling>(), ", ") + "\n[random]");
  add_value(app, "--seed N", command.seed, "of random inputs [1]");
  add_repeated(app, "--peer ENGINE=MODEL", command.peers,
               "the same model in another engine: onnxruntime,\nlitert or tensorflow; may be "
               "repeated");
  add_repeated(app, "--library ENGINE=FILE", command.libraries,
               "an engine's shared library [that of python3's package]");
  add_dimensions(app, request.dimensions,
                 "of a package: size of a free dimension [that of the\nfile's arrays; else the "
                 "largest]; of a config or model:\nas of compile; may be repeated");
  app.add_flag("--per-op", request.operations,
               "also the share of each operation; of configs, models")
      ->option_text(" ");
  add_word_option<HeapTool>(app, "--heap", request.heap_tool,
                            "also the heap over time, by valgrind's massif or by\nheaptrack, "
                            "which must be installed");
  add_value(app, "--rounds N", request.measure.rounds,
            "timings of each engine and number of rows [31]");
  add_value(app, "--round-ms T", command.round_ms, "milliseconds of a timing, about [10]");
  add_word_option<ProfileClock>(app, "--clock", request.measure.clock,
                                "processor: for a machine that is busy [wall]");
  add_value(app, "--core N", request.core, "the core that runs everything [the last one]");
  add_value(app, "--machine NAME", request.machine, "a name of this machine, for the report");
  add_value(app, "-o,--output FILE", command.output, "also write the JSON to a file");
  add_value(app, "--csv FOLDER", command.csv, "also write each curve as MLProf does");
  add_repeated(app, "--plot FILE", command.plots,
               "also draw the curves: .svg; or .png and .pdf by\nmatplotlib; may be repeated");
  add_word_option<PlotStyle>(app, "--plot-style", command.plot.style,
                             "of a plot; cms needs matplotlib [plain]");
  add_word_option<PlotTime>(app, "--plot-time", command.plot.time,
                            "the time of a row or of a call [row]");
  add_word_option<PlotErrors>(app, "--plot-errors", command.plot.errors,
                              "how 16 % to 84 % are drawn [band]");
  command.html.add_to(app);
  add_allow_large(app, command.allow_large);
  add_engine_program(app, request.engine);
}

// The page of `tfaot profile`, and its plots.

constexpr double kNanoseconds = 1000;  // in a microsecond

// Nothing for wall time.
std::string clock_text(ProfileClock clock) {
  return clock == ProfileClock::kWall ? "" : ", processor time";
}

// "peak heap (massif)". REQUIRES: it was measured.
std::string heap_title(const Profile& profile) {
  return fmt::format("peak heap ({})", word_of(*profile.heap_tool));
}

// What tells a curve from the others of its model: "tfaot, x86-64-v3, padding", "LiteRT". Level and
// strategy are left out if all curves of packages have the same, and so is the package's path if
// each model has one.
std::vector<std::string> curve_labels(const std::vector<ProfiledCurve>& curves) {
  std::set<std::string> levels;
  std::set<ComposeStrategy> strategies;
  std::set<std::string> models;
  std::set<std::string> sources;
  for (const ProfiledCurve& curve : curves) {
    if (curve.engine != ProfiledEngine::kPackage) continue;
    levels.insert(curve.cpu_level);
    strategies.insert(curve.strategy);
    models.insert(curve.model + " " + curve.version);
    sources.insert(curve.source);
  }
  std::vector<std::string> labels;
  for (const ProfiledCurve& curve : curves) {
    std::string label = engine_title(curve.engine);
    const bool ours = curve.engine == ProfiledEngine::kPackage;
    if (ours && sources.size() > models.size()) label += ", " + curve.source;
    if (ours && levels.size() > 1) label += ", " + curve.cpu_level;
    if (ours && strategies.size() > 1) label += fmt::format(", {}", word_of(curve.strategy));
    labels.push_back(std::move(label));
  }
  return labels;
}

// "operations of 4 rows, x86-64-v4: 77 % in kernels, 18 % in emitted loops". Kernels in a loop's
// body count as kernels, the rest of the loop as emitted.
std::string operations_title(const ProfiledOperations& operations) {
  double kernels = 0;
  for (const ProfiledOperation& operation : operations.operations) {
    if (operation.category.starts_with("kernel ")) kernels += operation.share;
  }
  const double between = operations.operations.empty() ? 0 : operations.operations.back().share;
  return fmt::format("operations of {} row{}, {}: {:.0f} % in kernels, {:.0f} % in emitted loops",
                     operations.rows, operations.rows == 1 ? "" : "s", operations.cpu_level,
                     100 * kernels, 100 * std::max(0.0, 1 - kernels - between)) +
         (operations.call > 0 ? fmt::format(" (a call that counts takes {:.1f} times as long)",
                                            operations.instrumented / operations.call)
                              : "");
}

// "AMD EPYC, 2 cores, core 1, governor performance, 2400 MHz, load 0.1, noise 0.5 %"
std::string machine_text(const ProfiledMachine& machine) {
  std::vector<std::string> parts;
  if (!machine.name.empty()) parts.push_back(machine.name);
  parts.push_back(machine.cpu);
  parts.push_back(fmt::format("{} core{}, measured on core {}", machine.cores,
                              machine.cores == 1 ? "" : "s", machine.core));
  if (!machine.governor.empty()) parts.push_back("governor " + machine.governor);
  if (machine.mhz > 0) parts.push_back(fmt::format("{:.0f} MHz", machine.mhz));
  parts.push_back(fmt::format("load {:.1f}", machine.load));
  parts.push_back(fmt::format("noise {:.1f} %", 100 * machine.noise));
  return join(parts, "; ");
}

// The models in their order, each with its curves.
struct ModelCurves {
  std::string title;  // "tagger 1.0.0"
  std::vector<ProfiledCurve> curves;
  std::vector<std::string> labels;
};

std::vector<ModelCurves> curves_by_model(const Profile& profile) {
  std::vector<ModelCurves> models;
  for (const ProfiledCurve& curve : profile.curves) {
    const std::string title = curve.model + " " + curve.version;
    auto model = std::ranges::find(models, title, &ModelCurves::title);
    if (model == models.end()) {
      models.push_back({title, {}, {}});
      model = std::prev(models.end());
    }
    model->curves.push_back(curve);
  }
  for (ModelCurves& model : models) model.labels = curve_labels(model.curves);
  return models;
}

// What `tfaot tune` would make faster, a line for each curve that knows of something.
std::vector<std::string> tuning_advice(const ModelCurves& model) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < model.curves.size(); ++i) {
    for (const BetterPlan& plan : model.curves[i].better_plans) {
      lines.push_back(fmt::format(
          "{}: {} rows run as {} in {} µs, but as {} in {} µs: run `tfaot tune`{}", model.labels[i],
          plan.rows, plan.run_as, short_number(plan.call.median / 1000), plan.better_as,
          short_number(plan.better.median / 1000), model.curves[i].tuned ? " again" : ""));
    }
  }
  return lines;
}

// A number of rows of one curve.
struct MeasuredSize {
  std::size_t curve;
  const ProfiledSize* size;
  double times;  // its call's time over that of the first curve with as many rows; 0: unknown
};

// All curves for each number of rows, which not every curve has.
std::vector<MeasuredSize> sizes_by_rows(const ModelCurves& model) {
  std::vector<std::int64_t> all_rows;
  for (const ProfiledCurve& curve : model.curves) {
    for (const ProfiledSize& size : curve.sizes) {
      add_new(all_rows, size.rows);
    }
  }
  std::vector<MeasuredSize> measured;
  for (const std::int64_t rows : all_rows) {
    double first = 0;
    for (std::size_t i = 0; i < model.curves.size(); ++i) {
      const auto& sizes = model.curves[i].sizes;
      const auto size = std::ranges::find(sizes, rows, &ProfiledSize::rows);
      if (size == sizes.end()) continue;
      if (first == 0) first = size->call.median;
      measured.push_back({i, &*size, first > 0 ? size->call.median / first : 0});
    }
  }
  return measured;
}

// All curves as if of one model; labels name the model if there are several.
ModelCurves all_curves(const Profile& profile) {
  ModelCurves all{"", profile.curves, {}};
  const std::vector<ModelCurves> models = curves_by_model(profile);
  all.labels = curve_labels(profile.curves);
  if (models.size() < 2) return all;
  for (std::size_t i = 0; i < all.labels.size(); ++i) {
    const ProfiledCurve& curve = all.curves[i];
    all.labels[i] = fmt::format("{} {}, {}", curve.model, curve.version, all.labels[i]);
  }
  return all;
}

report::Cell time_cell(double ns) {
  return {.text = short_number(ns / kNanoseconds), .number = ns};
}

report::Cell memory_cell(std::int64_t bytes) {
  return {.text = report::bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0))),
          .number = static_cast<double>(bytes)};
}

report::Section machine_section(const Profile& profile) {
  const ProfiledMachine& machine = profile.machine;
  report::Section section{"Machine", {}, {}, Where::kPage};
  if (!machine.warnings.empty()) {
    section.badge = {Verdict::kWarning, "doubtful times"};
    section.blocks.emplace_back(
        report::Callout{Verdict::kWarning, "What makes these times doubtful", machine.warnings});
  }
  section.blocks.emplace_back(report::Facts{
      {{"name", machine.name},
       {"CPU", machine.cpu},
       {"beyond the levels", machine.instructions},
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

// A curve for each of the model's. `point_of`: of each of its `values`.
template <class Values, class PointOf>
report::Plot plot_of(const ModelCurves& model, report::PlotAxis x, const char* y, Values values,
                     PointOf point_of) {
  report::Plot plot;
  plot.x = std::move(x);
  plot.y.title = y;
  for (std::size_t i = 0; i < model.curves.size(); ++i) {
    plot.curves.push_back(
        {model.labels[i], mapped(std::invoke(values, model.curves[i]), point_of)});
  }
  return plot;
}

// Microseconds over rows.
report::Plot time_plot(const ModelCurves& model, PlotTime time,
                       PlotErrors errors = PlotErrors::kBand) {
  const bool of_row = time == PlotTime::kRow;
  report::Plot plot =
      plot_of(model, {"rows of a call"}, of_row ? "µs a row" : "µs a call", &ProfiledCurve::sizes,
              [&](const ProfiledSize& size) -> report::PlotPoint {
                const auto rows = static_cast<double>(size.rows);
                const double unit = kNanoseconds * (of_row ? rows : 1);
                return {rows, size.call.median / unit, size.call.low / unit, size.call.high / unit};
              });
  plot.uncertainty =
      errors == PlotErrors::kBars ? report::Uncertainty::kBars : report::Uncertainty::kBand;
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
                                  {"had the core", ColumnKind::kNumber, Where::kPage},
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

// A number without an uncertainty.
report::PlotPoint exact_point(double x, double y) { return {x, y, y, y}; }

// The process's memory as it ran more and more rows.
report::Plot memory_plot(const ModelCurves& model) {
  return plot_of(model, {"rows"}, "proportional MB", &ProfiledCurve::sizes,
                 [](const ProfiledSize& size) {
                   return exact_point(static_cast<double>(size.rows),
                                      static_cast<double>(size.proportional) / 1e6);
                 });
}

report::Plot heap_plot(const ModelCurves& model) {
  return plot_of(
      model, {"ms", report::Scale::kLinear}, "heap kB",
      [](const ProfiledCurve& curve) { return curve.heap.over_time; },
      [](const HeapMoment& moment) {
        return exact_point(moment.ms, static_cast<double>(moment.bytes) / 1000);
      });
}

constexpr std::size_t kMostOperations = 12;  // in the text; JSON and page have all

report::Table operations_table(const ProfiledOperations& operations) {
  report::Table table{.caption = operations_title(operations),
                      .columns = {{"share", ColumnKind::kNumber},
                                  {"µs", ColumnKind::kNumber},
                                  {"kind", ColumnKind::kCode},
                                  {"operation", ColumnKind::kCode},
                                  {"inside", ColumnKind::kCode},
                                  {"of the model", ColumnKind::kCode}},
                      .most_rows = kMostOperations};
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
  section.blocks.emplace_back(report::Text{
      fmt::format(
          "{} rounds of {:.3g} ms{}; medians, and the quantiles at 16 % and 84 %; inputs: {}",
          profile.round_count, profile.round_ms, clock_text(profile.clock), profile.inputs),
      Where::kText});
  const std::vector<DimensionSize>& dimensions = model.curves.front().dimensions;
  if (!dimensions.empty()) {
    section.blocks.emplace_back(report::Text{"sizes: " + named_sizes_text(dimensions)});
  }
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
      section.blocks.emplace_back(report::Text{operations_title(one), Where::kText});
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
      return fail(Error::usage(
          fmt::format("profile: --plot: '{}' does not end with .svg, .png or .pdf", plot)));
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
  return write_named_file(program.files, request.output, report::svg_of(plot));
}

// Of a study: a list, with one for each machine.
nlohmann::ordered_json profiles_to_json(const ProfileCommand& command,
                                        const std::vector<Profile>& profiles) {
  if (command.study.empty()) return profile_to_json(profiles.front());
  return mapped(profiles, profile_to_json);
}

Status write_outputs(const ProfileCommand& command, const std::vector<Profile>& profiles,
                     const nlohmann::ordered_json& json, Program& program) {
  if (!command.output.empty()) {
    TFAOT_TRY(write_named_file(program.files, program.absolute(command.output), json_text(json)));
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
      TFAOT_TRY(write_named_file(program.files, folder / name, curve_to_csv(curve)));
    }
  }
  for (const std::string& plot : command.plots) {
    PlotRequest request = command.plot;
    request.output = program.absolute(plot);
    TFAOT_TRY(write_plot(request, profiles.front(), program));
  }
  return {};
}

Result<std::vector<Profile>> measured_study(const ProfileCommand& command, Program& program) {
  TFAOT_TRY(check_outputs(command, program));
  TFAOT_ASSIGN(ProfileRequest common, common_request(command, program));
  common.dimensions.clear();  // the models of a study have no use for them
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
  if (!command.study.empty()) TFAOT_TRY(check_study_options(app));
  TFAOT_ASSIGN(const std::vector<Profile> profiles, command.study.empty()
                                                        ? measured_packages(command, program)
                                                        : measured_study(command, program));
  const InterruptWatch watch;
  const nlohmann::ordered_json json = profiles_to_json(command, profiles);
  TFAOT_TRY(write_outputs(command, profiles, json, program));
  return command.html.show(program, profile_page(profiles), json);
}

}  // namespace

Result<EngineAndFile> engine_and_file(const std::string& verb, const std::string& option,
                                      const std::string& text) {
  const std::size_t mark = text.find('=');
  const auto engine = parse_word<ProfiledEngine>(text.substr(0, mark));
  if (mark != std::string::npos && mark + 1 < text.size() && engine &&
      *engine != ProfiledEngine::kPackage) {
    return EngineAndFile(*engine, text.substr(mark + 1));
  }
  return fail(Error::usage(fmt::format("{}: {} '{}' is not ENGINE=FILE", verb, option, text))
                  .note("engines: onnxruntime, litert, tensorflow"));
}

std::string short_number(double value) {
  if (value == 0) return "0";
  const int digits = 2 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  return fmt::format("{:.{}f}", value, std::clamp(digits, 0, 9));
}

std::string engine_title(ProfiledEngine engine) {
  switch (engine) {
    case ProfiledEngine::kOnnxRuntime:
      return "ONNX Runtime";
    case ProfiledEngine::kLiteRt:
      return "LiteRT";
    case ProfiledEngine::kTensorFlow:
      return "TensorFlow";
    case ProfiledEngine::kPackage:
      break;
  }
  return "tfaot";
}

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

Action add_profile(CLI::App& app) {
  auto command = std::make_shared<ProfileCommand>();
  add_profile_options(app, *command);
  app.footer(
      R"(Each engine runs in a process of its own, with one thread; all of one model take turns on one
core. Predictions are compared with the package's before anything is timed.
Examples:
  tfaot profile area/tagger --batch-sizes 1,3,16,100 --strategies normal,padding
  tfaot profile out --peer tensorflow=saved_model --html profile.html
  tfaot profile --study profile.yaml --html study.html)");
  return [command, &app](Program& program) { return profile(*command, app, program); };
}

}  // namespace tfaot::toolkit
