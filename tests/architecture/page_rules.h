// SPDX-License-Identifier: Apache-2.0
// Rules for the documentation's pages: short lines, plain words, and lists that every reader of
// Markdown recognizes as lists. Pure, except for read_pages().
#pragma once

#include "tests/architecture/source_tree.h"

namespace tfaot::toolkit::architecture {

// The Markdown files of the project's root and of docs/.
Result<SourceTree> read_pages(const FileSystem& fs, const Path& project);

// Lines of at most 100 columns, except for tables, lines with links and ```console blocks (they
// show a program's output). Code blocks and generated parts ("<!-- NAME: begin -->") may contain
// any word.
Violations check_pages(const SourceTree& pages);
// A path of the project that a page names as `modules/base` or `tests/e2e/tool.h` exists. (The site
// checks the links.)
Violations check_page_paths(const FileSystem& fs, const Path& project, const SourceTree& pages);

}  // namespace tfaot::toolkit::architecture
