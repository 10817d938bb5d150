// SPDX-License-Identifier: Apache-2.0
#include "flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The flags of scram's rule, and `more`.
Result<TfcompileFlags> parse(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"--target_features=+sse4.2",   "--graph=a/net.pb",
                                  "--config=a/net.config.pbtxt", "--entry_point=__tensorflow_net",
                                  "--cpp_class=ns::net",         "--target_triple=x86_64-pc-linux",
                                  "--out_header=net/header.h",   "--out_metadata_object=m.o",
                                  "--out_function_object=f.o"};
  all.insert(all.end(), more.begin(), more.end());
  return parse_tfcompile_flags(all);
}
std::string error_of(const std::vector<std::string>& more) {
  const auto flags = parse(more);
  return flags ? "no error" : flags.error().text();
}
std::string comment_error(const std::string& text) {
  TfcompileFlags flags;
  const Status read = read_tfcompile_comments(text, "net.config.pbtxt", flags);
  return read ? "no error" : read.error().text();
}

TEST(TfcompileFlags, AreThoseOfScramsRule) {
  const auto flags = parse();
  ASSERT_TRUE(flags) << flags.error().text();
  EXPECT_EQ(flags->graph, "a/net.pb");
  EXPECT_EQ(flags->config, "a/net.config.pbtxt");
  EXPECT_EQ(flags->cpp_class, "ns::net");
  EXPECT_EQ(flags->target_triple, "x86_64-pc-linux");
  EXPECT_EQ(flags->target_features, "+sse4.2");
  EXPECT_EQ(flags->out_header, "net/header.h");
  EXPECT_EQ(flags->out_metadata_object, "m.o");
  EXPECT_EQ(flags->out_function_object, "f.o");
  EXPECT_THAT(flags->batch_sizes, IsEmpty());
  EXPECT_EQ(parse({"-graph=b"})->graph, "b");
  EXPECT_TRUE(parse_tfcompile_flags({"--help"})->help);
}

TEST(TfcompileFlags, WrongOnesAreNamed) {
  EXPECT_EQ(error_of({"--out_headers=x"}),
            "unknown flag '--out_headers'\n  did you mean '--out_header'?\n"
            "  see 'tfaot-tfcompile --help'");
  EXPECT_EQ(error_of({"x"}), "unexpected argument 'x'");
  EXPECT_EQ(error_of({"--graph"}), "--graph needs a value: --graph=...");
  EXPECT_EQ(error_of({"--config="}), "--config is required\n  see 'tfaot-tfcompile --help'");
  EXPECT_EQ(error_of({"--cpp_class=a::1b"}), "--cpp_class: 'a::1b' is not a C++ name");
  EXPECT_EQ(error_of({"--batch_sizes=,"}), "--batch_sizes needs a value");
}

TEST(TfcompileFlags, CommentsOfTheConfigSayMore) {
  const std::string text =
      "feed {}\n  #  tfaot:  batch_sizes=1,4\tcpu_levels=x86-64,x86-64-v3 \n# tfaot is nice\n";
  auto flags = parse();
  ASSERT_TRUE(read_tfcompile_comments(text, "c", *flags));
  EXPECT_THAT(flags->batch_sizes, ElementsAre("1", "4"));
  EXPECT_THAT(flags->cpu_levels, ElementsAre("x86-64", "x86-64-v3"));
  flags = parse({"--batch_sizes=8,2"});
  ASSERT_TRUE(read_tfcompile_comments(text, "c", *flags));
  EXPECT_THAT(flags->batch_sizes, ElementsAre("8", "2"));
  const std::string note = "\n  write # tfaot: batch_sizes=1,4 cpu_levels=x86-64,x86-64-v3";
  EXPECT_EQ(comment_error("\n# tfaot: batch_size=1"),
            "net.config.pbtxt:2: 'batch_size=1' is unknown" + note);
  EXPECT_EQ(comment_error("# tfaot: batch_sizes="),
            "net.config.pbtxt:1: 'batch_sizes=' is unknown" + note);
}

TEST(TfcompileFlags, TriplesOfDebianAreCompleted) {
  EXPECT_EQ(full_triple("x86_64-linux-gnu"), "x86_64-unknown-linux-gnu");
  EXPECT_EQ(full_triple("x86_64-pc-linux"), "x86_64-pc-linux");
  EXPECT_EQ(full_triple(""), "x86_64-unknown-linux-gnu");
}

}  // namespace
}  // namespace tfaot::toolkit
