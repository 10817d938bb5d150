// SPDX-License-Identifier: Apache-2.0
#include "cli_test.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <regex>
#include <stdexcept>

#include "tests/support/page_body.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/elf/data_object.h"
#include "tfaot/package/package.h"

namespace tfaot::toolkit::testing {
namespace {

template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::string hashes_shown(const std::string& text) {
  static const std::regex hash("[0-9a-f]{64}");
  return std::regex_replace(text, hash, "<sha256>");
}

// An object without code, so that it is the same everywhere.
std::string object_of_bytes(std::size_t size) {
  std::string object =
      value_of(make_data_object("data", {{"tfaot_tfaot_model_test_net"}}, "x86_64-linux"));
  object.resize(size, 'o');
  return object;
}

std::string section(const std::string& title, const std::string& text) {
  return text.empty() ? "" : fmt::format("[{}]\n{}", title, text);
}

}  // namespace

std::string CliTest::Outcome::text() const {
  const std::string end =
      signal == 0 ? fmt::format("exit code {}", exit_code) : fmt::format("signal {}", signal);
  return fmt::format("$ {}\n[{}]\n{}{}", command, end, section("standard output", out),
                     section("standard error", err));
}

CliTest::CliTest() {
  value_of(files_.copy_file(TFAOT_TOOL, root_ / "prefix/bin/tfaot"));
  value_of(files_.copy_file(TFAOT_FAKE_ENGINE, root_ / "prefix/libexec/tfaot/tfaot-engine"));
  write("prefix/" TFAOT_LIBDIR "/libtfaot_runtime.a", "!<arch>\n");
  write("prefix/include/tfaot/runtime/model.h", "#pragma once\n");
  write("prefix/include/tfaot/cmssw/drop_in/PhysicsTools/TensorFlowAOT/interface/Model.h",
        "#pragma once\n");
  write("prefix/include/tfaot/cmssw/inside/xla_function.h", "#pragma once\n");
  write("prefix/share/tfaot/runtime/LICENSE", "a licence\n");
  write("prefix/share/tfaot/runtime/NOTICE", "notices\n");
}

CliTest::Outcome CliTest::run(const std::vector<std::string>& arguments,
                              const Variables& environment) const {
  ProcessSpec spec;
  spec.program = root_ / "prefix/bin/tfaot";
  spec.arguments = arguments;
  spec.environment = {{"CMSSW_BASE", ""},
                      {"TFAOT_ENGINE", ""},
                      {"FAKE_ENGINE", ""},
                      {"TFAOT_CACHE", ""},
                      {"HOME", ""},
                      {"XDG_CACHE_HOME", ""},
                      {"TFAOT_CACHE_DIR", ""},
                      {"TFAOT_TENSORFLOW_ROOT", ""},
                      {"LD_LIBRARY_PATH", ""}};
  for (const auto& [name, value] : environment) spec.environment[name] = value;
  spec.working_directory = root_;
  const ProcessResult result = value_of(run_process(spec));
  const auto shown = [&](const std::string& text) {
    return hashes_shown(replace_all(text, root_.string(), "ROOT"));
  };
  return {shown(fmt::format("tfaot {}", fmt::join(arguments, " "))), result.exit_code,
          result.signal, shown(result.standard_output), shown(result.standard_error)};
}

std::vector<std::string> CliTest::verbs() {
  return {
#define TFAOT_VERB(group, need, name, summary) replace_all(#name, "_", "-"),
#include "modules/cli/src/commands/verbs.def"
#undef TFAOT_VERB
  };
}

void CliTest::write(const std::string& path, const std::string& text) {
  value_of(files_.replace_atomically(root_ / path, text));
}

std::string CliTest::read(const std::string& path) const {
  return value_of(files_.read(root_ / path));
}

std::string CliTest::read_page(const std::string& path) const {
  return replace_all(hashes_shown(page_body(read(path))), "tfaot " TFAOT_VERSION, "tfaot VERSION");
}

std::vector<std::string> CliTest::files_in(const std::string& path) const {
  return value_of(list_files_recursively(files_, root_ / path));
}

void CliTest::write_model() {
  write("model/aot_config.yaml",
        "model:\n"
        "  name: test_net\n"
        "  version: \"1.0.0\"\n"
        "compilation:\n"
        "  batch_sizes: [1, 4]\n"
        "  cpu_levels: [x86-64]\n");
  write("model/saved_model/saved_model.pb", "a graph");
  write("model/saved_model/variables/variables.index", "an index");
}

CliTest::Outcome CliTest::compile(const std::vector<std::string>& more,
                                  const Variables& environment) const {
  std::vector<std::string> arguments = {"compile", "-c", "model/aot_config.yaml", "-o", "out",
                                        "-j",      "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments, environment);
}

void CliTest::write_tree_at(const std::string& path, const Tree& tree) {
  const std::vector<StagedFile> staged = {
      {"include/tfaot-model-test-net/model.h", tree.header, {}},
      {"lib/test_net_bs1_x86-64.o", tree.object.empty() ? object_of_bytes(1000) : tree.object, {}},
      {"lib/test_net_bs4_x86-64.o", object_of_bytes(2000), {}},
      {"lib/test_net_weights.o", object_of_bytes(5000), {}},
      {"tfaot-model-test-net.xml",
       "<tool name=\"tfaot-model-test-net\" version=\"" + tree.version +
           "\">\n"
           "  <client>\n"
           "    <environment name=\"TFAOT_MODEL_TEST_NET_BASE\" default=\"@TOOL_BASE@\" />\n"
           "  </client>\n"
           "</tool>\n",
       {}}};
  Manifest manifest;
  manifest.toolkit_version = "0.1.0";
  manifest.name = "test_net";
  manifest.version = tree.version;
  manifest.author = "A. Physicist";
  manifest.description = "Tags nothing";
  manifest.cpp_class = "tfaot_model::test_net";
  manifest.tool_name = "tfaot-model-test-net";
  manifest.architecture = "x86_64-linux";
  manifest.target_triple = "x86_64-unknown-linux-gnu";
  manifest.engine = "tensorflow 2.18.1";
  manifest.signature = {"serving_default",
                        {{"image", DType::kFloat32, {28, 28}}, {"length", DType::kInt32, {}}},
                        {{"score", DType::kFloat32, {10}}}};
  manifest.batch_sizes = {1, 4};
  manifest.cpu_levels = {"x86-64"};
  manifest.weights.storage = WeightsMode::kShared;
  manifest.weights.size = 4096;
  manifest.weights.model_size = 2000;
  manifest.weights.sha256 = std::string(64, 'b');
  manifest.xla_flags = {"--xla_cpu_enable_fast_math=false"};
  manifest.source_sha256 = std::string(64, 'c');
  manifest.files = value_of(hash_staged_files(files_, staged));
  value_of(write_tree(files_, staged, manifest, root_ / path));
}

}  // namespace tfaot::toolkit::testing
