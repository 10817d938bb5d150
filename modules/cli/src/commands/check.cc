// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/bits.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/model_check_json.h"
#include "tfaot/report/page.h"
#include "tfaot/workflow/check_model.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using report::Callout;
using report::Cell;
using report::ColumnKind;
using report::Section;
using report::Table;
using report::Verdict;
using report::Where;

// The page of a check.

constexpr std::size_t kNamedNodes = 5;  // in a cell or a note; the data have all
constexpr std::size_t kShownProblems = 20;

std::string trait_text(OperationTrait trait) {
  switch (trait) {
    case OperationTrait::kDrawsRandomNumbers:
      return "draws random numbers";
    case OperationTrait::kWritesState:
      return "writes a variable";
    case OperationTrait::kCallsByName:
      return "calls a function by its name";
    case OperationTrait::kDataDependentSize:
      break;
  }
  return "its size depends on the data";
}

Cell support_cell(const CheckedOperation& row) {
  const auto cell = [&](const char* text, Verdict verdict) -> Cell {
    return {.text = text, .verdict = row.traits.empty() ? verdict : Verdict::kWarning};
  };
  switch (row.support) {
    case OperationSupport::kKernel:
      return cell("yes", Verdict::kGood);
    case OperationSupport::kStructure:
      return cell("not needed", Verdict::kGood);
    case OperationSupport::kTypes:
      return cell("other types", Verdict::kBad);
    case OperationSupport::kConstant:
      return cell("no; constants only", Verdict::kWarning);
    case OperationSupport::kRefused:
      break;
  }
  return cell(row.traits.empty() ? "no" : "refused", Verdict::kBad);
}

std::string used_types(const CheckedOperation& row) {
  std::vector<std::string> types;
  for (const CheckedType& type : row.types) {
    for (const std::string& used : type.used) add_new(types, used);
  }
  return types.empty() ? "-" : join(types, ", ");
}

std::string allowed_types(const CheckedOperation& row) {
  const auto types = mapped(row.types, [](const CheckedType& type) {
    return type.attribute + ": " + join(type.allowed, ", ");
  });
  return join(types, "; ");
}

// The batch sizes that have code for a level.
std::vector<std::int64_t> sizes_made(const SignatureCheck& check, const std::string& level) {
  std::vector<std::int64_t> sizes;
  for (const CheckedCode& code : check.found.codes) {
    if (code.cpu_level == level) sizes.push_back(code.batch_size);
  }
  return sizes;
}

// At most kNamedNodes of them.
std::string node_names(const CheckedOperation& row) {
  std::vector<std::string> names;
  for (const CheckedNode& node : row.nodes) {
    if (names.size() == kNamedNodes) {
      names.push_back(fmt::format("and {} more", row.nodes.size() - kNamedNodes));
      break;
    }
    names.push_back(node.function.empty() ? fmt::format("'{}'", shown(node.name))
                                          : fmt::format("'{}' in function '{}'", shown(node.name),
                                                        shown(node.function)));
  }
  return join(names, ", ");
}

// True if it may be the reason why a model does not compile.
bool is_remarkable(const CheckedOperation& row) {
  const bool is_compiled =
      row.support == OperationSupport::kKernel || row.support == OperationSupport::kStructure;
  return !is_compiled || !row.traits.empty();
}

Callout remark_of(const CheckedOperation& row) {
  Callout remark{.text = fmt::format("{}: node{} {}", row.operation,
                                     row.nodes.size() == 1 ? "" : "s", node_names(row)),
                 .notes = mapped(row.traits, trait_text)};
  if (row.support == OperationSupport::kTypes) {
    remark.notes.push_back("has a kernel for " + allowed_types(row));
  }
  if (!row.advice.empty()) remark.notes.push_back("instead: " + row.advice);
  return remark;
}

Table checked_operations(const std::vector<CheckedOperation>& operations) {
  Table table{.caption = "Operations that the outputs need",
              .columns = {{"operation", ColumnKind::kCode},
                          {"nodes", ColumnKind::kNumber},
                          {"kernel"},
                          {"types"},
                          {"names of the nodes", ColumnKind::kCode, Where::kPage}},
              .empty = "no operation was read"};
  for (const CheckedOperation& row : operations) {
    table.rows.push_back({{row.operation},
                          number_cell(static_cast<std::int64_t>(row.nodes.size())),
                          support_cell(row),
                          {used_types(row)},
                          {node_names(row)}});
  }
  return table;
}

