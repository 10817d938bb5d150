// SPDX-License-Identifier: Apache-2.0
// Headers with the facts of tfcompile's headers, and nothing else.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tfaot::toolkit::testing {

// net: x f32[3], a bool -> y f32[2,2], an int64.
inline std::string header_text(int batch_size) {
  const auto buffer = [](int bytes, int kind) {
    return fmt::format("BufferInfo(EncodedBufferInfo{{{}ULL, ~0U, ~0U}})", bytes * 4 + kind);
  };
  const int n = batch_size;
  return fmt::format(R"(
namespace Eigen {{ struct ThreadPoolDevice; }}
extern "C" void entry_bs{0}(
namespace some {{
namespace models {{
// The logical function signature is:
//   (feed: f32[{0},3], (unknown): pred[{0}]) -> (f32[{0},2,2], s64[{0}])
class net_bs{0} final : public tensorflow::XlaCompiledCpuFunction {{
  static constexpr size_t kNumArgs = 2;
  static constexpr size_t kNumVariables = 0;
  static constexpr size_t kNumBuffers = 7;
      kBufferInfos[kNumBuffers] = {{
{1},
{2},
{3},
{4},
{5},
{6},
{7}
      }};
    static constexpr ::tensorflow::int32 kResultIndexToBufferIndex[kNumResults] = {{
3, 4
    }};
    static constexpr ::tensorflow::int32 kArgIndexToBufferIndex[kNumArgs] = {{
1, 2
    }};
  static constexpr size_t kResultIndex = 5;
  static const char** StaticArgNames() {{
    static const char* kNames[] = {{"feed_x_bs{0}", nullptr}};
  static const char** StaticResultNames() {{
    static const char* kNames[] = {{"fetch_y", "fetch_label", nullptr}};
)",
                     n, buffer(4096, 0), buffer(12 * n, 2), buffer(n, 2), buffer(16 * n, 1),
                     buffer(8 * n, 1), buffer(16, 1), buffer(100, 1));
}

// net: f32[2,4] -> f32[2,2]
inline std::string old_header_text() {
  return R"(
extern "C" void entry_bs2(
namespace models {
// The logical function signature is:
//   ((unknown): f32[2,4]) -> (f32[2,2])
class net_bs2 : public tensorflow::XlaCompiledCpuFunction {
  static constexpr size_t kNumBuffers = 4;
      kBufferInfos[kNumBuffers] = {
::xla::cpu_function_runtime::BufferInfo({130ULL, 0ULL}),
::xla::cpu_function_runtime::BufferInfo({65ULL, ~0ULL}),
::xla::cpu_function_runtime::BufferInfo({33ULL, ~0ULL}),
::xla::cpu_function_runtime::BufferInfo({1025ULL, ~0ULL})
      };
    static constexpr ::tensorflow::int32 kArgIndexToBufferIndex[kNumArgs] = {
0
    };
  static constexpr size_t kResultIndex = 2;
  static const char** StaticArgNames() {
    return nullptr;
  static const char** StaticResultNames() {
    return nullptr;
)";
}

}  // namespace tfaot::toolkit::testing
