// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/conversation.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;

ConversationSpec script_of(const std::string& script) {
  ConversationSpec spec;
  spec.program = "sh";
  spec.arguments = {"-c", script};
  return spec;
}

// Not one that has ended and whose parent has not noticed yet.
bool is_alive(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(status, text);
  return !text.empty() && text.find(") Z") == std::string::npos;
}

TEST(Conversation, AsksAndHears) {
  ConversationSpec spec = script_of("echo hello $WHO; while read line; do echo \"<$line>\"; done");
  spec.environment = {{"WHO", "world"}};
  Conversation talk = Conversation::start(spec).value();
  EXPECT_EQ(talk.hear().value(), "hello world");
  EXPECT_EQ(talk.ask("one two").value(), "<one two>");
  EXPECT_EQ(talk.ask("").value(), "<>");
  Conversation moved = std::move(talk);
  EXPECT_EQ(moved.ask("three").value(), "<three>");
}

TEST(Conversation, KeepsLinesThatCameTogether) {
  Conversation talk = Conversation::start(script_of("printf 'a\\nb\\n'; read line")).value();
  EXPECT_EQ(talk.hear().value(), "a");
  EXPECT_EQ(talk.hear().value(), "b");
}

TEST(Conversation, WaitsUntilTheChildHasEnded) {
  Conversation talk = Conversation::start(script_of("while read line; do echo $line; done; "
                                                    "sleep 0.7; echo late; exec >&-; sleep 0.1"))
                          .value();
  EXPECT_EQ(talk.ask("one").value(), "one");
  EXPECT_TRUE(is_alive(talk.process()));
  EXPECT_TRUE(talk.finish());
  EXPECT_FALSE(is_alive(talk.process()));
  ConversationSpec endless = script_of("sleep 100");
  endless.timeout = std::chrono::milliseconds(50);
  EXPECT_FALSE(Conversation::start(endless).value().finish());
}

TEST(Conversation, SaysWhyTheChildEnded) {
  Conversation talk =
      Conversation::start(script_of("printf '\\033[1;31mwhy\\033[m\\n' >&2; exit 3")).value();
  const auto heard = talk.hear();
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().text(), "'sh' ended instead of answering\n  why");
  Conversation killed = Conversation::start(script_of("kill -SEGV $$")).value();
  EXPECT_THAT(killed.hear().error().text(), HasSubstr("signal 11 ended it"));
}

// Such as a library that forks and crashes.
TEST(Conversation, DoesNotWaitForWhatTheChildStarted) {
  ConversationSpec spec = script_of("sleep 1000 & echo $!; echo why >&2; exit 3");
  spec.timeout = std::chrono::seconds(20);
  pid_t other = 0;
  {
    Conversation talk = Conversation::start(spec).value();
    other = static_cast<pid_t>(std::stoi(talk.hear().value()));
    EXPECT_EQ(talk.hear().error().text(), "'sh' ended instead of answering\n  why");
  }
  for (int i = 0; i < 10000 && is_alive(other); ++i) ::usleep(1000);
  EXPECT_FALSE(is_alive(other));
}

TEST(Conversation, KillsWhatHangs) {
  ConversationSpec spec = script_of("sleep 1000 & echo $!; sleep 1000");
  spec.timeout = std::chrono::seconds(2);
  Conversation talk = Conversation::start(spec).value();
  const auto other = static_cast<pid_t>(std::stoi(talk.hear().value()));
  EXPECT_THAT(talk.hear().error().text(), HasSubstr("'sh' took too long to answer"));
  for (int i = 0; i < 10000 && is_alive(other); ++i) ::usleep(1000);
  EXPECT_FALSE(is_alive(other));
}

TEST(Conversation, StopsWhatNeedsTooMuchMemory) {
  ConversationSpec spec =
      script_of("echo ready; much=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 1000");
  spec.memory = std::make_shared<MemoryBudget>(50'000'000);
  {
    Conversation talk = Conversation::start(spec).value();
    EXPECT_EQ(talk.hear().value(), "ready");
    EXPECT_EQ(talk.hear().error().text(),
              "'sh' ended instead of answering\n"
              "  it needed too much memory and was stopped\n"
              "  the limit is for all engine processes together: raise it with --memory MB (0: "
              "none)");
  }
  EXPECT_FALSE(spec.memory->is_exceeded_by(0, 50'000'000)) << "it is forgotten";
}

TEST(Conversation, DoesNotWaitForEver) {
  ConversationSpec spec = script_of("sleep 100");
  spec.timeout = std::chrono::milliseconds(50);
  Conversation talk = Conversation::start(spec).value();
  EXPECT_THAT(talk.hear().error().text(), HasSubstr("'sh' took too long to answer"));
}

TEST(Conversation, EndsTheChildAndWhatItStarted) {
  pid_t other = 0;
  {
    Conversation talk =
        Conversation::start(script_of("trap '' TERM; sleep 1000 & echo $!; wait")).value();
    other = static_cast<pid_t>(std::stoi(talk.hear().value()));
    EXPECT_TRUE(is_alive(other));
  }
  for (int i = 0; i < 10000 && is_alive(other); ++i) ::usleep(1000);
  EXPECT_FALSE(is_alive(other));
}

TEST(Conversation, NamesAProgramThatIsMissing) {
  ConversationSpec spec;
  spec.program = "/nowhere/program";
  const auto talk = Conversation::start(spec);
  ASSERT_FALSE(talk);
  EXPECT_THAT(talk.error().text(), HasSubstr("cannot start '/nowhere/program'"));
}

}  // namespace
}  // namespace tfaot::toolkit
