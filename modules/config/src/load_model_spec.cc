// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "check_model.h"
#include "check_source.h"
#include "overrides.h"
#include "problems.h"
#include "tfaot/base/limits.h"
#include "tfaot/config/config.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/names.h"
#include "value_checker.h"
#include "yaml_text.h"

namespace tfaot::toolkit {
namespace {

using config::Problems;
using config::ValueChecker;
using config::Values;

Result<YAML::Node> read_config(const FileSystem& fs, const Path& file) {
  const Location where{.file = file.string()};
  if (fs.kind(file) == FileKind::kMissing) {
    return fail(Error::at(where, "the config file is missing")
                    .note("it is usually called aot_config.yaml; see docs/config.md"));
  }
  if (is_folder(fs, file)) {
    return fail(Error::at(where, "the config is a folder, not a file")
                    .note("give the file in it, usually aot_config.yaml"));
  }
  TFAOT_ASSIGN(const std::string text, read_limited(fs, file, kConfigLimit));
  if (text.find('\0') != std::string::npos) {
    return fail(Error::at(where, "the config is not a text file")
                    .note("give the file that describes the model, usually aot_config.yaml"));
  }
  TFAOT_ASSIGN(YAML::Node root, config::parse_yaml(text, file.string()));
  if (!root.IsMap()) {
    return fail(
        Error::at(config::location_of(file.string(), root.Mark()),
                  fmt::format("the config is {}, but it must be a map", config::describe(root)))
            .note("it needs the keys 'model' and 'compilation'"));
  }
  return root;
}

// The values of the file and of the options; every fault goes to `problems`.
Values checked_values(const YAML::Node& root, Values options, Problems& problems) {
  std::set<std::string> given;
  for (const auto& [path, value] : options) given.insert(path);
  if (given.count("compilation.batch_sizes")) given.insert("compilation");
  ValueChecker checker(problems, given);
  Values values;
  checker.check_map("", root, root.Mark(), values);
  for (auto& [path, value] : options) {
    value.good = checker.check_value(config_key(path), value);
    values.erase(path);  // assigning would change the node in the file's tree, and its aliases
    values.emplace(path, value);
  }
  return values;
}

std::string text_of(const Values& values, const std::string& path) {
  return config::node_or_default(values, path).Scalar();
}

std::vector<std::string> texts_of(const Values& values, const std::string& path) {
  std::vector<std::string> texts;
  for (const YAML::Node& item : config::node_or_default(values, path)) {
    texts.push_back(item.Scalar());
  }
  return texts;
}

FrozenInput frozen_input_of(const YAML::Node& item) {
  FrozenInput input;
  input.name = item.IsMap() ? item["name"].Scalar() : item.Scalar();
  if (!item.IsMap()) return input;
  if (const YAML::Node dtype = item["dtype"]; dtype && !dtype.IsNull()) {
    input.dtype = parse_word<DType>(dtype.Scalar());
  }
  if (const YAML::Node shape = item["shape"]; shape && !shape.IsNull()) {
    input.row_shape.emplace();
    for (std::size_t i = 1; i < shape.size(); ++i) {
      input.row_shape->push_back(shape[i].as<std::int64_t>());
    }
  }
  return input;
}

ModelSection model_of(const Values& values, const Path& config_file) {
  ModelSection model;
  model.name = text_of(values, "model.name");
  model.version = text_of(values, "model.version");
  model.format = config::word_at<ModelFormat>(values, "model.format");
  model.source = config::source_of(values, config_file);
  model.written_source = config::written_source_of(values);
  model.author = text_of(values, "model.author");
  model.description = text_of(values, "model.description");
  if (model.format == ModelFormat::kSavedModel) {
    model.serving_key = text_of(values, "model.serving_key");
  } else {
    model.serving_key.clear();
    for (const YAML::Node& item : values.at("model.inputs").node) {
      model.inputs.push_back(frozen_input_of(item));
    }
    model.outputs = texts_of(values, "model.outputs");
  }
  return model;
}

// The values of `table` that are in `chosen`, in the table's order.
std::vector<std::string> in_order_of(const std::vector<std::string>& table,
                                     const std::vector<std::string>& chosen) {
  std::vector<std::string> ordered;
  for (const std::string& name : table) {
    if (std::count(chosen.begin(), chosen.end(), name)) ordered.push_back(name);
  }
  return ordered;
}

CompilationSection compilation_of(const Values& values) {
  CompilationSection section;
  section.namespace_name = text_of(values, "compilation.namespace");
  section.target_triple = text_of(values, "compilation.target_triple");
  section.weights = config::word_at<WeightsMode>(values, "compilation.weights");
  section.headers = config::word_at<HeadersMode>(values, "compilation.headers");
  section.rows = config::word_at<RowsMode>(values, "compilation.rows");
  section.tf_xla_flags = texts_of(values, "compilation.tf_xla_flags");
  section.xla_flags = texts_of(values, "compilation.xla_flags");
  for (const YAML::Node& size : values.at("compilation.batch_sizes").node) {
    section.batch_sizes.push_back(size.as<std::int64_t>());
  }
  std::sort(section.batch_sizes.begin(), section.batch_sizes.end());
  const std::string architecture = processor_of(section.target_triple);
  section.cpu_levels = values.count("compilation.cpu_levels")
                           ? in_order_of(allowed_cpu_levels(architecture),
                                         texts_of(values, "compilation.cpu_levels"))
                           : default_cpu_levels(architecture);
  return section;
}

Result<ModelSpec> load(const FileSystem& fs, const Path& file, const ConfigOverrides& overrides) {
  TFAOT_ASSIGN(const YAML::Node root, read_config(fs, file));
  Problems problems(file.string());
  const Values values = checked_values(root, config::values_of(overrides), problems);
  config::check_format(values, problems);
  config::check_cpu_levels(values, problems);
  config::check_object_count(values, problems);
  config::check_rows(values, problems);
  config::check_source(fs, file, values, problems);
  if (problems.count() > 0) return fail(problems.to_error());
  return ModelSpec{
      .config_file = file, .model = model_of(values, file), .compilation = compilation_of(values)};
}

Result<ModelIdentity> identity(const FileSystem& fs, const Path& file) {
  TFAOT_ASSIGN(const YAML::Node root, read_config(fs, file));
  Problems problems(file.string());
  const Values values = checked_values(root, {}, problems);
  for (const char* const path : {"model.name", "model.version", "compilation.namespace"}) {
    const bool is_missing = config_key(path).fallback.empty() && !values.contains(path);
    if (is_missing || !config::is_usable(values, path)) return fail(problems.to_error());
  }
  return ModelIdentity{text_of(values, "model.name"), text_of(values, "compilation.namespace"),
                       text_of(values, "model.version")};
}

// yaml-cpp throws for faults that the checks above should have found.
template <class Read>
auto without_exceptions(const Path& file, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const YAML::Exception& e) {
    return fail(
        Error::internal(fmt::format("{}: reading the config: {}", file.string(), e.what())));
  }
}

}  // namespace

Result<ModelSpec> load_model_spec(const FileSystem& fs, const Path& file,
                                  const ConfigOverrides& overrides) {
  return without_exceptions(file, [&] { return load(fs, file, overrides); });
}

Result<ModelIdentity> load_model_identity(const FileSystem& fs, const Path& file) {
  return without_exceptions(file, [&] { return identity(fs, file); });
}

}  // namespace tfaot::toolkit
