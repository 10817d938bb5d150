// SPDX-License-Identifier: Apache-2.0
#include "fake_dump.h"

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string>

#include "tfaot/records/hlo_graph_json.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kBuffers = R"(BufferAssignment:
allocation 0: size 160, parameter 0, shape |f32[4,10]| at ShapeIndex {}:
 value: <3 p0.1 @0> (size=160,offset=0): f32[4,10]{1,0}
allocation 1: size 32, output shape is |f32[4,2]|, maybe-live-out:
 value: <9 fusion.7 @0> (size=32,offset=0): f32[4,2]{1,0}
allocation 2: size 128, preallocated-temp:
 value: <7 custom-call.4{0} @0> (size=32,offset=0): f32[4,2]{1,0}
 value: <8 custom-call.4{1} @0> (size=64,offset=64): u8[64]{0}

HloLiveRange (max 4):
  InstructionSequence:
    0:p0.1
    1:p1.2
    2:custom-call.4
    3:fusion.7
  BufferLiveRange:
    p0.1{}:0-4
    custom-call.4{0}:2-3
    custom-call.4{1}:2-2
    fusion.7{}:3-4
)";

constexpr const char* kLlvm = R"(define void @tfaot_entry(ptr %retval) {
  call void @tfaot_matmul_f32_x86_64(ptr %1, ptr %2)
  ret void
}
declare void @tfaot_matmul_f32_x86_64(ptr, ptr)
)";

HloNode data_node(const std::string& name, const std::string& opcode, const std::string& shape) {
  return {name, opcode, NodeKind::kData, shape, {}, {}, "", "", "", 0, 0, 0};
}

}  // namespace

HloGraph fake_graph(const std::string& stage, std::int64_t rows) {
  const bool is_early = stage == "lowered" || stage == "simplified";
  const std::string batch = std::to_string(rows);
  const std::string result = "f32[" + batch + ",2]";
  HloNode x = data_node("p0.1", "parameter", "f32[" + batch + ",10]");
  x.origin = "x";
  HloNode w = data_node("p1.2", "parameter", "f32[1,10,16]");
  w.origin = is_early ? "dense/kernel" : "dense/kernel, packed";
  const HloNode words = data_node("constant.3", "constant", "s64[13]");
  HloNode product{"dot.4",
                  "dot",
                  NodeKind::kProduct,
                  result,
                  {"p0.1", "p1.2"},
                  {},
                  "PartitionedCall/net/dense/MatMul",
                  "",
                  "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                  40 * rows,
                  80 + 48 * rows,
                  -1};
  HloNode element = data_node("get-tuple-element.5", "get-tuple-element", result);
  HloNode last{"fusion.7",
               "fusion",
               NodeKind::kFusion,
               result,
               {"dot.4"},
               {"fused_computation"},
               "PartitionedCall/net/dense/Tanh",
               "",
               "kind=kLoop",
               2 * rows,
               16 * rows,
               300 * rows};
  HloComputation entry{"main.9", "fusion.7", false, false, {}};
  if (is_early) {
    last = {"tanh.7", "tanh", NodeKind::kLoop, result,    {"dot.4"}, {}, last.origin,
            "",       "",     2 * rows,        16 * rows, 300 * rows};
    entry.root = last.name;
    entry.nodes = {x, w, product, last};
    return {stage, entry.name, {entry}, "HloModule tfaot, stage " + stage + ", " + batch + "\n"};
  }
  product.name = "custom-call.4";
  product.opcode = "custom-call";
  product.kind = NodeKind::kKernel;
  product.operands = {"constant.3", "p0.1", "p1.2"};
  product.callee = "tfaot_matmul_f32_x86_64";
  product.detail = batch + " x 10 by 10 x 2, packed weights";
  product.picoseconds = 25'000 + 700 * rows;
  element.operands = {"custom-call.4"};
  last.operands = {"get-tuple-element.5"};
  entry.nodes = {x, w, words, product, element, last};
  HloNode inner = data_node("param.1", "parameter", result);
  HloNode tanh{"tanh.2", "tanh", NodeKind::kLoop, result,    {"param.1"}, {}, last.origin,
               "",       "",     2 * rows,        16 * rows, 300 * rows};
  const HloComputation fused{"fused_computation", "tanh.2", true, false, {inner, tanh}};
  return {
      stage, entry.name, {fused, entry}, "HloModule tfaot, stage " + stage + ", " + batch + "\n"};
}

Status write_fake_dump(FileSystem& files, const JobHlo& job, const JobDump& dump) {
  const Path folder = dump.directory;
  const std::string rows = std::to_string(job.batch_sizes.front());
  const auto write = [&](const std::string& name, const std::string& text) {
    return files.replace_atomically(folder / name, text);
  };
  TFAOT_TRY(write("tfaot.0001.lowered.hlo.pb", rows));
  TFAOT_TRY(write("tfaot.0002.simplified.hlo.pb", rows));
  TFAOT_TRY(write("tfaot.0003.optimized.hlo.pb", rows));
  const std::string theirs = "module_0005.tfaot.";
  TFAOT_TRY(write(theirs + "cpu_after_optimizations.hlo.pb", rows));
  TFAOT_TRY(write(theirs + "cpu_after_optimizations-buffer-assignment.txt", kBuffers));
  TFAOT_TRY(write(theirs + "ir-no-opt.ll", kLlvm));
  TFAOT_TRY(write(theirs + "ir-with-opt.ll", kLlvm));
  DumpFacts facts;
  facts.engine = "fake 1.0";
  facts.batch_size = job.batch_sizes.front();
  facts.cpu_level = job.levels.front().name;
  facts.kernels = job.levels.front().kernels;
  facts.inputs = 1;
  facts.scratch_bytes = 128;
  facts.picoseconds = 75'000 + 1000 * static_cast<std::uint64_t>(facts.batch_size);
  facts.weights = {{"dense/kernel, packed",
                    "f32[1,10,16]",
                    640,
                    {"dense/kernel"},
                    {"pad", "reshape", "transpose"}},
                   {"dense/bias", "f32[2]", 8, {"dense/bias"}, {}}};
  // A flag of the config that matters.
  const char* const flags = std::getenv("XLA_FLAGS");
  if (flags != nullptr && std::string_view(flags).find("--xla_fake_slow") != std::string::npos) {
    facts.picoseconds *= 2;
  }
  return write(kDumpFactsName, dump_facts_to_json(facts));
}

Status say_fake_graphs(const FileSystem& files, const HloQuestion& question) {
  for (const HloFile& file : question.files) {
    TFAOT_ASSIGN(const std::string first, files.read(file.path));
    std::int64_t rows = 1;
    std::from_chars(first.data(), first.data() + first.size(), rows);
    std::cout << hlo_graph_to_json(fake_graph(file.stage, rows)) << std::flush;
  }
  return {};
}

}  // namespace tfaot::toolkit
