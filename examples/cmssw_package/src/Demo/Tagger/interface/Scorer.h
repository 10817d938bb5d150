// SPDX-License-Identifier: Apache-2.0
#ifndef Demo_Tagger_Scorer_h
#define Demo_Tagger_Scorer_h

#include <cstddef>
#include <memory>
#include <vector>

namespace demo {

// Two scores for each row of four values. One per thread.
class Scorer {
 public:
  Scorer();
  ~Scorer();
  std::vector<float> score(const std::vector<float>& x);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace demo

#endif
