// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/inspect.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/compile/engine_questions.h"
#include "tfaot/config/config.h"
#include "tfaot/install/install.h"
#include "tfaot/load/predictor.h"
#include "tfaot/package/package.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

std::optional<std::string> instructions_beyond_levels(const Manifest& manifest) {
  const bool has_kernel = std::ranges::any_of(manifest.imports, [](const std::string& symbol) {
    return symbol.starts_with("tfaot_low_precision_");
  });
  return has_kernel ? std::optional(instructions_in_use()) : std::nullopt;
}

Result<Inspected> inspect(const Context& context, const Path& path) {
  using Kind = Inspected::Kind;
  const FileSystem& files = context.files;
  const NamedPath named = named_path(files, path);
  switch (named.kind) {
    case PathKind::kPackageTree: {
      TFAOT_ASSIGN(Manifest manifest, read_tree(files, named.path));
      return Inspected{Kind::kPackageTree, std::move(manifest)};
    }
    case PathKind::kConfig: {
      TFAOT_ASSIGN(ModelSpec spec, load_model_spec(files, path));
      return Inspected{Kind::kConfig, std::move(spec)};
    }
    case PathKind::kArchive: {
      TFAOT_ASSIGN(Manifest manifest, read_archive_manifest(files, path));
      return Inspected{Kind::kArchive, std::move(manifest)};
    }
    case PathKind::kModel: {
      TFAOT_ASSIGN(const EngineProgram engine, find_engine(context, ""));
      TFAOT_ASSIGN(ModelDescription model, describe_model(files, path, engine));
      return Inspected{Kind::kModel, std::move(model)};
    }
    case PathKind::kTornTree:
    case PathKind::kOther:
      break;
  }
  return fail(wrong_input(
      files, path,
      {fmt::format("'tfaot info' takes {}, a config file or a model", kPackageForms), ""}));
}

std::vector<std::string> complete_package(const Context& context, const std::string& word) {
  return installed_names(context.files, context.environment.working_directory, word);
}

Result<ModelIdentity> identify(const Context& context, const Path& config) {
  return load_model_identity(context.files, config);
}

Result<InstalledList> list_packages(const Context& context, const Path& area) {
  const FileSystem& files = context.files;
  InstalledList list;
  if (is_folder(files, area)) {
    TFAOT_ASSIGN(list, list_installed(files, area));
  }
  if (list.models.empty() && list.broken.empty() && !is_release_area(files, area)) {
    return fail(wrong_input(
        files, area,
        {"'tfaot list' takes a release area", "'tfaot install' makes one in any folder"}));
  }
  return list;
}

}  // namespace tfaot::toolkit
