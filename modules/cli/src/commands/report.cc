// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/records/profile_json.h"
#include "tfaot/report/page.h"
#include "tfaot/workflow/report_model.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using report::Callout;
using report::Verdict;
using report::Where;

// The answers: the headline of the page, and what programs read.

// "1.1 MB", "above an empty process"
struct Answer {
  std::string question;
  std::string value;
  std::string note;
};

// Of the process that ran the largest batch, without what a process of nothing has.
std::int64_t memory_of(const ProfiledCurve& curve, const Profile& profile) {
  return std::max<std::int64_t>(0, curve.sizes.back().resident - profile.empty_resident);
}

std::string memory_text(const ProfiledCurve& curve, const Profile& profile) {
  return report::bytes_text(static_cast<std::uint64_t>(memory_of(curve, profile)));
}

// How many times as fast the package is as another curve, for each number of rows of both.
struct Speedup {
  std::int64_t rows = 0;
  double times = 0;
};
std::vector<Speedup> speedups(const ProfiledCurve& package, const ProfiledCurve& other) {
  std::vector<Speedup> found;
  for (const ProfiledSize& size : package.sizes) {
    const auto same = std::ranges::find(other.sizes, size.rows, &ProfiledSize::rows);
    if (same == other.sizes.end() || size.call.median <= 0) continue;
    found.push_back({size.rows, same->call.median / size.call.median});
  }
  return found;
}

std::string row_count(std::int64_t rows) { return counted(static_cast<std::size_t>(rows), "row"); }

// True: right, false: not right, nothing: not compared.
std::optional<bool> is_right(const ModelReport& found) {
  if (!found.check.compiles() || !found.validation) return std::nullopt;
  return found.validation->passed();
}

Answer support_answer(const ModelCheck& check) {
  const SignatureCheck& first = check.signatures.front();
  if (!check.compiles()) {
    return {"supported", "no",
            counted(first.found.problems.size(), "problem") + ", with what to do below"};
  }
  return {"supported", "yes",
          fmt::format("{}, code for {} and {}", counted(first.found.operations.size(), "operation"),
                      counted(first.batch_sizes.size(), "batch size"),
                      counted(first.cpu_levels.size(), "CPU level"))};
}

Answer right_answer(const Result<ValidationResult>& validation) {
  if (!validation) return {"right", "not compared", validation.error().message()};
  const ValidatedOutput* const worst = worst_output(validation->summary);
  return {"right", validation->passed() ? "yes" : "no",
          worst == nullptr ? "no output counts for the verdict"
                           : fmt::format("the largest difference from {} is {} of what is allowed",
                                         validation->summary.reference, allowed_text(*worst))};
}

// "as fast on average as 1, 2, 4", "6 % slower on average than 1, 2, 4"
std::string slower_text(const Suggestion& suggestion, const std::string& all) {
  const double percent = 100 * (suggestion.suggested.ns / suggestion.compiled.ns - 1);
  if (percent < 0.5) return "as fast on average as " + all;
  return fmt::format("{:.0f} % slower on average than {}", percent, all);
}

Answer sizes_answer(const ModelReport& found) {
  if (!found.suggestion) {
    return {"batch sizes", fmt::format("{}", fmt::join(found.manifest.batch_sizes, ", ")),
            "not measured: " + found.suggestion.error().message()};
  }
  const Suggestion& suggestion = *found.suggestion;
  const std::string suggested = sizes_text(suggestion.suggested.sizes);
  const std::string all = sizes_text(suggestion.compiled.sizes);
  if (suggested == all) {
    return {"batch sizes", suggested,
            suggestion.suggested.sizes.size() == 1 ? "no other was compiled" : "fewer are slower"};
  }
  return {"batch sizes", suggested,
          fmt::format("{}, with {:.0f} % of the code", slower_text(suggestion, all),
                      100 * static_cast<double>(suggestion.suggested.bytes) /
                          static_cast<double>(suggestion.compiled.bytes))};
}

