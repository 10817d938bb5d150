// SPDX-License-Identifier: Apache-2.0
// Rules of the documentation's pages: short lines, plain words, lists that every reader of Markdown
// takes for lists. Pure but for read_pages().
#pragma once

#include "tests/architecture/source_tree.h"

namespace tfaot::toolkit::architecture {

// The Markdown files of the project's root and of docs/.
Result<SourceTree> read_pages(const FileSystem& fs, const Path& project);

// Lines of at most 100 columns, but for tables, lines with links and ```console blocks (they show
// what a program prints). Code blocks and generated parts ("<!-- NAME: begin -->") may hold any
// word.
Violations check_pages(const SourceTree& pages);
// A path of the project that a page names as `modules/base` or `tests/e2e/tool.h` exists. (The site
// checks the links.)
Violations check_page_paths(const FileSystem& fs, const Path& project, const SourceTree& pages);

}  // namespace tfaot::toolkit::architecture
