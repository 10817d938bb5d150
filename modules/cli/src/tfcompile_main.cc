// SPDX-License-Identifier: Apache-2.0
// The tfaot-tfcompile executable.
#include "run_program.h"
#include "tfcompile.h"

int main(int argc, char** argv) {
  return tfaot::toolkit::run_program(argc, argv, tfaot::toolkit::run_tfcompile);
}
