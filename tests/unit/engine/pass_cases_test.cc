// SPDX-License-Identifier: Apache-2.0
// Registers the cases of passes/*.hlo as tests, "norm_calls.OfEachChannel", and tests their driver:
// a check that does not hold is a problem, and so is a file that says nothing or is misspelt.
#include "tests/unit/engine/pass_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "tests/unit/engine/call_fields.h"
#include "tests/unit/engine/run_kernels.h"
#include "tfaot/kernels/abi.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CaseOfAFile : public ::testing::Test {
 public:
  explicit CaseOfAFile(PassCase tested) : case_(std::move(tested)) {}
  void TestBody() override {
    for (const PassRun& run : case_.runs) {
      for (const std::string& problem : problems_of(run)) {
        ADD_FAILURE() << (run.values.empty() ? "" : run.values + ": ") << problem;
      }
    }
  }

 private:
  PassCase case_;
};

class UnreadableFile : public ::testing::Test {
 public:
  explicit UnreadableFile(std::string error) : error_(std::move(error)) {}
  void TestBody() override { FAIL() << error_; }

 private:
  std::string error_;
};

void register_test(const std::filesystem::path& file, const std::string& name, int line,
                   const std::function<::testing::Test*()>& make) {
  ::testing::RegisterTest(file.stem().c_str(), name.c_str(), nullptr, nullptr, file.c_str(), line,
                          make);
}

bool register_all() {
  for (const auto& file : std::filesystem::directory_iterator(TFAOT_PASS_CASES)) {
    if (file.path().extension() != ".hlo") continue;
    std::ifstream in(file.path());
    const auto cases = read_pass_cases(std::string(std::istreambuf_iterator<char>(in), {}));
    if (!cases) {
      const std::string error = file.path().string() + ": " + cases.error().text();
      register_test(file.path(), "IsReadable", 1, [error] { return new UnreadableFile(error); });
      continue;
    }
    for (const PassCase& one : *cases) {
      register_test(file.path(), one.name, one.line, [one] { return new CaseOfAFile(one); });
    }
  }
  return true;
}
const bool kAreRegistered = register_all();

// ---- The driver.

constexpr const char* kProduct = R"(
ENTRY e {
  x = f32[4,32] parameter(0)
  w = f32[32,48] parameter(1)
  y = f32[4,48] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[4,48] sine(y)
}
)";

// The problems of the only run of a file's only case.
std::vector<std::string> problems_in(const std::string& text) {
  const auto cases = read_pass_cases(text);
  if (!cases) return {cases.error().text()};
  return cases->size() == 1 ? problems_of(cases->front().runs.at(0))
                            : std::vector<std::string>{"no case"};
}
std::string first_problem(const std::string& text) {
  const auto problems = problems_in(text);
  return problems.empty() ? "" : problems.front();
}
std::string case_of(const std::string& directives, const std::string& module = kProduct) {
  return "// RUN: replace_dot\n// ---- Case\n" + directives + "\n" + module;
}

TEST(PassCases, RunsAreRegistered) { EXPECT_TRUE(kAreRegistered); }

