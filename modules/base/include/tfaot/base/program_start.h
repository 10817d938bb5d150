// SPDX-License-Identifier: Apache-2.0
// What a program that writes files must do first.
#pragma once

namespace tfaot::toolkit {

// Opens /dev/null for each standard descriptor (0 to 2) that our parent closed, as daemons do.
// Otherwise a file that we open could get that number, and our output would go into it. Writing to
// a closed standard output still fails, as whoever reads it would miss what we print. Also makes
// writing beyond a limit on file size fail instead of ending the process at once.
void start_program();

}  // namespace tfaot::toolkit
