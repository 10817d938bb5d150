// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/verify_packages.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/records/allowed_calls.h"

namespace tfaot::toolkit {
namespace {

nlohmann::ordered_json code_json(const CodeCheck& code) {
  auto imports = nlohmann::ordered_json::object();
  for (const std::string& symbol : code.imports) {
    imports[word_of(kind_of_call(symbol))].push_back(symbol);
  }
  return {{"not_read", code.why_not},
          {"objects", code.objects},
          {"imports", std::move(imports)},
          {"instructions", code.instructions},
          {"instructions_not_read", code.why_no_instructions}};
}

nlohmann::ordered_json deep_json(const DeepCheck& deep) {
  return {{"not_run", deep.why_not}, {"calls", deep.calls}, {"same", deep.same},
          {"close", deep.close},     {"share", deep.share}, {"skipped", deep.skipped}};
}

nlohmann::ordered_json item_json(const VerifiedItem& item) {
  auto faults = nlohmann::ordered_json::array();
  for (const Error& fault : item.faults) faults.push_back(fault.text());
  nlohmann::ordered_json json = {{"path", item.path.string()}, {"tool_name", item.tool_name},
                                 {"version", item.version},    {"files", item.files},
                                 {"bytes", item.bytes},        {"faults", faults}};
  if (!item.signed_by.empty()) json["signed_by"] = item.signed_by;
  if (item.code) json["code"] = code_json(*item.code);
  if (item.deep) json["deep"] = deep_json(*item.deep);
  return json;
}

std::string code_text(const CodeCheck& code) {
  if (!code.why_not.empty()) return "  its code was not read: " + code.why_not + "\n";
  std::string text =
      fmt::format("  {} import {}\n", counted(code.objects, "object"), imports_text(code.imports));
  if (!code.why_no_instructions.empty()) {
    return text + "  their instructions were not read: " + code.why_no_instructions + "\n";
  }
  return text + fmt::format("  {}: no system call, lock, clock or call of any address\n",
                            counted(code.instructions, "instruction"));
}

std::string deep_text(const DeepCheck& deep) {
  if (!deep.why_not.empty()) return "  its code was not run: " + deep.why_not + "\n";
  std::string text;
  if (!deep.same.empty()) {
    text += fmt::format("  {} at {}: the stored bits\n", counted(deep.calls, "call"),
                        join(deep.same, ", "));
  }
  if (!deep.close.empty()) {
    text += fmt::format(
        "  {} at {}: no bits of this level and machine are stored; the stored "
        "numbers differ by at most {:.2g} of what is allowed\n",
        counted(deep.calls, "call"), join(deep.close, ", "), deep.share);
  }
  if (!deep.skipped.empty()) {
    text += fmt::format("  this CPU cannot run {}\n", join(deep.skipped, ", "));
  }
  return text;
}

std::string item_text(const VerifiedItem& item) {
  if (!item.faults.empty()) {
    return fmt::format("{}: {}\n", item.path.string(), counted(item.faults.size(), "fault"));
  }
  if (item.tool_name.empty()) return item.path.string() + ": links and tool files are right\n";
  return fmt::format("{}: {} {}, {} of {} bytes are right\n{}", item.path.string(), item.tool_name,
                     item.version, counted(item.files, "file"), item.bytes,
                     (item.signed_by.empty() ? "" : "  signed by " + item.signed_by + "\n") +
                         (item.code ? code_text(*item.code) : "") +
                         (item.deep ? deep_text(*item.deep) : ""));
}

struct VerifyCommand {
  std::vector<Path> paths;
  VerifyRequest request;
};

Status verify(const VerifyCommand& command, Program& program) {
  auto json = nlohmann::ordered_json::array();
  std::vector<Error> faults;
  for (const Path& path : command.paths) {
    VerifyRequest request = command.request;
    request.path = program.absolute(path);
    TFAOT_ASSIGN(const auto items, verify_packages(program, request));
    for (const VerifiedItem& item : items) {
      json.push_back(item_json(item));
      faults.insert(faults.end(), item.faults.begin(), item.faults.end());
      if (!program.json) program.console.report(item_text(item));
    }
  }
  if (program.json) program.console.print(json_text(json));
  if (faults.empty()) return {};
  for (std::size_t i = 0; i + 1 < faults.size(); ++i) program.console.error(faults[i]);
  return fail(std::move(faults.back()));
}

}  // namespace

Action add_verify(CLI::App& app) {
  auto command = std::make_shared<VerifyCommand>();
  add_value(app, "PATH", command->paths,
            "release areas, package trees, archives, AREA/NAME[/VERSION]")
      ->required();
  app.add_flag("--deep", command->request.deep,
               "also run each package's code for the inputs that it\nstores, and compare");
  add_repeated(app, "--public-key KEY", command->request.keys,
               "of archives: a key that may have signed them, or its\nfile; may be repeated");
  add_allow_large(app, command->request.allow_large);
  add_engine_limits(app);
  app.footer(
      R"(Compares every file with its SHA-256 in the manifest, and in an area also the links, the tool
files and the history. Reads the objects: they may import the runtime's kernels, memcpy and such
and mathematics, and hold no system call, lock or clock. --deep finds damaged code and weights that
fit their hashes too: it runs them. Exit code 1 when something differs; changes nothing and takes
no lock.
Examples:
  tfaot verify /releases/r1
  tfaot verify --deep /releases/r1/tfaot-model-tagger
  tfaot verify dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst)");
  return [command](Program& program) { return verify(*command, program); };
}

}  // namespace tfaot::toolkit
