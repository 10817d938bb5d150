// SPDX-License-Identifier: Apache-2.0
// Each verb that writes, with a fault at each call that may change the disk (fault_at.cc). If it is
// killed, its next run repairs what is left. If it is interrupted or the disk fails, it leaves
// exactly the old state or the new one.
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "cli_test.h"
#include "fake_linker.h"
#include "tests/support/executable_file.h"
#include "tests/unit/convert/upstream_samples.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

constexpr const char* kArchive = "tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
// Of minisign, without a password.
constexpr const char* kSecretKey =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAq/FFl0QzMGSRUrsDfes1"
    "F8t1XVhnQTOwpV51e6ZM/xGpsOsjmeqEkAjHNmbEeJWvsa9rgnAseOYB6Mla2GpOJ/w13DttRE3KAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
constexpr const char* kPublicKey = "RWSr8UWXRDMwZAjHNmbEeJWvsa9rgnAseOYB6Mla2GpOJ/w13DttRE3K";
constexpr const char* kOther = "tfaot-model-test-net-1.1.0-x86_64-linux.tar.zst";

struct Verb {
  std::string name;
  std::vector<std::string> command;  // what it writes is below "now"
  // A profile writes file after file. A release makes specs, then RPM after RPM. Each file is the
  // old one or the new one. An RPM of a killed release that has no record yet counts: the next one
  // gets a higher number.
  bool in_steps = false;
  // Given again it finds nothing to do, or does something else.
  bool once = false;
};

const std::vector<Verb> kVerbs = {
    {"first_install", {"install", std::string("in/") + kArchive, "--release-area", "now/area"}},
    {"install", {"install", std::string("in/") + kOther, "--release-area", "now/old_area"}},
    {"back", {"install", std::string("in/") + kArchive, "--release-area", "now/two_area"}},
    {"replace",
     {"install", std::string("in/changed/") + kArchive, "--release-area", "now/old_area",
      "--replace"}},
    {"two_installs",
     {"install", std::string("in/") + kArchive, std::string("in/") + kOther, "--release-area",
      "now/new_area"}},
    {"install_link",
     {"install", std::string("in/") + kArchive, "--link", "--release-area", "now/area"}},
    {"link_installed",
     {"install", std::string("in/") + kArchive, "--link", "--release-area", "now/two_area"}},
    {"link", {"link", "in/tree", "-o", "now/new/models.so"}},
    {"use", {"use", "test_net", "1.0.0", "--release-area", "now/two_area"}},
    {"rollback", {"rollback", "test_net", "--release-area", "now/two_area"}, false, true},
    {"remove_version",
     {"remove", "test_net", "1.0.0", "--release-area", "now/two_area"},
     false,
     true},
    {"remove", {"remove", "test_net", "--release-area", "now/two_area"}, false, true},
    {"gc", {"gc", "--older-than", "0", "--release-area", "now/two_area"}},
    {"signed_install",
     {"install", std::string("in/") + kArchive, "--public-key", kPublicKey, "--release-area",
      "now/signed_area"}},
    {"package", {"package", "in/tree", "-o", "now/dist"}},
    {"package_again", {"package", "in/changed/tree", "-o", "now/full_dist"}},
    {"sign", {"sign", std::string("now/full_dist/") + kArchive, "--secret-key", "secret.key"}},
    {"compile", {"compile", "-c", "model/aot_config.yaml", "-o", "now/new", "-j1"}},
    {"compile_again",
     {"compile", "-c", "model/aot_config.yaml", "-o", "now/tree", "-j1", "--batch-sizes", "1,8"}},
    {"update_weights", {"update-weights", "now/tree", "--model", "retrained", "-j1"}},
    {"verify_deep", {"verify", "--deep", "now/tree"}},
    {"tune", {"tune", "now/tree", "--compiler", "./c++"}},
    {"convert_area", {"convert-area", "area", "-o", "now/converted"}},
    {"inspect", {"inspect", "model/aot_config.yaml", "--stage", "lowered", "-o", "now/new/a.txt"}},
    {"page", {"info", "in/tree", "--html", "now/new/tree.html"}},
    {"spec", {"spec", "-c", "model/aot_config.yaml", "-o", "now/new/rpm", "--flavour", "rpm"}},
    {"spec_again", {"spec", "-c", "model/second.yaml", "-o", "now/rpm", "--flavour", "rpm"}},
    {"release", {"release", "model/aot_config.yaml", "-o", "now/new/rpm", "-j1"}, true},
    {"release_again", {"release", "model/second.yaml", "-o", "now/rpm", "-j1"}, true},
    {"condor", {"condor", "model/aot_config.yaml", "-o", "now/jobs"}},
    {"init", {"init", "model/saved_model", "-o", "now/new/aot_config.yaml"}},
    {"check", {"check", "model/aot_config.yaml", "--html", "now/new/check.html"}},
    {"run", {"run", "in/tree", "-i", "ones", "-o", "now/new/y.npz"}},
    {"validate", {"validate", "now/tree", "--model", "model/saved_model", "--record"}},
    {"spec_remove", {"spec", "--remove", "tfaot-model-test-net", "-o", "now/rpm"}},
    {"profile",
     {"profile", "in/tree", "--rounds", "1", "-q", "--csv", "now/csv", "--plot", "now/p.svg"},
     true},
};

