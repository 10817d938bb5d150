// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/workflow/sign_files.h"

namespace tfaot::toolkit {
namespace {

// A terminal does not show what is typed while it lives.
class Unseen {
 public:
  Unseen() : is_terminal_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios unseen = before_;
    unseen.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &unseen);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
  ~Unseen() {
    if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }

 private:
  termios before_{};
  bool is_terminal_;
};

// Until standard input has something, or a signal comes: the terminal shall show again what is
// typed.
Status wait_for_input() {
  std::array<pollfd, 2> waited = {{{STDIN_FILENO, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}}};
  while (::poll(waited.data(), waited.size(), -1) < 0 && errno == EINTR) {
  }
  return check_interrupts();
}

// The first line of standard input.
Result<std::string> ask_password(const Path& key) {
  const InterruptWatch watch;
  std::string password;
  std::cerr << "password of " << key.string() << ": " << std::flush;
  const Result<bool> is_there = [&]() -> Result<bool> {
    const Unseen unseen;
    TFAOT_TRY(wait_for_input());
    return static_cast<bool>(std::getline(std::cin, password));
  }();
  std::cerr << std::endl;
  if (!is_there) return fail(is_there.error());
  if (*is_there) return password;
  return fail(Error::at({key.string()}, "the key needs a password, and standard input has none"));
}

Status sign(SignRequest request, Program& program) {
  for (Path& file : request.files) file = program.absolute(file);
  if (!request.secret_key.empty()) request.secret_key = program.absolute(request.secret_key);
  TFAOT_ASSIGN(request.secret_key, secret_key_file(program, request.secret_key));
  TFAOT_ASSIGN(const bool is_locked, needs_password(program, request.secret_key));
  std::string password;
  if (is_locked) {
    TFAOT_ASSIGN(password, ask_password(request.secret_key));
  }
  TFAOT_ASSIGN(const std::vector<SignedFile> made, sign_files(program, request, password));
  auto json = nlohmann::ordered_json::array();
  std::string text;
  for (const SignedFile& one : made) {
    json.push_back(
        {{"file", one.file.string()}, {"signature", one.signature.string()}, {"key", one.key}});
    text += fmt::format("signed {} by {}\n", one.file.string(), one.key);
  }
  show_done(program, json, text);
  return {};
}

}  // namespace

Action add_sign(CLI::App& app) {
  auto request = std::make_shared<SignRequest>();
  add_value(app, "FILE", request->files, "archives or other files")->required();
  add_value(app, "--secret-key FILE", request->secret_key,
            "what 'minisign -G' made [~/.minisign/minisign.key]");
  app.footer(
      R"(Writes FILE.minisig beside each file; 'minisign -V' and 'tfaot install' check it. The key's
password is asked for, or is the first line of standard input.
Example:
  tfaot sign dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst --secret-key release.key)");
  return [request](Program& program) { return sign(*request, program); };
}

}  // namespace tfaot::toolkit
