// SPDX-License-Identifier: Apache-2.0
#include "command_info.h"

#include <fmt/format.h>

#include <memory>

#include "describe.h"
#include "tfaot/config/config.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string path;
  bool json = false;
};

// What `tfaot info` found out, in both of its forms.
struct Description {
  std::string kind;
  ordered_json details;
  std::string text;
};

Description of_manifest(const std::string& kind, const Manifest& manifest) {
  const PackageSizes sizes = package_sizes(manifest);
  ordered_json code = ordered_json::array();
  for (const PackageSizes::Object& object : sizes.objects) {
    code.push_back({{"batch_size", object.batch_size},
                    {"cpu_level", object.cpu_level},
                    {"bytes", object.bytes}});
  }
  ordered_json details = {{"code_bytes", sizes.code},
                          {"weights_bytes", sizes.weights},
                          {"headers_bytes", sizes.headers},
                          {"code", std::move(code)},
                          {"manifest", ordered_json::parse(manifest_to_json(manifest))}};
  return {kind, std::move(details), describe_manifest(manifest)};
}

Result<Description> look_at(const FileSystem& files, const Path& path) {
  const bool manifest_file = path.filename() == kManifestName;
  const Path tree = manifest_file ? path.parent_path() : path;
  if (is_package_tree(files, tree)) {
    TFAOT_ASSIGN(const Manifest manifest, read_tree(files, tree));
    return of_manifest("package tree", manifest);
  }
  if (is_file(files, path) && is_config(path)) {
    TFAOT_ASSIGN(const ModelSpec spec, load_model_spec(files, path));
    return Description{"config", spec_to_json(spec), describe_spec(spec)};
  }
  if (is_archive(files, path)) {
    TFAOT_ASSIGN(const Manifest manifest, read_archive_manifest(files, path));
    return of_manifest("archive", manifest);
  }
  return fail(wrong_input(files, path,
                          {"'tfaot info' takes an archive, a package tree or a config file", ""}));
}

Status info(const Options& options, Context& context) {
  TFAOT_ASSIGN(const Description found, look_at(context.files, context.absolute(options.path)));
  if (options.json) {
    ordered_json json = {{"kind", found.kind}};
    json.update(found.details);
    context.console.print(json_text(json));
  } else {
    context.console.print(fmt::format("{} {}\n{}", found.kind, options.path, found.text));
  }
  return {};
}

}  // namespace

Action add_info(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("PATH", options->path, "an archive, a package tree or a config file")
      ->required()
      ->option_text(" ");
  app.add_flag("--json", options->json, "print JSON instead of text");
  app.footer(
      "Reads the manifest alone, which is the beginning of an archive: that the rest is there and\n"
      "unchanged, 'tfaot install' checks.\n"
      "Examples:\n"
      "  tfaot info dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst\n"
      "  tfaot info build/tagger --json\n"
      "  tfaot info aot_config.yaml");
  return [options](Context& context) { return info(*options, context); };
}

}  // namespace tfaot::toolkit
