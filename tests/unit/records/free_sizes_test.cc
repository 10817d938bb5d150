// SPDX-License-Identifier: Apache-2.0
// Free dimensions: formulas, shapes at given sizes, the sizes that shapes have.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/unit/records/sample_records.h"
#include "tfaot/records/free_tensors.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

const std::vector<FreeDimension> kDimensions = {{"n", 1, 40}, {"m", 0, 6}, {"copy", 1, 40, "n"}};
const std::vector<FreeDimension> kSized = sized_dimensions(kDimensions);

SizeFormula plain(std::int64_t number) { return {{{number}}}; }
const SizeFormula kN = {{{1, {1}}}};
const SizeFormula kM = {{{1, {0, 1}}}};
const SizeFormula kSum = {{{1, {1}}, {2, {0, 1}}, {-1}}};  // n + 2*m - 1
const SizeFormula kPairs = {{{-1, {1}}, {1, {2}}}, 2};     // (n^2 - n)/2
const SizeFormula kProduct = {{{3, {1, 1}}}};

TEST(FreeSizes, FormulasForPeople) {
  EXPECT_EQ(formula_text(kN, kSized), "n");
  EXPECT_EQ(formula_text(plain(7), kSized), "7");
  EXPECT_EQ(formula_text({{}}, kSized), "0");
  EXPECT_EQ(formula_text(kSum, kSized), "n + 2*m - 1");
  EXPECT_EQ(formula_text({{{5}, {-2, {1}}}}, kSized), "-2*n + 5");
  EXPECT_EQ(formula_text(kPairs, kSized), "(-n + n^2)/2");
  EXPECT_EQ(formula_text(kProduct, kSized), "3*n*m");
  EXPECT_EQ(formula_text({{{1, {1}}}, 2}, kSized), "n/2");
  EXPECT_TRUE(is_constant(plain(7)));
  EXPECT_FALSE(is_constant(kSum));
}

TEST(FreeSizes, FormulasAtSizes) {
  EXPECT_EQ(size_at(kSum, {10, 3}), 15);
  EXPECT_EQ(size_at(kPairs, {10, 3}), 45);
  EXPECT_EQ(size_at(kProduct, {10, 0}), 0);
}

TEST(FreeSizes, OneThatIsTheSameAsAnotherHasItsSize) {
  EXPECT_EQ(kSized.size(), 2U);
  EXPECT_EQ(named_sizes_text(named_sizes(kDimensions, {10, 3})), "n=10, m=3, copy=10");
  EXPECT_EQ(range_text(kDimensions[0]), "n=1..40");
  EXPECT_EQ(range_text(kDimensions[2]), "copy=n");
  EXPECT_THAT(default_sizes(kSized), ElementsAre(40, 6));
}

Signature signature() {
  return {"",
          {{"x", DType::kFloat32, {40, 3}, {kN, plain(3)}},
           {"w", DType::kFloat32, {40, 6}, {kN, kM}},
           {"fixed", DType::kFloat32, {5}}},
          {{"y", DType::kFloat32, {51}, {kSum}}}};
}

TEST(FreeSizes, TensorsAtSizes) {
  const Signature at = signature_at(signature(), {10, 3});
  EXPECT_THAT(at.inputs[0].row_shape, ElementsAre(10, 3));
  EXPECT_THAT(at.inputs[2].row_shape, ElementsAre(5));
  EXPECT_THAT(at.outputs[0].row_shape, ElementsAre(15));
  EXPECT_TRUE(at.inputs[0].free_shape.empty());
  EXPECT_THAT(row_shape_texts(signature().inputs[1], kSized), ElementsAre("n", "m"));
  EXPECT_THAT(row_shape_texts(signature().inputs[2], kSized), ElementsAre("5"));
}

std::string sizes_text_of(const std::vector<std::vector<std::int64_t>>& shapes,
                          const std::vector<TensorSpec>& inputs = signature().inputs) {
  const auto sizes = sizes_of_shapes(inputs, shapes, kSized);
  return sizes ? named_sizes_text(named_sizes(kSized, *sizes)) : sizes.error().text();
}

