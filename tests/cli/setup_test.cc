// SPDX-License-Identifier: Apache-2.0
// `tfaot setup` and how the engine then finds TensorFlow. What the script itself does is tested by
// tests/packaging/fetch_tensorflow_test.sh; here a stand-in fills the cache.
#include <gmock/gmock.h>

#include <cstdlib>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SetupTest : public CliTest {
 protected:
  SetupTest() {
    EXPECT_TRUE(files_.copy_file(TFAOT_LOST_ENGINE, root_ / "prefix/libexec/tfaot/tfaot-engine"));
    script(
        "echo 'fetch_tensorflow: fetching' >&2\n"
        "mkdir -p \"$TFAOT_CACHE_DIR/" TFAOT_TENSORFLOW_FOLDER
        "/tensorflow\"\n"
        "cp '" TFAOT_LOST_LIBRARY "' \"$TFAOT_CACHE_DIR/" TFAOT_TENSORFLOW_FOLDER
        "/tensorflow/libtensorflow_cc.so.2\"\n");
  }
  void script(const std::string& text) { write("prefix/share/tfaot/fetch_tensorflow.sh", text); }
  Outcome setup(Variables environment = {}) {
    environment.try_emplace("TFAOT_CACHE_DIR", at("a cache"));
    return run({"setup"}, environment);
  }
};

TEST_F(SetupTest, FetchesOnceAndTheEngineStarts) {
  std::string transcript = setup().text() + "\n" + setup().text();
  EXPECT_TRUE(matches_golden(transcript, "cli/setup.txt"));

  write_model();
  const std::vector<std::string> compile = {"compile", "-c", "model/aot_config.yaml", "-o", "out"};
  EXPECT_THAT(run(compile, {{"TFAOT_CACHE_DIR", at("other")}}).err, HasSubstr("tfaot setup"));
  for (const Variables& found : std::vector<Variables>{
           {{"TFAOT_CACHE_DIR", at("a cache")}},
           {{"TFAOT_CACHE_DIR", at("other")},
            {"TFAOT_TENSORFLOW_ROOT", at("a cache/" TFAOT_TENSORFLOW_FOLDER "/tensorflow")}},
       }) {
    EXPECT_THAT(run(compile, found).err, Not(HasSubstr("TensorFlow's")));
  }
}

TEST_F(SetupTest, TheNamedTensorFlowBeatsTheOneBesideTheEngine) {
  ASSERT_TRUE(files_.copy_file(TFAOT_LOST_LIBRARY,
                               root_ / "prefix/libexec/tfaot/tensorflow/libtensorflow_cc.so.2"));
  EXPECT_THAT(setup().out, HasSubstr("nothing to fetch"));
  ASSERT_TRUE(files_.create_directories(root_ / "empty"));
  script("exit 0\n");
  EXPECT_THAT(setup({{"TFAOT_TENSORFLOW_ROOT", at("empty")}}).err,
              HasSubstr("does not find TensorFlow\n  looked in ROOT/empty\n"));
}

// As pip lays them out: the archive, and an empty file for each that comes out of it.
class CompilerWheelTest : public SetupTest {
 protected:
  CompilerWheelTest() {
    write_model();
    write("wheel/tensorflow/THIRD_PARTY_NOTICES.txt", "notices\n");
    EXPECT_TRUE(
        files_.copy_file(TFAOT_LOST_LIBRARY, root_ / "wheel/tensorflow/libtensorflow_cc.so.2"));
    for (const char* const name : {"libtensorflow_cc.so.2", "THIRD_PARTY_NOTICES.txt"}) {
      write(std::string(kHome) + "/tensorflow/" + name, "");
    }
    EXPECT_EQ(std::system(("tar cJf '" + archive() + "' -C '" + at("wheel") + "' .").c_str()), 0);
  }
  std::string archive() const { return at(std::string(kHome) + ".tar.xz"); }
  Outcome compiles() {
    return run({"compile", "-c", "model/aot_config.yaml", "-o", "out"},
               {{"TFAOT_CACHE_DIR", at("a cache")}});
  }

