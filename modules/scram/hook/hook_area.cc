// SPDX-License-Identifier: Apache-2.0
#include "hook/hook_area.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kKnownScram = "V3_";

// What the hook relies on, in these files below config/SCRAM.
struct Anchor {
  const char* file;
  const char* text;
};
constexpr std::array<Anchor, 9> kAnchors = {{
    {"Plugins/BuildRules.py", "class BuildRules("},
    {"Plugins/BuildRules.py", "def dnn_template(self):"},
    {"Plugins/BuildRules.py", "self.dnn_template()"},
    {"Plugins/BuildRules.py", "def isPublictype(self):"},
    {"GMake/Makefile.rules", "define CommonBinaryTail"},
    {"GMake/Makefile.rules", "$(eval $($(1)_PRE_INIT_FUNC))"},
    {"GMake/Makefile.rules", "$($(1)_precompile)"},
    {"GMake/Makefile.rules", "_USE_ALL"},
    {"GMake/Makefile.rules", "define AutoCleanFile"},
}};

std::string first_line(const FileSystem& fs, const Path& file) {
  const auto text = fs.read(file);
  return text ? trim(text->substr(0, text->find('\n'))) : "";
}

Status check_version(const FileSystem& fs, const Path& config) {
  const Path file = config / "scram_version";
  const std::string version = first_line(fs, file);
  if (version.starts_with(kKnownScram)) return {};
  return fail(Error::at({file.string()}, version.empty()
                                             ? "the area does not say which scram it is for"
                                             : fmt::format("scram {} is not known", version))
                  .note(fmt::format("the hook is for scram {}*", kKnownScram)));
}

Status check_anchors(const FileSystem& fs, const Path& config) {
  for (const Anchor& anchor : kAnchors) {
    const Path file = config / "SCRAM" / anchor.file;
    TFAOT_ASSIGN(const std::string text, fs.read(file));
    if (text.find(anchor.text) != std::string::npos) continue;
    const std::string tag = first_line(fs, config / "config_tag");
    return fail(Error::at({file.string()}, fmt::format("it has no '{}'", anchor.text))
                    .note(fmt::format("the hook does not fit this cmssw-config{}{}",
                                      tag.empty() ? "" : " ", tag)));
  }
  return {};
}

}  // namespace

HookArea hook_area(const Path& area) {
  const Path folder = area / "config" / "SCRAM";
  return {.build_rules = folder / "Plugins" / "BuildRules.py",
          .plugin = folder / "Plugins" / "tfaot_hook.py",
          .makefile = folder / "GMake" / "Makefile.aot"};
}

Status check_area(const FileSystem& fs, const Path& area) {
  const Path config = area / "config";
  if (fs.kind(config / "SCRAM") != FileKind::kDirectory) {
    return fail(Error::at({area.string()}, "not the top of a scram area")
                    .note("it has no folder config/SCRAM of its own; in an area: $CMSSW_BASE"));
  }
  TFAOT_TRY(check_version(fs, config));
  const Path rules = hook_area(area).build_rules;
  const FileKind kind = fs.kind(rules);
  if (kind == FileKind::kMissing) {
    return fail(
        Error::at({rules.string()}, "this file of the area is missing")
            .note("scram b needs it too: create the area again, for example with scram project"));
  }
  if (kind != FileKind::kFile) {
    return fail(Error::at({rules.string()}, "not a file of this area")
                    .note("it leads to a file outside of the area, which is not changed"));
  }
  return check_anchors(fs, config);
}

}  // namespace tfaot::toolkit
