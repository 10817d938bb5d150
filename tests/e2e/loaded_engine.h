// SPDX-License-Identifier: Apache-2.0
// loaded_engine.cc is the engine, started once: it forks for each job, and so saves the 0.2 s that
// loading TensorFlow takes. launch_loaded.cc, a compile launcher, hands it a job over a Unix
// socket: its own standard output and error, and these words, each ended by a NUL: the working
// directory, the job's file, and the environment. The answer is a byte, the exit code. No word: the
// engine ends.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tfaot::toolkit::testing {

// Throws std::runtime_error if the path is too long for a socket.
inline sockaddr_un socket_address(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) throw std::runtime_error(path + " is too long");
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

// A message of one byte with two open files.
class FilesMessage {
 public:
  FilesMessage() {
    message_.msg_iov = &part_;
    message_.msg_iovlen = 1;
    message_.msg_control = control_;
    message_.msg_controllen = sizeof(control_);
  }
  msghdr* get() { return &message_; }
  // Of standard output and error; valid after recvmsg().
  int* files() { return reinterpret_cast<int*>(CMSG_DATA(CMSG_FIRSTHDR(&message_))); }
  void set_files(int out, int error) {
    cmsghdr* header = CMSG_FIRSTHDR(&message_);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * 2);
    files()[0] = out;
    files()[1] = error;
  }

 private:
  char byte_ = 0;
  iovec part_ = {&byte_, 1};
  alignas(cmsghdr) char control_[CMSG_SPACE(sizeof(int) * 2)] = {};
  msghdr message_ = {};
};

}  // namespace tfaot::toolkit::testing
