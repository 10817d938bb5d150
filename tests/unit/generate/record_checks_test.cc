// SPDX-License-Identifier: Apache-2.0
// A record that is wrong must not become a header: the code would write outside its buffers.
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/generate/records.h"
#include "tfaot/generate/generate.h"
#include "tfaot/generate/package_record_json.h"

namespace tfaot::toolkit {
namespace {

using testing::Records;

// What generate_files() says of simple_records() after `damage`; codes[0].buffers: input, two
// weights, output, unused, temporary, result table.
std::string finding(const std::function<void(CompiledModel&)>& damage) {
  Records records = testing::simple_records();
  damage(records.compiled);
  const auto generated = generate_files(records.spec, records.compiled, {});
  if (generated) return "no error";
  EXPECT_EQ(generated.error().kind(), ErrorKind::kInternal);
  return generated.error().text();
}

std::string inconsistent(const std::string& what) {
  return "the compilation record is inconsistent: " + what +
         "\n  This is a defect of tfaot; please report it with the model's config.";
}

TEST(RecordChecks, TakesWhatIsWhole) {
  EXPECT_EQ(finding([](CompiledModel&) {}), "no error");
}

TEST(RecordChecks, MissingAndStrayCode) {
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes.pop_back(); }),
            inconsistent("code for batch size 4, CPU level x86-64-v3 is missing"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.batch_sizes.pop_back(); }),
            inconsistent("there is code for unknown batch sizes or CPU levels"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.codes[1].object = m.codes[0].object; }),
            inconsistent("two objects are named test_bs1_x86-64.o"));
}

TEST(RecordChecks, Tensors) {
  EXPECT_EQ(finding([](CompiledModel& m) { m.signature.inputs.clear(); }),
            inconsistent("the signature has no inputs"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.signature.outputs[0].row_shape = {-1}; }),
            inconsistent("output 'y' has an impossible shape"));
  EXPECT_EQ(finding([](CompiledModel& m) {
              m.signature.inputs[0].row_shape = {1L << 40, 1L << 40};
            }),
            inconsistent("input 'x' has an impossible shape"));
}

TEST(RecordChecks, Weights) {
  EXPECT_EQ(finding([](CompiledModel& m) { m.weights[1].offset = 128; }),
            inconsistent("weight 'bias' lies outside the blob"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.weights_object.clear(); }),
            inconsistent("there are weights but no weights object"));
  EXPECT_EQ(finding([](CompiledModel& m) { m.weights_symbol = "a-b"; }),
            inconsistent("bad names 'test_weights.o', 'a-b' of the weights"));
}

TEST(RecordChecks, Buffers) {
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

// The same rules for record.json, which may come from anywhere: there they are the package's fault.
TEST(RecordChecks, OfAPackageAreErrorsOfItsFile) {
  const Records records = testing::simple_records();
  const Manifest manifest = make_manifest(records.spec, records.compiled, {}, {});
  const std::string text = package_record_to_json(records.spec, records.compiled);
  ASSERT_TRUE(package_record_from_json(manifest, text, "record.json"));
  const auto error_of = [](const Manifest& of, const std::string& record) {
    const auto read = package_record_from_json(of, record, "record.json");
    if (read) return std::string("no error");
    EXPECT_EQ(read.error().kind(), ErrorKind::kInput);
    return read.error().text();
  };
  CompiledModel damaged = records.compiled;
  damaged.weights[1].offset = 128;
  EXPECT_EQ(error_of(manifest, package_record_to_json(records.spec, damaged)),
            "record.json: the record is damaged, or of another package\n"
            "  the compilation record is inconsistent: weight 'bias' lies outside the blob");
  Manifest other = manifest;
  other.batch_sizes = {1};
  EXPECT_EQ(error_of(other, text),
            "record.json: the record is damaged, or of another package\n"
            "  the manifest says other batch sizes or CPU levels");
  for (const char* bad : {"", "{", "{}", "null", "[1]", "{\"compiled\": 7}"}) {
    EXPECT_NE(error_of(manifest, bad), "no error") << bad;
  }
}

}  // namespace
}  // namespace tfaot::toolkit
