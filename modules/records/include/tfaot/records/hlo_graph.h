// SPDX-License-Identifier: Apache-2.0
// A program while it is compiled, as graphs of XLA's operations (HLO): what each instruction is,
// computes and costs. For a job with a JobDump the engine writes the program there after each step,
// in the form and under the names of XLA's own dumps, and the facts below that a dump lacks. For an
// HloQuestion it prints the graphs as lines of JSON (hlo_graph_json.h), one for each file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/records/words.h"

namespace tfaot::toolkit {

// What becomes of an instruction.
enum class NodeKind {
  kData,     // a parameter, a constant, a view of other data: no code
  kKernel,   // a call of one of our kernels
  kCall,     // a call of another function
  kProduct,  // a product or convolution that XLA makes
  kFusion,   // one loop for several operations
  kLoop,     // a loop over the elements of its result
  kControl,  // a loop, a branch or a call: its computations have the code
};
template <>
inline constexpr auto kWords<NodeKind> = std::to_array<Word<NodeKind>>({
    {NodeKind::kData, "data"},
    {NodeKind::kKernel, "kernel"},
    {NodeKind::kCall, "call"},
    {NodeKind::kProduct, "product"},
    {NodeKind::kFusion, "fusion"},
    {NodeKind::kLoop, "loop"},
    {NodeKind::kControl, "control"},
});

// Turns of a loop whose number XLA does not know, in estimates.
inline constexpr std::int64_t kAssumedTurns = 16;

// -1 in a number: not known.
struct HloNode {
  std::string name;    // unique in its stage, "dot.3"
  std::string opcode;  // "dot"
  NodeKind kind = NodeKind::kLoop;
  std::string shape;                      // "f32[4,64]"
  std::vector<std::string> operands;      // names of nodes of the same computation
  std::vector<std::string> computations;  // names of those that it runs
  std::string origin;  // the model's node, input or weight that it comes from; may be empty
  std::string callee;  // the symbol that it calls
  std::string detail;  // sizes of a kernel call, or the attributes as HLO has them
  // Of one run. The engine leaves flops and bytes of what runs other computations to
  // complete_graph().
  std::int64_t flops = -1;
  std::int64_t bytes = -1;        // read and written
  std::int64_t picoseconds = -1;  // estimated; of a loop with all its turns
  std::int64_t turns = -1;        // of a loop
};

struct HloComputation {
  std::string name;
  std::string root;            // the node that is its result
  bool is_fused = false;       // inside a fusion
  bool is_applied = false;     // to elements, by a reduction or the like
  std::vector<HloNode> nodes;  // each after its operands
};

struct HloGraph {
  std::string stage;                         // "simplified"; HloFile::stage
  std::string entry;                         // the name of the computation that is run
  std::vector<HloComputation> computations;  // each after those that it runs
  std::string text;                          // HLO, one instruction a line
};

// A weight of the compiled program.
struct WeightOrigin {
  std::string name;
  std::string shape;  // "f32[64,10]"
  std::uint64_t bytes = 0;
  std::vector<std::string> variables;   // of the model: what it is made of
  std::vector<std::string> operations;  // that made it ahead of time, in order; opcodes of HLO
};

// Of one batch size and CPU level.
struct DumpFacts {
  std::string engine;  // "tensorflow 2.18.1"
  std::int64_t batch_size = 0;
  std::string cpu_level;
  std::string kernels;             // JobLevel::kernels
  std::int64_t inputs = 0;         // parameters after these are weights
  std::int64_t scratch_bytes = 0;  // all temporaries
  std::uint64_t picoseconds = 0;   // CompiledCode::estimated_cost
  std::vector<WeightOrigin> weights;
};

// A file of HLO: a proto if its name ends in ".pb", otherwise text.
struct HloFile {
  std::string path;
  std::string stage;
};

struct HloQuestion {
  std::vector<HloFile> files;
  // DumpFacts of the program, for the costs.
  std::string kernels;
  std::int64_t inputs = 0;
  std::int64_t scratch_bytes = 0;
};

// DumpFacts in the dump folder.
inline constexpr const char* kDumpFactsName = "tfaot.json";

}  // namespace tfaot::toolkit
