// SPDX-License-Identifier: Apache-2.0
// `tfaot verify` on an area that was damaged in hundreds of ways, chosen by a fixed seed, and on
// objects that do what the code of a model may not.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "cli_test.h"
#include "tfaot/base/process.h"

namespace tfaot::toolkit::testing {
namespace {

enum class Damage { kFlip, kCut, kLonger, kMissing, kLink, kStray, kCount };

class VerifyTest : public CliTest {
 protected:
  VerifyTest() {
    for (const std::string version : {"1.0.0", "1.1.0"}) {
      const std::string archive = "dist/tfaot-model-test-net-" + version + "-x86_64-linux.tar.zst";
      write_tree_at("tree" + version, {.version = version});
      EXPECT_EQ(run({"package", "tree" + version, "-o", "dist"}).exit_code, 0);
      EXPECT_EQ(run({"install", archive, "--release-area", "area"}).exit_code, 0);
    }
    copy_area("area", "whole");
  }

  // All files and links below a folder, sorted.
  std::vector<std::filesystem::path> entries_of(const std::string& folder) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(at(folder))) {
      const bool is_empty_file = entry.path().filename() == "lock";
      if (!is_empty_file && (entry.is_symlink() || entry.is_regular_file())) {
        found.push_back(entry.path());
      }
    }
    std::ranges::sort(found);
    return found;
  }

  void copy_area(const std::string& from, const std::string& to) {
    using Copy = std::filesystem::copy_options;
    std::filesystem::remove_all(at(to));
    std::filesystem::copy(at(from), at(to), Copy::recursive | Copy::copy_symlinks);
  }

  void damage_text(const std::filesystem::path& file, Damage damage) {
    std::string text = files_.read(file).value();
    if (damage == Damage::kLonger || text.empty()) {
      text += '\n';
    } else if (damage == Damage::kCut) {
      text.resize(random_() % text.size());
    } else {
      char& byte = text[random_() % text.size()];
      byte = static_cast<char>(byte ^ (1 << random_() % 8));
    }
    std::ofstream(file, std::ios::binary) << text;
  }

  void damage_entry(const std::filesystem::path& place, Damage damage) {
    // An area of an older tfaot has no history either.
    const bool is_needed = place.filename() != "history.jsonl";
    if (damage == Damage::kMissing && !is_needed) damage = Damage::kFlip;
    const bool is_in_tree = place.string().find("/1.") != std::string::npos;
    if (damage == Damage::kStray && is_in_tree) {
      std::ofstream(place.string() + ".more") << "more";
    } else if (std::filesystem::is_symlink(place) || damage == Damage::kLink) {
      std::filesystem::remove(place);
      std::filesystem::create_symlink("nowhere", place);
    } else if (damage == Damage::kMissing || (damage == Damage::kStray && is_needed)) {
      std::filesystem::remove(place);
    } else {
      damage_text(place, damage);
    }
  }

  std::mt19937 random_{1};
};

TEST_F(VerifyTest, FindsEachOfTwoHundredDamages) {
  const Outcome whole = run({"verify", "area"});
  EXPECT_EQ(whole.exit_code, 0) << whole.text();
  constexpr int kDamages = 200;
  for (int i = 0; i < kDamages; ++i) {
    copy_area("whole", "area");
    const auto entries = entries_of("area");
    const std::filesystem::path place = entries[random_() % entries.size()];
    const auto damage = static_cast<Damage>(i % static_cast<int>(Damage::kCount));
    const std::string what = place.string() + " damage " + std::to_string(i);
    damage_entry(place, damage);
    const Outcome outcome = run({"verify", "area"});
    EXPECT_EQ(outcome.exit_code, 1) << what << "\n" << outcome.text();
  }
}

TEST_F(VerifyTest, ReadsNoHistoryOfAnySize) {
  std::filesystem::resize_file(at("area/.tfaot/history.jsonl"), std::uintmax_t{1} << 38);
  const Outcome outcome = run({"verify", "area"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("history.jsonl: has 274877906944 bytes, but"));
}

// A reader takes no lock, and a change that goes on is no damage.
TEST_F(VerifyTest, FindsNothingWhileVerbsChangeTheArea) {
  std::atomic<bool> ended = false;
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) {
      const std::string archive = "dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
      EXPECT_EQ(run({"use", "test_net", "1.1.0", "--release-area", "area"}).exit_code, 0);
      EXPECT_EQ(run({"remove", "test_net", "1.0.0", "--release-area", "area"}).exit_code, 0);
      EXPECT_EQ(run({"install", archive, "--release-area", "area"}).exit_code, 0);
    }
    ended = true;
  });
  while (!ended) {
    const Outcome outcome = run({"verify", "area"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  }
  writer.join();
}

class VerifyCodeTest : public CliTest {
 protected:
  // Of a package whose first object is this source.
  Outcome verify(const std::string& source, const std::string& compiler = TFAOT_COMPILER) {
    write("source.s", source + "\n");
    ProcessSpec process;
    process.program = compiler;
    process.arguments = {"-c", at("source.s"), "-o", at("source.o")};
    const auto assembled = run_process(process);
    EXPECT_TRUE(assembled && assembled->ok()) << source;
    write_tree_at("tree", {.object = read("source.o")});
    return run({"verify", "tree"});
  }
};

TEST_F(VerifyCodeTest, SaysWhatTheCodeImports) {
  const Outcome outcome = verify(R"(
    .globl entry
entry:
    call    tfaot_matmul_f32_x86_64_v3@PLT
    call    tfaot_softmax_f32_x86_64_v3@PLT
    call    expf@PLT
    call    *floorf@GOTPCREL(%rip)
    call    memcpy@PLT
    ret)");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_THAT(
      outcome.out,
      ::testing::HasSubstr("  3 objects import 2 functions of the runtime; memcpy; expf, floorf "
                           "of libm\n"
                           "  6 instructions: no system call, lock, clock or call of any "
                           "address\n"));
  const Outcome json = run({"verify", "tree", "--json"});
  EXPECT_THAT(json.out, ::testing::HasSubstr(R"("libm": [
          "expf",
          "floorf"
        ])"));
}