// A row for each CPU level, a column for each batch size.
Table code_table(const SignatureCheck& check) {
  Table table{.caption = "Code by CPU level and batch size",
              .columns = {{"CPU level"}},
              .where = Where::kPage};
  for (const std::int64_t size : check.batch_sizes) table.columns.push_back({std::to_string(size)});
  for (const std::string& level : check.cpu_levels) {
    const auto made = sizes_made(check, level);
    std::vector<Cell> cells = {{level}};
    for (const std::int64_t size : check.batch_sizes) {
      const bool is_made = contains(made, size);
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

// That compiled code keeps (docs/reproducibility.md): the engine makes no other.
std::vector<std::vector<std::string>> same_bit_levels(const SignatureCheck& check) {
  if (!check.compiles) return {};
  const auto features_of = [](const std::string& name) {
    const std::string level = name == "native" ? native_cpu_level() : name;
    return LevelFeatures{name, cpu_level(level).features};
  };
  return levels_of_same_bits(check.target_triple, check.compute,
                             mapped(check.cpu_levels, features_of));
}

// "a row in any batch and thread, on any machine; at x86-64-v3, x86-64-v4 alike"
std::string same_bits_text(const SignatureCheck& check) {
  if (!check.compiles) return "";
  std::string text = check.rows == RowsMode::kAlone ? "a row in any batch and thread"
                                                    : "a batch in any number of threads";
  // Rows may mix that are taken to be alone: only a warning says so.
  if (check.rows == RowsMode::kAlone && !check.warnings.empty()) {
    text += ", unless rows mix (see the warnings)";
  }
  text += check.compute == ComputeType::kFloat32 ? ", on any machine"
                                                 : ", on machines with the same instructions";
  for (const auto& group : same_bit_levels(check)) {
    if (group.size() > 1) text += fmt::format("; at {} alike", join(group, ", "));
  }
  return text;
}

Section checked_signature(const SignatureCheck& check) {
  Section section;
  section.title = check.signature.empty() ? "Graph" : "Signature " + check.signature;
  section.badge = badge_of(check.compiles);
  report::Facts facts{{{"target", check.target_triple}, {"rows", word_of(check.rows)}}};
  for (const std::string& level : check.cpu_levels) {
    const auto sizes = sizes_made(check, level);
    facts.facts.push_back(
        {level,
         sizes.empty() ? "no code" : fmt::format("code for batch sizes {}", fmt::join(sizes, ", ")),
         Where::kText});
  }
  facts.facts.push_back({"same bits", same_bits_text(check)});
  section.blocks.emplace_back(std::move(facts));
  const std::vector<ModelProblem>& problems = check.found.problems;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    section.blocks.emplace_back(Callout{Verdict::kBad, problems[i].message, problems[i].notes,
                                        i < kShownProblems ? Where::kBoth : Where::kPage});
  }
  if (problems.size() > kShownProblems) {
    section.blocks.emplace_back(
        report::Text{fmt::format("and {} more problems; --json and --html show all",
                                 problems.size() - kShownProblems),
                     Where::kText});
  }
  for (const std::string& warning : check.warnings) {
    section.blocks.emplace_back(Callout{Verdict::kWarning, warning});
  }
  if (!check.cpu_levels.empty()) section.blocks.emplace_back(code_table(check));
  section.blocks.emplace_back(checked_operations(check.found.operations));
  for (const CheckedOperation& row : check.found.operations) {
    if (is_remarkable(row)) section.blocks.emplace_back(remark_of(row));
  }
  return section;
}

ordered_json checked_to_json(const SignatureCheck& check) {
  ordered_json codes = ordered_json::array();
  for (const std::string& level : check.cpu_levels) {
    const auto made = sizes_made(check, level);
    for (const std::int64_t size : check.batch_sizes) {
      codes.push_back({{"batch_size", size}, {"cpu_level", level}, {"made", contains(made, size)}});
    }
  }
  return {{"signature", check.signature},
          {"compiles", check.compiles},
          {"target_triple", check.target_triple},
          {"cpu_levels", check.cpu_levels},
          {"batch_sizes", check.batch_sizes},
          {"rows", word_of(check.rows)},
          {"same_bits", same_bit_levels(check)},
          {"codes", std::move(codes)},
          {"problems", problems_to_json(check.found.problems)},
          {"warnings", check.warnings},
          {"operations", operations_to_json(check.found.operations)}};
}

// `tfaot check --ops`: what of models of one format can be compiled.

struct KnownOperations {
  ModelFormat format = ModelFormat::kSavedModel;
  std::vector<CheckedOperation> operations;

  bool are_of_onnx() const { return format == ModelFormat::kOnnx; }
};

bool is_refused(const CheckedOperation& row) {
  return std::ranges::any_of(
      row.traits, [](OperationTrait trait) { return trait != OperationTrait::kDataDependentSize; });
}

struct OnnxName {
  std::string name;
  std::string domain;  // "ai.onnx" is ONNX's own
};
OnnxName onnx_name(const CheckedOperation& row) {
  const std::size_t dot = row.operation.rfind('.');
  if (dot == std::string::npos) return {row.operation, "ai.onnx"};
  return {row.operation.substr(dot + 1), row.operation.substr(0, dot)};
}

Table known_table(const KnownOperations& known) {
  constexpr ColumnKind kCode = ColumnKind::kCode;
  Table table{
      .caption = "Operators of ONNX",
      .columns = {
          {"Operator", kCode}, {"Domain"}, {"From opset"}, {"Inputs that must be constants"}}};
  if (known.are_of_onnx()) {
    for (const CheckedOperation& row : known.operations) {
      const OnnxName name = onnx_name(row);
      table.rows.push_back({{name.name},
                            {name.domain},
                            {std::to_string(row.oldest_opset)},
                            {join(row.constant_inputs, ", ")}});
    }
    return table;
  }
  table.caption = "Operations that XLA has kernels for";
  table.columns = {{"Operation", kCode},
                   {"Types", kCode},
                   {"Inputs that must be constants", kCode},
                   {"Remarks"}};
  for (const CheckedOperation& row : known.operations) {
    const auto types = mapped(row.types, [](const CheckedType& type) {
      return fmt::format("{}={{{}}}", type.attribute, join(type.allowed, ","));
    });
    std::vector<std::string> remarks = mapped(row.traits, trait_text);
    if (is_refused(row)) remarks.insert(remarks.begin(), "refused if an output needs it");
    table.rows.push_back({{row.operation},
                          {join(types, " ")},
                          {join(row.constant_inputs, " ")},
                          {join(remarks, ": ")}});
  }
  return table;
}

// As Markdown, for docs.
std::string markdown_of(const Table& table) {
  std::string text = "|";
  for (const report::Column& column : table.columns) text += " " + column.title + " |";
  text += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += "---|";
  for (const std::vector<Cell>& row : table.rows) {
    text += "\n|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_code = table.columns[i].kind == ColumnKind::kCode && !row[i].text.empty();
      text += fmt::format(" {} |", is_code ? "`" + row[i].text + "`" : row[i].text);
    }
  }
  return text + "\n";
}

std::string operations_text(const KnownOperations& known) {
  const std::size_t count = known.operations.size();
  const std::string table = markdown_of(known_table(known));
  if (known.are_of_onnx()) return fmt::format("{}\n{} operators.\n", table, count);
  return fmt::format(
      "**Operations that tfaot compiles** (kernels of XLA for device {})\n\n{}\n{} operations, {} "
      "of them refused if an output needs them.\n",
      kCompiledDevice, table, count, std::ranges::count_if(known.operations, is_refused));
}

report::Page operations_page(const KnownOperations& known) {
  report::Page page;
  page.kind = "operations";
  page.title = "What tfaot compiles";
  page.summary = known.are_of_onnx()
                     ? "Operators of ONNX models."
                     : fmt::format("Kernels of XLA for the device {}.", kCompiledDevice);
  page.highlights = {{"operations", std::to_string(known.operations.size()), ""}};
  page.sections = {{"Operations", {}, {known_table(known)}}};
  return page;
}

ordered_json known_operations_to_json(const KnownOperations& known) {
  ordered_json list = ordered_json::array();
  if (known.are_of_onnx()) {
    for (const CheckedOperation& row : known.operations) {
      const OnnxName name = onnx_name(row);
      list.push_back({{"operator", name.name},
                      {"domain", name.domain},
                      {"oldest_opset", row.oldest_opset},
                      {"constant_inputs", row.constant_inputs}});
    }
    return {{"kind", "operators"}, {"operators", std::move(list)}};
  }
  for (const CheckedOperation& row : known.operations) {
    ordered_json types = ordered_json::object();
    for (const CheckedType& type : row.types) types[type.attribute] = type.allowed;
    list.push_back({{"operation", row.operation},
                    {"types", std::move(types)},
                    {"constant_inputs", row.constant_inputs},
                    {"refused", is_refused(row)},
                    {"traits", mapped(row.traits, word_of<OperationTrait>)}});
  }
  return {{"kind", "operations"}, {"device", kCompiledDevice}, {"operations", std::move(list)}};
}

// The verb.

struct CheckArguments {
  std::string path;
  bool lists_operations = false;
  ModelFormat format = ModelFormat::kSavedModel;  // whose operations
  HtmlOption html;
  CheckRequest request;
};

Status list_operations(const CheckArguments& options, Program& program) {
  KnownOperations known{options.format, {}};
  TFAOT_ASSIGN(known.operations,
               compiled_operations(program, options.format, options.request.engine));
  const auto json = known_operations_to_json(known);
  program.console.print(program.json ? json_text(json) : operations_text(known));
  return options.html.given() ? options.html.write(program, operations_page(known), json)
                              : Status();
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
  report::Page page = check_page(found, options.path);
  page.title = request.path.filename().string();
  TFAOT_TRY(options.html.show(program, std::move(page), check_to_json(found, options.path)));
  if (found.compiles()) return {};
  return fail(Error::at({options.path}, "does not compile"));
}

}  // namespace

