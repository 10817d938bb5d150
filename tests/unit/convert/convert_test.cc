// SPDX-License-Identifier: Apache-2.0
#include "tfaot/convert/convert.h"

#include <gmock/gmock.h>

#include "tests/support/assembler.h"
#include "tests/unit/convert/upstream_samples.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::header_text;

#if defined(__x86_64__)

class ConvertTest : public testing::AssemblerTest {
 protected:
  // include/ and lib/ of a net for batch sizes 2 and 4; both have the same numbers.
  void write_area() {
    for (const int size : {2, 4}) {
      write_program(size, object(size, ".quad 11, 22, 33", "__xla_cpu_runtime_TopKF32"));
    }
  }
  void write_program(int size, const std::string& object) {
    EXPECT_TRUE(files_.replace_atomically(folder_ / fmt::format("area/include/net_bs{}.h", size),
                                          header_text(size)));
    EXPECT_TRUE(
        files_.replace_atomically(folder_ / fmt::format("area/lib/net_bs{}.o", size), object));
  }
  std::string object(int size, const std::string& numbers, const std::string& callee) {
    return assemble(fmt::format(
        ".section .rodata\n.balign 16\n{}\n.text\n.globl entry_bs{}\n.type entry_bs{}, @function\n"
        "entry_bs{}: mov 8+.rodata(%rip), %rax\n call {}@PLT\n ret",
        numbers, size, size, size, callee));
  }
  Result<ConvertedModel> convert(bool share_weights = true) {
    const auto models = find_upstream_models(files_, folder_ / "area");
    if (!models) return fail(models.error());
    EXPECT_EQ(models->size(), 1U);
    return convert_model(files_, models->front(), {folder_ / "out", "x86-64", share_weights});
  }
  std::string problem() {
    const auto converted = convert();
    return converted ? "" : replace_all(converted.error().text(), folder_.string(), "ROOT");
  }
  std::string read(const std::string& file) { return files_.read(folder_ / file).value_or("none"); }
  std::uint64_t size_of(const std::string& file) { return files_.size(folder_ / file).value_or(0); }
};

TEST_F(ConvertTest, MakesTheRecordOfAnArea) {
  write_area();
  const auto converted = convert();
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->namespace_name, "some::models");
  const CompiledModel& compiled = converted->compiled;
  EXPECT_EQ(compiled.target_triple, "x86_64-unknown-linux-gnu");
  EXPECT_THAT(compiled.batch_sizes, ElementsAre(2, 4));
  ASSERT_EQ(compiled.codes.size(), 2U);
  EXPECT_EQ(compiled.codes[1].object, "net_bs4.o");
  EXPECT_EQ(compiled.codes[1].entry_symbol, "entry_bs4");
  EXPECT_EQ(compiled.codes[1].result_slot, 5U);
  EXPECT_THAT(compiled.codes[1].kernels, ElementsAre("__xla_cpu_runtime_TopKF32"));
  EXPECT_EQ(compiled.weights_object, "net_weights.o");
  EXPECT_EQ(compiled.weights_size, 24U);
  EXPECT_EQ(compiled.source_sha256.size(), 64U);
  EXPECT_EQ(converted->constants, 2U);
  EXPECT_EQ(converted->distinct_constants, 1U);
  EXPECT_EQ(converted->bytes_after,
            size_of("out/net_bs2.o") + size_of("out/net_bs4.o") + size_of("out/net_weights.o"));
}

TEST_F(ConvertTest, WeightsMayStay) {
  write_area();
  const auto converted = convert(false);
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->compiled.weights_object, "");
  EXPECT_EQ(converted->bytes_after, converted->bytes_before);
  EXPECT_EQ(read("out/net_bs4.o"), read("area/lib/net_bs4.o"));
}

TEST_F(ConvertTest, AnObjectOfAnotherLayoutStaysWhole) {
  write_area();
  write_program(4, object(4, ".quad 11\n.quad entry_bs4", "memset"));
  const auto converted = convert();
  ASSERT_TRUE(converted) << converted.error().text();
  ASSERT_EQ(converted->whole.size(), 1U);
  EXPECT_EQ(converted->whole[0].object, "net_bs4.o");
  EXPECT_EQ(converted->whole[0].reason, ".rodata holds addresses, perhaps a jump table");
  EXPECT_EQ(converted->constants, 1U);
  EXPECT_EQ(read("out/net_bs4.o"), read("area/lib/net_bs4.o"));
}

TEST_F(ConvertTest, NamesWhatTheRuntimeDoesNotHave) {
  write_area();
  write_program(4, object(4, "", "__xla_cpu_runtime_EigenMatMulF32"));
  EXPECT_EQ(problem(),
            "ROOT/area/lib/net_bs4.o: the code calls '__xla_cpu_runtime_EigenMatMulF32', which "
            "libtfaot_runtime does not have\n  compile the model again: tfaot compile");
}

TEST_F(ConvertTest, NamesWhatNobodyHas) {
  write_area();
  write_program(4, object(4, "", "of_somebody_else"));
  write_program(8, object(8, "", "expf"));
  const auto converted = convert();
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_THAT(converted->remarks,
              ElementsAre("net_bs4.o needs 'of_somebody_else', which neither the package nor libc, "
                          "libm or libgcc has: link the library that defines it"));
}

TEST_F(ConvertTest, TellsWhatOneObjectHasAlone) {
  write_area();
  EXPECT_TRUE(convert().value().alone.empty());
  write_program(8, object(8, ".quad 11, 22, 33, 44", "memset"));
  const auto converted = convert();
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->distinct_constants, 2U);
  ASSERT_EQ(converted->alone.size(), 1U);
  EXPECT_EQ(converted->alone[0].object, "net_bs8.o");
  EXPECT_EQ(converted->alone[0].size, 32U);
}

