// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/kernels/kernel_facts.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A product of x, [rows, 8], with a packed weight w of 16 columns.
constexpr const char* kHead =
    R"(ENTRY e {
  x = f32[4,8] parameter(0)
  w = f32[1,1,8,16] parameter(1)
)";
std::string product_of(const std::string& x, int rows, const std::string& name = "k") {
  const std::string count = std::to_string(rows);
  return "  c" + name + " = s64[19] constant({1," + count +
         ",16,8,0,8,1,1,0,0,0,0,0,0,0,0,0,0,0})\n  t" + name + " = (f32[" + count +
         ",16], u8[64]) custom-call(c" + name + ", " + x +
         ", w), custom_call_target=\"tfaot_matmul_f32\"\n  " + name + " = f32[" + count +
         ",16] get-tuple-element(t" + name + "), index=0\n";
}

// For each product, in order: its rows per row of the batch. Empty: the model stays unchanged.
std::vector<std::int64_t> live_rows(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const auto before = module->entry_computation()->num_parameters();
  const auto done =
      testing::run_pass_for("leave_out_padding", &PassContext::has_live_rows, *module, 1);
  EXPECT_TRUE(done) << text;
  EXPECT_EQ(module->entry_computation()->num_parameters(), before + (*done ? 1 : 0));
  std::vector<std::int64_t> rows;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (!is_kernel_call(*one) || one->user_count() == 0) continue;
    const auto call = call_of<kernels::MatMulCall>(*one);
    if (!*done) {
      EXPECT_EQ(call.live_rows, 0);
      continue;
    }
    rows.push_back(call.live_rows);
    EXPECT_EQ(one->operands().back()->parameter_number(), before);
    EXPECT_EQ(one->operand_count(), 4U);
  }
  const auto layout = module->entry_computation_layout();
  EXPECT_EQ(layout.parameter_count(), before + (*done ? 1 : 0));
  return rows;
}

TEST(LiveRows, GoToProductsOfTheBatch) {
  EXPECT_THAT(live_rows(kHead + product_of("x", 4) + R"(  ROOT r = (f32[4,16]) tuple(k)
})"),
              ElementsAre(1));
}

// Through operations that treat rows alone, with tensors of the model and numbers.
TEST(LiveRows, FollowTheRowsThroughTheModel) {
  const std::string text = kHead + product_of("x", 4, "a") +
                           R"(  one = f32[] constant(1)
  ones = f32[4,16] broadcast(one), dimensions={}
  s = f32[4,16] add(a, ones)
  h = f32[4,16] tanh(s)
  left = f32[4,8] slice(h), slice={[0:4], [0:8]}
  parts = f32[8,8] reshape(h)
)" + product_of("parts", 8, "b") +
                           product_of("left", 4, "d") +
                           R"(  ROOT r = (f32[8,16], f32[4,16]) tuple(b, d)
})";
  EXPECT_THAT(live_rows(text), ::testing::UnorderedElementsAre(1, 2, 1));
}

// A sum with rows of the batch is one of a row alone.
TEST(LiveRows, GoToProductsWithASum) {
  const auto sum_with = [](const std::string& addends) {
    return std::string(kHead) + addends +
           R"(  c = s64[19] constant({1,4,16,8,0,8,1,1,0,0,0,8,0,0,0,0,0,0,0})
  t = (f32[4,16], u8[64]) custom-call(c, x, w, y), custom_call_target="tfaot_matmul_f32"
  k = f32[4,16] get-tuple-element(t), index=0
  ROOT r = (f32[4,16]) tuple(k)
})";
  };
  const auto module =
      testing::parse_hlo(sum_with(R"(  y = f32[4,16] concatenate(x, x), dimensions={1}
)"));
  const auto done =
      testing::run_pass_for("leave_out_padding", &PassContext::has_live_rows, *module, 1);
  EXPECT_TRUE(done && *done);
  EXPECT_THAT(live_rows(sum_with(R"(  v = f32[4,16] concatenate(x, x), dimensions={1}
  z = f32[16,4] reshape(v)
  y = f32[4,16] transpose(z), dimensions={1,0}
)")),
              IsEmpty());
}

TEST(LiveRows, AreOfNoUseForOneRow) {
  EXPECT_THAT(live_rows(R"(ENTRY e {
  x = f32[1,8] parameter(0)
  w = f32[1,1,8,16] parameter(1)
)" + product_of("x", 1) +
                        R"(  ROOT r = (f32[1,16]) tuple(k)
})"),
              IsEmpty());
  EXPECT_THAT(live_rows(std::string(kHead) + R"(  ROOT y = f32[4,8] negate(x)
})"),
              IsEmpty());
}

