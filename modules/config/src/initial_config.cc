// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/initial_config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tfaot/base/pattern.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/config/config_keys.h"
#include "tfaot/records/cpp_names.h"
#include "yaml_text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kColumns = 100;
constexpr const char* kUsualSizes = "[1, 2, 4, 8, 16, 32]";

// As YAML: quoted only if a plain text would be something else.
std::string yaml_of(const std::string& text) {
  const bool is_plain = std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '.' || c == '/' || c == '-';
  });
  const bool starts_well = !text.empty() && text.front() != '-';
  if (is_plain && starts_well && config::kind_of(YAML::Load(text)) == config::YamlKind::kText) {
    return text;
  }
  YAML::Emitter emitter;
  emitter << YAML::DoubleQuoted << text;
  return emitter.c_str();
}

std::string yaml_of(const std::vector<std::string>& texts) {
  return "[" + join(mapped(texts, [&](const std::string& text) { return yaml_of(text); }), ", ") +
         "]";
}

// A comment in lines of at most kColumns.
void add_comment(std::string& text, const std::string& indent, const std::string& comment) {
  std::istringstream words(printable_line(comment));
  std::string line;
  const auto end_line = [&] { text += indent + "#" + std::exchange(line, "") + "\n"; };
  for (std::string word; words >> word;) {
    if (indent.size() + line.size() + word.size() + 2 > kColumns && !line.empty()) end_line();
    line += " " + word;
  }
  if (!line.empty()) end_line();
}

// A name that the exporter made up: "output_0", "Identity_1:0", "StatefulPartitionedCall:0", "42".
bool says_nothing(const std::string& name) {
  static const Pattern made_up(
      "(output(_?\\d+)?|Identity(_\\d+)?|(Stateful)?PartitionedCall(_\\d+)?|\\d+)(:\\d+)?");
  return name.size() < kColumns && made_up.matches(name);
}

std::string described(const DescribedTensor& tensor) {
  std::string text =
      fmt::format("{} {} {}", tensor.name, tensor.dtype,
                  tensor.rank_known ? "(" + sizes_text(tensor) + ")" : "of unknown shape");
  if (!tensor.origin.empty() && tensor.origin != tensor.name && says_nothing(tensor.name)) {
    text += " from node " + tensor.origin;
  }
  return text;
}

std::string described(const std::vector<DescribedTensor>& tensors) {
  const auto text_of = [](const DescribedTensor& tensor) { return described(tensor); };
  return tensors.empty() ? "none" : join(mapped(tensors, text_of), "; ");
}

std::vector<std::string> names_of(const std::vector<DescribedTensor>& tensors) {
  return mapped(tensors, &DescribedTensor::name);
}

// An open first dimension is a batch, and the same fixed one of all inputs may be.
bool has_no_batch(const DescribedSignature& signature) {
  std::set<std::int64_t> sizes;
  bool has_scalar = false;
  for (const DescribedTensor& input : signature.inputs) {
    if (!input.rank_known) continue;
    has_scalar = has_scalar || input.shape.empty();
    if (!input.shape.empty()) sizes.insert(input.shape.front());
  }
  return sizes.count(-1) == 0 && (has_scalar || sizes.size() > 1);
}

std::string yaml_of(const std::vector<ModelConstant>& constants) {
  const auto values = mapped(constants, [](const ModelConstant& one) {
    return yaml_of(one.name) + ": " + value_text(one);
  });
  return "{" + join(values, ", ") + "}";
}

std::string batch_sizes_of(const DescribedSignature& signature,
                           const std::vector<std::int64_t>& wanted) {
  if (!wanted.empty()) return fmt::format("[{}]", fmt::join(wanted, ", "));
  for (const DescribedTensor& input : signature.inputs) {
    const bool fixes = input.rank_known && !input.shape.empty() && input.shape.front() > 0;
    if (fixes) return fmt::format("[{}]", input.shape.front());
  }
  return kUsualSizes;
}

// The values that differ from the defaults, or have none, by key.
std::map<std::string, std::string> values_of(const ModelDescription& model,
                                             const DescribedSignature& signature,
                                             const InitialConfig& given) {
  std::map<std::string, std::string> values = {
      {"model.name", yaml_of(given.name)},
      {"model.version", yaml_of(given.version)},
      {std::string("model.") + word_of(model.format), yaml_of(given.source)}};
  if (given.no_batch || (given.batch_sizes.empty() && has_no_batch(signature))) {
    values["compilation.batch"] = word_of(BatchMode::kNone);
  } else {
    values["compilation.batch_sizes"] = batch_sizes_of(signature, given.batch_sizes);
  }
  if (!signature.constants.empty()) values["model.constants"] = yaml_of(signature.constants);
  switch (model.format) {
    case ModelFormat::kSavedModel:
      values["model.serving_key"] = yaml_of(signature.key);
      return values;
    case ModelFormat::kFrozenGraph:
      values["model.inputs"] = yaml_of(names_of(signature.inputs));
      values["model.outputs"] = yaml_of(names_of(signature.outputs));
      break;
    case ModelFormat::kOnnx:
    case ModelFormat::kStableHlo:
      break;
  }
  values["model.format"] = word_of(model.format);
  if (given.any_opset) values["model.opset"] = word_of(OpsetMode::kAny);
  return values;
}

// An example in place of the default, as a comment; empty: the default.
std::string example_of(const std::string& key, const DescribedSignature& signature) {
  const bool is_free = key == "compilation.dimensions";
  if (key != "model.dimensions" && !is_free) return "";
  const std::vector<std::string> sizes = mapped(
      open_dimensions(signature),
      [&](const std::string& name) { return yaml_of(name) + (is_free ? ": 1..128" : ": 10"); });
  return sizes.empty() ? "" : "{" + join(sizes, ", ") + "}";
}

