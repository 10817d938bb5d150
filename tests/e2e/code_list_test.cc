// SPDX-License-Identifier: Apache-2.0
// Which kernels the code of each model calls, and what is left to XLA: tests/golden/code_list.txt.
// No change of the optimizer goes unseen: each change of that file is explained in its commit. The
// models are those of the end-to-end tests, and the nets of the benchmark without their weights
// (tests/benchmark/strip_weights.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/compile.h"
#include "tfaot/config/config.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/symbols.h"

namespace tfaot::toolkit::testing {
namespace {

constexpr const char* kLevel = "x86-64-v3";  // which kernel is called does not depend on the level

struct Listed {
  std::string title;  // "works/attention/aot_config.yaml"
  Path config;
  ConfigOverrides overrides = {};
};

// All configs below `models`, but for models that are refused.
std::vector<Listed> models_of_tests(const Path& models) {
  std::vector<Listed> found;
  for (const char* folder : {"onnx", "pytorch", "stablehlo", "works"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(models / folder)) {
      if (entry.path().extension() != ".yaml") continue;
      found.push_back({entry.path().lexically_relative(models).string(), entry.path()});
    }
  }
  return found;
}

void write_weights(const Path& file) {
  std::vector<float> numbers(8 << 20);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i * 2654435761U % 4096U) / 4096;
  }
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(float)));
}

// In `scratch`, which receives their weights.
std::vector<Listed> nets_of_benchmark(const Path& nets, const Path& scratch) {
  write_weights(scratch / "weights.bin");
  std::vector<Listed> found;
  for (const auto& entry : std::filesystem::directory_iterator(nets)) {
    const std::string name = entry.path().stem().string();
    std::filesystem::copy_file(entry.path(), scratch / entry.path().filename());
    const Path config = scratch / (name + ".yaml");
    std::ofstream(config) << "model:\n  name: " << name << "\n  version: \"1\"\n  format: onnx\n"
                          << "  onnx: ./" << name << ".onnx\n"
                          << "compilation:\n  batch_sizes: [1, 16, 64]\n";
    found.push_back({"nets/" + name, config});
    if (name != "dense_20x128") continue;
    found.push_back({fmt::format("nets/{} (bfloat16 products)", name), config});
    found.back().overrides.compute = ComputeType::kBfloat16;
    for (const WeightsType type : {WeightsType::kBfloat16, WeightsType::kInt8}) {
      found.push_back({fmt::format("nets/{} ({} weights)", name, word_of(type)), config});
      found.back().overrides.weights_type = type;
    }
  }
  return found;
}

// "tfaot_matmul_f32_x86_64_v3" -> "matmul_f32"
std::string kernel_of(std::string symbol) {
  symbol.erase(0, kSymbolPrefix.size());
  const std::string ending = "_" + cpu_level(kLevel).kernels;
  if (symbol.ends_with(ending)) symbol.resize(symbol.size() - ending.size());
  return symbol;
}

// "2 matmul_f32, 1 softmax_f32"
std::string counts_text(const std::map<std::string, int>& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", count, name));
  return parts.empty() ? "nothing" : join(parts, ", ");
}

// Takes no time, or is a part of an instruction that is counted.
bool is_free(const CountedOperation& one) {
  constexpr std::array kFree = {"bitcast", "get-tuple-element", "parameter", "tuple"};
  return std::ranges::find(kFree, one.category) != kFree.end() ||
         one.name.find("constant") != std::string::npos ||
         one.inside.find("fused_computation") != std::string::npos;
}

std::string line_of(const CountedCode& code) {
  constexpr std::string_view kKernel = "kernel ";
  std::map<std::string, int> kernels;
  std::map<std::string, int> left;
  for (const CountedOperation& one : code.operations) {
    if (is_free(one)) continue;
    if (!one.category.starts_with(kKernel)) {
      ++left[one.category];
      continue;
    }
    const std::string target = one.category.substr(kKernel.size());
    const bool is_ours = target.starts_with(kSymbolPrefix);
    ++(is_ours ? kernels : left)[is_ours ? kernel_of(target) : target];
  }
  return fmt::format("  {:>4}: {}\n        XLA: {}\n", code.batch_size, counts_text(kernels),
                     counts_text(left));
}

std::string text_of(const Listed& listed) {
  RealFileSystem files;
  SilentDiagnostics silent;
  TemporaryFolder work;
  ConfigOverrides overrides = listed.overrides;
  overrides.cpu_levels = {kLevel};
  auto spec = load_model_spec(files, listed.config, overrides);
  if (!spec) return spec.error().text() + "\n";
  // Only the list of instructions counts, not how well LLVM does.
  spec->compilation.xla_flags.emplace_back("--xla_backend_optimization_level=0");
  std::vector<CountedCode> counted;
  CompileOptions options;
  options.engine.file = TFAOT_ENGINE_FILE;
  options.engine.library_path = TFAOT_ENGINE_LIBRARIES;
  options.work_directory = work.path();
  options.counted = &counted;
  const auto compiled = compile_model(files, *spec, options, silent);
  if (!compiled) return listed.title + "\n  " + compiled.error().text() + "\n";
  std::ranges::sort(counted, {}, &CountedCode::batch_size);
  std::string text = listed.title + "\n";
  for (const CountedCode& code : counted) text += line_of(code);
  return text;
}

TEST(CodeList, OfAllModels) {
  const TemporaryFolder scratch;
  std::vector<Listed> all = models_of_tests(TFAOT_MODELS);
  const std::vector<Listed> nets = nets_of_benchmark(TFAOT_NETS, scratch.path());
  all.insert(all.end(), nets.begin(), nets.end());
  std::ranges::sort(all, {}, &Listed::title);
  std::vector<std::string> texts(all.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < all.size(); at = next++) texts[at] = text_of(all[at]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(matches_golden(join(texts, ""), "code_list.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