void add_measured_answers(const ModelReport& found, std::vector<Answer>& answers) {
  if (!found.profile) {
    answers.push_back({"memory", "not measured", found.profile.error().message()});
    answers.push_back({"speed", "not measured", found.profile.error().message()});
    return;
  }
  const Profile& profile = *found.profile;
  const ProfiledCurve& package = profile.curves.front();
  const auto row_time = [](const ProfiledSize& size) {
    return size.call.median / 1000 / static_cast<double>(size.rows);
  };
  const ProfiledSize& first = package.sizes.front();
  const ProfiledSize& fastest = *std::ranges::min_element(package.sizes, {}, row_time);
  answers.push_back(
      {"memory", memory_text(package, profile),
       fmt::format("above an empty process; {} of scratch memory for each instance",
                   report::bytes_text(static_cast<std::uint64_t>(package.temporaries)))});
  answers.push_back({"speed", short_number(first.call.median / 1000) + " µs a call",
                     fmt::format("of {}; {} µs a row in calls of {}", row_count(first.rows),
                                 short_number(row_time(fastest)), row_count(fastest.rows))});
  for (const ProfiledCurve& other : profile.curves) {
    if (other.engine == ProfiledEngine::kPackage) continue;
    const std::vector<Speedup> times = speedups(package, other);
    if (times.empty()) continue;
    std::string note = "for " + row_count(times.front().rows);
    if (times.size() > 1) {
      note += fmt::format(", {} times for {}", short_number(times.back().times),
                          row_count(times.back().rows));
    }
    answers.push_back({"beside " + engine_title(other.engine),
                       short_number(times.front().times) + " times as fast",
                       fmt::format("{}; it takes {}", note, memory_text(other, profile))});
  }
}

std::vector<Answer> answers_of(const ModelReport& found) {
  std::vector<Answer> answers = {support_answer(found.check)};
  if (!found.check.compiles()) return answers;
  answers.push_back(right_answer(found.validation));
  answers.push_back(sizes_answer(found));
  add_measured_answers(found, answers);
  for (const auto& [engine, why] : found.left_out) {
    answers.push_back({"beside " + engine_title(engine), "not compared", why.message()});
  }
  return answers;
}

ordered_json answers_to_json(const ModelReport& found) {
  const std::optional<bool> right = is_right(found);
  ordered_json json = {{"supported", found.check.compiles()},
                       {"right", right ? ordered_json(*right) : ordered_json()},
                       {"share_of_allowed", nullptr},
                       {"batch_sizes", nullptr},
                       {"memory", nullptr},
                       {"beside", ordered_json::array()}};
  if (!found.check.compiles()) return json;
  if (found.validation) {
    if (const ValidatedOutput* const worst = worst_output(found.validation->summary)) {
      json["share_of_allowed"] = share_of_allowed(*worst);
    }
  }
  if (found.suggestion) {
    json["batch_sizes"] = mapped(found.suggestion->suggested.sizes, &SizeCost::size);
  }
  if (!found.profile) return json;
  const ProfiledCurve& package = found.profile->curves.front();
  json["memory"] = memory_of(package, *found.profile);
  for (const ProfiledCurve& other : found.profile->curves) {
    if (other.engine == ProfiledEngine::kPackage) continue;
    ordered_json times = ordered_json::array();
    for (const Speedup& one : speedups(package, other)) {
      times.push_back({{"rows", one.rows}, {"times", one.times}});
    }
    json["beside"].push_back({{"engine", word_of(other.engine)},
                              {"memory", memory_of(other, *found.profile)},
                              {"times_as_fast", std::move(times)}});
  }
  return json;
}

// The page.

report::Badge badge_of(const ModelReport& found) {
  if (!found.check.compiles()) return {Verdict::kBad, "not supported"};
  const std::optional<bool> right = is_right(found);
  if (!right) return {Verdict::kGood, "supported"};
  return *right ? report::Badge{Verdict::kGood, "supported, predicts as the model does"}
                : report::Badge{Verdict::kBad, "supported, does not predict as the model does"};
}

// Adds what another verb would show.
void add_part(report::Page& page, const std::string& title, std::vector<report::Section> part,
              Where where = Where::kBoth) {
  for (report::Section& section : part) {
    section.title = section.title == report::kOverview ? title : title + ": " + section.title;
    if (where != Where::kBoth) section.where = where;
    page.sections.push_back(std::move(section));
  }
}

// What stayed open, with what to do.
template <class Found>
void add_reason(report::Section& section, const std::string& what, const Result<Found>& found) {
  if (found) return;
  section.blocks.emplace_back(Callout{
      Verdict::kNote, fmt::format("{}: {}", what, found.error().message()), found.error().notes()});
}

