// SPDX-License-Identifier: Apache-2.0
// One of a child's two output pipes on a libuv loop: collects the text and hands out lines as they
// come. Must live until the loop has closed it. One thread.
#pragma once

#include <uv.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "descriptor.h"

namespace tfaot::toolkit {

// Closes a libuv handle of any kind, once.
template <class Handle>
void close_handle(Handle& handle) {
  auto* const base = reinterpret_cast<uv_handle_t*>(&handle);
  if (uv_is_closing(base) == 0) uv_close(base, nullptr);
}

class ProcessOutput {
 public:
  using OnLine = std::function<void(const std::string&)>;

  explicit ProcessOutput(OnLine on_line) : on_line_(std::move(on_line)) {}
  ProcessOutput(const ProcessOutput&) = delete;
  ProcessOutput& operator=(const ProcessOutput&) = delete;

  void init(uv_loop_t& loop);
  // Makes the pipe; the child gets `write_end`. libuv's error or 0.
  int open(Descriptor& write_end);
  // The writer is dead: takes what it left in the pipe. Does not wait for the end of the pipe:
  // processes that left the child's group may hold it open for ever.
  void take_rest();
  void close() { close_handle(pipe_); }
  std::string take_text() { return std::move(text_); }

 private:
  static void give_buffer(uv_handle_t* handle, std::size_t wish, uv_buf_t* buffer);
  static void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer);
  void append(std::string_view bytes);

  uv_pipe_t pipe_{};
  std::string text_;
  OnLine on_line_;
  std::size_t reported_ = 0;  // bytes of text_ given to on_line_
  std::array<char, 65536> buffer_{};
};

}  // namespace tfaot::toolkit
