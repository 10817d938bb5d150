// SPDX-License-Identifier: Apache-2.0
#include "loaded_engine.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "modules/engine/engine.h"
#include "tfaot/base/program_start.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
// Declared here, because its header (front/graph/graph_source.h) reads TensorFlow's.
std::vector<CheckedOperation> known_operations();
}  // namespace tfaot::toolkit::engine

namespace tfaot::toolkit::testing {
namespace {

std::vector<std::string> words_from(int client) {
  std::vector<std::string> words;
  std::string word;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(client, buffer, sizeof(buffer))) > 0;) {
    for (const char* c = buffer; c != buffer + count; ++c) {
      if (*c != '\0') {
        word += *c;
      } else {
        words.push_back(std::move(word));
        word.clear();
      }
    }
  }
  return words;
}

// In a process of its own.
[[noreturn]] void do_job(int client, FilesMessage& files, std::vector<std::string>& words) {
  std::signal(SIGCHLD, SIG_DFL);
  ::dup2(files.files()[0], STDOUT_FILENO);
  ::dup2(files.files()[1], STDERR_FILENO);
  if (::chdir(words[0].c_str()) != 0) std::_Exit(2);
  for (std::size_t i = 2; i < words.size(); ++i) ::putenv(words[i].data());
  std::string program = "tfaot-engine";
  std::string parent = kAnyParent;
  char* arguments[] = {program.data(), words[1].data(), parent.data(), nullptr};
  RealFileSystem fs;
  const auto code = static_cast<unsigned char>(engine::run_engine(fs, 3, arguments));
  std::cout.flush();
  std::_Exit(::write(client, &code, 1) == 1 ? 0 : 2);
}

// Until it is told to end, or the process `parent` ends.
int serve(const std::string& path, pid_t parent) {
  std::signal(SIGCHLD, SIG_IGN);  // nobody waits for the jobs
  const sockaddr_un address = socket_address(path);
  const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(server, 64) != 0) {
    std::cerr << "loaded_engine: no socket can be made at " << path << "\n";
    return 2;
  }
  pollfd asked = {server, POLLIN, 0};
  while (true) {
    if (::poll(&asked, 1, 1000) == 0) {
      if (::kill(parent, 0) != 0) return 0;
      continue;
    }
    const int client = ::accept(server, nullptr, nullptr);
    FilesMessage files;
    if (client < 0 || ::recvmsg(client, files.get(), 0) != 1) return 2;
    std::vector<std::string> words = words_from(client);
    if (words.size() < 2) return 0;
    if (::fork() == 0) do_job(client, files, words);
    ::close(files.files()[0]);
    ::close(files.files()[1]);
    ::close(client);
  }
}

}  // namespace
}  // namespace tfaot::toolkit::testing

// loaded_engine SOCKET PARENT
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  // TensorFlow makes its tables of operations at the first use: here once, not in each job.
  static_cast<void>(tfaot::toolkit::engine::known_operations());
  return tfaot::toolkit::testing::serve(argv[1], std::atoi(argv[2]));
}
