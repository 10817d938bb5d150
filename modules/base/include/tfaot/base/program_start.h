// SPDX-License-Identifier: Apache-2.0
// What a program that writes files does before anything else.
#pragma once

namespace tfaot::toolkit {

// Opens /dev/null for each of the standard descriptors (0 to 2) that whoever started us had closed,
// as daemons do: a file that we open would get its number, and our words would go into that file.
// A limit on the size of files makes writing fail from here on; else it ends the process at once.
void start_program();

}  // namespace tfaot::toolkit
