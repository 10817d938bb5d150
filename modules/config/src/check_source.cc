// SPDX-License-Identifier: Apache-2.0
#include "check_source.h"

#include <fmt/format.h>

#include "check_model.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::config {
namespace {

bool is_frozen_graph(const Values& values) {
  return word_at<ModelFormat>(values, "model.format") == ModelFormat::kFrozenGraph;
}

std::string source_key(const Values& values) {
  return is_frozen_graph(values) ? "model.frozen_graph" : "model.saved_model";
}

void add_hints(const FileSystem& fs, const Path& path, const std::string& text, Error& error) {
  if (text.starts_with("~")) error.note("'~' is not expanded; write the whole path");
  if (text.find('$') != std::string::npos) {
    error.note("variables such as '$HOME' are not expanded; write the whole path");
  }
  const auto names = fs.list(path.parent_path());
  if (!names) {
    error.note("the folder " + path.parent_path().string() + " is missing, too");
  } else if (const auto match = closest_match(path.filename().string(), *names)) {
    error.note(fmt::format("did you mean '{}' in the same folder?", *match));
  }
}

void check_saved_model(const FileSystem& fs, const Path& path, FileKind kind, Error& error) {
  if (kind != FileKind::kDirectory) {
    error.note(
        "give the folder that holds saved_model.pb; for a frozen graph write 'format: "
        "frozen_graph' and 'frozen_graph: PATH'");
    return;
  }
  const auto names = fs.list(path);
  error.note(!names           ? names.error().message()
             : names->empty() ? "the folder is empty"
                              : "the folder holds: " + join(*names, ", "));
}

bool holds_saved_model(const FileSystem& fs, const Path& folder) {
  return is_file(fs, folder / "saved_model.pb") || is_file(fs, folder / "saved_model.pbtxt");
}

}  // namespace

Path written_source_of(const Values& values) {
  return node_or_default(values, source_key(values)).Scalar();
}

Path source_of(const Values& values, const Path& config_file) {
  const Path path = (config_file.parent_path() / written_source_of(values)).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

void check_source(const FileSystem& fs, const Path& config_file, const Values& values,
                  Problems& problems) {
  const std::string key = source_key(values);
  const auto model = values.find("model");
  if (model == values.end() || !model->second.good || !is_usable(values, "model.format") ||
      !is_usable(values, key)) {
    return;
  }
  const auto given = values.find(key);
  const YAML::Mark mark = given == values.end() ? model->second.key : given->second.node.Mark();
  const std::string text = node_or_default(values, key).Scalar();
  const std::string label = given == values.end() ? key + " (default)" : key;
  const Path path = source_of(values, config_file);
  const FileKind kind = fs.kind(path, Links::kFollow);
  const auto add = [&](const std::string& what) -> Error& {
    return problems.add(mark, fmt::format("{}: '{}' {}", label, text, what))
        .note("it leads to " + path.string());
  };
  if (const auto seen = fs.look(path); !seen) {
    add("cannot be inspected").note(seen.error().text());
  } else if (kind == FileKind::kMissing && *seen == FileKind::kSymlink) {
    const auto target = fs.read_symlink(path);
    add(target ? fmt::format("is a link to '{}', which is missing", target->string())
               : "is a broken link");
  } else if (kind == FileKind::kMissing) {
    add_hints(fs, path, text, add("is missing"));
  } else if (is_frozen_graph(values)) {
    if (kind != FileKind::kFile) {
      add("is not a file")
          .note(
              "give the frozen graph's .pb file; for a SavedModel folder write "
              "'format: saved_model' and 'saved_model: PATH'");
    }
  } else if (kind != FileKind::kDirectory) {
    check_saved_model(fs, path, kind, add("is not a folder"));
  } else if (!holds_saved_model(fs, path)) {
    const bool is_there = fs.kind(path / "saved_model.pb") != FileKind::kMissing;
    check_saved_model(fs, path, kind,
                      add(is_there ? "has a saved_model.pb that is not a file, or is a broken link"
                                   : "holds neither saved_model.pb nor saved_model.pbtxt"));
  }
}

}  // namespace tfaot::toolkit::config
