// SPDX-License-Identifier: Apache-2.0
// A model of any format as XLA computations (HLO). Parameters are the inputs, then the weights; the
// result is the tuple of the outputs. All that comes after this is the same for all formats. Used
// by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "xla/client/compile_only_client.h"
#include "xla/client/xla_computation.h"
#include "xla/literal.h"
#include "xla/shape.h"

namespace tfaot::toolkit::engine {

// 16 or more real numbers or bytes, 4096 or more other whole numbers or truth values, which mostly
// say where something is: XLA should know those. Not a single number. `type`: nothing for types
// that no weight has.
bool is_weight_constant(std::optional<DType> type, absl::Span<const std::int64_t> sizes);

// Whole numbers (not bytes) or truth values, too few to be weights by the rule above.
bool is_place_constant(std::optional<DType> type, absl::Span<const std::int64_t> sizes);

struct ModelTensor {
  std::string name;    // key in the signature, or the tensor's name in other formats
  std::string tensor;  // "node:index" in a TensorFlow graph
  tensorflow::DataType type = tensorflow::DT_INVALID;
  bool rank_known = false;
  std::vector<std::int64_t> shape;           // -1: unknown
  std::vector<std::string> dimensions = {};  // names of sizes that the model leaves open, or ""
};

// Large values are passed on, not copied.
using Value = std::shared_ptr<const xla::LiteralBase>;

struct LoweredModel {
  xla::XlaComputation computation;
  xla::ProgramShape shape;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

Result<LoweredModel> model_of(xla::XlaComputation computation);

// XLA's compiler for CPUs, one for the process.
Result<xla::CompileOnlyClient*> compiler_client();

struct LoweringOptions {
  bool embed_weights = false;
  // Keep inputs and outputs unchanged: the computation has one row, the whole tensor.
  bool fixed_shapes = false;
  bool any_opset = false;  // of an ONNX model: newer ones than are known, too
  // ONNX operators become forms whose numbers may follow a free size: loops of few turns are not
  // written out, and a resize is no product with a matrix.
  bool follows_sizes = false;
};

// A weight as the model stores it. Reading may take long, so it is done when needed.
struct RawWeight {
  std::string name;
  xla::Shape shape;
  std::function<Result<Value>()> read;
};

class Lowering {
 public:
  virtual ~Lowering() = default;

  virtual Result<LoweredModel> lower(std::int64_t batch_size) const = 0;

  // Only one batch size can be lowered: the model fixes it, or there is no batch.
  virtual bool has_fixed_batch() const = 0;

  // The weights that are parameters, in parameter order.
  const std::vector<RawWeight>& weights() const { return weights_; }

 protected:
  std::vector<RawWeight> weights_;
};

// Fails if the rows of the outputs do not match the batch size. It compares with another size,
// because at a single size any dimension of that length looks like the batch. If rows may be
// `coupled`, a model with only one size passes.
Status check_output_rows(const Lowering& lowering, const LoweredModel& lowered,
                         std::int64_t batch_size, bool coupled);

// A model at one of its batch sizes.
struct SizedModel {
  const LoweredModel* lowered = nullptr;
  std::int64_t rows = 0;
};
// Fails if a row of an output has another shape at the other size.
Status same_output_rows(const SizedModel& model, const SizedModel& other);

// Causes of a size that depends on the data: sentences, and the names of nodes.
struct SizeCauses {
  std::vector<std::string> texts;
  std::vector<std::string> names;
};

// Without the first dimension, which is the batch.
std::vector<std::int64_t> row_shape(const xla::Shape& shape);
// The shape with a first dimension of 1.
xla::Shape one_row(const xla::Shape& shape);
// "(?, 3)": unknown dimensions are question marks.
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace tfaot::toolkit::engine
