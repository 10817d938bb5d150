// SPDX-License-Identifier: Apache-2.0
// Values in pieces equal the whole values, and are made without computing the whole.
#include "compiler/hlo/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/kernels/packing.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tfaot/kernels/functions.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr std::size_t kPiece = 1 << 19;

struct Fed {
  std::string bytes;
  std::size_t largest = 0;
};

class EvaluateTest : public ::testing::Test {
 protected:
  // Parameters are 0, 1, 2, ... and 0.5 higher for each number.
  void parse(const std::string& text) {
    module_ = testing::parse_hlo(text);
    for (const auto* parameter : entry().parameter_instructions()) {
      xla::Literal value(parameter->shape());
      float next = 0.5F * static_cast<float>(values_.size());
      for (float& element : value.data<float>()) element = next++;
      values_.push_back(std::move(value));
    }
  }
  xla::HloComputation& entry() { return *module_->entry_computation(); }

  Evaluator evaluator() {
    return Evaluator([this](const xla::HloInstruction& parameter) -> Result<Value> {
      ++reads_;
      return Value(Value(), &values_.at(static_cast<std::size_t>(parameter.parameter_number())));
    });
  }

  std::string whole(const xla::HloInstruction& instruction) {
    const Value value = evaluator().value(instruction).value();
    return {static_cast<const char*>(value->untyped_data()),
            static_cast<std::size_t>(value->size_bytes())};
  }

  Fed fed(const xla::HloInstruction& instruction) {
    Fed made;
    reads_ = 0;
    EXPECT_TRUE(evaluator().feed(instruction, [&](std::string_view bytes) -> Status {
      made.bytes += bytes;
      made.largest = std::max(made.largest, bytes.size());
      return {};
    }));
    return made;
  }

  // The root of this entry computation, in pieces and as a whole.
  void expect_equal(const std::string& text) {
    parse(text);
    const auto& root = *entry().root_instruction();
    const Fed pieces = fed(root);
    EXPECT_EQ(reads_, entry().num_parameters()) << "each weight is read once";
    EXPECT_TRUE(pieces.bytes == whole(root)) << text;
    EXPECT_LE(pieces.largest, kPiece);
    EXPECT_GT(pieces.bytes.size(), kPiece) << "not a test of pieces";
  }

  std::unique_ptr<xla::HloModule> module_;
  std::vector<xla::Literal> values_;
  int reads_ = 0;
};

TEST_F(EvaluateTest, FeedsPackedMatrices) {
  for (const int columns : {2000, 2048, 130}) {
    values_.clear();
    parse("ENTRY e { ROOT m = f32[3,700," + std::to_string(columns) + "]{2,1,0} parameter(0) }");
    const auto* packed = pack(entry().root_instruction());
    const Fed pieces = fed(*packed);
    EXPECT_EQ(reads_, 1);
    EXPECT_TRUE(pieces.bytes == whole(*packed)) << columns;
  }
}

TEST_F(EvaluateTest, FeedsOnePackedMatrixInSmallPieces) {
  parse("ENTRY e { ROOT m = f32[1,700,2000]{2,1,0} parameter(0) }");
  const auto* packed = pack(entry().root_instruction());
  const Fed pieces = fed(*packed);
  EXPECT_TRUE(pieces.bytes == whole(*packed));
  EXPECT_LE(pieces.largest, kPiece);
}

TEST_F(EvaluateTest, FeedsWhatIsComputedElementByElement) {
  expect_equal(R"(ENTRY e {
    kernel = f32[600,900]{1,0} parameter(0)
    scale = f32[900]{0} parameter(1)
    spread = f32[600,900]{1,0} broadcast(scale), dimensions={1}
    two = f32[] constant(2)
    twos = f32[600,900]{1,0} broadcast(two), dimensions={}
    power = f32[600,900]{1,0} power(spread, twos)
    scaled = f32[600,900]{1,0} multiply(kernel, power)
    ROOT turned = f32[900,600]{1,0} transpose(scaled), dimensions={1,0} })");
}

TEST_F(EvaluateTest, FeedsWhatLiesBehindOtherOperations) {
  expect_equal(R"(ENTRY e {
    a = f32[700,3]{1,0} parameter(0)
    b = f32[3,800]{1,0} parameter(1)
    product = f32[700,800]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    flat = f32[560000]{0} reshape(product)
    ROOT turned = f32[560000]{0} reverse(flat), dimensions={0} })");
}

TEST_F(EvaluateTest, FeedsPaddingOfAnyKind) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[512,703]", "5_7x0_3"},
      {"[1800,700]", "600_700x0_0"},
      {"[501,701]", "-1_2x1_0"},
      {"[999,700]", "0_0_1x0_0"},
  };
  for (const auto& [shape, padding] : cases) {
    values_.clear();
    parse(
        "ENTRY e {\n  a = f32[500,700]{1,0} parameter(0)\n  b = f32[] parameter(1)\n  ROOT padded "
        "= f32" +
        shape + "{1,0} pad(a, b), padding=" + padding + "\n}");
    const auto& root = *entry().root_instruction();
    EXPECT_TRUE(fed(root).bytes == whole(root)) << padding;
  }
}

TEST_F(EvaluateTest, FeedsScalarsAndSmallTensors) {
  for (const char* shape : {"f32[]", "f32[7]{0}", "f32[1,1,1]{2,1,0}"}) {
    values_.clear();
    parse(std::string("ENTRY e { a = ") + shape + " parameter(0) ROOT b = " + shape +
          " negate(a) }");
    const auto& root = *entry().root_instruction();
    EXPECT_EQ(fed(root).bytes, whole(root)) << shape;
  }
}

// The C library's last bits depend on the machine: of these numbers, some differ with each library.
TEST_F(EvaluateTest, FunctionsAreOurOwn) {
  struct Function {
    std::string name;
    double (*of_double)(double);
    float (*of_float)(float);
  };
  const Function kFunctions[] = {
      {"cosine", tfaot_cos_f64, tfaot_cos_f32},      {"erf", tfaot_erf_f64, tfaot_erf_f32},
      {"exponential", tfaot_exp_f64, tfaot_exp_f32}, {"log", tfaot_log_f64, tfaot_log_f32},
      {"sine", tfaot_sin_f64, tfaot_sin_f32},        {"tanh", tfaot_tanh_f64, tfaot_tanh_f32}};
  for (const Function& function : kFunctions) {
    values_.clear();
    parse(
        "ENTRY e {\n w = f32[9999] parameter(0)\n s = f32[] constant(0.0007)\n"
        "b = f32[9999] broadcast(s), dimensions={}\n x = f32[9999] multiply(w, b)\n"
        "c = f64[9999] convert(x)\n y = f32[9999] " +
        function.name +
        "(x)\n"
        "z = f64[9999] " +
        function.name + "(c)\n ROOT t = (f32[9999], f64[9999]) tuple(y, z) }");
    const auto& root = *entry().root_instruction();
    const Value floats = evaluator().value(*root.operand(0)).value();
    const Value doubles = evaluator().value(*root.operand(1)).value();
    int unequal = 0;
    for (std::size_t i = 0; i < 9999; ++i) {
      const float x = static_cast<float>(i) * 0.0007F;
      unequal += floats->data<float>()[i] != function.of_float(x);
      unequal += doubles->data<double>()[i] != function.of_double(static_cast<double>(x));
    }
    EXPECT_EQ(unequal, 0) << function.name;
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
