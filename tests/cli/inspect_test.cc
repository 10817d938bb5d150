// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using InspectTest = CliTest;

constexpr const char* kInspectedConfig = "model/aot_config.yaml";

// The fake object is another one in each kind of build.
std::string without_code_size(const std::string& text) {
  const std::regex size(R"(  code         .*|"code_bytes": \d+|"code_sha256": "\w+")");
  return std::regex_replace(text, size, "(of the code)");
}

TEST_F(InspectTest, AConfig) {
  write_model();
  const Outcome outcome = run({"inspect", kInspectedConfig, "-q"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(matches_golden(without_code_size(outcome.text()), "cli/inspect_config.txt"));
  EXPECT_THAT(files_in("model"), ElementsAre("aot_config.yaml", "saved_model/saved_model.pb",
                                             "saved_model/variables/variables.index"));
}

TEST_F(InspectTest, APackageKeepsItsObjectsAndOneHlo) {
  write_model();
  ASSERT_EQ(run({"compile", "-c", kInspectedConfig, "-o", "out", "-q"}).exit_code, 0);
  const std::string transcript = run({"inspect", "out", "-q"}).text() + "\n" +
                                 run({"inspect", "out", "-q", "--batch-sizes", "4"}).text() + "\n" +
                                 run({"inspect", "out", "-q", "--batch-sizes", "1,4"}).text() +
                                 "\n" + run({"inspect", "out", "-q", "--batch-sizes", "5"}).text();
  EXPECT_TRUE(matches_golden(without_code_size(transcript), "cli/inspect_package.txt"));
  ASSERT_EQ(run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
  const std::string archive = files_in("dist").back();
  EXPECT_THAT(run({"inspect", "dist/" + archive, "-q"}).out, HasSubstr("test_net 1.0.0"));
}

TEST_F(InspectTest, JsonHoldsTheGraphs) {
  write_model();
  const Outcome outcome = run({"inspect", kInspectedConfig, "-q", "--batch-sizes", "1", "--json"});
  EXPECT_TRUE(matches_golden(without_code_size(outcome.text()), "cli/inspect_json.txt"));
}

TEST_F(InspectTest, OneStage) {
  write_model();
  const auto stage = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"inspect", kInspectedConfig, "-q"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments);
  };
  EXPECT_EQ(stage({"--stage", "simplified"}).out, "HloModule tfaot, stage simplified, 4\n");
  EXPECT_EQ(stage({"--format", "text"}).out, "HloModule tfaot, stage cpu_after_optimizations, 4\n");
  EXPECT_THAT(stage({"--stage", "optimized", "--format", "dot"}).out,
              HasSubstr("tfaot_matmul_f32_x86_64\\nf32[4,2]\\nnet/dense/MatMul"));
  EXPECT_THAT(stage({"--detail", "layers", "--format", "dot"}).out, HasSubstr("\"net/dense\""));
  EXPECT_THAT(stage({"--stage", "llvm"}).out, HasSubstr("call void @tfaot_matmul_f32_x86_64"));
  EXPECT_THAT(stage({"--stage", "assembly"}).out, HasSubstr("Disassembly of section"));
  EXPECT_THAT(stage({"--stage", "optimized", "-o", "optimized.txt"}).out, IsEmpty());
  EXPECT_EQ(read("optimized.txt"), "HloModule tfaot, stage optimized, 4\n");
  const Outcome svg = stage({"--format", "svg"});
  if (svg.exit_code == 0) {
    EXPECT_THAT(svg.out, HasSubstr("</svg>"));
  } else {
    EXPECT_THAT(svg.err, HasSubstr("install it (Debian: graphviz)"));
  }
}

TEST_F(InspectTest, TwoPrograms) {
  write_model();
  const std::string transcript =
      run({"inspect", kInspectedConfig, "-q", "--batch-sizes", "1,4"}).text() + "\n" +
      run({"inspect", kInspectedConfig, kInspectedConfig, "-q"}).text() + "\n" +
      run({"inspect", kInspectedConfig, "-q", "--cpu-levels", "x86-64,x86-64-v3", "--json"})
          .out.substr(0, 60);
  EXPECT_TRUE(matches_golden(transcript, "cli/inspect_two.txt"));
}

TEST_F(InspectTest, WhatEachFlagChanges) {
  write_model();
  write(kInspectedConfig, read(kInspectedConfig) + "  xla_flags: [--xla_fake_slow=1]\n");
  EXPECT_THAT(run({"inspect", kInspectedConfig, "-q"}).out,
              HasSubstr("XLA_FLAGS  --xla_fake_slow=1  nothing: the code is the same without it"));
  EXPECT_THAT(run({"inspect", kInspectedConfig, "-q", "--against-no-flags"}).out,
              AllOf(HasSubstr("the code is the same in every byte"),
                    HasSubstr("estimated time of a call")));
}

TEST_F(InspectTest, ADumpThatWasKept) {
  write_model();
  ASSERT_EQ(run({"inspect", kInspectedConfig, "-q", "--dump", "kept"}).exit_code, 0);
  EXPECT_THAT(run({"inspect", "kept", "-q"}).out,
              AllOf(HasSubstr("dump kept: tfaot, batch size 4"), HasSubstr("matmul_f32_x86_64 ")));
  const Outcome again = run({"inspect", kInspectedConfig, "-q", "--dump", "kept"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("is not an empty folder"));
}

TEST_F(InspectTest, ADumpOfXla) {
  write("dump/module_0001.cluster_0.before_optimizations.txt", "HloModule 4");
  write("dump/module_0002.other.before_optimizations.txt", "HloModule with a longer text");
  const std::string transcript =
      run({"inspect", "dump", "-q"}).text() + "\n" +
      run({"inspect", "dump", "-q", "--module", "module_0001.cluster_0"}).text() + "\n" +
      run({"inspect", "dump", "-q", "--module", "cluster"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/inspect_dump.txt"));
}

TEST_F(InspectTest, APackageWhoseRecordIsGone) {
  write_model();
  ASSERT_EQ(run({"compile", "-c", kInspectedConfig, "-o", "out", "-q"}).exit_code, 0);
  std::filesystem::remove(root_ / "out/record.json");
  const Outcome outcome = run({"inspect", "out", "-q"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("out/record.json: the file is missing\n"
                                     "  the package is damaged; make or install it again\n"));
}

TEST_F(InspectTest, AFileOfADumpThatIsTooLarge) {
  write("dump/module_0001.a.before_optimizations.txt", "HloModule 4");
  write("dump/module_0001.a.o", "");
  std::filesystem::resize_file(root_ / "dump/module_0001.a.o", std::uintmax_t{3} << 30);
  const Outcome outcome = run({"inspect", "dump", "-q"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("module_0001.a.o: has 3221225472 bytes, but a file of a dump has at most "
                        "536870912\n  move the file elsewhere to see the rest of the dump\n"));
}

TEST_F(InspectTest, Errors) {
  write_model();
  std::string transcript;
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"nothing"},
           {"model/saved_model"},
           {kInspectedConfig, "--stage", "simplifyed"},
           {kInspectedConfig, "--stage", "llvm", "--format", "dot"},
           {kInspectedConfig, "--stage", "llvm", "--json"},
           {kInspectedConfig, "--batch-sizes", "1,4", "--stage", "llvm"},
           {kInspectedConfig, "--batch-sizes", "1,4", "--dump", "d"},
           {kInspectedConfig, "--batch-sizes", "1,2,3"},
           {kInspectedConfig, "--batch-sizes", "0"},
           {kInspectedConfig, "--batch-sizes", "1,99999999999999999999"}}) {
    std::vector<std::string> arguments = {"inspect", "-q"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    transcript += run(arguments).text() + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/inspect_errors.txt"));
  const Outcome level = run({"inspect", kInspectedConfig, "-q", "--cpu-levels", "x86-64-v9"});
  EXPECT_EQ(level.exit_code, 2);
  EXPECT_THAT(level.err, StartsWith("tfaot: error: --cpu-levels: 'x86-64-v9' is not allowed (did "
                                    "you mean 'x86-64-v2'?)\n  allowed: x86-64, x86-64-v2, "));
  const Outcome refused = run({"inspect", kInspectedConfig, "-q"}, {{"FAKE_ENGINE", "refuse"}});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("op 'Foo' of node 'bar' cannot be compiled"));
}

TEST_F(InspectTest, APage) {
  write_model();
  ASSERT_EQ(run({"inspect", kInspectedConfig, "-q", "--html", "page.html"}).exit_code, 0);
  const std::string page = read_page("page.html");
  for (const char* text :
       {"Hot spots", "Temporaries over time", "dense/kernel, packed", "Assembly",
        "<mark>  call void @tfaot_matmul_f32_x86_64", "4 x 10 by 10 x 2, packed weights"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
  ASSERT_EQ(run({"inspect", kInspectedConfig, "-q", "--batch-sizes", "1,4", "--html", "two.html"})
                .exit_code,
            0);
  EXPECT_NE(read("two.html").find("What differs"), std::string::npos);
}

TEST_F(InspectTest, OptionsThatWouldChangeNothing) {
  write_model();
  ASSERT_EQ(run({"compile", "-c", kInspectedConfig, "-o", "out", "-q"}).exit_code, 0);
  write("dump/module_0001.a.before_optimizations.txt", "HloModule 4");
  const auto said = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"inspect", "-q"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    return outcome.err;
  };
  EXPECT_THAT(said({"out", "--passes"}), HasSubstr("--passes is for configs; 'out' is a package"));
  EXPECT_THAT(said({"out", "--dump", "d"}), HasSubstr("--dump is for configs"));
  EXPECT_THAT(said({"out", "--against-no-flags"}), HasSubstr("--against-no-flags is for configs"));
  EXPECT_THAT(said({"out", "--module", "a"}), HasSubstr("--module is for dumps"));
  EXPECT_THAT(said({"dump", "--batch-sizes", "4"}),
              HasSubstr("--batch-sizes and --cpu-levels are for configs and packages; 'dump' is a "
                        "dump"));
}

TEST_F(InspectTest, WithoutGraphvizAndBinutils) {
  write_model();
  const Variables nothing = {{"PATH", at("nowhere")}};
  const Outcome outcome = run({"inspect", kInspectedConfig, "-q", "--html", "page.html"}, nothing);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("note: no assembly: 'objdump', which shows the assembly"));
  const std::string page = read_page("page.html");
  EXPECT_NE(page.find("install it (Debian: graphviz)"), std::string::npos);
  EXPECT_NE(page.find("HLO of simplified"), std::string::npos);
  const Outcome drawing = run({"inspect", kInspectedConfig, "-q", "--format", "svg"}, nothing);
  EXPECT_EQ(drawing.exit_code, 1);
  EXPECT_THAT(drawing.err, HasSubstr("install it (Debian: graphviz)"));
  const Outcome assembly = run({"inspect", kInspectedConfig, "-q", "--stage", "assembly"}, nothing);
  EXPECT_EQ(assembly.exit_code, 1);
  EXPECT_THAT(assembly.err, HasSubstr("no assembly of this program is known"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
