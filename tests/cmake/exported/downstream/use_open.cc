// SPDX-License-Identifier: Apache-2.0
#include "open.h"
#include "print.h"

int main() {
  Scorer scorer;
  print("open", scorer.predictions(kEvents));
}