// Then padding may affect the rows that count.
TEST(LiveRows, StayAwayWhereRowsMeet) {
  const std::string sum =
      R"(sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
)";
  const std::string head = kHead + product_of("x", 4);
  for (const char* const rest : {R"(  y = f32[16,4] transpose(k), dimensions={1,0}
  ROOT r = (f32[16,4]) tuple(y)
})",
                                 R"(  z = f32[] constant(0)
  y = f32[16] reduce(k, z), dimensions={0}, to_apply=sum
  b = f32[4,16] broadcast(y), dimensions={1}
  ROOT r = (f32[4,16]) tuple(b)
})",
                                 R"(  y = f32[4,16] reverse(k), dimensions={0}
  ROOT r = (f32[4,16]) tuple(y)
})",
                                 R"(  y = f32[2,16] slice(k), slice={[2:4], [0:16]}
  ROOT r = (f32[2,16]) tuple(y)
})",
                                 R"(  y = f32[8,16] concatenate(k, k), dimensions={0}
  ROOT r = (f32[8,16]) tuple(y)
})"}) {
    EXPECT_THAT(live_rows(sum + head + rest), IsEmpty()) << rest;
  }
  EXPECT_THAT(live_rows(sum + head +
                        R"(  z = f32[] constant(0)
  y = f32[4] reduce(k, z), dimensions={1}, to_apply=sum
  ROOT r = (f32[4]) tuple(y)
})"),
              ElementsAre(1))
      << "sums of a row are no meeting";
}

// A ForestCall of 4 rows and its one block, and the argmax of what comes out.
TEST(LiveRows, GoToForests) {
  const std::string text =
      R"(largest {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  m = f32[] maximum(a, b)
  n = s32[] minimum(i, j)
  ROOT t = (f32[], s32[]) tuple(m, n)
}
ENTRY e {
  x = f32[4,8] parameter(0)
  nodes = s32[3,2] parameter(1)
  c = s64[12] constant({4,8,17,2,1,0,0,0, 0,1,1,0})
  t = (f32[4,2], u8[336]) custom-call(c, x, nodes), custom_call_target="tfaot_forest_f32"
  k = f32[4,2] get-tuple-element(t), index=0
  n = s32[4,2] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  l = (f32[4], s32[4]) reduce(k, n, low, zero), dimensions={1}, to_apply=largest
  y = s32[4] get-tuple-element(l), index=1
  ROOT r = (s32[4]) tuple(y)
})";
  const auto module = testing::parse_hlo(text);
  ASSERT_EQ(testing::run_pass_for("leave_out_padding", &PassContext::has_live_rows, *module, 1),
            true);
  int calls = 0;
  for (const auto* one : module->entry_computation()->instructions()) {
    if (!is_call_of(*one, Kernel::kForest) || one->user_count() == 0) continue;
    ++calls;
    EXPECT_EQ(call_of<kernels::ForestCall>(*one).live_rows, 1);
    EXPECT_EQ(one->operands().back()->parameter_number(), 2);
    EXPECT_THAT(call_words(*one), ElementsAre(4, 8, 17, 2, 1, 0, 0, 1, 0, 1, 1, 0));
    EXPECT_EQ(forest_size(*one).steps, 4);
  }
  EXPECT_EQ(calls, 1);
}

// A DenseChainCall of `rows` rows of a batch of 4: layers of 8 with a bias and of 3, then a
// product.
std::vector<std::int64_t> chain_live_rows(int rows, const std::string& bias,
                                          const std::string& before = "") {
  const auto module = testing::parse_hlo(
      R"(ENTRY e {
  x = f32[4,16] parameter(0)
  v = f32[1,1,4,16] parameter(1)
  u = f32[1,1,8,16] parameter(2)
  w = f32[8] parameter(3)
)" + before +
      "  b = f32[8] " + bias + R"(
  c = s64[15] constant({)" +
      std::to_string(rows) +
      R"(,4,2,8,0, 8,1,0,0,0, 3,0,0,0,0})
  t = (f32[16,3], u8[1088]) custom-call(c, x, v, b, u), custom_call_target="tfaot_dense_chain_f32"
  y = f32[16,3] get-tuple-element(t), index=0
  ROOT r = (f32[16,3]) tuple(y)
})");
  std::vector<std::int64_t> live;
  if (!testing::run_pass_for("leave_out_padding", &PassContext::has_live_rows, *module, 1)
           .value_or(false))
    return live;
  for (const auto* one : module->entry_computation()->instructions()) {
    if (!is_call_of(*one, Kernel::kDenseChain) || one->user_count() == 0) continue;
    live.push_back(call_of<kernels::DenseChainCall>(*one).live_rows);
    EXPECT_EQ(one->operands().back()->parameter_number(), 4);
    EXPECT_EQ(dense_layers(*one).size(), 2U);
    EXPECT_EQ(dense_layers(*one).back().columns, 3);
  }
  return live;
}

