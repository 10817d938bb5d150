// SPDX-License-Identifier: Apache-2.0
// Blocks of a page -> what the template shows. Pure functions.
#pragma once

#include <string>

#include "tfaot/base/render.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit::report {

// The class and the text of a badge, or false.
TemplateData badge_data(const Badge& badge);

// A line of text, or false if it is empty: the template tells them apart.
TemplateData line_data(const std::string& text);

// Keys for all kinds of blocks, false for all but the block's own.
TemplateData block_data(const Block& block);

}  // namespace tfaot::toolkit::report
