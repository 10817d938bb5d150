// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/conversation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "descriptor.h"
#include "spawn.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/process.h"
#include "tfaot/base/time_limit.h"

namespace tfaot::toolkit {
namespace {

using Clock = std::chrono::steady_clock;

// How long a child has to end by itself once it was told that there are no more questions.
constexpr std::chrono::milliseconds kFarewell{500};

}  // namespace

struct Conversation::Child {
  explicit Child(const ConversationSpec& spec) : name(spec.program.string()) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (loop.data == nullptr) return;
    if (running) {
      line = Descriptor();
      if (!wait_for_end(interrupting_signal() == 0 ? kFarewell : std::chrono::milliseconds(0))) {
        ::kill(-process.pid, SIGKILL);
        wait_for_end(kFarewell);
      }
    }
    if (process.pid > 0) ::kill(-process.pid, SIGKILL);  // what it started and left running
    if (memory != nullptr) memory->forget(process.pid);
    auto* const handle = reinterpret_cast<uv_handle_t*>(&process);
    // Also of a program that could not be started.
    if (process.loop != nullptr && uv_is_closing(handle) == 0) uv_close(handle, nullptr);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
  }

  Status start(const ConversationSpec& spec) {
    TFAOT_TRY(check_interrupts());
    const auto failed = [&](const char* reason) {
      return fail(Error(fmt::format("cannot start '{}': {}", name, reason)));
    };
    timeout = spec.timeout;
    if (spec.memory != nullptr && spec.memory->bytes() > 0) memory = spec.memory;
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      return failed(std::strerror(errno));
    }
    line = Descriptor(ends[0]);
    const Descriptor of_child(ends[1]);
    errors = Descriptor(::memfd_create("tfaot-stderr", MFD_CLOEXEC));
    if (!errors.valid()) return failed(std::strerror(errno));
    if (const int error = uv_loop_init(&loop); error != 0) return failed(uv_strerror(error));
    loop.data = this;

    process.data = this;
    const int error = spawn(loop, process, {name, spec.arguments, spec.environment},
                            {of_child.get(), of_child.get(), errors.get()},
                            [](uv_process_t* ended, std::int64_t, int by) {
                              Child& child = *static_cast<Child*>(ended->data);
                              child.running = false;
                              child.signal = by;
                            });
    if (error != 0) return failed(uv_strerror(error));
    running = true;
    death = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
    return {};
  }

  Status say(const std::string& text) {
    const std::string bytes = text + "\n";
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count =
          ::send(line.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (count < 0 && errno != EINTR) return fail(ended("ended before it was asked"));
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    return {};
  }

  Result<std::string> hear() {
    const auto until = Clock::now() + timeout;
    for (;;) {
      if (const std::size_t end = heard.find('\n'); end != std::string::npos) {
        std::string text = heard.substr(0, end);
        heard.erase(0, end + 1);
        return text;
      }
      TFAOT_ASSIGN(const bool more, hear_more(until));
      if (!more) return fail(ended("ended instead of answering"));
    }
  }

  // False: the child says no more.
  Result<bool> hear_more(Clock::time_point until) {
    std::optional<TimeLimitPause> waiting;
    if (timeout.count() > 0) waiting.emplace();  // it has a limit of its own
    for (;;) {
      int wait = -1;
      if (timeout.count() > 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
        if (left.count() <= 0) return fail(ended("took too long to answer"));
        wait = static_cast<int>(left.count());
      }
      constexpr auto kLook = static_cast<int>(kMemoryLook.count());
      if (memory != nullptr) wait = wait < 0 ? kLook : std::min(wait, kLook);
      std::array<pollfd, 3> waited = {
          {{line.get(), POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}, {death.get(), POLLIN, 0}}};
      const int ready = ::poll(waited.data(), waited.size(), wait);
      TFAOT_TRY(check_interrupts());
      if (ready == 0 && needs_too_much()) {
        over_memory = true;
        ::kill(-process.pid, SIGKILL);
        return fail(ended("ended instead of answering").note(kMemoryAdvice));
      }
      if ((waited[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) {
        if (waited[2].revents != 0) return false;  // what it forked may hold the line open
        continue;
      }
      std::array<char, 4096> bytes{};
      const ssize_t count = ::read(line.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      heard.append(bytes.data(), static_cast<std::size_t>(count));
      return true;
    }
  }

  Status finish() {
    const auto until = Clock::now() + timeout;
    ::shutdown(line.get(), SHUT_WR);
    for (bool more = true; more; heard.clear()) {
      TFAOT_ASSIGN(more, hear_more(until));
    }
    // It may close its output before it ends.
    while (!wait_for_end(std::chrono::milliseconds(20))) {
      TFAOT_TRY(check_interrupts());
      if (timeout.count() > 0 && Clock::now() >= until) return fail(ended("took too long to end"));
    }
    return {};
  }

  // The event loop only notices the end.
  bool wait_for_end(std::chrono::milliseconds time) {
    const auto until = Clock::now() + time;
    while (uv_run(&loop, UV_RUN_NOWAIT), running) {
      if (Clock::now() >= until) return false;
      ::poll(nullptr, 0, 1);
    }
    return true;
  }

  Error ended(const std::string& how) {
    ProcessResult result;
    if (!wait_for_end(std::chrono::milliseconds(500))) ::kill(-process.pid, SIGKILL);
    result.signal = signal;
    result.over_memory = over_memory;
    result.standard_error = last_errors();
    return with_last_words(Error(fmt::format("'{}' {}", name, how)), result);
  }

  std::string last_errors() const {
    struct stat status {};
    if (::fstat(errors.get(), &status) != 0) return "";
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t count = ::pread(errors.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }

  bool needs_too_much() const {
    return memory != nullptr && memory->is_exceeded_by(process.pid, memory_of(process.pid));
  }

  const InterruptWatch watch;
  std::string name;
  std::chrono::milliseconds timeout{0};
  std::shared_ptr<MemoryBudget> memory;
  uv_loop_t loop{};
  uv_process_t process{};
  bool running = false;
  int signal = 0;
  bool over_memory = false;
  Descriptor line;    // both ways: a socket, so that a dead child is an error and no signal
  Descriptor errors;  // a file without a name
  Descriptor death;   // becomes readable when the child ends; invalid before Linux 5.3
  std::string heard;
};

Conversation::Conversation(std::unique_ptr<Child> child) : child_(std::move(child)) {}
Conversation::Conversation(Conversation&&) noexcept = default;
Conversation& Conversation::operator=(Conversation&&) noexcept = default;
Conversation::~Conversation() = default;

Result<Conversation> Conversation::start(const ConversationSpec& spec) {
  auto child = std::make_unique<Child>(spec);
  TFAOT_TRY(child->start(spec));
  return Conversation(std::move(child));
}

Result<std::string> Conversation::hear() { return child_->hear(); }

Result<std::string> Conversation::ask(const std::string& line) {
  TFAOT_TRY(child_->say(line));
  return child_->hear();
}

Status Conversation::finish() { return child_->finish(); }

pid_t Conversation::process() const { return child_->process.pid; }

}  // namespace tfaot::toolkit