TEST_F(ConvertTest, BatchSizesMustAgree) {
  write_area();
  ASSERT_TRUE(
      files_.replace_atomically(folder_ / "area/include/net_bs4.h",
                                replace_all(header_text(4), "namespace models", "namespace m")));
  EXPECT_EQ(problem(),
            "ROOT/area/include/net_bs4.h: its namespaces differ from those of the other batch "
            "sizes\n  here: some::m\n  there: some::models");
  ASSERT_TRUE(files_.replace_atomically(folder_ / "area/include/net_bs4.h",
                                        replace_all(header_text(4), "f32[4,3]", "f32[4,4]")));
  EXPECT_EQ(problem(),
            "ROOT/area/include/net_bs4.h: its inputs differ from those of the other batch sizes\n"
            "  here: x: float32 [4], arg1: bool []\n  there: x: float32 [3], arg1: bool []");
  ASSERT_TRUE(files_.replace_atomically(folder_ / "area/include/net_bs4.h", header_text(2)));
  EXPECT_EQ(problem(), "ROOT/area/include/net_bs4.h: its class is 'net_bs2' instead of 'net_bs4'");
}

// With some protobufs the order from upstream's generator differs in every run.
class OrderTest : public ConvertTest {
 protected:
  OrderTest() {
    write_area();
    write_header(2, two_names(2));
  }
  static std::string two_names(int size) {
    return replace_all(header_text(size), fmt::format("{{\"feed_x_bs{}\",", size),
                       fmt::format("{{\"feed_x_bs{0}\", \"feed_flag_bs{0}\",", size));
  }
  void write_header(int size, const std::string& text) {
    EXPECT_TRUE(
        files_.replace_atomically(folder_ / fmt::format("area/include/net_bs{}.h", size), text));
  }
};

TEST_F(OrderTest, InputsOfAnotherOrderAreSortedByName) {
  std::string swapped = two_names(4);
  swapped = replace_all(swapped, "(feed: f32[4,3], (unknown): pred[4])",
                        "(feed: pred[4], (unknown): f32[4,3])");
  swapped = replace_all(swapped, "\"feed_x_bs4\", \"feed_flag_bs4\"",
                        "\"feed_flag_bs4\", \"feed_x_bs4\"");
  write_header(4, replace_all(swapped, "\n1, 2\n", "\n2, 1\n"));
  const auto converted = convert();
  ASSERT_TRUE(converted) << converted.error().text();
  const CompiledModel& compiled = converted->compiled;
  EXPECT_EQ(compiled.signature.inputs[0].name, "flag");
  EXPECT_EQ(compiled.signature.inputs[1].name, "x");
  for (const CompiledCode& code : compiled.codes) {
    EXPECT_EQ(code.buffers[1].index, 1U) << "x's buffer, batch size " << code.batch_size;
    EXPECT_EQ(code.buffers[2].index, 0U) << "flag's buffer, batch size " << code.batch_size;
  }
  EXPECT_THAT(converted->remarks,
              ElementsAre("the inputs are (x, flag) in net_bs2.h, but (flag, x) in net_bs4.h: the "
                          "package orders them by name, (flag, x); check your calls"));
}

TEST_F(OrderTest, OutputsOfAnotherOrderAreSortedByName) {
  write_header(
      4, replace_all(replace_all(replace_all(two_names(4), "-> (f32[4,2,2], s64[4])",
                                             "-> (s64[4], f32[4,2,2])"),
                                 "\"fetch_y\", \"fetch_label\"", "\"fetch_label\", \"fetch_y\""),
                     "\n3, 4\n", "\n4, 3\n"));
  const auto converted = convert();
  ASSERT_TRUE(converted) << converted.error().text();
  const CompiledModel& compiled = converted->compiled;
  EXPECT_EQ(compiled.signature.inputs[0].name, "x");
  EXPECT_EQ(compiled.signature.outputs[0].name, "label");
  for (const CompiledCode& code : compiled.codes) {
    EXPECT_EQ(code.buffers[3].index, 1U) << "y's buffer, batch size " << code.batch_size;
    EXPECT_EQ(code.buffers[4].index, 0U) << "label's buffer, batch size " << code.batch_size;
  }
}

TEST_F(OrderTest, OneOrderStaysWhatItIs) {
  write_header(4, two_names(4));
  const auto converted = convert();
  ASSERT_TRUE(converted) << converted.error().text();
  EXPECT_EQ(converted->compiled.signature.inputs[0].name, "x");
  EXPECT_TRUE(converted->remarks.empty());
}

TEST_F(ConvertTest, FilesMustBeComplete) {
  write_area();
  write_program(4, object(2, "", "memset"));
  EXPECT_EQ(problem(),
            "ROOT/area/lib/net_bs4.o: there is no function 'entry_bs4', which the header names");
  ASSERT_TRUE(files_.replace_atomically(folder_ / "area/lib/net_bs4.o", "no object"));
  EXPECT_EQ(problem(),
            "ROOT/area/lib/net_bs4.o: not a relocatable object of 64 bits for x86-64 or aarch64");
  ASSERT_TRUE(files_.remove_all(folder_ / "area/lib/net_bs4.o"));
  EXPECT_EQ(problem(),
            "ROOT/area: there is no net_bs4.o\n  an area has a header and an object for each batch "
            "size");
  ASSERT_TRUE(files_.replace_atomically(folder_ / "area/again/net_bs2.o", ""));
  EXPECT_THAT(problem(), HasSubstr("ROOT/area/lib/net_bs2.o: the area contains this file twice"));
}

#endif

}  // namespace
}  // namespace tfaot::toolkit
