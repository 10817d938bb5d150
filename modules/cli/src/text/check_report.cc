// SPDX-License-Identifier: Apache-2.0
#include "text/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/text_table.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/model_check_json.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kShownNodes = 3;
constexpr std::size_t kShownProblems = 20;
constexpr std::size_t kProblemLine = 1000;

// Whether it may be the reason why a model does not compile.
bool is_remarkable(const CheckedOperation& row) {
  const bool is_compiled =
      row.support == OperationSupport::kKernel || row.support == OperationSupport::kStructure;
  return !is_compiled || !row.traits.empty();
}

std::string nodes_text(const CheckedOperation& row) {
  std::vector<std::string> names;
  for (const CheckedNode& node : row.nodes) {
    if (names.size() == kShownNodes) {
      names.push_back(fmt::format("and {} more", row.nodes.size() - kShownNodes));
      break;
    }
    names.push_back(node.function.empty() ? fmt::format("'{}'", shown(node.name))
                                          : fmt::format("'{}' in function '{}'", shown(node.name),
                                                        shown(node.function)));
  }
  return join(names, ", ");
}

std::string operations_table(const std::vector<CheckedOperation>& operations) {
  Rows table = {{"  operation", "nodes", "kernel", "types"}};
  for (const CheckedOperation& row : operations) {
    table.push_back({"  " + shown(row.operation), std::to_string(row.nodes.size()),
                     support_text(row), used_types(row)});
  }
  return operations.empty() ? "" : "\n" + text_table(table);
}

std::string remarks_text(const std::vector<CheckedOperation>& operations) {
  std::string text;
  for (const CheckedOperation& row : operations) {
    if (!is_remarkable(row)) continue;
    text += fmt::format("  {}: node{} {}\n", shown(row.operation), row.nodes.size() == 1 ? "" : "s",
                        nodes_text(row));
    for (const OperationTrait trait : row.traits) text += "    " + trait_text(trait) + "\n";
    if (row.support == OperationSupport::kTypes) {
      text += fmt::format("    has a kernel for {}\n", allowed_types(row));
    }
    if (!row.advice.empty()) text += "    instead: " + row.advice + "\n";
  }
  return text.empty() ? "" : "\n  operations to look at\n" + text;
}

std::string problem_text(const ModelProblem& problem) {
  std::string text = "  problem: " + shown(problem.message, kProblemLine) + "\n";
  for (const std::string& note : problem.notes) text += "    " + shown(note, kProblemLine) + "\n";
  return text;
}

std::string problems_text(const std::vector<ModelProblem>& problems) {
  std::string text;
  for (std::size_t i = 0; i < problems.size() && i < kShownProblems; ++i) {
    text += problem_text(problems[i]);
  }
  if (problems.size() > kShownProblems) {
    text +=
        fmt::format("  and {} more problems; --json has all\n", problems.size() - kShownProblems);
  }
  return text.empty() ? "" : "\n" + text;
}

std::string signature_text(const SignatureCheck& check) {
  Rows facts;
  if (!check.target_triple.empty()) facts.push_back({"  target", check.target_triple});
  for (const std::string& level : check.cpu_levels) {
    const auto sizes = sizes_made(check, level);
    facts.push_back({"  " + level, sizes.empty() ? "no code"
                                                 : fmt::format("code for batch sizes {}",
                                                               fmt::join(sizes, ", "))});
  }
  std::string text = fmt::format(
      "\n{}: {}\n", check.signature.empty() ? "graph" : "signature " + shown(check.signature),
      check.compiles ? "compiles" : "does not compile");
  text += text_table(facts);
  text += problems_text(check.found.problems);
  for (const std::string& warning : check.warnings) {
    text += "\n  warning: " + shown(warning, kProblemLine) + "\n";
  }
  return text + operations_table(check.found.operations) + remarks_text(check.found.operations);
}

ordered_json signature_to_json(const SignatureCheck& check) {
  ordered_json codes = ordered_json::array();
  for (const std::string& level : check.cpu_levels) {
    const auto made = sizes_made(check, level);
    for (const std::int64_t size : check.batch_sizes) {
      codes.push_back({{"batch_size", size},
                       {"cpu_level", level},
                       {"made", std::ranges::find(made, size) != made.end()}});
    }
  }
  return {{"signature", check.signature},
          {"compiles", check.compiles},
          {"target_triple", check.target_triple},
          {"cpu_levels", check.cpu_levels},
          {"batch_sizes", check.batch_sizes},
          {"rows", word_of(check.rows)},
          {"codes", std::move(codes)},
          {"problems", problems_to_json(check.found.problems)},
          {"warnings", check.warnings},
          {"operations", operations_to_json(check.found.operations)}};
}

bool is_refused(const CheckedOperation& row) {
  return std::ranges::any_of(
      row.traits, [](OperationTrait trait) { return trait != OperationTrait::kDataDependentSize; });
}

