// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/records/sample_records.h"

#include <functional>
#include <numeric>

#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"

namespace tfaot::toolkit::testing {
namespace {

std::uint64_t bytes_of(const TensorSpec& tensor, std::int64_t rows) {
  return size_of(tensor.dtype) *
         static_cast<std::uint64_t>(std::accumulate(
             tensor.row_shape.begin(), tensor.row_shape.end(), rows, std::multiplies<>()));
}

// A code whose buffer table names every input, weight and output once, and two temporaries.
CompiledCode make_code(const Records& records, std::int64_t batch_size, const std::string& level) {
  const std::string name = records.spec.model.name + "_bs" + std::to_string(batch_size);
  CompiledCode code;
  code.batch_size = batch_size;
  code.cpu_level = level;
  if (level == "x86-64-v3") code.cpu_features = {"avx2", "fma"};
  code.object = name + "_" + level + ".o";
  code.entry_symbol = "__tfaot_" + replace_all(records.spec.compilation.namespace_name, "::", "_") +
                      "_" + name + "_" + replace_all(level, "-", "_");
  const CompiledModel& compiled = records.compiled;
  const auto add = [&](BufferKind kind, std::size_t index, std::uint64_t size) {
    code.buffers.push_back({kind, static_cast<std::uint32_t>(index), size});
  };
  for (std::size_t i = 0; i < compiled.signature.inputs.size(); ++i) {
    add(BufferKind::kInput, i, bytes_of(compiled.signature.inputs[i], batch_size));
  }
  for (std::size_t i = 0; i < compiled.weights.size(); ++i) {
    add(BufferKind::kWeight, i, compiled.weights[i].size);
    code.weights.push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t i = 0; i < compiled.signature.outputs.size(); ++i) {
    add(BufferKind::kOutput, i, bytes_of(compiled.signature.outputs[i], batch_size));
  }
  add(BufferKind::kUnused, 0, 4);
  add(BufferKind::kTemporary, 0, 100);
  if (batch_size > 1) {
    add(BufferKind::kLiveRows, 0, sizeof(std::int64_t));
    code.live_permille = 900;
  }
  if (batch_size > 2) {
    add(BufferKind::kTasks, 0, sizeof(std::int64_t));
    code.shared_permille = 700;
    code.lane_bytes = 4096;
  }
  code.result_slot = static_cast<std::uint32_t>(code.buffers.size());
  add(BufferKind::kTemporary, 0, 8 * compiled.signature.outputs.size());
  code.hlo_sha256 = std::string(64, 'c');
  code.estimated_cost = static_cast<std::uint64_t>(250000 + 1000 * batch_size);
  return code;
}

void make_codes(Records& records) {
  records.compiled.codes.clear();
  for (const std::int64_t batch_size : records.compiled.batch_sizes) {
    for (const std::string& level : records.compiled.cpu_levels) {
      records.compiled.codes.push_back(make_code(records, batch_size, level));
    }
  }
}

Records base_records() {
  Records records;
  records.spec.config_file = "/data/aot_config.yaml";
  records.spec.model.name = "test";
  records.spec.model.version = "1.0.0";
  records.spec.model.source = "/data/saved_model";
  records.spec.model.author = "A. Physicist";
  records.spec.model.description = "Tags jets.\nTrained on simulation.";
  records.spec.compilation.namespace_name = "tfaot_model";
  records.compiled.engine = "tensorflow-cpu 2.18.1";
  records.compiled.target_triple = "x86_64-unknown-linux-gnu";
  records.compiled.signature = {
      "serving_default", {{"x", DType::kFloat32, {4}}}, {{"y", DType::kFloat32, {2}}}};
  records.compiled.batch_sizes = {1, 2, 4};
  records.compiled.cpu_levels = {"x86-64", "x86-64-v3"};
  records.compiled.source_sha256 = std::string(64, 'a');
  return records;
}

// 32 bytes of kernel at 0, 8 of bias at 64.
void add_weights(Records& records) {
  CompiledModel& compiled = records.compiled;
  compiled.weights = {{"kernel", DType::kFloat32, {4, 2}, 0, 32},
                      {"bias", DType::kFloat32, {2}, 64, 8}};
  compiled.weights_size = 72;
  compiled.weights_object_sha256 = std::string(64, 'b');
  compiled.weights_object = records.spec.model.name + "_weights.o";
  compiled.weights_symbol = "__tfaot_tfaot_model_" + records.spec.model.name + "_weights";
}

}  // namespace

Records simple_records() {
  Records records = base_records();
  add_weights(records);
  make_codes(records);
  return records;
}

Records mixed_records() {
  Records records = base_records();
  records.spec.model.name = "MixedNet";
  records.spec.model.version = "2024a";
  records.spec.model.author.clear();
  records.spec.model.description.clear();
  records.spec.compilation.namespace_name = "cms::models";
  records.spec.compilation.tf_xla_flags = {"--tf_xla_min_cluster_size=1"};
  records.spec.compilation.xla_flags = {"--xla_cpu_enable_fast_math=false"};
  records.compiled.signature = {"serving_default",
                                {{"image", DType::kFloat32, {28, 28, 3}},
                                 {"mask", DType::kBool, {5}},
                                 {"weight", DType::kFloat64, {}}},
                                {{"class", DType::kInt64, {}},
                                 {"counts", DType::kInt32, {2, 3}},
                                 {"valid", DType::kBool, {}}}};
  records.compiled.batch_sizes = {8};
  records.compiled.cpu_levels = {"x86-64"};
  add_weights(records);
  make_codes(records);
  return records;
}

Records whole_records() {
  Records records = mixed_records();
  records.spec.model.name = "whole";
  records.spec.compilation.namespace_name = "tfaot_model";
  records.spec.compilation.batch = BatchMode::kNone;
  records.compiled.batch_sizes = {1};
  make_codes(records);
  return records;
}

Records sized_records() {
  Records records = simple_records();
  records.spec.model.name = "sized";
  records.spec.compilation.dimensions = {
      {"n tracks", 1, 40}, {"k", 0, 6}, {"same", 1, 40, "n tracks"}};
  records.compiled.dimensions = {{"n tracks", 1, 40}, {"k", 0, 6}};
  const SizeFormula n = {{{1, {1}}}}, k = {{{1, {0, 1}}}}, three = {{{3}}};
  const SizeFormula pairs = {{{1, {2}}, {-1, {1}}, {2, {0, 1}, {{}, {2, 6, 2}}}}, 2};
  records.compiled.signature.inputs = {{"x", DType::kFloat32, {40, 3}, {n, three}},
                                       {"w", DType::kFloat32, {6}, {k}}};
  records.compiled.signature.outputs = {{"total", DType::kFloat32, {2}},
                                        {"pairs", DType::kFloat32, {786}, {pairs}}};
  make_codes(records);
  return records;
}

Records typed_records() {
  Records records = base_records();
  records.spec.model.name = "typed";
  records.compiled.signature.inputs.clear();
  for (const std::string& word : words_of<DType>()) {
    records.compiled.signature.inputs.push_back({word + "_in", *parse_word<DType>(word), {2}});
  }
  records.compiled.signature.outputs = {
      {"half", DType::kFloat16, {}}, {"brain", DType::kBfloat16, {3}}, {"byte", DType::kUint8, {}}};
  records.compiled.batch_sizes = {1};
  records.compiled.cpu_levels = {"x86-64"};
  add_weights(records);
  records.compiled.weights.front().dtype = DType::kFloat16;
  records.compiled.weights.front().shape = {4, 4};
  make_codes(records);
  return records;
}

Records cmssw_records() {
  Records records = mixed_records();
  records.spec.model.name = "TagNet";
  records.spec.model.description = "Tags.";
  records.spec.compilation.headers = HeadersMode::kCmssw;
  records.compiled.batch_sizes = {1, 8};
  records.compiled.cpu_levels = {"x86-64", "x86-64-v3"};
  add_weights(records);
  make_codes(records);
  return records;
}

Records embedded_records() {
  Records records = base_records();
  records.spec.model.name = "embedded_net";
  records.spec.compilation.weights = WeightsMode::kEmbedded;
  records.spec.compilation.rows = RowsMode::kCoupled;
  records.compiled.batch_sizes = {1};
  records.compiled.cpu_levels = {"x86-64"};
  make_codes(records);
  return records;
}

Records hostile_records() {
  Records records = base_records();
  records.spec.model.name = "hostile";
  records.spec.model.version = "2.1-rc+1";
  records.spec.model.author = "Q \"quote\" <q&a@example.org> \\";
  records.spec.model.description =
      "ends with a backslash \\\n*/ #error \"closed\" /* ?\?/\nr\xC3\xA9sum\xC3\xA9 "
      "\xE7\xB2\x92\xE5\xAD\x90 \xE2\x80\xAE"
      "evil\xE2\x80\xA8#error new line\rreturn\n"
      "{{name}} ${prefix} @TOOL_BASE@ ]=] -->\tnot utf-8: \xFF \x01 end\n\n";
  records.compiled.signature = {
      "serving_default",
      {{"a\"b\\c*/?\?/\nd \xC3\xA9", DType::kFloat32, {4}}, {"", DType::kInt64, {1}}},
      {{"<y>&'{{x}}", DType::kFloat64, {2}}}};
  records.compiled.batch_sizes = {1};
  records.compiled.cpu_levels = {"x86-64"};
  make_codes(records);
  return records;
}

}  // namespace tfaot::toolkit::testing
