// SPDX-License-Identifier: Apache-2.0
#include "closed.h"
#include "print.h"

int main() { print("closed", closed_predictions(kEvents)); }
