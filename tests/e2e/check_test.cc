// SPDX-License-Identifier: Apache-2.0
// `tfaot check` says the same as `tfaot compile`: of models of one operation each, and of all
// models that other tests compile or refuse.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "running_engine.h"
#include "single_operation.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr std::size_t kFewestModels = 150;

struct Verdicts {
  ProcessResult compile;
  ProcessResult check;
};

// "no" and the reason, or "yes".
std::string verdict_of(const ProcessResult& compile) {
  if (compile.exit_code == 0) return "yes";
  const std::string line = compile.standard_error.substr(0, compile.standard_error.find('\n'));
  const std::string mark = "graph.pbtxt: ";
  const auto start = line.find(mark);
  return start == std::string::npos ? "no" : "no: " + line.substr(start + mark.size());
}

// What is wrong with the pair; empty if they agree.
std::string disagreement(const Verdicts& both) {
  const auto found = json::parse(both.check.standard_output, nullptr, false);
  if (found.is_discarded()) return "check printed no JSON: " + both.check.standard_error;
  const bool compiles = both.compile.exit_code == 0;
  if (both.compile.exit_code > 1) return "compile failed: " + both.compile.standard_error;
  if (found.at("compiles") != compiles || (both.check.exit_code == 0) != compiles) {
    return fmt::format("compile ended with {}, check with {}: {}", both.compile.exit_code,
                       both.check.exit_code, verdict_of(both.compile));
  }
  const json& problems = found.at("signatures").at(0).at("problems");
  if (compiles) return problems.empty() ? "" : "problems of a model that compiles";
  // What compile says is the first of the problems.
  if (problems.empty()) return "no problem is named";
  const std::string first = problems.at(0).at("message").get<std::string>();
  const std::string line = first.substr(0, first.find('\n')).substr(0, 200);
  return both.compile.standard_error.find(line) == std::string::npos
             ? fmt::format("compile says '{}', check '{}'", verdict_of(both.compile), first)
             : "";
}

class CheckTest : public ToolTest {
 protected:
  Verdicts verdicts(const std::string& config, const std::string& out,
                    const std::string& launcher) const {
    return {tool({"compile", "-c", config, "-o", out, "--no-cache", "-q", "--launcher", launcher}),
            tool({"check", config, "--json", "-q", "--launcher", launcher})};
  }
};

TEST_F(CheckTest, AgreesWithCompileOnSingleOperations) {
  const auto operations = read_single_operations(TFAOT_SINGLE_OPERATIONS);
  ASSERT_GE(operations.size(), kFewestModels);
  const RunningEngine engine;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> compiled = 0;
  std::mutex mutex;
  std::vector<std::string> wrong;
  const auto work = [&] {
    for (std::size_t i = next++; i < operations.size(); i = next++) {
      const SingleOperation& one = operations[i];
      const std::string folder = std::to_string(i);
      const bool is_written =
          files_.replace_atomically(root_ / folder / "graph.pbtxt", one.graph) &&
          files_.replace_atomically(root_ / folder / "config.yaml", one.config);
      const Verdicts both = verdicts(folder + "/config.yaml", folder + "/out", engine.launcher());
      compiled += both.compile.exit_code == 0 ? 1 : 0;
      const std::string fault = is_written ? disagreement(both) : "its files were not written";
      const std::lock_guard lock(mutex);
      if (!fault.empty()) wrong.push_back(one.name + ": " + fault);
      std::cout << fmt::format("{:<24} {}\n", one.name, verdict_of(both.compile));
      static_cast<void>(files_.remove_all(root_ / folder));
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  EXPECT_THAT(wrong, ::testing::IsEmpty());
  const std::size_t refused = operations.size() - compiled;
  EXPECT_GT(compiled, operations.size() / 4);
  EXPECT_GT(refused, operations.size() / 4);
  const std::string counts = fmt::format("{} models of one operation: {} compile, {} do not",
                                         operations.size(), compiled.load(), refused);
  std::cout << counts << "\n";
  EXPECT_THAT(files_.read(TFAOT_CHECK_PAGE).value_or(""), HasSubstr(counts));
}

TEST_F(CheckTest, AgreesWithCompileOnTheModelsOfOtherTests) {
  std::vector<std::string> wrong;
  const RunningEngine engine;
  for (const char* folder : {TFAOT_REFUSED_MODELS, TFAOT_WORKS}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      const std::string config = (entry.path() / "aot_config.yaml").string();
      const ProcessResult check =
          tool({"check", config, "--json", "-q", "--cpu-levels", "x86-64", "--batch-sizes",
                name == "fixed_batch" ? "2" : "1,3", "--launcher", engine.launcher()});
      const bool expected = std::string(folder) == TFAOT_WORKS;
      const auto found = json::parse(check.standard_output, nullptr, false);
      const bool is_said = found.is_discarded() ? !expected : found.at("compiles") == expected;
      if ((check.exit_code == 0) != expected || check.exit_code > 1 || !is_said) {
        wrong.push_back(name + ": " + check.standard_error + check.standard_output);
      }
    }
  }
  EXPECT_THAT(wrong, ::testing::IsEmpty());
}

// The kinds and the places of the problems, in order.
std::vector<std::string> problems_in(const ProcessResult& check) {
  std::vector<std::string> all;
  const json found = json::parse(check.standard_output);
  for (const json& signature : found.at("signatures")) {
    for (const json& problem : signature.at("problems")) {
      std::string text = problem.at("kind").get<std::string>();
      for (const json& place : problem.at("places")) text += " " + place.get<std::string>();
      all.push_back(text);
    }
  }
  return all;
}

TEST_F(CheckTest, FindsAllProblems) {
  // Three inputs and an output that cannot be, where compile stops at the first.
  const std::string graph = R"(
node { name: 'a' op: 'Placeholder' attr { key: 'dtype' value { type: DT_STRING } }
       attr { key: 'shape' value { shape { dim { size: -1 } } } } }
node { name: 'b' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'shape' value { shape { dim { size: -1 } dim { size: -1 } } } } }
node { name: 'c' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'shape' value { shape { } } } }
node { name: 'y' op: 'StringLength' input: 'a' }
node { name: 'z' op: 'Add' input: 'b' input: 'c' attr { key: 'T' value { type: DT_FLOAT } } }
node { name: 'h' op: 'Cast' input: 'b' attr { key: 'SrcT' value { type: DT_FLOAT } }
       attr { key: 'DstT' value { type: DT_COMPLEX64 } } }
