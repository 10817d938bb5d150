// SPDX-License-Identifier: Apache-2.0
#include "process_output.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace tfaot::toolkit {

void ProcessOutput::init(uv_loop_t& loop) {
  uv_pipe_init(&loop, &pipe_, 0);
  pipe_.data = this;
}

int ProcessOutput::open(Descriptor& write_end) {
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

void ProcessOutput::take_rest() {
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

void ProcessOutput::give_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
  auto& bytes = static_cast<ProcessOutput*>(handle->data)->buffer_;
  *buffer = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
}

void ProcessOutput::on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
  auto& output = *static_cast<ProcessOutput*>(stream->data);
  if (count > 0) output.append({buffer->base, static_cast<std::size_t>(count)});
  if (count < 0) output.close();
}

void ProcessOutput::append(std::string_view bytes) {
  std::size_t searched = text_.size();
  text_ += bytes;
  if (!on_line_) return;
  for (std::size_t end = 0; (end = text_.find('\n', searched)) != std::string::npos;) {
    on_line_(text_.substr(reported_, end - reported_));
    searched = reported_ = end + 1;
  }
}

}  // namespace tfaot::toolkit