TEST_F(VerifyCodeTest, NamesWhatCodeMayNotDo) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"f: call malloc@PLT\n ret", "calls 'malloc', which the code of a model may not"},
      {"f: call *malloc@GOTPCREL(%rip)\n ret", "calls 'malloc', which the code of a model may not"},
      {"f: mov tfaot_models_open@GOTPCREL(%rip), %rax\n ret",
       "calls 'tfaot_models_open', which the code of a model may not"},
      {"f: syscall\n ret", "the function 'f' has a system call: syscall"},
      {"f: ret\ng: rdtsc\n ret", "the function 'g' has a clock: rdtsc"},
      {"f: lock incl (%rdi)\n ret", "the function 'f' has a lock: lock incl (%rdi)"},
      {"f: call *%rax\n ret", "the function 'f' has a call of any address: call *%rax"},
      {"f: ldmxcsr (%rdi)\n ret",
       "the function 'f' has a change of the processor's state: ldmxcsr (%rdi)"},
      {".section .init_array,\"aw\",@init_array\n.quad 0",
       ".init_array runs code when it is loaded or unloaded"},
      {".data\n.quad 0", ".data keeps values from call to call"}};
  for (const auto& [source, fault] : bad) {
    const Outcome outcome = verify(source);
    EXPECT_EQ(outcome.exit_code, 1) << source;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("ROOT/tree: lib/test_net_bs1_x86-64.o: " + fault))
        << source;
  }
}

TEST_F(VerifyCodeTest, ReadsCodeForAarch64) {
  if (std::string(TFAOT_AARCH64_COMPILER).empty()) GTEST_SKIP() << "there is no compiler for it";
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"f: svc #0", "a system call: svc #0x0"},
      {"f: mrs x0, cntvct_el0", "a clock or a question about the processor: mrs x0,cntvct_el0"},
      {"f: ldaxr w1, [x0]", "a lock: ldaxr w1,[x0]"},
      {"f: blr x8", "a call of any address: blr x8"}};
  for (const auto& [source, what] : bad) {
    const Outcome outcome = verify(source, TFAOT_AARCH64_COMPILER);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("the function 'f' has " + what));
  }
}

TEST_F(VerifyCodeTest, NamesAFileThatIsNoObject) {
  const std::pair<std::string, std::string> files[] = {
      {"oooo", "the file ends before its parts do"},
      {std::string(100, 'o'), "not a relocatable object of 64 bits for x86-64 or aarch64"},
      {"!<arch>\n" + std::string(100, ' '), "an archive (.a), not an object"}};
  for (const auto& [bytes, fault] : files) {
    write_tree_at("tree", {.object = bytes});
    const Outcome outcome = run({"verify", "tree"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(
        outcome.err,
        ::testing::HasSubstr(
            "ROOT/tree: lib/test_net_bs1_x86-64.o: " + fault +
            "\n  compile the model again: 'tfaot compile' makes the objects of a package\n"));
  }
}

TEST_F(VerifyCodeTest, ReadsSymbolsWithoutADisassembler) {
  verify("f: syscall");
  Outcome outcome = run({"verify", "tree"}, {{"PATH", "/nowhere"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_THAT(outcome.out, ::testing::HasSubstr("their instructions were not read: 'objdump' "
                                                "cannot be started"));
  verify("f: call malloc@PLT");
  outcome = run({"verify", "tree"}, {{"PATH", "/nowhere"}});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
}

TEST_F(VerifyCodeTest, ReadsTheCodeOfArchives) {
  verify("f: syscall");
  EXPECT_EQ(run({"package", "tree", "-o", "dist"}).exit_code, 0);
  const Outcome outcome = run({"verify", "dist/" + files_in("dist").back()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("the function 'f' has a system call: syscall"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
