// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "descriptor.h"
#include "spawn.h"
#include "tfaot/base/pattern.h"
#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"

namespace tfaot::toolkit {
namespace {

// Closes a libuv handle of any kind, once.
template <class Handle>
void close_handle(Handle& handle) {
  auto* const base = reinterpret_cast<uv_handle_t*>(&handle);
  if (uv_is_closing(base) == 0) uv_close(base, nullptr);
}

// One of a child's two output pipes on a libuv loop: collects the text and hands out lines as they
// come. Must live until the loop has closed it. One thread.
class ProcessOutput {
 public:
  using OnLine = std::function<void(const std::string&)>;

  explicit ProcessOutput(OnLine on_line) : on_line_(std::move(on_line)) {}
  ProcessOutput(const ProcessOutput&) = delete;
  ProcessOutput& operator=(const ProcessOutput&) = delete;

  void init(uv_loop_t& loop) {
    uv_pipe_init(&loop, &pipe_, 0);
    pipe_.data = this;
  }

  // Makes the pipe; the child gets `write_end`. libuv's error or 0.
  int open(Descriptor& write_end) {
    std::array<uv_file, 2> ends{};
    if (const int error = uv_pipe(ends.data(), UV_NONBLOCK_PIPE, 0); error != 0) return error;
    write_end = Descriptor(ends[1]);
    if (const int error = uv_pipe_open(&pipe_, ends[0]); error != 0) {
      ::close(ends[0]);
      return error;
    }
    return uv_read_start(reinterpret_cast<uv_stream_t*>(&pipe_), &ProcessOutput::give_buffer,
                         &ProcessOutput::on_read);
  }

  // The writer is dead: takes what it left in the pipe. Does not wait for the end of the pipe:
  // processes that left the child's group may hold it open for ever.
  void take_rest() {
    uv_os_fd_t fd = -1;
    int waiting = 0;
    if (uv_fileno(reinterpret_cast<uv_handle_t*>(&pipe_), &fd) == 0 &&
        ::ioctl(fd, FIONREAD, &waiting) == 0) {
      std::string rest(static_cast<std::size_t>(waiting), '\0');
      const ssize_t count = ::read(fd, rest.data(), rest.size());
      if (count > 0) append({rest.data(), static_cast<std::size_t>(count)});
    }
    if (on_line_ && reported_ < text_.size()) on_line_(text_.substr(reported_));
    reported_ = text_.size();
    close();
  }

  void close() { close_handle(pipe_); }
  std::string take_text() { return std::move(text_); }

 private:
  static void give_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
    auto& bytes = static_cast<ProcessOutput*>(handle->data)->buffer_;
    *buffer = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
  }

  static void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
    auto& output = *static_cast<ProcessOutput*>(stream->data);
    if (count > 0) output.append({buffer->base, static_cast<std::size_t>(count)});
    if (count < 0) output.close();
  }

  void append(std::string_view bytes) {
    std::size_t searched = text_.size();
    text_ += bytes;
    if (!on_line_) return;
    for (std::size_t end = 0; (end = text_.find('\n', searched)) != std::string::npos;) {
      on_line_(text_.substr(reported_, end - reported_));
      searched = reported_ = end + 1;
    }
  }

  uv_pipe_t pipe_{};
  std::string text_;
  OnLine on_line_;
  std::size_t reported_ = 0;  // bytes of text_ given to on_line_
  std::array<char, 65536> buffer_{};
};

// How long an interrupted child has to end after SIGTERM, before it is killed.
constexpr std::chrono::milliseconds kGrace{5000};
// The same after a time limit, which soon ends us too.
constexpr std::chrono::milliseconds kShortGrace{800};

std::chrono::milliseconds grace() {
  return interrupting_signal() == kTimeLimitSignal ? kShortGrace : kGrace;
}

Error cannot_start(const ProcessSpec& spec, std::string_view reason) {
  return Error(fmt::format("cannot start '{}': {}", spec.program.string(), reason));
}