TEST(LiveRows, GoToChainsOfDenseLayers) {
  EXPECT_THAT(chain_live_rows(16, "negate(w)"), ElementsAre(4));
  EXPECT_THAT(chain_live_rows(15, "negate(w)"), IsEmpty());
  EXPECT_THAT(chain_live_rows(16, "maximum(w, q)",
                              R"(  y8 = f32[1,8] slice(x), slice={[0:1], [0:8]}
  q = f32[8] reshape(y8)
)"),
              IsEmpty());
}

// A RecurrentCall of 4 rows: 3 steps of x, rows first, to a state of 8 of which `kept` are kept.
std::vector<std::int64_t> recurrent_live_rows(const std::string& x_steps, const std::string& kept) {
  const auto module = testing::parse_hlo(
      R"(ENTRY e {
  x = f32[4,96] parameter(0)
  w = f32[1,8,4,16] parameter(1)
  b = f32[1,4,16] parameter(2)
  z = f32[] constant(0)
  h = f32[4,8] broadcast(z), dimensions={}
  c = s64[18] constant({4,3,8,0, 0,)" +
      x_steps + ", 0,8,16,24, " + kept +
      R"(, 0,0})
  t = (f32[4,24], u8[1536]) custom-call(c, x, w, b, h, h), custom_call_target="tfaot_lstm_f32"
  y = f32[4,24] get-tuple-element(t), index=0
  ROOT r = (f32[4,24]) tuple(y)
})");
  std::vector<std::int64_t> rows;
  if (!testing::run_pass_for("leave_out_padding", &PassContext::has_live_rows, *module, 1)
           .value_or(false))
    return rows;
  for (const auto* one : module->entry_computation()->instructions()) {
    if (!is_call_of(*one, Kernel::kLstm) || one->user_count() == 0) continue;
    rows.push_back(call_of<kernels::RecurrentCall>(*one).live_rows);
    EXPECT_EQ(one->operands().back()->parameter_number(), 3);
    EXPECT_EQ(one->operand_count(), 7U);
  }
  return rows;
}

// The calls of convolutions of two images a row, 3x3 on 4x4 of 2 channels, named `kernel`, and what
// they leave out: images for each row of the batch; empty: all images count.
std::vector<std::int64_t> live_images(const std::string& kernel, const std::string& images) {
  const auto module = testing::parse_hlo(
      R"(ENTRY e {
  x = f32[3,2,4,4,2] parameter(0)
  w = f32[1,1,18,16] parameter(1)
)" + images +
      R"(  c = s64[30] constant({6,1,4,4,1,4,4,1,3,3,1,1,1,0,1,1,0,1,1,1,1,1,1,1,1,2,2,1,0,0})
  t = (f32[6,4,4,2], u8[64]) custom-call(c, i, w), custom_call_target="tfaot_)" +
      kernel +
      R"(_f32"
  k = f32[6,4,4,2] get-tuple-element(t), index=0
  ROOT r = (f32[6,4,4,2]) tuple(k)
})");
  const auto done =
      testing::run_pass_for("leave_out_padding", &PassContext::has_live_rows, *module, 1);
  EXPECT_TRUE(done);
  std::vector<std::int64_t> found;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (!is_kernel_call(*one) || one->user_count() == 0 || !skips_padding(*one)) continue;
    found.push_back(call_of<kernels::ConvolutionCall>(*one).live_images);
    EXPECT_EQ(one->operands().back()->parameter_number(), 2);
  }
  EXPECT_EQ(*done, !found.empty());
  return found;
}

TEST(LiveRows, GoToConvolutionsOfImagesInOrder) {
  const std::string in_order = R"(  i = f32[6,4,4,2] reshape(x)
)";
  for (const char* kernel :
       {"convolution", "transposed_convolution", "winograd_convolution", "depthwise"}) {
    EXPECT_THAT(live_images(kernel, in_order), ElementsAre(2)) << kernel;
    EXPECT_THAT(live_images(kernel,
                            R"(  y = f32[2,3,4,4,2] transpose(x), dimensions={1,0,2,3,4}
  i = f32[6,4,4,2] reshape(y)
)"),
                IsEmpty())
        << kernel;
  }
}

TEST(LiveRows, GoToRecurrentLayersOfRowsInOrder) {
  EXPECT_THAT(recurrent_live_rows("32,96", "0,8,24, 1,-1"), ElementsAre(1));
  // Steps first, in what is read or made.
  EXPECT_THAT(recurrent_live_rows("128,32", "0,8,24, 1,-1"), IsEmpty());
  EXPECT_THAT(recurrent_live_rows("32,96", "0,32,8, 1,-1"), IsEmpty());
  // The memory of all rows comes after all states.
  EXPECT_THAT(recurrent_live_rows("32,96", "0,8,16, 1,64"), IsEmpty());
}

