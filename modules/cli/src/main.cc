// SPDX-License-Identifier: Apache-2.0
// The tfaot executable.
#include "commands/command_table.h"
#include "tfaot/cli/run_program.h"

int main(int argc, char** argv) {
  return tfaot::toolkit::run_program(argc, argv, tfaot::toolkit::run_command_line);
}