  static constexpr const char* kHome = "prefix/libexec/tfaot/" TFAOT_TENSORFLOW_FOLDER;
};

TEST_F(CompilerWheelTest, IsUnpackedByTheFirstCommandThatNeedsIt) {
  write(std::string(kHome) + ".unpacked/tensorflow/half", "left by a killed run");
  const Outcome first = compiles();
  EXPECT_THAT(first.err, HasSubstr("[0/1] unpacking TensorFlow, once\n"));
  EXPECT_THAT(first.err, Not(HasSubstr("TensorFlow's")));
  EXPECT_THAT(files_in(kHome), ElementsAre("tensorflow/THIRD_PARTY_NOTICES.txt",
                                           "tensorflow/libtensorflow_cc.so.2"));
  EXPECT_EQ(read(std::string(kHome) + "/tensorflow/THIRD_PARTY_NOTICES.txt"), "notices\n");
  for (const char* const left : {".unpacked", ".lock"}) {
    EXPECT_EQ(files_.kind(at(std::string(kHome) + left)), FileKind::kMissing);
  }
  EXPECT_THAT(compiles().err, Not(HasSubstr("unpacking")));
  EXPECT_THAT(setup().out, HasSubstr("nothing to fetch"));
}

TEST_F(CompilerWheelTest, ADamagedOneIsAnErrorAndStays) {
  write(std::string(kHome) + ".tar.xz", "no archive");
  EXPECT_TRUE(matches_golden(compiles().text(), "cli/setup_damaged_wheel.txt"));
  EXPECT_EQ(read(std::string(kHome) + "/tensorflow/libtensorflow_cc.so.2"), "");
}

TEST_F(CompilerWheelTest, ATensorFlowThatTheUserNamesComesFirst) {
  const Outcome outcome = run({"compile", "-c", "model/aot_config.yaml", "-o", "out"},
                              {{"TFAOT_TENSORFLOW_ROOT", at("wheel/tensorflow")}});
  EXPECT_THAT(outcome.err, Not(HasSubstr("unpacking")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("TensorFlow's")));
}

TEST_F(SetupTest, AnEmptyPartOfTheLoadersPathIsNoFolder) {
  ASSERT_TRUE(files_.copy_file(TFAOT_LOST_LIBRARY, root_ / "libtensorflow_cc.so.2"));
  script("exit 0\n");
  for (const char* const path : {":", "/nowhere:", "/nowhere::/lib"}) {
    EXPECT_THAT(setup({{"LD_LIBRARY_PATH", path}}).err, HasSubstr("does not find TensorFlow"));
  }
}

TEST_F(SetupTest, UsesTheFolderOfTheUserCache) {
  ASSERT_TRUE(files_.copy_file(TFAOT_LOST_LIBRARY, root_ / "xdg/tfaot" / TFAOT_TENSORFLOW_FOLDER /
                                                       "tensorflow/libtensorflow_cc.so.2"));
  EXPECT_THAT(setup({{"TFAOT_CACHE_DIR", ""}, {"XDG_CACHE_HOME", at("xdg")}}).out,
              HasSubstr("nothing to fetch"));
  ASSERT_TRUE(files_.create_directories(root_ / "home"));
  ASSERT_TRUE(files_.rename(root_ / "xdg", root_ / "home/.cache"));
  EXPECT_THAT(setup({{"TFAOT_CACHE_DIR", ""}, {"HOME", at("home")}}).out,
              HasSubstr("nothing to fetch"));
}

TEST_F(SetupTest, SaysWhatIsWrong) {
  script("echo 'fetch_tensorflow: error: no network' >&2\nexit 1\n");
  std::string transcript = setup().text() + "\n";
  script("exit 0\n");
  transcript += setup().text() + "\n";
  ASSERT_TRUE(files_.remove_all(root_ / "prefix/share/tfaot/fetch_tensorflow.sh"));
  transcript += setup().text() + "\n";
  ASSERT_TRUE(files_.remove_all(root_ / "prefix/libexec"));
  transcript += setup().text();
  EXPECT_TRUE(matches_golden(transcript, "cli/setup_errors.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
