// SPDX-License-Identifier: Apache-2.0
// A wrong record must not become a header: the code would write outside its buffers.
#include "tfaot/records/compiled_model.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/records/sample_records.h"

namespace tfaot::toolkit {
namespace {

using testing::Records;

// The finding in simple_records() after `damage`; codes[0].buffers: input, two weights, output,
// unused, temporary, result table.
std::string finding(const std::function<void(CompiledModel&)>& damage) {
  Records records = testing::simple_records();
  damage(records.compiled);
  const Status checked = check_compiled_model(records.compiled);
  if (checked) return "no error";
  EXPECT_EQ(checked.error().kind(), ErrorKind::kInternal);
  return checked.error().text();
}

std::string inconsistent(const std::string& what) {
  return "the compilation record is inconsistent: " + what +
         "\n  This is a defect of tfaot; please report it with the model's config.";
}

TEST(CheckCompiledModel, TakesWhatIsWhole) {
  EXPECT_EQ(finding([](CompiledModel&) {}), "no error");
}

TEST(CheckCompiledModel, MissingAndStrayCode) {
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes.pop_back(); }),
            inconsistent("code for batch size 4, CPU level x86-64-v3 is missing"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.batch_sizes.pop_back(); }),
            inconsistent("there is code for unknown batch sizes or CPU levels"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes[1].object = m.codes[0].object; }),
            inconsistent("two objects are named test_bs1_x86-64.o"));
}

TEST(CheckCompiledModel, Tensors) {
  EXPECT_EQ(finding([](CompiledModel& m) { m.signature.outputs.clear(); }),
            inconsistent("the signature has no outputs"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.signature.outputs[0].row_shape = {-1}; }),
            inconsistent("output 'y' has an impossible shape"));
  EXPECT_EQ(finding([](CompiledModel& m) {
              m.signature.inputs[0].row_shape = {1L << 40, 1L << 40};
            }),
            inconsistent("input 'x' has an impossible shape"));
}

TEST(CheckCompiledModel, Weights) {
  EXPECT_EQ(finding([](CompiledModel& m) { m.weights[1].offset = 128; }),
            inconsistent("weight 'bias' lies outside the blob"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.weights_object.clear(); }),
            inconsistent("there are weights but no weights object"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.weights_symbol = "a-b"; }),
            inconsistent("bad names 'test_weights.o', 'a-b' of the weights"));
}

TEST(CheckCompiledModel, Buffers) {
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes[0].buffers[0].index = 1; }),
            inconsistent("buffer 0 of test_bs1_x86-64.o does not fit what it points to"));
  const auto unfit =
      inconsistent("buffer 2 of " + testing::simple_records().compiled.codes[0].object +
                   " does not fit what it points to");
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes[0].weights.pop_back(); }), unfit);
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes[0].weights[1] = 2; }), unfit);
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes[0].buffers[2].size = 9; }),
            inconsistent("buffer 2 of test_bs1_x86-64.o does not fit what it points to"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes[3].buffers[3].size = 17; }),
            inconsistent("buffer 3 of test_bs2_x86-64-v3.o does not fit what it points to"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes[0].result_slot = 3; }),
            inconsistent("test_bs1_x86-64.o has no table of outputs"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes[0].entry_symbol = "f(); int g"; }),
            inconsistent("bad names 'test_bs1_x86-64.o', 'f(); int g' of an object"));
}

}  // namespace
}  // namespace tfaot::toolkit