// The input as a file without a name: no pipe to feed, so no deadlock and no SIGPIPE. Invalid: see
// errno.
Descriptor file_with(const std::string& text) {
  Descriptor file(::memfd_create("tfaot-stdin", MFD_CLOEXEC));
  for (std::size_t done = 0; file.valid() && done < text.size();) {
    const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return Descriptor();
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  if (file.valid()) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

// One child and the event loop that watches it, for one call of run_process().
class Child {
 public:
  explicit Child(const ProcessSpec& spec)
      : spec_(spec), out_(spec.on_stdout_line), err_(spec.on_stderr_line) {
    if (spec.timeout.count() > 0) waiting_.emplace();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Result<ProcessResult> run() {
    TFAOT_TRY(check_interrupts());
    if (const int error = uv_loop_init(&loop_); error != 0) {
      return fail(cannot_start(spec_, uv_strerror(error)));
    }
    const int start_error = start();
    uv_run(&loop_, UV_RUN_DEFAULT);  // returns when every handle is closed
    uv_loop_close(&loop_);
    if (start_error == UV_ENOENT && spec_.program.native().find('/') == std::string::npos) {
      return fail(cannot_start(spec_, "no such program in PATH"));
    }
    if (start_error != 0) return fail(cannot_start(spec_, uv_strerror(start_error)));
    if (interrupted_) {
      life_of_descendants_ = Descriptor();
      if (!descendants_end()) kill_group();
      return fail(
          Error(fmt::format("{}; '{}' was stopped", interruption_text(), spec_.program.string())));
    }
    result_.standard_output = out_.take_text();
    result_.standard_error = err_.take_text();
    return std::move(result_);
  }

 private:
  // libuv's error or 0
  int start() {
    uv_timer_init(&loop_, &timer_);
    timer_.data = this;
    uv_timer_init(&loop_, &look_);
    look_.data = this;
    out_.init(loop_);
    err_.init(loop_);

    Descriptor input, out_end, err_end;
    int error = 0;
    if (!spec_.standard_input.empty()) {
      input = file_with(spec_.standard_input);
      if (!input.valid()) error = uv_translate_sys_error(errno);
    }
    if (error == 0) error = out_.open(out_end);
    if (error == 0) error = err_.open(err_end);
    if (error == 0) error = open_life();
    if (error == 0) error = watch_interrupts();
    if (error == 0) {
      process_.data = this;
      error = spawn(
          loop_, process_,
          {spec_.program.string(), spec_.arguments, spec_.environment, spec_.working_directory},
          {input.get(), out_end.get(), err_end.get()}, &Child::on_exit);
      if (error != 0) close_handle(process_);
    }
    if (error != 0) {
      out_.close();
      err_.close();
      close_watchers();
      return error;
    }
    if (spec_.timeout.count() > 0) {
      uv_update_time(&loop_);
      uv_timer_start(&timer_, &Child::on_timeout, static_cast<std::uint64_t>(spec_.timeout.count()),
                     0);
    }
    if (spec_.memory != nullptr && spec_.memory->bytes() > 0) {
      const auto often = static_cast<std::uint64_t>(kMemoryLook.count());
      uv_timer_start(&look_, &Child::on_look, often, often);
    }
    return 0;
  }

  // The descendants inherit only the write end.
  int open_life() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return uv_translate_sys_error(errno);
    life_ = Descriptor(ends[0]);
    life_of_descendants_ = Descriptor(ends[1]);
    return ::fcntl(ends[1], F_SETFD, 0) == 0 ? 0 : uv_translate_sys_error(errno);
  }

  // The child is not in the terminal's foreground group, so ^C reaches only us. We must stop the
  // child.
  int watch_interrupts() {
    if (const int error = uv_poll_init(&loop_, &interrupt_, interrupt_descriptor()); error != 0) {
      return error;
    }
    interrupt_.data = this;
    return uv_poll_start(&interrupt_, UV_READABLE, &Child::on_interrupt);
  }

  void kill_group(int signal = SIGKILL) { ::kill(-process_.pid, signal); }

  // Also waits for those that left the child's group, if they end in time. For example, an
  // interrupted tfaot that runs a compiler stops it.
  bool descendants_end() {
    pollfd waited{life_.get(), 0, 0};
    return ::poll(&waited, 1, static_cast<int>(grace().count())) == 1;
  }

  void close_watchers() {
    close_handle(timer_);
    close_handle(look_);
    if (interrupt_.data != nullptr) close_handle(interrupt_);
  }

  static void on_exit(uv_process_t* process, std::int64_t exit_code, int signal) {
    Child& child = *static_cast<Child*>(process->data);
    child.result_.exit_code = static_cast<int>(exit_code);
    child.result_.signal = child.result_.timed_out ? SIGKILL : signal;
    if (child.spec_.memory != nullptr) child.spec_.memory->forget(process->pid);
    // What the child started and left running.
    if (!child.interrupted_) child.kill_group();
    child.out_.take_rest();
    child.err_.take_rest();
    child.close_watchers();
    close_handle(child.process_);
  }

  static void on_timeout(uv_timer_t* timer) {
    Child& child = *static_cast<Child*>(timer->data);
    child.result_.timed_out = true;
    child.kill_group();
  }

  static void on_look(uv_timer_t* timer) {
    Child& child = *static_cast<Child*>(timer->data);
    const pid_t process = child.process_.pid;
    if (!child.spec_.memory->is_exceeded_by(process, memory_of(process))) return;
    child.result_.over_memory = true;
    child.kill_group();
  }

  static void on_interrupt(uv_poll_t* watcher, int, int) {
    Child& child = *static_cast<Child*>(watcher->data);
    child.interrupted_ = true;
    uv_poll_stop(watcher);
    child.kill_group(SIGTERM);
    uv_timer_start(&child.timer_, &Child::on_end_of_grace,
                   static_cast<std::uint64_t>(grace().count()), 0);
  }

  static void on_end_of_grace(uv_timer_t* timer) { static_cast<Child*>(timer->data)->kill_group(); }

  const InterruptWatch watch_;
  std::optional<TimeLimitPause> waiting_;  // if the child has a limit of its own
  const ProcessSpec& spec_;
  uv_loop_t loop_{};
  uv_process_t process_{};
  uv_timer_t timer_{};
  uv_timer_t look_{};
  uv_poll_t interrupt_{};
  ProcessOutput out_;
  ProcessOutput err_;
  bool interrupted_ = false;
  // A pipe that every descendant inherits: it ends when all of them have ended.
  Descriptor life_;
  Descriptor life_of_descendants_;
  ProcessResult result_;
};

}  // namespace

Result<ProcessResult> run_process(const ProcessSpec& spec) {
  std::error_code ec;
  if (!spec.working_directory.empty() &&
      !std::filesystem::is_directory(spec.working_directory, ec)) {
    return fail(cannot_start(spec, fmt::format("its working directory '{}' is not a folder",
                                               spec.working_directory.string())));
  }
  return Child(spec).run();
}

Result<ProcessResult> run_tool(const ProcessSpec& spec, const MissingTool& missing) {
  auto result = run_process(spec);
  if (result || interrupting_signal() != 0) return result;
  return fail(Error(missing.what).note(result.error().text()).note(missing.advice));
}

Error with_last_words(Error error, const ProcessResult& result, std::size_t lines) {
  if (result.timed_out) {
    error.note("it took too long and was stopped");
  } else if (result.over_memory) {
    error.note("it needed too much memory and was stopped");
  } else if (result.signal != 0) {
    error.note(fmt::format("signal {} ended it", result.signal));
  }
  static const Pattern colour("\x1b\\[[0-9;]{0,20}m");
  for (const std::string& line : last_lines(result.standard_error, lines)) {
    error.note(colour.without_matches(line));
  }
  return error;
}

}  // namespace tfaot::toolkit