class FaultsTest : public CliTest, public ::testing::WithParamInterface<Verb> {
 protected:
  using Entries = std::map<std::string, std::string>;

  FaultsTest() {
    // The loader takes no blanks in LD_PRELOAD.
    std::filesystem::create_symlink(TFAOT_FAULT_LIBRARY, at("fault_at.so"));
    write_model();
    write("retrained/saved_model.pb", "the same with weights n");
    write("c++",
          "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n"
          "printf '#!/bin/sh\\necho 1 x86-64 2000\\necho 4 x86-64 5250.25\\n' > \"$2\"\n"
          "chmod +x \"$2\"\n");
    write("bin/rpmbuild",
          "#!/bin/sh\nfor word; do case $word in *_topdir*) top=${word#_topdir };; esac; done\n"
          "mkdir -p \"$top/RPMS\"\necho rpm > \"$top/RPMS/new.rpm\"\n");
    testing::make_executable(at("c++"));
    testing::make_executable(at("bin/rpmbuild"));
    write("model/second.yaml",
          replace_all(read("model/aot_config.yaml"), "version: \"1.0.0\"", "version: \"1.1.0\""));
    write("area/include/net_bs4.h", replace_all(header_text(4), "entry_bs4", "tfaot_entry"));
    write("area/lib/net_bs4.o", files_.read(TFAOT_FAKE_OBJECT).value());
    write("area/net.xml",
          "<tool name=\"tfaot-model-net\" version=\"2.1\">\n"
          "  <flags LDFLAGS=\"$TFAOT_MODEL_NET_BASE/lib/net_bs4.o\"/>\n</tool>\n");
    std::filesystem::create_directory(at("tmp"));
    done({"compile", "-c", "model/aot_config.yaml", "-o", "in/tree"});
    write_fake_linker(at("bin"), read("in/tree/record.json"), at("linked"));
    write("prefix/libexec/tfaot/tfaot-runner",
          "#!/bin/sh\necho ready 1\nwhile read -r verb number; do case $verb in\n"
          "prepare) rows=$number; echo ok 0 1;;\n"
          "write) head -c $((8 * rows)) /dev/zero > \"${number}0\"; echo ok;; time) echo $((1000 * "
          "number)) $((1000 * number));;\n"
          "*) echo 0 0;; esac; done\n");
    testing::make_executable(at("prefix/libexec/tfaot/tfaot-runner"));
    write("prefix/" TFAOT_LIBDIR "/tfaot/libtfaot_count_allocations.so", "");
    // Its code is linked once; calls are counted for the runs after that.
    done({"run", "in/tree", "-i", "ones"});
    done({"package", "in/tree", "-o", "in"});
    write("secret.key", kSecretKey);
    done({"sign", std::string("in/") + kArchive, "--secret-key", "secret.key"});
    done({"package", "in/tree", "-o", "start/full_dist"});
    done({"update-weights", "in/tree", "--model", "retrained", "-o", "in/changed/tree"});
    done({"package", "in/changed/tree", "-o", "in/changed"});
    done({"update-weights", std::string("in/") + kArchive, "--model", "retrained", "--version",
          "1.1.0"});
    done({"compile", "-c", "model/aot_config.yaml", "-o", "start/tree"});
    done({"spec", "-c", "model/aot_config.yaml", "-o", "start/rpm", "--flavour", "rpm"});
    done({"release", "model/aot_config.yaml", "-o", "start/rpm", "-j1"});
    done({"install", std::string("in/") + kArchive, "--release-area", "start/old_area"});
    done({"install", std::string("in/") + kArchive, "--release-area", "start/two_area"});
    done({"install", std::string("in/") + kOther, "--release-area", "start/two_area"});
  }

