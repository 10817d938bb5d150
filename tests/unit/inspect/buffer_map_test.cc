// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/buffer_map.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr const char* kText = R"(BufferAssignment:
allocation 0: size 160, parameter 0, shape |f32[4,10]| at ShapeIndex {}:
 value: <3 p0.1 @0> (size=160,offset=0): f32[4,10]{1,0}
allocation 1: size 64, output shape is |f32[4,4]|, maybe-live-out:
 value: <9 tanh.7 @0> (size=64,offset=0): f32[4,4]{1,0}
allocation 2: size 96, constant:
 value: <5 constant.2 @0> (size=96,offset=0): s64[12]{0}
allocation 3: size 192, preallocated-temp:
 value: <6 custom-call.4{} @0> (size=16,offset=128): (f32[4,4]{1,0}, u8[64]{0})
 value: <7 custom-call.4{0} @0> (size=64,offset=0): f32[4,4]{1,0}
 value: <8 custom-call.4{1} @0> (size=64,offset=64): u8[64]{0}

Total bytes used: 512 (512B)

Used values:
<3 p0.1 @0>
 positions:
  p0.1
 uses:
  custom-call.4, operand 1


HloLiveRange (max 4):
  InstructionSequence:
    0:p0.1
    1:constant.2
    2:custom-call.4
    3:tanh.7
  BufferLiveRange:
    p0.1{}:0-4
    constant.2{}:1-2
    custom-call.4{}:2-2
    custom-call.4{0}:2-3
    custom-call.4{1}:2-2
    tanh.7{}:3-4
  Live ranges at 2 (peak):
    p0.1: 160 bytes
)";

BufferMap map_of(const std::string& text) {
  const auto map = read_buffer_map(text, "a-buffer-assignment.txt");
  EXPECT_TRUE(map) << (map ? "" : map.error().text());
  return map.value_or(BufferMap());
}

TEST(BufferMap, AllocationsWithTheirValues) {
  const BufferMap map = map_of(kText);
  ASSERT_THAT(map.allocations, SizeIs(4));
  EXPECT_EQ(map.allocations[0].use, BufferUse::kInput);
  EXPECT_EQ(map.allocations[0].parameter, 0);
  EXPECT_EQ(map.allocations[1].use, BufferUse::kOutput);
  EXPECT_EQ(map.allocations[1].parameter, -1);
  EXPECT_EQ(map.allocations[2].use, BufferUse::kConstant);
  const Allocation& temporary = map.allocations[3];
  EXPECT_EQ(temporary.use, BufferUse::kTemporary);
  EXPECT_EQ(temporary.size, 192U);
  ASSERT_THAT(temporary.values, SizeIs(3));
  EXPECT_EQ(temporary.values[1].name, "custom-call.4{0}");
  EXPECT_EQ(temporary.values[2].offset, 64U);
  EXPECT_EQ(temporary.values[2].shape, "u8[64]{0}");
}

TEST(BufferMap, LifetimesAndMoments) {
  const BufferMap map = map_of(kText);
  EXPECT_THAT(map.moments, ElementsAre("p0.1", "constant.2", "custom-call.4", "tanh.7"));
  const std::vector<PlacedValue>& values = map.allocations[3].values;
  EXPECT_EQ(values[0].first, 2);  // the tuple itself
  EXPECT_EQ(values[1].first, 2);
  EXPECT_EQ(values[1].last, 3);
  EXPECT_EQ(values[2].last, 2);
  EXPECT_EQ(map.allocations[0].values[0].last, 4);
}

TEST(BufferMap, ThePeakOfOneUse) {
  const BufferMap map = map_of(kText);
  const Peak peak = peak_of(map, BufferUse::kTemporary);
  EXPECT_EQ(peak.bytes, 144U);
  EXPECT_EQ(peak.moment, 2);
  EXPECT_EQ(bytes_of(map, BufferUse::kTemporary), 192U);
  EXPECT_EQ(peak_of(map, BufferUse::kStack).moment, -1);
}

// As XLA lays out a loop: what is before it, its parameter and its result are in one place.
TEST(BufferMap, ValuesInOnePlaceCountOnce) {
  const BufferMap map = map_of(
      "allocation 0: size 96, preallocated-temp:\n"
      " value: <1 copy.1 @0> (size=64,offset=0): f32[16]{0}\n"
      " value: <2 while.2{1} (phi) @0> (size=64,offset=0): f32[16]{0}\n"
      " value: <3 part.3 @0> (size=32,offset=16): f32[8]{0}\n"
      " value: <4 other.4 @0> (size=16,offset=72): f32[4]{0}\n"
      "HloLiveRange (max 4):\n"
      "  BufferLiveRange:\n"
      "    copy.1{}:0-3\n"
      "    while.2{1}:1-4\n"
      "    part.3{}:2-2\n"
      "    other.4{}:4-4\n");
  const Peak peak = peak_of(map, BufferUse::kTemporary);
  EXPECT_EQ(peak.bytes, 80U);
  EXPECT_EQ(peak.moment, 4);
}

TEST(BufferMap, AValueWithoutALifetime) {
  const BufferMap map = map_of(
      "allocation 0: size 8, preallocated-temp:\n"
      " value: <1 a.1 @0> (size=8,offset=0): f32[2]{0}\n");
  EXPECT_EQ(map.allocations[0].values[0].first, -1);
  EXPECT_EQ(peak_of(map, BufferUse::kTemporary).moment, -1);
}

TEST(BufferMap, AnotherText) {
  const auto map = read_buffer_map("HloModule a\n", "a.txt");
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().text(), "a.txt: not a buffer assignment of XLA");
}

TEST(BufferMap, AnEndlessLineIsPassedOver) {
  EXPECT_THAT(map_of(kText + std::string(1'000'000, 'a')).allocations, SizeIs(4));
}

}  // namespace
}  // namespace tfaot::toolkit