std::string cell(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

struct OnnxName {
  std::string name;
  std::string domain;  // "ai.onnx" is ONNX's own
};
OnnxName onnx_name(const CheckedOperation& row) {
  const std::size_t dot = row.operation.rfind('.');
  if (dot == std::string::npos) return {row.operation, "ai.onnx"};
  return {row.operation.substr(dot + 1), row.operation.substr(0, dot)};
}

std::string onnx_operators_text(const std::vector<CheckedOperation>& operators) {
  std::string text =
      "| Operator | Domain | From opset | Inputs that must be constants |\n|---|---|---|---|\n";
  for (const CheckedOperation& row : operators) {
    const OnnxName name = onnx_name(row);
    text += fmt::format("| {} | {} | {} | {} |\n", cell(name.name), name.domain, row.oldest_opset,
                        join(row.constant_inputs, ", "));
  }
  return text + fmt::format("\n{} operators.\n", operators.size());
}

}  // namespace

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

std::string support_text(const CheckedOperation& row) {
  switch (row.support) {
    case OperationSupport::kKernel:
      return "yes";
    case OperationSupport::kStructure:
      return "not needed";
    case OperationSupport::kTypes:
      return "other types";
    case OperationSupport::kConstant:
      return "no; constants only";
    case OperationSupport::kRefused:
      break;
  }
  return row.traits.empty() ? "no" : "refused";
}

std::string used_types(const CheckedOperation& row) {
  std::vector<std::string> types;
  for (const CheckedType& type : row.types) {
    for (const std::string& used : type.used) {
      if (std::ranges::find(types, used) == types.end()) types.push_back(used);
    }
  }
  return types.empty() ? "-" : join(types, ", ");
}

std::string allowed_types(const CheckedOperation& row) {
  std::vector<std::string> types;
  for (const CheckedType& type : row.types) {
    types.push_back(type.attribute + ": " + join(type.allowed, ", "));
  }
  return join(types, "; ");
}

std::vector<std::int64_t> sizes_made(const SignatureCheck& check, const std::string& level) {
  std::vector<std::int64_t> sizes;
  for (const CheckedCode& code : check.found.codes) {
    if (code.cpu_level == level) sizes.push_back(code.batch_size);
  }
  return sizes;
}

std::string check_text(const ModelCheck& check, const std::string& path) {
  std::string text = fmt::format("{} {}: {}\n", check.is_config ? "config" : word_of(check.format),
                                 path, check.compiles() ? "compiles" : "does not compile");
  for (const SignatureCheck& one : check.signatures) text += signature_text(one);
  return text;
}

ordered_json check_to_json(const ModelCheck& check, const std::string& path) {
  ordered_json signatures = ordered_json::array();
  for (const SignatureCheck& one : check.signatures) signatures.push_back(signature_to_json(one));
  return {{"kind", check.is_config ? "config" : "model"},
          {"path", path},
          {"format", word_of(check.format)},
          {"compiles", check.compiles()},
          {"signatures", std::move(signatures)}};
}

std::string operations_text(const KnownOperations& known) {
  const std::vector<CheckedOperation>& operations = known.operations;
  if (known.format == ModelFormat::kOnnx) return onnx_operators_text(operations);
  std::string text = fmt::format(
      "**Operations that tfaot compiles** (kernels of XLA for device {})\n\n"
      "| Operation | Types | Inputs that must be constants | Remarks |\n|---|---|---|---|\n",
      kCompiledDevice);
  for (const CheckedOperation& row : operations) {
    std::vector<std::string> types;
    for (const CheckedType& type : row.types) {
      types.push_back(fmt::format("{}={{{}}}", type.attribute, join(type.allowed, ",")));
    }
    std::vector<std::string> remarks;
    for (const OperationTrait trait : row.traits) remarks.push_back(trait_text(trait));
    if (is_refused(row)) remarks.insert(remarks.begin(), "refused if an output needs it");
    text += fmt::format("| {} | {} | {} | {} |\n", cell(row.operation), cell(join(types, " ")),
                        cell(join(row.constant_inputs, " ")), join(remarks, ": "));
  }
  const auto refused = std::ranges::count_if(operations, is_refused);
  return text + fmt::format("\n{} operations, {} of them refused if an output needs them.\n",
                            operations.size(), refused);
}

ordered_json known_operations_to_json(const KnownOperations& known) {
  ordered_json list = ordered_json::array();
  if (known.format == ModelFormat::kOnnx) {
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
    ordered_json traits = ordered_json::array();
    for (const OperationTrait trait : row.traits) traits.push_back(word_of(trait));
    list.push_back({{"operation", row.operation},
                    {"types", std::move(types)},
                    {"constant_inputs", row.constant_inputs},
                    {"refused", is_refused(row)},
                    {"traits", std::move(traits)}});
  }
  return {{"kind", "operations"}, {"device", kCompiledDevice}, {"operations", std::move(list)}};
}

}  // namespace tfaot::toolkit