TEST(FreeSizes, ShapesTellThem) {
  EXPECT_EQ(sizes_text_of({{10, 3}, {10, 0}, {5}}), "n=10, m=0");
  EXPECT_EQ(sizes_text_of({{41, 3}, {41, 0}, {5}}),
            "input 'x', axis 1: 'n' is 41, but the code is for 1 to 40");
  EXPECT_EQ(sizes_text_of({{10, 3}, {11, 0}, {5}}),
            "input 'w', axis 1: the size of 'n' is 11, but 10 by input 'x', axis 1");
  EXPECT_EQ(sizes_text_of({{10}, {11, 0}, {5}}),
            "input 'x' has 2 dimensions, and the model takes [rows, n, 3]");
  const std::vector<TensorSpec> pairs = {{"p", DType::kFloat32, {780}, {kPairs}},
                                         {"d", DType::kFloat32, {12}, {{{{2, {0, 1}}}}}}};
  EXPECT_EQ(sizes_text_of({{45}, {8}}, pairs), "n=10, m=4");
  EXPECT_EQ(sizes_text_of({{46}, {8}}, pairs),
            "input 'p', axis 1: '(-n + n^2)/2' is 46, but the code is for 'n' from 1 to 40");
  EXPECT_EQ(sizes_text_of({{45}, {7}}, pairs),
            "input 'd', axis 1: '2*m' is 7, but the code is for 'm' from 0 to 6");
  EXPECT_EQ(sizes_text_of({{10, 3}}, {signature().inputs[0]}),
            "the inputs' shapes leave the size of 'm' open");
  // One size alone: no shape follows it.
  const auto one_size =
      sizes_of_shapes({signature().inputs[0]}, {{10, 3}}, {{"n", 1, 40}, {"k", 4, 4}});
  ASSERT_TRUE(one_size);
  EXPECT_THAT(*one_size, ElementsAre(10, 4));
}

TEST(FreeSizes, RecordsThatAreReadAreChecked) {
  const auto problem = [](auto damage) {
    Signature damaged = signature();
    std::vector<FreeDimension> dimensions = kDimensions;
    damage(damaged, dimensions);
    return free_sizes_problem(damaged, dimensions);
  };
  using Dimensions = std::vector<FreeDimension>;
  EXPECT_EQ(problem([](Signature&, Dimensions&) {}), "");
  EXPECT_EQ(problem([](Signature&, Dimensions& d) { d[0].largest = 1L << 40; }),
            "the dimension 'n' has impossible sizes");
  EXPECT_EQ(problem([](Signature&, Dimensions& d) { d[2].same_as = "copy"; }),
            "the dimension 'copy' has impossible sizes");
  const std::string other = "the free sizes of 'y' do not give its shape";
  EXPECT_EQ(problem([](Signature& s, Dimensions&) { s.outputs[0].row_shape = {52}; }), other);
  EXPECT_EQ(problem([](Signature& s, Dimensions&) { s.outputs[0].free_shape[0].divisor = 0; }),
            other);
  EXPECT_EQ(problem([](Signature& s, Dimensions&) {
              s.outputs[0].free_shape[0].terms[0].powers = {1, 0, 1};
            }),
            other);
  EXPECT_EQ(problem([](Signature& s, Dimensions&) {
              s.outputs[0].free_shape[0].terms[0] = {1L << 62, {8}};
            }),
            other);
  EXPECT_EQ(problem([](Signature& s, Dimensions&) { s.outputs[0].free_shape.clear(); }), "");
}

// min(n, 30) + m, of the even n n / 2 + m.
SizeFormula of_parts() {
  const SizeSteps all = {};
  return {{{1, {1}, {{2, 30, 2}, all}},
           {2, {1}, {{1, 30, 2}, all}},
           {60, {}, {{31}, all}},
           {2, {0, 1}}},
          2};
}

