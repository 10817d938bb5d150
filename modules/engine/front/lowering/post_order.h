// SPDX-License-Identifier: Apache-2.0
// Post-order of a directed graph: nodes, functions, branches of trees. Iterative, since a model may
// nest them to any depth.
#pragma once

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tfaot::toolkit::engine {

template <typename Key>
struct PostOrder {
  std::vector<Key> order;  // each once, after all that it leads to
  // The first cycle found, which ends the walk: each key leads to the next, the last to the first.
  std::vector<Key> cycle;
};

// All keys reachable from the roots. `next`: returns the successors of a key, in order.
template <typename Key, typename Next>
PostOrder<Key> post_order(const std::vector<Key>& roots, const Next& next) {
  struct Open {
    Key key;
    std::vector<Key> ahead;
    std::size_t at = 0;
  };
  PostOrder<Key> found;
  std::vector<Open> path;
  absl::flat_hash_map<Key, bool> done;  // false: on the path
  const auto enter = [&](const Key& key) {
    const auto [known, is_new] = done.try_emplace(key, false);
    if (is_new) path.push_back({key, next(key)});
    return is_new || known->second;
  };
  for (const Key& root : roots) {
    enter(root);
    while (!path.empty()) {
      Open& top = path.back();
      if (top.at == top.ahead.size()) {
        done[top.key] = true;
        found.order.push_back(top.key);
        path.pop_back();
        continue;
      }
      const Key key = top.ahead[top.at++];
      if (enter(key)) continue;
      for (auto one = std::ranges::find(path, key, &Open::key); one != path.end(); ++one) {
        found.cycle.push_back(one->key);
      }
      return found;
    }
  }
  return found;
}

}  // namespace tfaot::toolkit::engine