  Outcome run_verb(const std::vector<std::string>& command, Variables environment = {}) const {
    environment["TFAOT_CACHE_DIR"] = at("cache");
    environment["PATH"] = at("bin") + ":" + std::getenv("PATH");
    environment["TMPDIR"] = at("tmp");
    environment["LD_PRELOAD"] = at("fault_at.so");
    return run(command, environment);
  }

  void done(const std::vector<std::string>& command) const {
    const Outcome outcome = run_verb(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  }

  void start_anew() {
    using Copy = std::filesystem::copy_options;
    std::filesystem::remove_all(at("now"));
    std::filesystem::copy(at("start"), at("now"), Copy::recursive | Copy::copy_symlinks);
  }

  Outcome run_with_fault(const std::string& fault, long at_call) const {
    return run_verb(GetParam().command, {{"TFAOT_FAULT", fault},
                                         {"TFAOT_FAULT_AT", std::to_string(at_call)},
                                         {"TFAOT_FAULT_FILE", at("calls")}});
  }

  // Each entry below a folder and what it is.
  Entries entries() const {
    Entries found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(at("now"))) {
      const std::string path = entry.path().string();
      const std::string name = entry.path().filename();
      // These say which process had it last, and when something was done.
      found[path] = name == "lock"               ? "lock"
                    : name == "history.jsonl"    ? "history"
                    : name.ends_with(".minisig") ? "signature"
                    : entry.is_symlink()   ? "link to " + files_.read_symlink(path).value().string()
                    : entry.is_directory() ? "folder"
                                           : files_.read(path).value();
    }
    return found;
  }

  // The names of entries that differ.
  static std::string differences(const Entries& now, const Entries& wanted) {
    std::string text;
    for (const auto& [path, what] : now) {
      const auto found = wanted.find(path);
      if (found == wanted.end()) text += "\n  more: " + path;
      if (found != wanted.end() && found->second != what) text += "\n  other: " + path;
    }
    for (const auto& [path, what] : wanted) {
      if (now.count(path) == 0) text += "\n  missing: " + path;
    }
    return text;
  }

  // Sets old_ and new_; returns the number of calls.
  long learn() {
    start_anew();
    old_ = entries();
    const Outcome outcome = run_with_fault("0", 1'000'000);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    new_ = entries();
    const long calls = std::atol(read("calls").c_str());
    RecordProperty("calls", static_cast<int>(calls));  // for docs/reliability.md
    return calls;
  }

  // Each call takes two runs of the tool, so if there are many calls only some are tried;
  // TFAOT_ALL_FAULTS=1 tries all.
  static long step_of(long calls) {
    constexpr long kMostCalls = 6;
    return std::getenv("TFAOT_ALL_FAULTS") != nullptr ? 1 : 1 + calls / kMostCalls;
  }