TEST(FreeSizes, MayBeOfParts) {
  const SizeFormula parts = of_parts();
  EXPECT_EQ(size_at(parts, {28, 3}), 17);
  EXPECT_EQ(size_at(parts, {29, 3}), 32);
  EXPECT_EQ(size_at(parts, {31, 3}), 33);
  EXPECT_EQ(formula_text(parts, kSized),
            "n/2 if n = 2, 4..30; 2*n/2 if n = 1, 3..29; 60/2 if n >= 31; 2*m/2");
  EXPECT_EQ(formula_text({{{1, {1}, {{1, 9}, {0, 3}}}, {7, {}, {{10, 20}, {4}}}}}, kSized),
            "n if n <= 9 and m <= 3; 7 if n = 10..20 and m >= 4");
  EXPECT_EQ(formula_text({{{7, {}, {{40}}}}}, kSized), "7 if n = 40");
  const SizeFormula cut = {{{0, {}, {{0, 0}}}, {1, {1}, {{1, 6}}}, {7, {}, {{7}}}}};
  EXPECT_EQ(formula_text(cut, {{"n", 0, 20}}), "min(n, 7)");
  EXPECT_EQ(formula_text({{{7, {}, {{0, 6}}}, {1, {1}, {{7}}}}}, {{"n", 0, 20}}), "max(n, 7)");
  EXPECT_FALSE(is_constant({{{7, {}, {{40}}}}}));
  Signature signature{"", {}, {{"y", DType::kFloat32, {36}, {parts}}}};
  EXPECT_EQ(free_sizes_problem(signature, kDimensions), "");
  signature.outputs[0].row_shape = {35};
  EXPECT_NE(free_sizes_problem(signature, kDimensions), "");
  signature.outputs[0].row_shape = {36};
  signature.outputs[0].free_shape[0].terms[0].within[0].step = 0;
  EXPECT_NE(free_sizes_problem(signature, kDimensions), "");
}

TEST(FreeSizes, AManifestKeepsThem) {
  testing::Records records = testing::simple_records();
  records.compiled.signature.inputs[0].free_shape = {{{{1, {1}}}}};
  records.compiled.signature.inputs[0].row_shape = {40};
  records.spec.compilation.dimensions = {{"n", 1, 40}};
  Manifest manifest = make_manifest(records.spec, records.compiled, "", {});
  const auto read = manifest_from_json(manifest_to_json(manifest), "manifest.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(range_text(read->dimensions.at(0)), "n=1..40");
  EXPECT_EQ(formula_text(read->signature.inputs[0].free_shape.at(0), read->dimensions), "n");
  manifest.signature.inputs[0].free_shape[0].terms[0].within = {{1, 40, 3}};
  const auto parts = manifest_from_json(manifest_to_json(manifest), "manifest.json");
  ASSERT_TRUE(parts) << parts.error().text();
  EXPECT_EQ(parts->signature.inputs[0].free_shape[0].terms[0].within.at(0), (SizeSteps{1, 40, 3}));
  manifest.signature.inputs[0].free_shape[0].terms[0].within = {};
  manifest.dimensions[0].largest = 30;
  const auto wrong = manifest_from_json(manifest_to_json(manifest), "manifest.json");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), ::testing::HasSubstr("do not give its shape"));
}

TEST(FreeSizes, AManifestKeepsWhereItWasValidated) {
  testing::Records records = testing::simple_records();
  records.spec.compilation.dimensions = {{"n", 1, 40}, {"m", 1, 40, "n"}};
  Manifest manifest = make_manifest(records.spec, records.compiled, "", {});
  ValidatedOutput output;
  output.output = manifest.signature.outputs[0].name;
  output.cpu_level = manifest.cpu_levels[0];
  output.rows = 1;
  output.sizes = {{"n", 7}};
  manifest.validation =
      Validation{"onnxruntime 1", manifest.cpu_levels, {1}, {}, {output}, {{{"n", 1}}, {{"n", 7}}}};
  const auto read = manifest_from_json(manifest_to_json(manifest), "manifest.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(named_sizes_text(read->validation->outputs.at(0).sizes), "n=7");
  EXPECT_EQ(named_sizes_text(read->validation->sizes.at(1)), "n=7");
}

}  // namespace
}  // namespace tfaot::toolkit
