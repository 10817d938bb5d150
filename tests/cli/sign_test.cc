// SPDX-License-Identifier: Apache-2.0
// Signatures beside minisign's own: each program checks what the other one signed. And what an
// install demands of them.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "cli_test.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SignTest : public CliTest {
 protected:
  static constexpr const char* kName = "tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";

  SignTest() {
    write_tree_at("tree", {});
    EXPECT_EQ(run({"package", "tree", "-o", "dist"}).exit_code, 0);
  }

  void SetUp() override {
    ProcessSpec minisign;
    minisign.program = "minisign";
    minisign.arguments = {"-v"};
    if (!run_process(minisign)) GTEST_SKIP() << "minisign is not installed (Debian: minisign)";
    make_key("release");
  }

  ProcessResult minisign(const std::vector<std::string>& arguments,
                         const std::string& input = "\n") const {
    ProcessSpec process;
    process.program = "minisign";
    process.arguments = arguments;
    process.standard_input = input;
    process.working_directory = root_;
    return run_process(process).value();
  }
  void make_key(const std::string& name) const {
    EXPECT_TRUE(minisign({"-G", "-W", "-p", name + ".pub", "-s", name + ".key"}).ok());
  }
  std::string archive() const { return std::string("dist/") + kName; }
  std::string key_line(const std::string& name) const {
    return split_lines(read(name + ".pub")).at(1);
  }
  void sign(const std::string& key = "release") const {
    const Outcome outcome = run({"sign", archive(), "--secret-key", key + ".key"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  }
  Outcome install(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command = {"install", archive(), "--release-area", "area"};
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
  }
  bool is_installed() const {
    return std::filesystem::exists(at("area/tfaot-model-test-net/1.0.0/manifest.json"));
  }
};

TEST_F(SignTest, MinisignChecksOurSignature) {
  sign();
  const ProcessResult checked = minisign({"-V", "-m", archive(), "-p", "release.pub"});
  EXPECT_TRUE(checked.ok()) << checked.standard_error;
  EXPECT_THAT(checked.standard_output, HasSubstr("Signature and comment signature verified"));
  EXPECT_THAT(checked.standard_output, HasSubstr(std::string("\tfile:") + kName + "\thashed"));
}

TEST_F(SignTest, WeCheckMinisignsSignature) {
  ASSERT_TRUE(minisign({"-S", "-m", archive(), "-s", "release.key"}).ok());
  const Outcome outcome = run({"verify", archive(), "--public-key", "release.pub"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_THAT(outcome.out, HasSubstr("signed by "));
  EXPECT_EQ(run({"verify", archive(), "--public-key", key_line("release")}).exit_code, 0);
}

TEST_F(SignTest, TakesANameOfTwoLines) {
  write("two\nlines", "text");
  const Outcome outcome = run({"sign", "two\nlines", "--secret-key", "release.key"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_TRUE(minisign({"-V", "-m", "two\nlines", "-p", "release.pub"}).ok());
}

// Ctrl-C at the password: the terminal shows again what is typed.
TEST_F(SignTest, AnInterruptedPasswordLeavesTheTerminalAsItWas) {
  ASSERT_TRUE(minisign({"-G", "-p", "locked.pub", "-s", "locked.key"}, "secret\nsecret\n").ok());
  ProcessSpec process;
  process.program = "sh";
  process.arguments = {"-c", "sleep 2 | script -qc 'timeout --foreground -s INT 0.5 " +
                                 at("prefix/bin/tfaot") + " sign " + at(archive()) +
                                 " --secret-key " + at("locked.key") + "; stty -a' /dev/null"};
  const ProcessResult ended = run_process(process).value();
  EXPECT_THAT(ended.standard_output, HasSubstr("password of "));
  EXPECT_THAT(ended.standard_output, HasSubstr(" echo "));
}

TEST_F(SignTest, TakesAPassword) {
  ASSERT_TRUE(minisign({"-G", "-p", "locked.pub", "-s", "locked.key"}, "secret\nsecret\n").ok());
  write("password", "secret\n");
  write("wrong", "guessed\n");
  const auto sign_by = [&](const std::string& password) {
    ProcessSpec process;
    process.program = at("prefix/bin/tfaot");
    process.arguments = {"sign", at(archive()), "--secret-key", at("locked.key")};
    process.standard_input = password;
    return run_process(process).value();
  };
  const ProcessResult wrong = sign_by("guessed\n");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.standard_error, HasSubstr("the password is wrong, or the key is damaged"));
  EXPECT_FALSE(std::filesystem::exists(at(archive() + ".minisig")));
  const ProcessResult right = sign_by("secret\n");
  EXPECT_TRUE(right.ok()) << right.standard_error;
  EXPECT_TRUE(minisign({"-V", "-m", archive(), "-p", "locked.pub"}).ok());
}

TEST_F(SignTest, VerifyFindsAnotherArchiveAndAnotherKey) {
  sign();
  make_key("other");
  const Outcome other = run({"verify", archive(), "--public-key", "other.pub"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("the signature is by the key"));
  write_tree_at("tree", {.header = "#pragma once\n// other\n"});
  ASSERT_EQ(run({"package", "tree", "-o", "dist"}).exit_code, 0);
  const Outcome changed = run({"verify", archive(), "--public-key", "release.pub"});
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_THAT(changed.err, HasSubstr("is not of these bytes"));
}

TEST_F(SignTest, OnlyArchivesAreSigned) {
  const Outcome outcome = run({"verify", "tree", "--public-key", "release.pub"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("only archives are signed"));
}

TEST_F(SignTest, AnInstallMayRequireASignature) {
  const Outcome unsigned_yet = install({"--require-signature", "--public-key", "release.pub"});
  EXPECT_EQ(unsigned_yet.exit_code, 1);
  EXPECT_THAT(unsigned_yet.err, HasSubstr("the file has no signature beside it"));
  EXPECT_THAT(unsigned_yet.err, Not(HasSubstr("policy.yaml")));
  const Outcome whose = install({"--require-signature"});
  EXPECT_EQ(whose.exit_code, 2);
  EXPECT_THAT(whose.err, HasSubstr("--require-signature needs to know whose"));
  EXPECT_FALSE(is_installed());
  sign();
  const Outcome outcome = install({"--public-key", "release.pub"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_TRUE(is_installed());
  EXPECT_THAT(read("area/.tfaot/history.jsonl"), HasSubstr("\"signed_by\":\""));
}

// No option gets round it, and it outlives installs that fail.
TEST_F(SignTest, APolicyHoldsWhateverTheOptionsAre) {
  make_key("other");
  write("area/.tfaot/policy.yaml",
        "require_signature: true\nkeys:\n  - " + key_line("release") + "\n");
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {}, {"--replace"}, {"--no-current"}, {"--dry-run"}, {"--allow-large"}}) {
    const Outcome outcome = install(options);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
    EXPECT_THAT(outcome.err, HasSubstr("the file has no signature beside it"));
    EXPECT_THAT(outcome.err,
                HasSubstr("the area demands signatures: ROOT/area/.tfaot/policy.yaml"));
  }
  sign("other");
  const Outcome other = install({"--public-key", "other.pub"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("the policy allows none of these keys"));
  EXPECT_THAT(install({}).err, HasSubstr("the signature is by the key"));
  EXPECT_FALSE(is_installed());
  sign();
  const Outcome outcome = install();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_TRUE(is_installed());
  EXPECT_TRUE(std::filesystem::exists(at("area/.tfaot/policy.yaml")));
  EXPECT_EQ(run({"verify", "area"}).exit_code, 0);
}

TEST_F(SignTest, ABrokenPolicyAllowsNothing) {
  sign();
  for (const std::string text :
       {"require_signatures: true\n", "require_signature: perhaps\n", "require_signature: true\n",
        "require_signature: true\nkeys: [abc]\n", "- a\n", "require_signature: [\n", ""}) {
    write("area/.tfaot/policy.yaml", text);
    const Outcome outcome = install();
    EXPECT_EQ(outcome.exit_code, 1) << text << outcome.text();
    EXPECT_THAT(outcome.err, HasSubstr("policy.yaml"));
  }
  EXPECT_FALSE(is_installed());
}

TEST_F(SignTest, SaysWhereAKeyIsLookedFor) {
  const Outcome outcome = run({"sign", archive()}, {{"HOME", at("home")}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("ROOT/home/.minisign/minisign.key: no such file"));
}

// What `sha256sum -c` checks.
TEST_F(SignTest, PackageListsHashesBesideTheArchives) {
  write_tree_at("second", {.version = "1.1.0"});
  ASSERT_EQ(run({"package", "second", "-o", "dist"}).exit_code, 0);
  const std::string sums = read("dist/SHA256SUMS");
  const std::vector<std::string> lines = split_lines(sums);
  ASSERT_EQ(lines.size(), 2U) << sums;
  EXPECT_EQ(lines[0], sha256_of(read(archive())) + "  " + kName);
  EXPECT_THAT(lines[1], HasSubstr("1.1.0"));
  write("dist/SHA256SUMS", replace_all(sums, lines[0].substr(0, 64), std::string(64, '0')));
  const Outcome outcome = run({"verify", archive()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("differs from its line in SHA256SUMS"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