// Details of answers without a doubt are on the page alone.
report::Page report_page(const ModelReport& found, const std::string& path) {
  report::Page page;
  page.kind = "report";
  page.title = Path(path).filename().string();
  page.heading =
      fmt::format("{} {}", found.check.is_config ? "config" : word_of(found.check.format), path);
  page.badge = badge_of(found);
  report::Facts facts;
  for (const Answer& answer : answers_of(found)) {
    page.highlights.push_back({answer.question, answer.value, answer.note});
    facts.facts.push_back(
        {answer.question, fmt::format("{}, {}", answer.value, answer.note), Where::kText});
  }
  page.sections = {{report::kOverview, {}, {std::move(facts)}}};
  const bool compiles = found.check.compiles();
  if (compiles) {
    report::Section& overview = page.sections.front();
    add_reason(overview, "not compared", found.validation);
    add_reason(overview, "no batch sizes suggested", found.suggestion);
    add_reason(overview, "not measured", found.profile);
    for (const auto& [engine, why] : found.left_out) {
      if (!found.validation && found.validation.error().message() == why.message()) continue;
      overview.blocks.emplace_back(Callout{
          Verdict::kNote, fmt::format("not beside {}: {}", engine_title(engine), why.message()),
          why.notes()});
    }
  }
  add_part(page, "Check", check_page(found.check, path).sections,
           compiles ? Where::kPage : Where::kBoth);
  if (!compiles) return page;
  if (found.validation) {
    add_part(page, "Predictions", validation_page(*found.validation, {path, path}).sections,
             found.validation->passed() ? Where::kPage : Where::kBoth);
  }
  if (found.suggestion) {
    add_part(page, "Batch sizes", suggestion_sections(*found.suggestion));
  }
  if (found.profile) add_part(page, "Speed", profile_page({*found.profile}).sections);
  return page;
}

template <class Found, class ToJson>
ordered_json found_to_json(const Result<Found>& found, ToJson to_json) {
  return found ? to_json(*found) : ordered_json{{"error", found.error().text()}};
}

ordered_json report_to_json(const ModelReport& found, const std::string& path) {
  ordered_json json = {{"kind", "report"},
                       {"path", path},
                       {"answers", answers_to_json(found)},
                       {"check", check_to_json(found.check, path)}};
  if (!found.check.compiles()) return json;
  json["validation"] = found_to_json(found.validation, [&](const ValidationResult& validation) {
    return validation_result_to_json(validation, {path, path});
  });
  json["suggestion"] = found_to_json(found.suggestion, suggestion_json);
  json["profile"] = found_to_json(found.profile, profile_to_json);
  ordered_json left_out = ordered_json::object();
  for (const auto& [engine, why] : found.left_out) left_out[word_of(engine)] = why.text();
  json["left_out"] = std::move(left_out);
  return json;
}

// The verb.

struct ReportCommand {
  std::string path;
  std::vector<std::string> beside;     // "onnxruntime", "tensorflow=saved_model"
  std::vector<std::string> libraries;  // "ENGINE=FILE"
  std::string inputs;
  std::string range = "1:256";
  double budget_seconds = 3;
  HtmlOption html;
  ReportRequest request;
};

Result<BesideFramework> beside_framework(const std::string& text, const Program& program) {
  BesideFramework beside;
  const auto engine = parse_word<ProfiledEngine>(text);
  if (engine && *engine != ProfiledEngine::kPackage) {
    beside.engine = *engine;
    return beside;
  }
  const auto named = engine_and_file("report", "--beside", text);
  if (!named) {
    return fail(Error::usage(fmt::format("report: --beside '{}' is no framework", text))
                    .note("frameworks: onnxruntime, litert, tensorflow; or FRAMEWORK=MODEL"));
  }
  beside.engine = named->first;
  beside.name = named->second;
  beside.model = program.absolute(named->second);
  return beside;
}

