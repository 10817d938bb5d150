// SPDX-License-Identifier: Apache-2.0
#include "validated_model.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

DescribedTensor described(const std::string& name) { return {name, name, "float32", true, {-1}}; }

TEST(ValidatedModel, HasTheNamesOfThePackage) {
  Signature package;
  package.inputs = {{"x", DType::kFloat32, {}}, {"z", DType::kFloat32, {}}};
  package.outputs = {{"y", DType::kFloat32, {}}};
  DescribedSignature model;
  model.inputs = {described("z"), described("x")};
  model.outputs = {described("y")};
  EXPECT_TRUE(check_same_names("m.onnx", model, package));
  model.inputs = {described("a")};
  const Status other = check_same_names("m.onnx", model, package);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text(),
            "m.onnx: the model has other inputs or outputs than the package\n"
            "  inputs: a in the model; x, z in the package\n"
            "  name the model that the package was compiled from");
}

}  // namespace
}  // namespace tfaot::toolkit