// Keras' export names outputs by their numbers, and inputs by what the program made before.
std::string remark_on_names(const DescribedSignature& signature) {
  for (const auto* tensors : {&signature.inputs, &signature.outputs}) {
    for (const DescribedTensor& tensor : *tensors) {
      const std::size_t numbered = tensor.name.find_last_not_of("0123456789");
      const std::string word = tensor.name.substr(0, numbered + 1);
      const bool is_number = word == "output_" && word != tensor.name;
      if (!is_number && word != "keras_tensor" && word != "keras_tensor_") continue;
      return fmt::format(
          " '{}' is a name that Keras made up, and C++ code uses it: docs/models.md shows how to "
          "export the model with names of your choice.",
          tensor.name);
    }
  }
  return "";
}

// What the reader should know about the value of a key, besides the key's own description.
std::string remark_on(const std::string& key, const ModelDescription& model,
                      const DescribedSignature& signature) {
  if (key == "model.inputs") {
    std::string text = "Here: " + described(signature.inputs) + ".";
    for (const DescribedTensor& input : signature.inputs) {
      if (input.rank_known) continue;
      text += fmt::format(
          " The graph does not say the shape of {0}: write it, as in "
          "{{name: {0}, shape: [null, 3]}}.",
          input.name);
    }
    return text;
  }
  if (key == "model.outputs") return "Here: " + described(signature.outputs) + ".";
  if (key == "model.onnx" || key == "model.stablehlo") {
    return fmt::format("Inputs: {}. Outputs: {}.", described(signature.inputs),
                       described(signature.outputs));
  }
  if (key == "model.dimensions") {
    const std::vector<std::string> names = open_dimensions(signature);
    return names.empty() ? "" : fmt::format("This model leaves open: {}.", join(names, ", "));
  }
  if (key == "model.constants" && !signature.constants.empty()) {
    return "This model needs the value of each of these; false and 0 are guesses.";
  }
  if (key != "model.serving_key") return "";
  std::vector<std::string> others = mapped(model.signatures, &DescribedSignature::key);
  std::erase(others, signature.key);
  return fmt::format("Inputs: {}. Outputs: {}.{}{}", described(signature.inputs),
                     described(signature.outputs), remark_on_names(signature),
                     others.empty() ? "" : " Other signatures: " + join(others, ", ") + ".");
}

// What comes after the key's name; `example` is a comment.
struct InitialValue {
  std::string value;
  std::string example;
};

void add_key(std::string& text, const ConfigKey& key, const InitialValue& initial,
             const std::string& remark) {
  constexpr const char* kIndent = "  ";
  add_comment(text, kIndent, key.doc);
  add_comment(text, kIndent, remark);
  if (!key.allowed.empty() && key.text.meaning.empty()) {
    add_comment(text, kIndent, "One of: " + join(key.allowed, ", ") + ".");
  }
  if (!initial.value.empty()) {
    text += fmt::format("{}{}: {}\n", kIndent, key_name(key), initial.value);
    return;
  }
  std::string example = initial.example.empty() ? key.fallback : initial.example;
  if (example.empty()) example = "...";
  text += fmt::format("{}# {}: {}\n", kIndent, key_name(key), example);
}

}  // namespace

std::vector<std::string> open_dimensions(const DescribedSignature& signature) {
  std::vector<std::string> names;
  for (const DescribedTensor& input : signature.inputs) {
    for (std::size_t i = has_no_batch(signature) ? 0 : 1; i < input.dimensions.size(); ++i) {
      const std::string& name = input.dimensions[i];
      if (!name.empty()) add_new(names, name);
    }
  }
  return names;
}

Result<const DescribedSignature*> initial_signature(const ModelDescription& model,
                                                    const std::string& serving_key) {
  const std::string wanted =
      serving_key.empty() ? config_key("model.serving_key").fallback : serving_key;
  const auto found = std::ranges::find(model.signatures, wanted, &DescribedSignature::key);
  if (found != model.signatures.end()) return &*found;
  if (serving_key.empty() && !model.signatures.empty()) return &model.signatures.front();
  const std::vector<std::string> keys = mapped(model.signatures, &DescribedSignature::key);
  Error error(fmt::format("there is no signature '{}'", serving_key));
  error.note("the model's signatures: " + join(keys, ", "));
  if (const auto close = closest_match(serving_key, keys)) {
    error.note(fmt::format("did you mean '{}'?", *close));
  }
  return fail(std::move(error));
}

std::string initial_config(const ModelDescription& model, const DescribedSignature& signature,
                           const InitialConfig& values) {
  const auto by_key = values_of(model, signature, values);
  std::string text = "# How tfaot compiles this model; docs/config.md describes every key.\n";
  for (const ConfigKey* section : children_of("")) {
    if (section->type != KeyType::kMap) continue;
    text += fmt::format("\n# {}\n{}:\n", section->doc, section->path);
    for (const ConfigKey* key : children_of(section->path)) {
      if (!key->formats.empty() && !belongs_to(*key, model.format)) continue;
      const auto value = by_key.find(key->path);
      add_key(text, *key,
              {value == by_key.end() ? "" : value->second, example_of(key->path, signature)},
              remark_on(key->path, model, signature));
    }
  }
  return text;
}

std::string suggested_model_name(const Path& model) {
  const std::string name = name_from_path(model);
  return check_cpp_name(name, false) ? name + "_model" : name;
}

}  // namespace tfaot::toolkit