report::Page check_page(const ModelCheck& check, const std::string& path) {
  report::Page page;
  page.kind = "check";
  page.heading = fmt::format("{} {}", check.is_config ? "config" : word_of(check.format), path);
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

ordered_json check_to_json(const ModelCheck& check, const std::string& path) {
  return {{"kind", check.is_config ? "config" : "model"},
          {"path", path},
          {"format", word_of(check.format)},
          {"compiles", check.compiles()},
          {"signatures", mapped(check.signatures, checked_to_json)}};
}

Action add_check(CLI::App& app) {
  auto options = std::make_shared<CheckArguments>();
  CheckRequest& request = options->request;
  auto* path = add_value(app, "MODEL", options->path,
                         "a config, a SavedModel's folder, an ONNX file, a frozen\ngraph or a "
                         "file with StableHLO");
  auto* operations =
      app.add_flag("--ops", options->lists_operations, "list the operations that can be compiled")
          ->excludes(path)
          ->option_text(" ");
  add_word_option<ModelFormat>(app, "--format", options->format,
                               "whose operations: TensorFlow's or ONNX's [saved_model]")
      ->needs(operations);
  options->html.add_to(app);
  add_value(app, "--signature KEY", request.signature, "of a model: check only this one [all]");
  add_list(app, "--batch-sizes N,...", request.overrides.batch_sizes,
           "instead of the config's [of a model: 1,2,4,8,16,32,\nor the one that it fixes]");
  add_list(app, "--cpu-levels A,B", request.overrides.cpu_levels, "instead of the config's");
  add_value(app, "--target-triple T", request.overrides.target_triple, "instead of the config's");
  add_model_modes(app, request.overrides);
  add_dimensions(app, request.overrides.dimensions);
  add_engine_program(app, request.engine);
  app.footer(
      R"(Compiles the model as 'tfaot compile' does and keeps nothing but the cached code. Lists every
problem that it finds, with its node, and all operations. The exit code is 0 if everything
that was checked compiles, and 1 if not.
Examples:
  tfaot check aot_config.yaml
  tfaot check exports/tagger --signature serving_default --batch-sizes 1,4
  tfaot check net.onnx --dimension n_tracks=50
  tfaot check --ops --format onnx)");
  return [options](Program& program) { return check(*options, program); };
}

}  // namespace tfaot::toolkit
