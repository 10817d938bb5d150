// SPDX-License-Identifier: Apache-2.0
#include "stablehlo/interpreted_program.h"

#include <algorithm>
#include <utility>

#include "hlo/hlo.h"
#include "lowering/conversions.h"
#include "stablehlo/stablehlo_source.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"
#include "tensorflow/core/public/version.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/service/topk_rewriter.h"

namespace tfaot::toolkit::engine {
namespace {

// Instead of the limit of time, which the interpreter does not have.
constexpr std::int64_t kMostTurns = 1'000'000;  // of a loop

class InterpretedProgram final : public OriginalProgram {
 public:
  static Result<std::unique_ptr<OriginalProgram>> load(const EngineJob& job) {
    std::unique_ptr<InterpretedProgram> program(new InterpretedProgram);
    TFAOT_ASSIGN(program->source_, load_stablehlo_source(job));
    TFAOT_TRY(program->source_->prepare());
    LoweringOptions options;
    options.fixed_shapes = job.fixed_shapes;
    options.embed_weights = true;
    TFAOT_ASSIGN(program->lowering_, program->source_->lowering(options));
    TFAOT_ASSIGN(auto lowered, program->lowering_->lower(job.batch_sizes.front()));
    program->signature_ = {job.serving_key, std::move(lowered.inputs), std::move(lowered.outputs)};
    program->has_batch_ = !job.fixed_shapes;
    if (program->lowering_->has_fixed_batch()) program->fixed_rows_ = job.batch_sizes.front();
    return program;
  }

  std::string name() const override {
    return std::string("the interpreter of XLA, tensorflow ") + TF_VERSION_STRING;
  }
  const Signature& signature() const override { return signature_; }
  std::int64_t fixed_rows() const override { return fixed_rows_; }

  Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                              std::chrono::seconds /*limit*/) override {
    TFAOT_TRY(prepare(has_batch_ ? inputs.front().dim_size(0) : 1));
    std::vector<xla::BorrowingLiteral> literals;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      literals.emplace_back(static_cast<const char*>(inputs[i].data()),
                            module_->entry_computation()
                                ->parameter_instruction(static_cast<std::int64_t>(i))
                                ->shape());
    }
    std::vector<const xla::Literal*> arguments;
    std::vector<xla::Literal> copies;
    for (const xla::BorrowingLiteral& literal : literals) copies.push_back(literal.Clone());
    for (const xla::Literal& copy : copies) arguments.push_back(&copy);
    xla::HloEvaluator evaluator(kMostTurns);
    evaluator.set_use_fast_path(true);
    auto made = evaluator.Evaluate(*module_, arguments);
    if (!made.ok()) return fail(Error(std::string(made.status().message())));
    std::vector<tensorflow::Tensor> outputs;
    for (const xla::Literal& literal : made->DecomposeTuple()) {
      tensorflow::Tensor tensor;
      const tensorflow::DataType type = tensorflow_type(*dtype_of(literal.shape().element_type()));
      TFAOT_TRY(checked(tensorflow::LiteralToHostTensor(literal, type, &tensor)));
      outputs.push_back(std::move(tensor));
    }
    return outputs;
  }

 private:
  InterpretedProgram() = default;

  Status prepare(std::int64_t rows) {
    if (rows == rows_) return {};
    TFAOT_ASSIGN(const auto lowered, lowering_->lower(rows));
    TFAOT_ASSIGN(module_, make_module(lowered.computation.proto()));
    xla::TopkDecomposer decomposer;  // the interpreter has no top k
    TFAOT_TRY(checked(decomposer.Run(module_.get(), {}).status()));
    rows_ = rows;
    return {};
  }

  std::unique_ptr<SourceModel> source_;
  std::unique_ptr<Lowering> lowering_;
  Signature signature_;
  bool has_batch_ = true;
  std::int64_t fixed_rows_ = 0;
  std::unique_ptr<xla::HloModule> module_;
  std::int64_t rows_ = 0;  // of the module
};

}  // namespace

Result<std::unique_ptr<OriginalProgram>> load_interpreted_program(const EngineJob& job) {
  return InterpretedProgram::load(job);
}

}  // namespace tfaot::toolkit::engine