Result<ReportRequest> report_request(const ReportCommand& command, const Program& program) {
  ReportRequest request = command.request;
  request.name = command.path;
  request.check.path = program.absolute(command.path);
  TFAOT_ASSIGN(request.check.cache, code_cache(program));
  for (const std::string& text : command.beside) {
    TFAOT_ASSIGN(BesideFramework beside, beside_framework(text, program));
    if (contains(request.beside, beside.engine, &BesideFramework::engine)) {
      return fail(Error::usage(
          fmt::format("report: --beside names {} more than once", word_of(beside.engine))));
    }
    request.beside.push_back(std::move(beside));
  }
  for (const std::string& text : command.libraries) {
    TFAOT_ASSIGN(const EngineAndFile named, engine_and_file("report", "--library", text));
    request.libraries[named.first] = program.absolute(named.second);
  }
  if (!command.inputs.empty()) {
    TFAOT_ASSIGN(const InputSource inputs, named_inputs("report", command.inputs, program));
    if (inputs.file.empty()) {
      return fail(Error::usage("report: --inputs takes a file; without it, inputs are random"));
    }
    request.inputs = inputs.file;
    request.inputs_name = command.inputs;
  }
  TFAOT_ASSIGN(request.rows, rows_of_range("report", command.range));
  request.tune.budget = std::chrono::milliseconds(static_cast<int>(command.budget_seconds * 1000));
  if (request.measure.rounds < 1 || request.measure.rounds > kMostRounds) {
    return fail(Error::usage(fmt::format("report: --rounds: from 1 to {}", kMostRounds)));
  }
  request.toolkit_version = TFAOT_VERSION;
  return request;
}

Status make_report(const ReportCommand& command, Program& program) {
  TFAOT_TRY(command.html.check(program));
  TFAOT_ASSIGN(const ReportRequest request, report_request(command, program));
  TFAOT_ASSIGN(const ModelReport found, report_model(program, request));
  TFAOT_TRY(command.html.show(program, report_page(found, command.path),
                              report_to_json(found, command.path)));
  if (!found.check.compiles()) return fail(Error::at({command.path}, "not supported"));
  if (is_right(found).value_or(true)) return {};
  return fail(Error::at({command.path}, "its package's predictions are not those of the model"));
}

}  // namespace

Action add_report(CLI::App& app) {
  auto command = std::make_shared<ReportCommand>();
  CheckRequest& check = command->request.check;
  add_value(app, "MODEL", command->path,
            "a config, a SavedModel's folder, an ONNX file, a frozen\ngraph or a file with "
            "StableHLO")
      ->required();
  add_value(app, "--beside FRAMEWORK...", command->beside,
            "measure these too: onnxruntime, litert, tensorflow;\ntensorflow=DIR: with the same "
            "model in that form")
      ->expected(1, -1)
      ->delimiter(',');
  add_repeated(app, "--library ENGINE=FILE", command->libraries,
               "a framework's shared library [that of python3's package]");
  add_value(app, "-i,--inputs FILE", command->inputs,
            "a .npz, .npy or .csv file with your own inputs [random]");
  command->html.add_to(app);
  add_value(app, "--range FIRST:LAST", command->range,
            "numbers of rows that you run, all equally likely [1:256]");
  add_value(app, "--signature KEY", check.signature,
            "of a SavedModel [serving_default, or else the first one]");
  add_list(app, "--batch-sizes N,...", check.overrides.batch_sizes,
           "sizes to try [the config's; of a model: 1,2,4,8,16,32,\nor the one that it fixes]");
  add_list(app, "--cpu-levels A,B", check.overrides.cpu_levels, "instead of the config's");
  add_model_modes(app, check.overrides);
  add_dimensions(app, check.overrides.dimensions);
  add_value(app, "--budget SECONDS", command->budget_seconds, "for measuring the batch sizes [3]")
      ->check(CLI::Range(0.001, 86400.0));
  add_value(app, "--rounds N", command->request.measure.rounds,
            "timings of each framework and batch size [31]");
  add_value(app, "--compiler PROGRAM", command->request.tune.compiler,
            "C++ compiler that links the measuring program [c++]");
  add_engine_program(app, check.engine);
  app.footer(
      R"(Asks check, tune, validate and profile, and answers in a few lines: is the model supported,
are its predictions right, which batch sizes, how much memory, how many times as fast as the
frameworks? Keeps nothing but the cached code. A framework that is not installed is left out,
with a note. The exit code is 1 if the model is not supported, or its predictions are wrong.
Examples:
  tfaot report net.onnx --beside onnxruntime
  tfaot report exports/tagger --beside tensorflow --html report.html
  tfaot report net.onnx --beside onnxruntime tensorflow=exports/tagger --inputs events.npz)");
  return [command](Program& program) { return make_report(*command, program); };
}

}  // namespace tfaot::toolkit