  bool is_between(const Entries& now) const {
    const auto is_in = [](const Entries& entries, const auto& entry) {
      const auto found = entries.find(entry.first);
      return found != entries.end() && *found == entry;
    };
    return std::ranges::all_of(
               now, [&](const auto& entry) { return is_in(old_, entry) || is_in(new_, entry); }) &&
           std::ranges::all_of(old_, [&](const auto& entry) {
             return now.contains(entry.first) || !new_.contains(entry.first);
           });
  }

  // True if only what the next verb removes is more than there should be.
  bool done_by_now() const {
    Entries now = entries();
    std::erase_if(now, [](const auto& entry) {
      return entry.first.find("/.tfaot/staging-") != std::string::npos;
    });
    return now == new_;
  }

  // And nothing in the folder for temporary files.
  void expect_old_or_new(const Outcome& outcome, long call) const {
    EXPECT_TRUE(std::filesystem::is_empty(at("tmp"))) << "call " << call << "\n" << outcome.text();
    const Entries now = entries();
    EXPECT_TRUE(now == old_ || now == new_ || (GetParam().in_steps && is_between(now)))
        << "call " << call << "\n"
        << outcome.text() << "old state:" << differences(now, old_)
        << "\nnew state:" << differences(now, new_);
  }

  Entries old_;
  Entries new_;
};

INSTANTIATE_TEST_SUITE_P(Verbs, FaultsTest, ::testing::ValuesIn(kVerbs),
                         [](const auto& test) { return test.param.name; });

TEST(FaultsPage, ListsEachVerb) {
  const std::string page = RealFileSystem().read(TFAOT_DOCS_DIR "/reliability.md").value_or("");
  for (const Verb& verb : kVerbs) {
    EXPECT_NE(page.find("| " + verb.name + " | `" + verb.command.front()), std::string::npos)
        << "docs/reliability.md has no row for " << verb.name;
  }
}

TEST_P(FaultsTest, KilledAnywhereTheNextRunMakesItWhole) {
  const long calls = learn();
  ASSERT_GT(calls, 3);
  for (long call = 1; call <= calls; call += step_of(calls)) {
    start_anew();
    ASSERT_EQ(run_with_fault("kill", call).signal, SIGKILL) << call;
    if (GetParam().once && done_by_now()) continue;
    const Outcome again = run_verb(GetParam().command);
    EXPECT_EQ(again.exit_code, 0) << call << "\n" << again.text();
    if (GetParam().name == "rollback") {  // may go back again: the area is whole either way
      const Outcome listed = run_verb({"list", "now/two_area"});
      EXPECT_EQ(listed.exit_code, 0) << call << "\n" << listed.text();
      continue;
    }
    Entries now = entries();
    if (GetParam().in_steps) {
      std::erase_if(now, [](const auto& entry) { return entry.first.ends_with(".json"); });
      std::erase_if(new_, [](const auto& entry) { return entry.first.ends_with(".json"); });
    }
    EXPECT_EQ(differences(now, new_), "") << "killed at call " << call;
  }
}

TEST_P(FaultsTest, InterruptedAnywhereItLeavesTheOldStateOrTheNewOne) {
  const long calls = learn();
  for (long call = 1; call <= calls; call += step_of(calls)) {
    start_anew();
    const Outcome outcome = run_with_fault("interrupt", call);
    EXPECT_EQ(outcome.signal, SIGINT) << call << "\n" << outcome.text();
    expect_old_or_new(outcome, call);
  }
}

TEST_P(FaultsTest, RefusedAnywhereItLeavesTheOldStateOrTheNewOne) {
  const long calls = learn();
  for (long call = 1; call <= calls; call += step_of(calls)) {
    start_anew();
    const Outcome outcome = run_with_fault(std::to_string(ENOSPC), call);
    EXPECT_EQ(outcome.signal, 0) << call << "\n" << outcome.text();
    EXPECT_LE(outcome.exit_code, 1) << call << "\n" << outcome.text();
    expect_old_or_new(outcome, call);
  }
}

}  // namespace
}  // namespace tfaot::toolkit::testing
