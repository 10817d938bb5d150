// SPDX-License-Identifier: Apache-2.0
#include "upstream_header.h"

#include <gmock/gmock.h>

#include "tests/unit/convert/upstream_samples.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::header_text;
using testing::old_header_text;

std::vector<BufferKind> kinds(const std::vector<BufferSlot>& slots) {
  std::vector<BufferKind> kinds;
  for (const BufferSlot& slot : slots) kinds.push_back(slot.kind);
  return kinds;
}

std::string changed(const std::string& from, const std::string& to) {
  const std::string text = header_text(4);
  EXPECT_THAT(text, HasSubstr(from));
  return replace_all(text, from, to);
}

std::string problem(const std::string& text) {
  const auto header = read_upstream_header(text, "h");
  return header ? "" : header.error().text();
}

TEST(ReadUpstreamHeader, TakesTheFacts) {
  const auto header = read_upstream_header(header_text(4), "net_bs4.h");
  ASSERT_TRUE(header) << header.error().text();
  EXPECT_EQ(header->namespace_name, "some::models");
  EXPECT_EQ(header->class_name, "net_bs4");
  EXPECT_EQ(header->entry_symbol, "entry_bs4");
  ASSERT_EQ(header->arguments.size(), 2U);
  EXPECT_EQ(header->arguments[0].name, "feed_x_bs4");
  EXPECT_EQ(header->arguments[0].dtype, DType::kFloat32);
  EXPECT_THAT(header->arguments[0].shape, ElementsAre(4, 3));
  EXPECT_EQ(header->arguments[1].dtype, DType::kBool);
  EXPECT_THAT(header->arguments[1].shape, ElementsAre(4));
  ASSERT_EQ(header->results.size(), 2U);
  EXPECT_EQ(header->results[1].dtype, DType::kInt64);
  EXPECT_THAT(header->argument_buffers, ElementsAre(1, 2));
  EXPECT_THAT(*header->result_buffers, ElementsAre(3, 4));
  EXPECT_EQ(header->result_table, 5);
  ASSERT_EQ(header->buffers.size(), 7U);
  EXPECT_EQ(header->buffers[1].size, 48U);
  EXPECT_EQ(header->buffers[6].kind, UpstreamBuffer::Kind::kTemporary);
}

// XLA counts the elements of a tuple, from the sixth on.
TEST(ReadUpstreamHeader, PassesOverComments) {
  const auto header = read_upstream_header(
      changed("-> (f32[4,2,2], s64[4])", "-> (f32[4,2,2], /*index=5*/s64[4] /*more, f32[1] */)"),
      "h");
  ASSERT_TRUE(header) << header.error().text();
  ASSERT_EQ(header->results.size(), 2U);
  EXPECT_EQ(header->results[1].dtype, DType::kInt64);
  EXPECT_THAT(header->results[1].shape, ElementsAre(4));
}

TEST(ReadUpstreamHeader, SaysWhatDoesNotFit) {
  const std::string start = "h: not a tfcompile header of a kind that tfaot knows: ";
  const std::string end = "\n  compile the model again: tfaot compile";
  EXPECT_EQ(problem(""), start + "there is no XlaCompiledCpuFunction" + end);
  EXPECT_EQ(problem(changed("kNumBuffers = 7", "kNumBuffers = 8")),
            start + "7 buffers instead of 8" + end);
  EXPECT_EQ(problem(changed("kNumVariables = 0", "kNumVariables = 1")),
            start + "1 variables are left to the caller" + end);
  EXPECT_EQ(problem(changed("f32[4,3]", "c64[4,3]")),
            start + "elements of type 'c64'" + end +
                "\n  models have bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
                "float16, "
                "bfloat16, float32, float64");
  EXPECT_EQ(problem(changed("1, 2\n", "1, 7\n")), start + "its tables do not match" + end);
  EXPECT_EQ(problem(changed("kResultIndex = 5", "kResultIndex = x")),
            start + "kResultIndex is missing" + end);
  EXPECT_EQ(problem(changed("kArgIndexToBufferIndex[kNumArgs] = {", "")),
            start + "'kArgIndexToBufferIndex[kNumArgs] = {' is missing" + end);
  EXPECT_EQ(problem(changed("(feed: f32[4,3], (unknown): pred[4])", "()")),
            start + "a model without inputs or without outputs" + end);
}

TEST(RowSignature, TakesTheBatchOutOfTheShapes) {
  const auto header = read_upstream_header(header_text(4), "h");
  const auto signature = row_signature(*header, 4, "h");
  ASSERT_TRUE(signature) << signature.error().text();
  EXPECT_EQ(signature->inputs[0].name, "x");
  EXPECT_THAT(signature->inputs[0].row_shape, ElementsAre(3));
  EXPECT_EQ(signature->inputs[1].name, "arg1");  // has no name
  EXPECT_TRUE(signature->inputs[1].row_shape.empty());
  EXPECT_EQ(signature->outputs[0].name, "y");
  EXPECT_THAT(signature->outputs[0].row_shape, ElementsAre(2, 2));
}

TEST(RowSignature, OfABatchThatIsNotTheFirstDimension) {
  const auto header = read_upstream_header(header_text(4), "h");
  EXPECT_THAT(row_signature(*header, 2, "h")->inputs[0].row_shape, ElementsAre(6));
  const auto odd = row_signature(*header, 5, "h");
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().text(),
            "h: 'x_bs4' has 12 elements, which batch size 5 does not divide into rows");
}

TEST(BufferSlots, FollowTheTables) {
  const auto header = read_upstream_header(header_text(4), "h");
  const auto slots = buffer_slots(*header, "h");
  ASSERT_TRUE(slots) << slots.error().text();
  EXPECT_THAT(
      kinds(*slots),
      ElementsAre(BufferKind::kUnused, BufferKind::kInput, BufferKind::kInput, BufferKind::kOutput,
                  BufferKind::kOutput, BufferKind::kTemporary, BufferKind::kTemporary));
  EXPECT_EQ(slots->at(4).index, 1U);
  EXPECT_EQ(slots->at(4).size, 32U);
}

TEST(BufferSlots, OfABufferThatIsNoResult) {
  const auto header = read_upstream_header(changed("3, 4\n", "3, 1\n"), "h");
  const auto slots = buffer_slots(*header, "h");
  ASSERT_FALSE(slots);
  EXPECT_EQ(slots.error().text(), "h: buffer 1 is not that of result 1");
}

// Before about TensorFlow 2.17: no table of results, and another notation for buffers.
TEST(BufferSlots, OfAnOlderHeader) {
  const auto header = read_upstream_header(old_header_text(), "h");
  ASSERT_TRUE(header) << header.error().text();
  EXPECT_FALSE(header->result_buffers);
  const auto slots = buffer_slots(*header, "h");
  ASSERT_TRUE(slots) << slots.error().text();
  EXPECT_THAT(kinds(*slots), ElementsAre(BufferKind::kInput, BufferKind::kOutput,
                                         BufferKind::kTemporary, BufferKind::kTemporary));
}

TEST(BufferSlots, OfAnOlderHeaderThatLeavesTwoChoices) {
  const std::string text = replace_all(old_header_text(), "{1025ULL", "{65ULL");
  const auto slots = buffer_slots(*read_upstream_header(text, "h"), "h");
  ASSERT_FALSE(slots);
  EXPECT_EQ(slots.error().text(),
            "h: the header does not say which of 2 buffers of 16 bytes is the result\n"
            "  it was made by an older TensorFlow; compile the model again: tfaot compile");
}

}  // namespace
}  // namespace tfaot::toolkit
