// SPDX-License-Identifier: Apache-2.0
// What XLA makes of our simplified modules computes what the model says, also where numbers
// overflow, are NaN, or are indices out of range. The numbers are those of arithmetic and numpy.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/hlo/hlo.h"
#include "compiler/hlo/simplify.h"
#include "parse_hlo.h"
#include "xla/client/client_library.h"
#include "xla/client/local_client.h"
#include "xla/literal_util.h"
#include "xla/service/platform_util.h"

namespace tfaot::toolkit::engine {
namespace {

// "1 nan -2"
xla::Literal literal_of(const xla::Shape& shape, const std::string& numbers) {
  std::istringstream words(numbers);
  std::vector<double> values;
  for (std::string word; words >> word;) values.push_back(std::stod(word));
  EXPECT_EQ(xla::ShapeUtil::ElementsIn(shape), std::ssize(values)) << numbers;
  const auto wide = xla::LiteralUtil::CreateR1<double>(values).Reshape(shape.dimensions());
  return wide->Convert(shape.element_type()).value();
}

xla::Literal run_compiled(const xla::HloModule& module, const std::vector<std::string>& inputs) {
  xla::LocalClient& client =
      *xla::ClientLibrary::GetOrCreateLocalClient(xla::PlatformUtil::GetPlatform("Host").value())
           .value();
  std::vector<std::unique_ptr<xla::GlobalData>> data;
  std::vector<xla::GlobalData*> arguments;
  std::vector<xla::Shape> shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    shapes.push_back(
        module.entry_computation()->parameter_instruction(static_cast<std::int64_t>(i))->shape());
    data.push_back(client.TransferToServer(literal_of(shapes.back(), inputs[i])).value());
    arguments.push_back(data.back().get());
  }
  xla::Client& compiler = client;
  const auto code = compiler.Compile(xla::XlaComputation(module.ToProto()), shapes).value();
  return client.Transfer(*compiler.Execute(code, arguments).value()).value();
}

std::vector<double> numbers_of(const xla::Literal& value) {
  const xla::Literal wide = value.Convert(xla::F64).value();
  return {wide.data<double>().begin(), wide.data<double>().end()};
}

class SimplifierGuards : public ::testing::Test {
 protected:
  // `body`: the entry's instructions, one a line.
  static void expect(const std::string& body, const std::vector<std::string>& inputs,
                     const std::string& expected) {
    const std::string add =
        R"(add {
 a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
)";
    const auto module = testing::parse_hlo(add + R"(ENTRY e {
)" + body + " }\n");
    ASSERT_TRUE(simplify(*module));
    const std::vector<double> made = numbers_of(run_compiled(*module, inputs));
    const auto size = static_cast<std::int64_t>(made.size());
    const xla::Shape shape = shape_of(module->result_shape().element_type(), {size});
    const std::vector<double> wanted = numbers_of(literal_of(shape, expected));
    for (std::size_t i = 0; i < made.size(); ++i) {
      const bool are_nan = std::isnan(made[i]) && std::isnan(wanted[i]);
      EXPECT_TRUE(are_nan || made[i] == wanted[i]) << made[i] << " for " << wanted[i] << "\n"
                                                   << body << module->ToString();
    }
  }
};

