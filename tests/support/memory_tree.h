// SPDX-License-Identifier: Apache-2.0
// The nodes of MemoryFileSystem and the walk from a path to a node, with symlinks. Errors are
// errno's values; MemoryFileSystem says what was being done.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit::testing {

struct MemoryNode {
  FileKind kind = FileKind::kDirectory;
  std::string contents;
  bool executable = false;
  std::int64_t last_used = 0;
  Path target;                                                  // of a symlink
  std::map<std::string, std::unique_ptr<MemoryNode>> children;  // of a directory
};

class MemoryTree {
 public:
  // Where a path ends. `node` is null if only the last name is missing; `parent` is null for the
  // root.
  struct Place {
    MemoryNode* parent = nullptr;
    std::string name;
    MemoryNode* node = nullptr;
  };

  tl::expected<Place, int> find(const Path& path, Links last_link) const;
  // Follows links; the node exists.
  tl::expected<MemoryNode*, int> find_existing(const Path& path) const;
  tl::expected<MemoryNode*, int> find_file(const Path& path) const;
  // Replaces a file or link, never a folder; parents must exist.
  tl::expected<void, int> put(const Path& path, std::unique_ptr<MemoryNode> node);
  tl::expected<void, int> make_directories(const Path& path);
  tl::expected<void, int> rename(const Path& from, const Path& to);
  // Neither may be below the other.
  tl::expected<void, int> exchange(const Path& first, const Path& second);

 private:
  // Whether the node is on the way to the path, or at it: a folder cannot be moved below itself.
  bool is_below(const Path& path, const MemoryNode* node) const;

  std::unique_ptr<MemoryNode> root_ = std::make_unique<MemoryNode>();
};

}  // namespace tfaot::toolkit::testing
