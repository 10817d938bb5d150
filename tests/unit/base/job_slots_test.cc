// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/job_slots.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace tfaot::toolkit {
namespace {

// As make makes it: a pipe with a byte for each free slot.
class JobServerPipe {
 public:
  explicit JobServerPipe(const std::string& slots) {
    EXPECT_EQ(::pipe(ends_.data()), 0);
    EXPECT_EQ(::write(ends_[1], slots.data(), slots.size()), std::ssize(slots));
  }
  ~JobServerPipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  JobServerPipe(const JobServerPipe&) = delete;
  JobServerPipe& operator=(const JobServerPipe&) = delete;

  std::string makeflags(const char* option = "--jobserver-auth") const {
    return fmt::format(" -j {}={},{} --no-print-directory", option, ends_[0], ends_[1]);
  }
  // What is free; empties the pipe.
  std::string free() const {
    EXPECT_EQ(::write(ends_[1], "|", 1), 1);  // so that reading ends
    std::array<char, 64> bytes{};
    const ssize_t count = ::read(ends_[0], bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(count) - 1};
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(JobSlots, WithoutMakeAreAsManyAsWanted) {
  EXPECT_EQ(JobSlots("", 5).count(), 5U);
  EXPECT_EQ(JobSlots("kn -- CXX=g++", 5).count(), 5U);
}

TEST(JobSlots, AreTakenFromMakeAndGivenBack) {
  const JobServerPipe make("abc");
  {
    const JobSlots slots(make.makeflags(), 3);
    EXPECT_EQ(slots.count(), 3U);
    EXPECT_EQ(make.free(), "c");
  }
  EXPECT_EQ(make.free(), "ab");
}

TEST(JobSlots, AreNotWaitedFor) {
  const JobServerPipe make("a");
  const JobSlots first(make.makeflags("--jobserver-fds"), 8);
  const JobSlots second(make.makeflags("--jobserver-fds"), 8);
  EXPECT_EQ(first.count(), 2U);
  EXPECT_EQ(second.count(), 1U);
}

TEST(JobSlots, ComeFromANamedPipeToo) {
  std::string folder = "/tmp/tfaot-fifo.XXXXXX";  // make has none with a blank
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int server = ::open(path.c_str(), O_RDWR);
  ASSERT_EQ(::write(server, "++", 2), 2);
  EXPECT_EQ(JobSlots("-j --jobserver-auth=fifo:" + path, 2).count(), 2U);
  EXPECT_EQ(JobSlots("-j --jobserver-auth=fifo:" + path, 9).count(), 3U);
  ::close(server);
  std::filesystem::remove_all(folder);
}

TEST(JobSlots, OfAJobServerThatIsClosedAreAsManyAsWanted) {
  EXPECT_EQ(JobSlots("-j --jobserver-auth=998,999", 4).count(), 4U);
  EXPECT_EQ(JobSlots("-j --jobserver-auth=-2,-2", 4).count(), 4U);
  EXPECT_EQ(JobSlots("-j --jobserver-auth=fifo:/no/such/pipe", 4).count(), 4U);
}

}  // namespace
}  // namespace tfaot::toolkit
