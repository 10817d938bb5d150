// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/shared_calls.h"

#include <thread>

#include "tests/support/watched_calls.h"

namespace tfaot::kernels_test {

const std::vector<NamedExecutor>& all_executors() {
  using Task = std::function<void(std::size_t)>;
  static const std::vector<NamedExecutor> kExecutors = {
      {"in order",
       [](std::size_t count, const Task& task) {
         for (std::size_t i = 0; i < count; ++i) task(i);
       }},
      {"backwards",
       [](std::size_t count, const Task& task) {
         for (std::size_t i = count; i-- > 0;) task(i);
       }},
      {"in threads",
       [](std::size_t count, const Task& task) {
         std::vector<std::thread> threads;
         const bool is_watched = tfaot_test::calls_to_watch(0) > 0;
         for (std::size_t i = 0; i < count; ++i) {
           if (is_watched) {
             task(i);  // a thread begins with system calls (tests/support/watched_kernels.h)
           } else {
             threads.emplace_back(task, i);
           }
         }
         for (std::thread& thread : threads) thread.join();
       }},
  };
  return kExecutors;
}

}  // namespace tfaot::kernels_test