TEST_F(SimplifierGuards, SquaresOfWholeNumbersMayBeNegative) {
  expect(R"(x = s32[4] parameter(0)
 m = s32[4] multiply(x, x)
 ROOT r = s32[4] abs(m)
)",
         {"46341 50000 3 -65536"}, "2147479015 1794967296 9 0");
  expect(
      R"(x = s8[4] parameter(0)
 m = s8[4] multiply(x, x)
 n = s8[4] minimum(m, m)
 ROOT r = s8[4] abs(n)
)",
      {"12 13 -100 127"}, "112 87 16 1");
  expect(
      R"(x = s16[2] parameter(0)
 k = s16[2] parameter(1)
 a = s16[2] abs(x)
 p = s16[2] power(a, k)
 ROOT r = s16[2] abs(p)
)",
      {"-182 7", "2 3"}, "32412 343");
  expect(R"(x = u8[2] parameter(0)
 ROOT r = u8[2] abs(x)
)",
         {"200 3"}, "200 3");
}
TEST_F(SimplifierGuards, WholeNumbersOverAPower) {
  expect(
      R"(x = s32[4] parameter(0)
 y = s32[4] parameter(1)
 k = s32[4] parameter(2)
 p = s32[4] power(y, k)
 ROOT r = s32[4] divide(x, p)
)",
      {"100000 -100000 7 81", "3 3 1 -3", "4 2 3 4"}, "1234 -11111 7 1");
}
TEST_F(SimplifierGuards, StartsOfSlicesOfSlicesAreBounded) {
  const std::string slices =
      R"(x = s32[10] parameter(0)
 i = s32[] parameter(1)
 j = s32[] parameter(2)
 a = s32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
 ROOT r = s32[2] dynamic-slice(a, j), dynamic_slice_sizes={2}
)";
  expect(slices, {"0 1 2 3 4 5 6 7 8 9", "3", "5"}, "5 6");
  expect(slices, {"0 1 2 3 4 5 6 7 8 9", "3", "-2"}, "3 4");
  expect(
      R"(x = s32[10] parameter(0)
 u = s32[1] parameter(1)
 i = s32[] parameter(2)
 j = s32[] parameter(3)
 a = s32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
 b = s32[4] dynamic-update-slice(a, u, j)
 ROOT r = s32[10] dynamic-update-slice(x, b, i)
)",
      {"0 1 2 3 4 5 6 7 8 9", "77", "8", "1"}, "0 1 2 3 4 5 6 77 8 9");
}
TEST_F(SimplifierGuards, CountsBeginAgainAfterTheLargestNumber) {
  expect(
      R"(x = s32[300] parameter(0)
 i = s8[300] iota(), iota_dimension=0
 z = s8[] constant(0)
 b = s8[300] broadcast(z), dimensions={}
 c = pred[300] compare(i, b), direction=LT
 d = s32[300] convert(c)
 s = s32[300] add(d, x)
 ROOT r = s32[4] slice(s), slice={[126:130]}
)",
      {[] {
        std::string zeros;
        for (int i = 0; i < 300; ++i) zeros += "0 ";
        return zeros;
      }()},
      "0 0 1 1");
}
TEST_F(SimplifierGuards, NarrowIndicesOfScatters) {
  expect(
      R"(i = u8[3,1] parameter(0)
 u = f32[3] parameter(1)
 z = f32[] constant(0)
 x = f32[300] broadcast(z), dimensions={}
 s = f32[300] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
 ROOT r = f32[] reduce(s, z), dimensions={0}, to_apply=add
)",
      {"5 100 250", "1 2 4"}, "7");
}

// A number in each of two elements: "c" of "k".
std::string constant_line(const std::string& type, const std::string& name,
                          const std::string& value) {
  return " " + name + "s = " + type + "[] constant(" + value + ")\n " + name + " = " + type +
         "[2] broadcast(" + name + "s), dimensions={}\n";
}
// The entry's body for two elements of a type, with inputs x and y.
std::string body_of_two(const std::string& type, std::string body) {
  for (std::size_t at = body.find('$'); at != std::string::npos; at = body.find('$')) {
    body.replace(at, 1, type + "[2]");
  }
  return "x = " + type + R"([2] parameter(0)
 y = )" + type +
         R"([2] parameter(1)
)" + body;
}

