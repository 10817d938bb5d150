// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/page_parts.h"
#include "text/check_report.h"
#include "text/describe.h"
#include "tfaot/base/text.h"
#include "tfaot/report/page.h"
#include "tfaot/workflow/check_model.h"

namespace tfaot::toolkit {
namespace {

using report::Callout;
using report::Cell;
using report::ColumnKind;
using report::Section;
using report::Table;
using report::Verdict;

// What `tfaot check --html` shows.

constexpr std::size_t kNamedNodes = 5;  // in a cell; the data have all

Verdict support_verdict(const CheckedOperation& row) {
  if (!row.traits.empty()) return Verdict::kWarning;
  switch (row.support) {
    case OperationSupport::kKernel:
    case OperationSupport::kStructure:
      return Verdict::kGood;
    case OperationSupport::kConstant:
      return Verdict::kWarning;
    case OperationSupport::kTypes:
    case OperationSupport::kRefused:
      break;
  }
  return Verdict::kBad;
}

std::string remarks_of(const CheckedOperation& row) {
  std::vector<std::string> remarks;
  for (const OperationTrait trait : row.traits) remarks.push_back(trait_text(trait));
  if (row.support == OperationSupport::kTypes) {
    remarks.push_back("has a kernel for " + allowed_types(row));
  }
  if (!row.advice.empty()) remarks.push_back("instead: " + row.advice);
  return join(remarks, "; ");
}

std::string node_names(const CheckedOperation& row) {
  std::vector<std::string> names;
  for (const CheckedNode& node : row.nodes) {
    if (names.size() == kNamedNodes) {
      names.push_back(fmt::format("and {} more", row.nodes.size() - kNamedNodes));
      break;
    }
    names.push_back(node.name);
  }
  return join(names, ", ");
}

Table checked_operations(const std::vector<CheckedOperation>& operations) {
  Table table{.caption = "Operations that the outputs need",
              .columns = {{"operation", ColumnKind::kCode},
                          {"nodes", ColumnKind::kNumber},
                          {"kernel"},
                          {"types"},
                          {"remarks"},
                          {"names of the nodes", ColumnKind::kCode}},
              .empty = "no operation was read"};
  for (const CheckedOperation& row : operations) {
    table.rows.push_back({{row.operation},
                          number_cell(static_cast<std::int64_t>(row.nodes.size())),
                          {.text = support_text(row), .verdict = support_verdict(row)},
                          {used_types(row)},
                          {remarks_of(row)},
                          {node_names(row)}});
  }
  return table;
}

// A row for each CPU level, a column for each batch size.
Table code_table(const SignatureCheck& check) {
  Table table{.caption = "Code by CPU level and batch size", .columns = {{"CPU level"}}};
  for (const std::int64_t size : check.batch_sizes) table.columns.push_back({std::to_string(size)});
  for (const std::string& level : check.cpu_levels) {
    const auto made = sizes_made(check, level);
    std::vector<Cell> cells = {{level}};
    for (const std::int64_t size : check.batch_sizes) {
      const bool is_made = std::ranges::find(made, size) != made.end();
      cells.push_back(is_made ? Cell{.text = "made", .verdict = Verdict::kGood}
                              : Cell{.text = "none", .verdict = Verdict::kBad});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Badge badge_of(bool compiles) {
  return compiles ? report::Badge{Verdict::kGood, "compiles"}
                  : report::Badge{Verdict::kBad, "does not compile"};
}

Section checked_signature(const SignatureCheck& check) {
  Section section;
  section.title = check.signature.empty() ? "Graph" : "Signature " + check.signature;
  section.badge = badge_of(check.compiles);
  for (const ModelProblem& problem : check.found.problems) {
    section.blocks.emplace_back(Callout{Verdict::kBad, problem.message, problem.notes});
  }
  for (const std::string& warning : check.warnings) {
    section.blocks.emplace_back(Callout{Verdict::kWarning, warning, {}});
  }
  section.blocks.emplace_back(
      report::Facts{{{"target", check.target_triple}, {"rows", word_of(check.rows)}}});
  if (!check.cpu_levels.empty()) section.blocks.emplace_back(code_table(check));
  section.blocks.emplace_back(checked_operations(check.found.operations));
  return section;
}

// `name`: of the model's or config's file or folder.
report::Page check_page(const ModelCheck& check, const std::string& name) {
  report::Page page;
  page.kind = "check";
  page.title = name;
  page.badge = badge_of(check.compiles());
  page.summary = (check.is_config ? "The config of " : "This is ") + one_of(check.format) + ".";
  std::size_t problems = 0;
  std::size_t codes = 0;
  std::size_t operations = 0;
  for (const SignatureCheck& one : check.signatures) {
    problems += one.found.problems.size();
    codes += one.found.codes.size();
    operations = std::max(operations, one.found.operations.size());
    page.sections.push_back(checked_signature(one));
  }
  page.highlights = {
      {"problems", std::to_string(problems), ""},
      {"code made", std::to_string(codes), "for a batch size and a CPU level each"},
      {"operations", std::to_string(operations),
       check.signatures.size() > 1 ? "of the signature that has most" : "different ones"}};
  return page;
}

// `tfaot check --ops --html`.
report::Page operations_page(const KnownOperations& known) {
  const bool is_onnx = known.format == ModelFormat::kOnnx;
  Table table{.caption = is_onnx ? "Operators of ONNX" : "Operations that XLA has kernels for",
              .columns = {{"operation", ColumnKind::kCode},
                          {is_onnx ? "from opset" : "types", ColumnKind::kCode},
                          {"inputs that must be constants", ColumnKind::kCode},
                          {"remarks"}}};
  for (const CheckedOperation& row : known.operations) {
    std::vector<std::string> traits;
    for (const OperationTrait trait : row.traits) traits.push_back(trait_text(trait));
    table.rows.push_back({{row.operation},
                          {is_onnx ? std::to_string(row.oldest_opset) : allowed_types(row)},
                          {join(row.constant_inputs, ", ")},
                          {join(traits, "; ")}});
  }
  report::Page page;
  page.kind = "operations";
  page.title = "What tfaot compiles";
  page.summary = is_onnx ? "Operators of ONNX models."
                         : fmt::format("Kernels of XLA for the device {}.", kCompiledDevice);
  page.highlights = {{"operations", std::to_string(known.operations.size()), ""}};
  Section section;
  section.title = "Operations";
  section.blocks.emplace_back(std::move(table));
  page.sections.push_back(std::move(section));
  return page;
}

struct CheckArguments {
  VerbosityOption verbosity;
  std::string path;
  bool lists_operations = false;
  ModelFormat format = ModelFormat::kSavedModel;  // whose operations
  bool json = false;
  HtmlOption html;
  CheckRequest request;
};

Status list_operations(const CheckArguments& options, Program& program) {
  KnownOperations known{options.format, {}};
  TFAOT_ASSIGN(known.operations,
               compiled_operations(program, options.format, options.request.engine));
  const auto json = known_operations_to_json(known);
  if (options.html.given()) {
    TFAOT_TRY(options.html.write(program, operations_page(known), json));
  }
  program.console.print(options.json ? json_text(json) : operations_text(known));
  return {};
}

Status check(const CheckArguments& options, Program& program) {
  TFAOT_TRY(options.html.check(program));
  if (options.lists_operations && options.format == ModelFormat::kStableHlo) {
    return fail(Error::usage("check: --ops has no list for StableHLO: XLA compiles all of its "
                             "operations that only compute on one device")
                    .note("'tfaot check MODEL' says what of a model cannot be compiled"));
  }
  if (options.lists_operations) return list_operations(options, program);
  if (options.path.empty()) {
    return fail(Error::usage("check: MODEL is missing")
                    .note("name a model or a config, or give --ops to list what can be compiled"));
  }
  CheckRequest request = options.request;
  request.path = program.absolute(options.path);
  TFAOT_ASSIGN(request.cache, code_cache(program));
  TFAOT_ASSIGN(const ModelCheck found, check_model(program, request));
  const auto json = check_to_json(found, options.path);
  if (options.html.given()) {
    const std::string name = request.path.filename().string();
    TFAOT_TRY(options.html.write(program, check_page(found, name), json));
  }
  if (options.json) {
    program.console.print(json_text(json));
  } else {
    program.console.print(check_text(found, options.path),
                          found.compiles() ? Tone::kGood : Tone::kBad);
  }
  if (found.compiles()) return {};
  return fail(Error::at({options.path}, "does not compile"));
}

}  // namespace

Action add_check(CLI::App& app) {
  auto options = std::make_shared<CheckArguments>();
  CheckRequest& request = options->request;
  auto* path = app.add_option("MODEL", options->path,
                              "a config, a SavedModel's folder, an ONNX file, a frozen\ngraph or a "
                              "file with StableHLO")
                   ->option_text(" ");
  auto* operations =
      app.add_flag("--ops", options->lists_operations, "list the operations that can be compiled")
          ->excludes(path)
          ->option_text(" ");
  add_word_option<ModelFormat>(app, "--format", options->format,
                               "whose operations: TensorFlow's or ONNX's [saved_model]")
      ->needs(operations);
  app.add_flag("--json", options->json, "print JSON instead of text");
  options->html.add_to(app);
  app.add_option("--signature", request.signature, "of a model: check only this one [all]")
      ->option_text("KEY");
  app.add_option("--batch-sizes", request.overrides.batch_sizes,
                 "instead of the config's [of a model: 1,2,4,8,16,32,\nor the one that it fixes]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("N,...");
  app.add_option("--cpu-levels", request.overrides.cpu_levels, "instead of the config's")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B");
  app.add_option("--target-triple", request.overrides.target_triple, "instead of the config's")
      ->option_text("T");
  add_model_modes(app, request.overrides.rows, request.overrides.batch, request.overrides.opset);
  add_dimensions(app, request.overrides.dimensions);
  options->verbosity.add_to(app);
  add_engine_program(app, request.engine, "");
  app.footer(
      "Compiles the model as 'tfaot compile' does and keeps nothing but the cached code. Lists "
      "every\n"
      "problem that it finds, with its node, and all operations. The exit code is 0 if everything\n"
      "that was checked compiles, and 1 if not.\n"
      "Examples:\n"
      "  tfaot check aot_config.yaml\n"
      "  tfaot check exports/tagger --signature serving_default --batch-sizes 1,4\n"
      "  tfaot check net.onnx --dimension n_tracks=50\n"
      "  tfaot check --ops --format onnx");
  return [options](Program& program) -> Status {
    options->verbosity.apply(program.console);
    return check(*options, program);
  };
}

}  // namespace tfaot::toolkit
