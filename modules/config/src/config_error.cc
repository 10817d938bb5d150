// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <optional>

#include "problems.h"
#include "tfaot/config/config.h"
#include "yaml_text.h"

namespace tfaot::toolkit {
namespace {

// "model", "outputs" and 0 for "model.outputs[0]", in a list or a map.
struct KeyParts {
  explicit KeyParts(const std::string& key)
      : section(key.substr(0, key.find('.'))),
        name(key.substr(section.size() + 1, key.find('[') - section.size() - 1)) {
    const std::size_t bracket = key.find('[');
    if (bracket != std::string::npos) item = std::strtoul(key.c_str() + bracket + 1, nullptr, 10);
  }
  std::string section;
  std::string name;
  std::optional<std::size_t> item;
};

// Nothing if the file does not contain the key.
std::optional<Location> place_of(const FileSystem& fs, const Path& file, const KeyParts& key) {
  const auto text = fs.read(file);
  if (!text) return std::nullopt;
  const auto root = config::parse_yaml(*text, file.string());
  if (!root || !root->IsMap() || !(*root)[key.section].IsMap()) return std::nullopt;
  const YAML::Node value = (*root)[key.section][key.name];
  if (!value.IsDefined() || value.IsNull()) return std::nullopt;
  YAML::Mark mark = value.Mark();
  if (key.item && *key.item < value.size()) {
    const auto item = std::next(value.begin(), static_cast<std::ptrdiff_t>(*key.item));
    mark = value.IsMap() ? item->first.Mark() : YAML::Node(*item).Mark();
  }
  return config::location_of(file.string(), mark);
}

}  // namespace

Error config_error(const FileSystem& fs, const ModelSpec& spec, const std::string& key,
                   const std::string& message) {
  if (spec.config_file.empty()) {
    return Error::at({.file = spec.model.source.string(), .key = key}, message);
  }
  const std::string name = key.substr(0, key.find('['));
  std::optional<Location> place;
  try {
    place = place_of(fs, spec.config_file, KeyParts(key));
  } catch (const YAML::Exception&) {  // the file was changed meanwhile
    return Error::at({spec.config_file.string()}, name + ": " + message);
  }
  if (place) return Error::at(*place, name + ": " + message);
  return Error::at({spec.config_file.string()}, fmt::format("{} (default): {}", name, message));
}

}  // namespace tfaot::toolkit