TEST_F(SimplifierGuards, ALargeNumberAddedAndTakenAwayRounds) {
  const std::string body = R"( a = $ add(x, c)
 b = $ subtract(a, c)
 ROOT r = $ add(b, y)
)";
  expect(body_of_two("f32", constant_line("f32", "c", "8388608") + body), {"1.25 2.5", "0 0"},
         "1 2");
  expect(body_of_two("f16", constant_line("f16", "c", "1024") + body), {"0.75 3.5", "0 0"}, "1 4");
  expect(body_of_two("f32", constant_line("f32", "c", "16777216") +
                                R"( a = $ subtract(c, x)
 b = $ subtract(a, c)
 ROOT r = $ add(b, y)
)"),
         {"1.25 2.5", "0 0"}, "-1 -2");
}
TEST_F(SimplifierGuards, QuotientsThatAreRounded) {
  const std::string body = R"( q = $ divide(x, c)
 f = $ floor(q)
 ROOT r = $ add(f, y)
)";
  expect(body_of_two("f32", constant_line("f32", "c", "41") + body), {"41 82", "0 0"}, "1 2");
  expect(body_of_two("f16", constant_line("f16", "c", "49") + body), {"49 147", "0 0"}, "1 3");
  expect(body_of_two("f32", constant_line("f32", "c", "41") + constant_line("f32", "d", "0.5") +
                                R"( q = $ divide(x, c)
 a = $ subtract(q, d)
 p = s32[2] convert(a)
 f = $ convert(p)
 ROOT r = $ add(f, y)
)"),
         {"61.5 143.5", "0 0"}, "1 3");
  // XLA's code takes the inverse of a number this large for zero.
  expect(body_of_two("f32", constant_line("f32", "c", "3e38") +
                                R"( q = $ divide(x, c)
 ROOT r = $ add(q, y)
)"),
         {"3e38 0", "0 1"}, "1 1");
}
TEST_F(SimplifierGuards, QuotientsOfQuotientsDoNotOverflow) {
  const std::string last = R"( a = $ divide(x, y)
 ROOT r = $ divide(a, y)
)";
  expect(body_of_two("f32", last), {"1.329227995784916e36 1", "1.2676506002282294e30 1"},
         "8.271806125530277e-25 1");
  expect(body_of_two("f16", last), {"3000 1", "300 1"}, "0.033325 1");
  expect(body_of_two("f32", R"( a = $ divide(y, x)
 ROOT r = $ divide(x, a)
)"),
         {"1.2676506002282294e30 1", "1.2676506002282294e30 2"}, "1.2676506002282294e30 0.5");
}
TEST_F(SimplifierGuards, QuotientsOfPowers) {
  expect(body_of_two("f16", R"( a = $ exponential(y)
 ROOT r = $ divide(x, a)
)"),
         {"0 1", "-12 0"}, "0 1");
  expect(body_of_two("f16", constant_line("f16", "k", "-6") +
                                R"( a = $ power(y, k)
 ROOT r = $ divide(x, a)
)"),
         {"0 1", "10 1"}, "0 1");
}
TEST_F(SimplifierGuards, LogarithmsOfPowersOfNegativeNumbers) {
  expect(body_of_two("f32", R"( a = $ power(x, y)
 ROOT r = $ log(a)
)"),
         {"-2 1", "3 3"}, "nan 0");
  expect(body_of_two("f32", R"( a = $ exponential(x)
 l = $ log(a)
 ROOT r = $ add(l, y)
)"),
         {"100 -200", "0 0"}, "inf -inf");
}
TEST_F(SimplifierGuards, AMaskTimesNotANumber) {
  expect(body_of_two("f32", constant_line("f32", "c", "2") +
                                R"( p = pred[2] compare(y, c), direction=LT
 m = $ convert(p)
 ROOT r = $ multiply(m, x)
)"),
         {"nan 3", "5 1"}, "nan 3");
}
TEST_F(SimplifierGuards, ProductsThatOverflow) {
  expect(body_of_two("f32", R"( a = $ multiply(x, x)
 s = $ sqrt(a)
 ROOT r = $ add(s, y)
)"),
         {"1e30 -3", "0 0"}, "inf 3");
  const std::string twice = R"( a = $ multiply(x, c)
 b = $ multiply(a, c)
 ROOT r = $ add(b, y)
)";
  expect(body_of_two("f32", constant_line("f32", "c", "1.2379400392853803e27") + twice),
         {"0 7.888609052210118e-31", "0 0"}, "0 1.2089258196146292e24");
  expect(body_of_two("f16", constant_line("f16", "c", "300") + twice), {"0 0.015625", "0 0"},
         "0 1406");
  expect(body_of_two("f32", constant_line("f32", "c", "0.5") +
                                R"( a = $ multiply(x, c)
 b = $ multiply(y, c)
 ROOT r = $ add(a, b)
)"),
         {"3e38 1", "3e38 2"}, "3e38 1.5");
  expect(body_of_two("f32", R"( a = $ exponential(x)
 ROOT r = $ power(a, y)
)"),
         {"inf 0", "0 2"}, "1 1");
  expect(body_of_two("f32",
                     R"( a = $ exponential(x)
 b = $ exponential(y)
 ROOT r = $ divide(a, b)
)"),
         {"100 0", "100 0"}, "nan 1");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
