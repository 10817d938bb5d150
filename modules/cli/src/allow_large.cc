// SPDX-License-Identifier: Apache-2.0
#include "allow_large.h"

namespace tfaot::toolkit {

void add_allow_large(CLI::App& app, bool& allow_large) {
  app.add_flag("--allow-large", allow_large,
               "unpack an archive whose files are very much larger than it")
      ->option_text(" ");
}

}  // namespace tfaot::toolkit