// Whether products after a function of rows leave out padding: of 4 rows of x[4,8], with columns
// from a parameter of that shape.
bool passes_rows(const std::string& name, const std::string& words, const std::string& columns) {
  const std::string text =
      R"(ENTRY e {
  x = f32[4,8] parameter(0)
  w = f32[1,1,8,16] parameter(1)
  t = )" +
      columns + R"(
  c = s64[3] constant({)" +
      words +
      R"(})
  g = f32[4,8] custom-call(c, x, t), custom_call_target="tfaot_)" +
      name + "_f32\"\n" + product_of("g", 4) + R"(  ROOT r = (f32[4,16]) tuple(k)
})";
  return testing::run_pass_for("leave_out_padding", &PassContext::has_live_rows,
                               *testing::parse_hlo(text), 1)
      .value_or(false);
}

TEST(LiveRows, PassFunctionsOfRows) {
  const std::string weights = "f32[8] parameter(2)";
  EXPECT_TRUE(passes_rows("softmax", "4,8,0", weights));
  EXPECT_TRUE(passes_rows("layer_norm", "16,2,0", weights));
  EXPECT_TRUE(passes_rows("gelu", "32,0,0", weights));
  EXPECT_TRUE(passes_rows("row_sum", "4,8,2", "f32[4,8] tanh(x)"));
  // Rows of two of the batch together, and columns that depend on the batch.
  EXPECT_FALSE(passes_rows("softmax", "2,16,0", weights));
  EXPECT_FALSE(passes_rows("layer_norm", "4,8,0", "f32[1,8] slice(x), slice={[0:1],[0:8]}"));
}

// Whether products after a gather leave out padding: of 4 rows, x[4,8] by the places in x or a
// table t[9,4], `parts` as abi.h has them.
bool passes_gather(int rows, const std::string& parts, int part_count) {
  const std::string text =
      R"(ENTRY e {
  x = f32[4,8] parameter(0)
  w = f32[1,1,8,16] parameter(1)
  t = f32[9,4] parameter(2)
  i = s64[4] parameter(3)
  c = s64[)" +
      std::to_string(3 + 9 * part_count) + "] constant({" + std::to_string(rows) + "," +
      std::to_string(32 / rows) + "," + std::to_string(part_count) + ", " + parts +
      R"(})
  g = f32[4,8] custom-call(c, x, t, i), custom_call_target="tfaot_gather_f32"
)" + product_of("g", 4) +
      R"(  ROOT r = (f32[4,16]) tuple(k)
})";
  return testing::run_pass_for("leave_out_padding", &PassContext::has_live_rows,
                               *testing::parse_hlo(text), 1)
      .value_or(false);
}

TEST(LiveRows, PassGathersOfRowsInOrder) {
  const std::string table = "2,0,4,9, 3,1,5,8, 4";  // by the sixth number of each row of x
  EXPECT_TRUE(passes_gather(4, "1,4,8,4, 0,0,0,0, 4, " + table, 2));
  EXPECT_TRUE(passes_gather(4, "2,0,4,9, 2,3,0,1, 4, " + table, 2));  // places of the model
  EXPECT_TRUE(passes_gather(8, "2,0,4,9, 3,1,1,4, 4", 1));            // by the second and the sixth
  // Rows of the batch by their places, half of the batch, and rows that are parts of no row.
  EXPECT_FALSE(passes_gather(4, "1,0,8,4, 2,3,0,1, 4, " + table, 2));
  EXPECT_FALSE(passes_gather(4, "1,0,4,4, 0,0,0,0, 4, " + table, 2));
  EXPECT_FALSE(passes_gather(4, "2,0,4,9, 3,1,0,4, 4, " + table, 2));
  EXPECT_FALSE(passes_gather(2, "1,0,16,2, 0,0,0,0, 16", 1));
}

TEST(LiveRows, StayAwayFromRightSidesOfTheBatch) {
  EXPECT_THAT(live_rows(
                  R"(ENTRY e {
  x = f32[4,8] parameter(0)
  w = f32[8,4] transpose(x), dimensions={1,0}
  c = s64[13] constant({1,4,4,8,0,8,1,0,0,4,1,0,0})
  t = (f32[4,4], u8[640]) custom-call(c, x, w), custom_call_target="tfaot_matmul_f32"
  k = f32[4,4] get-tuple-element(t), index=0
  ROOT r = (f32[4,4]) tuple(k)
})"),
              IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit::engine