TEST(PassCases, HoldWhatIsRight) {
  EXPECT_THAT(problems_in(case_of(R"(// A sentence: with a colon.
// CHECK: kernels matmul_f32
// CHECK: call matmul rows=4 columns=48 depth=32 epilogue=kEpilogueNone operand.1=f32[4,32]
// CHECK: call matmul operand.1=parameter(0)
// CHECK: left sine
// CHECK: products none
// CHECK: op sine 1
// CHECK: op dot 0
// CHECK: root sine(get-tuple-element(custom-call(*)
// CHECK: line = f32[4,48] sine(f32[4,48] *)
// CHECK: parameters 2
// CHECK-NOT: op tanh
// CHECK-NOT: call gelu
// CHECK-NOT: call matmul rows=5
// CHECK-NOT: facts unchanged)")),
              ElementsAre(HasSubstr("call matmul operand.1=parameter(0)"), HasSubstr("HloModule")))
      << "there is one call, and no second one";
}

TEST(PassCases, FailIfACheckDoesNotHold) {
  for (const char* const check : {"CHECK: kernels none",
                                  "CHECK: kernels gelu_f32",
                                  "CHECK: call matmul rows=5",
                                  "CHECK: call matmul no_field=0",
                                  "CHECK: call matmul rows",
                                  "CHECK: call matmul rows=x",
                                  "CHECK: call gelu",
                                  "CHECK: call matmul operands=4",
                                  "CHECK: call matmul operand.9=f32[]",
                                  "CHECK: left none",
                                  "CHECK: products 4x32",
                                  "CHECK: op sine 2",
                                  "CHECK: op sine",
                                  "CHECK: op no-opcode 0",
                                  "CHECK: inner sine 1",
                                  "CHECK: root sine(dot(*",
                                  "CHECK: line cosine",
                                  "CHECK: transposed 4",
                                  "CHECK: facts unchanged",
                                  "CHECK: facts tasks",
                                  "CHECK: parameters 1",
                                  "CHECK: kernels",
                                  "CHECK: nothing at all",
                                  "CHECK-NOT: kernels matmul_f32",
                                  "CHECK-NOT: op sine",
                                  "CHECK-NOT: op no-opcode",
                                  "CHECK-NOT: call matmul rows=4",
                                  "CHECK-NOT: line sine",
                                  "CHECK-NOT: left sine",
                                  "CHECK-NOT: root sine(*",
                                  "CHECK-NOT: call mathmul",
                                  "CHECK-NOT: call matmul row=4",
                                  "CHECK-NOT: call matmul rows=x",
                                  "CHECK-NOT: call matmul layer.0.rows=4",
                                  "CHECK-NOT: kernels matmul",
                                  "CHECK-NOT: kernels none",
                                  "CHECK-NOT: left sinus",
                                  "CHECK-NOT: facts live_row",
                                  "TOLERANCE: inf",
                                  "INPUT: 1\n// INPUT: 2\n// INPUT: 3",
                                  "REMARK: y: no matmul",
                                  "ERROR: it fails",
                                  "RESULT: 1 2",
                                  "TOLERANCE: much",
                                  "INPUTS: x",
                                  "RUN: no_pass",
                                  "RUN: replace_gelu..replace_dot",
                                  "CHOICES: weights=int7",
                                  "CHOICES: fast_math",
                                  "RESULT: any"}) {
    const std::string other = std::string(check).starts_with("C") ? "" : "// CHECK: left sine\n";
    const std::string all =
        std::string(check).starts_with("CHOICES") ? "// CHECK: left sine\n" : other;
    const bool checks_nothing = std::string(check) == "RESULT: any";
    EXPECT_THAT(problems_in(case_of((checks_nothing ? "" : all) + "// " + check)),
                ::testing::Not(IsEmpty()))
        << check;
  }
}

TEST(PassCases, FailIfTheyCheckNothing) {
  EXPECT_EQ(first_problem(case_of("")), "it checks nothing");
  EXPECT_EQ(first_problem(case_of("// TOLERANCE: 0")), "it checks nothing");
  EXPECT_EQ(first_problem("// ---- Case\n// CHECK: left sine" + std::string(kProduct)),
            "wrong INPUTS, TOLERANCE or RUN");
}

TEST(PassCases, FailIfTheResultIsAnother) {
  const std::string text = "// CHECK: left sine\n";
  EXPECT_THAT(
      first_problem(case_of(text + "// CHOICES: weights=int8\n// INPUTS: 1\n// TOLERANCE: 0")),
      "other bits in the result");
  EXPECT_THAT(first_problem(case_of(text + "// CHOICES: weights=int8\n// TOLERANCE: 1e-6")),
              HasSubstr("the result differs by"));
}

TEST(PassCases, GiveNumbersAndCompareThem) {
  const std::string doubled = R"(
ENTRY e {
  x = s32[3] parameter(0)
  y = f32[] parameter(1)
  d = s32[3] add(x, x)
  ROOT t = (s32[3], f32[]) tuple(d, y)
})";
  const std::string given = "// INPUT: 1 -2 3\n// INPUT: nan\n// RUN: simplify\n";
  EXPECT_THAT(problems_in(case_of(given + "// RESULT: 2 -4 6 nan", doubled)), IsEmpty());
  EXPECT_THAT(first_problem(case_of(given + "// RESULT: 2 -4 7 nan", doubled)),
              "RESULT: 2 -4 6 nan");
  EXPECT_THAT(first_problem(case_of(given + "// RESULT: 2 -4 6", doubled)), "RESULT: 2 -4 6 nan");
}

TEST(PassCases, HaveTextsForAllAndSets) {
  const auto cases = read_pass_cases(R"(// RUN: replace_dot
// LET: row = f32[$N]
add { head }
// ---- LET whole
ENTRY e { x = $row $op(y) }
// ---- Sums
// LET: op = add
// FOR: N M = 3 4 | 5 6
// CHECK: op add $M
// REPLACE: x => z
$whole
)");
  ASSERT_TRUE(cases) << cases.error().text();
  ASSERT_EQ(cases->size(), 1U);
  EXPECT_EQ(cases->front().line, 6);
  ASSERT_EQ(cases->front().runs.size(), 2U);
  EXPECT_EQ(cases->front().runs[0].values, "N=3 M=4");
  EXPECT_EQ(cases->front().runs[1].module, "add { head }\nENTRY e { z = f32[5] add(y) }\n\n");
  EXPECT_EQ(cases->front().runs[1].directives.back().text, "op add 6");
}

TEST(PassCases, AreNotReadIfSomethingIsMisspelt) {
  const auto error_of = [](const std::string& text) {
    const auto cases = read_pass_cases("// RUN: replace_dot\n" + text);
    return cases ? "" : cases.error().text();
  };
  EXPECT_EQ(error_of("// ---- A\n// CHEK: left sine\n"), "3: no word 'CHEK'");
  EXPECT_EQ(error_of("// ---- A\n  // CHECK: left sine\n"), "3: a comment is indented");
  EXPECT_EQ(error_of("// ---- A\n// CHEK : left sine\n"), "3: no word 'CHEK'");
  EXPECT_EQ(error_of("// --- A\n"), "2: a case begins with '// ---- '");
  EXPECT_EQ(error_of("x\n"), "it has no case");
  EXPECT_EQ(error_of("// RUN: simplify\n// ---- A\n"), "2: a second RUN");
  EXPECT_EQ(error_of("// FOR: N = 1\n// ---- A\n"), "FOR belongs to a case");
  EXPECT_EQ(error_of("// ---- A\n// FOR: N =\n"), "A, line 2: FOR needs names and values");
  EXPECT_EQ(error_of("// ---- A\n$a\n"), "A, line 2: no text '$a'");
  EXPECT_EQ(error_of("// ---- A\n// LET: a = b\n"), "A, line 2: 'a' is not used");
  EXPECT_EQ(error_of("// ---- LET a\nb\n// ---- A\n"), "no case uses a");
  EXPECT_EQ(error_of("// LET: a = $a\n// ---- A\n$a\n"), "A, line 3: LETs that lead to each other");
  EXPECT_EQ(error_of("// ---- A\n// LET: a\n"), "A, line 2: no '=' in LET");
  EXPECT_EQ(error_of("// ---- A\n// FOR: a b = 1\n"),
            "A, line 2: FOR has other numbers of names and of values: 1");
  EXPECT_EQ(error_of("// ---- A\n// REPLACE: a => b\nc\n"), "A, line 2: no 'a' to replace");
  EXPECT_EQ(error_of("// ---- A b\n"), "A b, line 2: it needs a name");
  EXPECT_EQ(error_of("// ---- A\n// ---- A\n"), "two cases A");
  EXPECT_EQ(error_of("// ---- LET a\nb\n// ---- LET a\nb\n"), "two texts 'a'");
}

TEST(CallFields, AreAllMembersOfTheStructs) {
#define TFAOT_KERNEL_ROW(id, name, types, call, shared, scratch) \
  EXPECT_EQ(words_of_struct(#call), sizeof(kernels::call) / sizeof(std::int64_t)) << #name;
#include "tfaot/kernels/kernels.def"
  EXPECT_EQ(words_of_struct("DenseLayer"), sizeof(kernels::DenseLayer) / sizeof(std::int64_t));
  EXPECT_EQ(words_of_struct("GatherPart"), sizeof(kernels::GatherPart) / sizeof(std::int64_t));
  EXPECT_EQ(words_of_struct("ForestBlock"), sizeof(kernels::ForestBlock) / sizeof(std::int64_t));
}

TEST(CallFields, HaveTheNumbersOfEnumerators) {
  EXPECT_EQ(call_number("kEpilogueBias+kEpilogueRelu"),
            kernels::kEpilogueBias + kernels::kEpilogueRelu);
  EXPECT_EQ(call_number("kSpatial"), kernels::kSpatial);
  EXPECT_EQ(call_number("-0.5"), -0.5);
  EXPECT_EQ(call_number("kEpilogueBia"), std::nullopt);
}

TEST(RelativeDifference, SeesEveryNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto difference = [](float a, float b) {
    return relative_difference(xla::LiteralUtil::CreateR1<float>({a, 4}),
                               xla::LiteralUtil::CreateR1<float>({b, 4}));
  };
  EXPECT_EQ(difference(1, 2), 0.25);
  EXPECT_EQ(difference(kNan, kNan), 0);
  EXPECT_EQ(difference(kInfinity, kInfinity), 0);
  EXPECT_EQ(difference(1, kNan), kInfinity);
  EXPECT_EQ(difference(kNan, 1), kInfinity);
  EXPECT_EQ(difference(kInfinity, 1), kInfinity);
  EXPECT_EQ(relative_difference(xla::LiteralUtil::CreateR1<float>({1}),
                                xla::LiteralUtil::CreateR0<float>(1)),
            kInfinity);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