versions { producer: 1882 }
)";
  ASSERT_TRUE(files_.replace_atomically(root_ / "graph.pbtxt", graph));
  const ProcessResult check = tool({"check", "graph.pbtxt", "--json"});
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_THAT(problems_in(check),
              ::testing::ElementsAre("dtype a", "batch c", "unknown_shape b", "dtype h"));
}

TEST_F(CheckTest, GoesOnAfterABatchSize) {
  // XLA refuses the first size; the two others have an output whose rows are not the batch.
  const std::string graph = R"(
node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 3 } } } } }
node { name: 'shape' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
       attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } }
              int_val: 2 int_val: -1 } } } }
node { name: 'y' op: 'Reshape' input: 'x' input: 'shape' attr { key: 'T' value { type: DT_FLOAT } } }
)";
  ASSERT_TRUE(files_.replace_atomically(root_ / "graph.pbtxt", graph));
  const ProcessResult check =
      tool({"check", "graph.pbtxt", "--json", "--batch-sizes", "1,4,8", "--cpu-levels", "x86-64"});
  EXPECT_EQ(check.exit_code, 1);
  const json found = json::parse(check.standard_output).at("signatures").at(0).at("problems");
  ASSERT_EQ(found.size(), 2U) << check.standard_output;
  EXPECT_EQ(found[0].at("kind"), "compiler");
  EXPECT_EQ(found[0].at("places"), json({"y"}));
  EXPECT_EQ(found[0].at("batch_sizes"), json({1}));
  EXPECT_EQ(found[1].at("kind"), "batch");
  EXPECT_EQ(found[1].at("batch_sizes"), json({4, 8}));
}

TEST_F(CheckTest, NamesTheNodesOfEachKindOfProblem) {
  const auto first = [&](const std::string& name) {
    return problems_in(
               tool({"check", std::string(TFAOT_REFUSED_MODELS) + "/" + name + "/aot_config.yaml",
                     "--json", "--cpu-levels", "x86-64"}))
        .at(0);
  };
  EXPECT_THAT(first("no_kernel"), ::testing::StartsWith("no_kernel "));
  EXPECT_THAT(first("dynamic_output"), ::testing::StartsWith("data_dependent_size "));
  EXPECT_THAT(first("mean_of_batch"), ::testing::StartsWith("rows_mix "));
  EXPECT_THAT(first("random_noise"), ::testing::StartsWith("random "));
  EXPECT_THAT(first("runtime_write"), ::testing::StartsWith("state "));
  EXPECT_THAT(first("function_by_name"), ::testing::StartsWith("foreign_call "));
  EXPECT_THAT(first("unknown_dimension"), ::testing::StartsWith("unknown_shape "));
}

TEST_F(CheckTest, ListsTheOperationsOfXla) {
  const json known = json::parse(done({"check", "--ops", "--json"}));
  std::map<std::string, json> by_name;
  for (const json& one : known.at("operations")) by_name[one.at("operation")] = one;
  EXPECT_GT(by_name.size(), 300U);
  ASSERT_TRUE(by_name.contains("MatMul") && by_name.contains("RandomUniform"));
  EXPECT_THAT(by_name["MatMul"].at("types").at("T"), ::testing::Contains("float32"));
  EXPECT_FALSE(by_name["MatMul"].at("refused"));
  EXPECT_TRUE(by_name["RandomUniform"].at("refused"));
  EXPECT_EQ(by_name["Reshape"].at("constant_inputs"), json({"shape"}));
  EXPECT_FALSE(by_name.contains("ReadFile"));
  EXPECT_THAT(done({"check", "--ops"}), HasSubstr("\n| `Reshape` | `T={"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
