// SPDX-License-Identifier: Apache-2.0
// launch_loaded SOCKET [ENGINE JOB PARENT]: has the loaded engine do a job, or end.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "loaded_engine.h"

int main(int argc, char** argv) {
  using tfaot::toolkit::testing::FilesMessage;
  if (argc != 2 && argc != 5) return 2;
  const sockaddr_un address = tfaot::toolkit::testing::socket_address(argv[1]);
  const int engine = ::socket(AF_UNIX, SOCK_STREAM, 0);
  // It may still be loading.
  for (int tries = 0;
       ::connect(engine, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0;
       ++tries) {
    if (tries == 3000) {
      std::cerr << "launch_loaded: no engine answers at " << argv[1] << "\n";
      return 2;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FilesMessage files;
  files.set_files(STDOUT_FILENO, STDERR_FILENO);
  std::string words;
  if (argc == 5) {
    words = std::filesystem::current_path().string() + '\0' + argv[3] + '\0';
    for (char** variable = environ; *variable != nullptr; ++variable)
      words += std::string(*variable) + '\0';
  }
  if (::sendmsg(engine, files.get(), 0) != 1) return 2;
  for (std::size_t sent = 0; sent < words.size();) {
    const ssize_t count = ::write(engine, words.data() + sent, words.size() - sent);
    if (count <= 0) return 2;
    sent += static_cast<std::size_t>(count);
  }
  ::shutdown(engine, SHUT_WR);
  if (words.empty()) return 0;
  unsigned char code = 0;
  if (::read(engine, &code, 1) != 1) std::abort();  // as the engine did
  return code;
}
