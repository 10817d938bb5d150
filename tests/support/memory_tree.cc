// SPDX-License-Identifier: Apache-2.0
#include "tests/support/memory_tree.h"

#include <cerrno>
#include <deque>
#include <vector>

namespace tfaot::toolkit::testing {
namespace {

constexpr int kMostLinks = 40;  // as Linux has it

std::deque<std::string> parts_of(const Path& path) {
  std::deque<std::string> parts;
  for (const Path& part : path.relative_path()) {
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  return parts;
}

}  // namespace

tl::expected<MemoryTree::Place, int> MemoryTree::find(const Path& path, Links last_link) const {
  if (path.empty()) return tl::unexpected(ENOENT);
  std::deque<std::string> rest = parts_of(path);
  std::vector<MemoryNode*> trail = {root_.get()};
  Place place{nullptr, "", root_.get()};
  for (int links = 0; !rest.empty();) {
    const std::string name = rest.front();
    rest.pop_front();
    MemoryNode* const folder = trail.back();
    if (folder->kind != FileKind::kDirectory) return tl::unexpected(ENOTDIR);
    if (name == "..") {
      if (trail.size() > 1) trail.pop_back();
      place = {nullptr, "", trail.back()};
      continue;
    }
    const auto child = folder->children.find(name);
    if (child == folder->children.end()) {
      if (!rest.empty()) return tl::unexpected(ENOENT);
      return Place{folder, name, nullptr};
    }
    MemoryNode* const node = child->second.get();
    if (node->kind == FileKind::kSymlink && (!rest.empty() || last_link == Links::kFollow)) {
      if (++links > kMostLinks) return tl::unexpected(ELOOP);
      if (node->target.is_absolute()) trail = {root_.get()};
      const auto target = parts_of(node->target);
      rest.insert(rest.begin(), target.begin(), target.end());
      place = {nullptr, "", trail.back()};
      continue;
    }
    trail.push_back(node);
    place = {folder, name, node};
  }
  return place;
}

tl::expected<MemoryNode*, int> MemoryTree::find_existing(const Path& path) const {
  const auto place = find(path, Links::kFollow);
  if (!place) return tl::unexpected(place.error());
  if (place->node == nullptr) return tl::unexpected(ENOENT);
  return place->node;
}

tl::expected<MemoryNode*, int> MemoryTree::find_file(const Path& path) const {
  const auto node = find_existing(path);
  if (node && (*node)->kind == FileKind::kDirectory) return tl::unexpected(EISDIR);
  return node;
}

tl::expected<void, int> MemoryTree::put(const Path& path, std::unique_ptr<MemoryNode> node) {
  const auto place = find(path, Links::kKeep);
  if (!place) return tl::unexpected(place.error());
  if (place->parent == nullptr) return tl::unexpected(EISDIR);
  if (place->node != nullptr && place->node->kind == FileKind::kDirectory) {
    return tl::unexpected(EISDIR);
  }
  place->parent->children[place->name] = std::move(node);
  return {};
}

tl::expected<void, int> MemoryTree::make_directories(const Path& path) {
  Path folder = "/";
  for (const std::string& part : parts_of(path)) {
    folder /= part;
    const auto place = find(folder, Links::kFollow);
    if (!place) return tl::unexpected(place.error());
    if (place->node == nullptr) {
      place->parent->children[place->name] = std::make_unique<MemoryNode>();
    } else if (place->node->kind != FileKind::kDirectory) {
      return tl::unexpected(ENOTDIR);
    }
  }
  return {};
}

bool MemoryTree::is_below(const Path& path, const MemoryNode* node) const {
  for (Path above = path.lexically_normal(); above.has_relative_path();
       above = above.parent_path()) {
    const auto place = find(above, Links::kKeep);
    if (place && place->node == node) return true;
  }
  return false;
}

tl::expected<void, int> MemoryTree::exchange(const Path& first, const Path& second) {
  const auto a = find(first, Links::kKeep);
  if (!a) return tl::unexpected(a.error());
  const auto b = find(second, Links::kKeep);
  if (!b) return tl::unexpected(b.error());
  if (a->node == nullptr || b->node == nullptr) return tl::unexpected(ENOENT);
  if (a->parent == nullptr || b->parent == nullptr) return tl::unexpected(EBUSY);
  if (is_below(first, b->node) || is_below(second, a->node)) return tl::unexpected(EINVAL);
  std::swap(a->parent->children[a->name], b->parent->children[b->name]);
  return {};
}

tl::expected<void, int> MemoryTree::rename(const Path& from, const Path& to) {
  const auto source = find(from, Links::kKeep);
  if (!source) return tl::unexpected(source.error());
  if (source->node == nullptr) return tl::unexpected(ENOENT);
  const auto place = find(to, Links::kKeep);
  if (!place) return tl::unexpected(place.error());
  if (source->parent == nullptr || place->parent == nullptr) return tl::unexpected(EBUSY);
  if (source->node == place->node) return {};
  if (is_below(to, source->node)) return tl::unexpected(EINVAL);
  if (place->node != nullptr) {
    const bool from_folder = source->node->kind == FileKind::kDirectory;
    const bool to_folder = place->node->kind == FileKind::kDirectory;
    if (to_folder && !from_folder) return tl::unexpected(EISDIR);
    if (from_folder && !to_folder) return tl::unexpected(ENOTDIR);
    if (to_folder && !place->node->children.empty()) return tl::unexpected(ENOTEMPTY);
  }
  place->parent->children[place->name] = std::move(source->parent->children[source->name]);
  source->parent->children.erase(source->name);
  return {};
}

}  // namespace tfaot::toolkit::testing
