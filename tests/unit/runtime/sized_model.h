// SPDX-License-Identifier: Apache-2.0
// A model with free dimensions as the generate room writes it, by hand, with entry functions in C++
// (sized_model.cc), which write beyond their outputs as compiled code may:
//   tfaot_model::sized   x: float [n, 3], w: float [k] -> total: float [2], each: float [n + k];
//   for 1 and 4 rows, n of 1 to 40, k of 0 to 6; total = sums of x and w; each = sums of the rows
//   of x, then w
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/unit/runtime/fake_code.h"
#include "tfaot/runtime/model.h"

extern "C" {
void tfaot_test_sized_bs1(void*, const void*, const void**, void**, void*, std::int64_t*);
void tfaot_test_sized_bs4(void*, const void*, const void**, void**, void*, std::int64_t*);
}

namespace tfaot_model {

// Slots: 0 x, 1 w, 2 sizes, 3 total, 4 each, 5 result table.
template <std::size_t N, tfaot::EntryFunction Entry>
struct sized_bs {
  static constexpr std::size_t kBeyond = 4 * tfaot::kElementsBeyond;
  static constexpr tfaot::BufferSlot kSlots[] = {
      {tfaot::BufferKind::kInput, 0, 0, 480 * N + kBeyond},
      {tfaot::BufferKind::kInput, 1, 0, 24 * N + kBeyond},
      {tfaot::BufferKind::kSizes, 0, 0, 16},
      {tfaot::BufferKind::kOutput, 0, 0, 8 * N},
      {tfaot::BufferKind::kOutput, 1, 0, 184 * N + kBeyond},
      {tfaot::BufferKind::kTemporary, 0, 0, 16}};
  static constexpr tfaot::Code kCodes[] = {{tfaot_test::kBaseLevel, "", Entry, kSlots, 6, 5, 16}};
  static constexpr tfaot::Program kProgram = {N, kCodes, 1};
};

class sized : public tfaot::Wrapper {
 public:
  struct Inputs {
    tfaot::Span<const float> x;
    tfaot::Span<const float> w;

    using Types = tfaot::TensorList<tfaot::Tensor<float, 40, 3>, tfaot::Tensor<float, 6>>;
    static constexpr const char* kNames[] = {"x", "w", nullptr};
    constexpr auto in_order() const noexcept { return std::tie(x, w); }
  };
  struct Outputs {
    tfaot::Span<float> total;
    tfaot::Span<float> each;

    using Types = tfaot::TensorList<tfaot::Tensor<float, 2>, tfaot::Tensor<float, 46>>;
    static constexpr const char* kNames[] = {"total", "each", nullptr};
    constexpr auto in_order() const noexcept { return std::tie(total, each); }
  };
  struct Sizes {
    std::int64_t n = 40;
    std::int64_t k = 6;

    constexpr std::array<std::int64_t, 2> in_order() const noexcept { return {n, k}; }
  };
  struct Offsets {
    tfaot::Span<const std::size_t> n;
    tfaot::Span<const std::size_t> k;

    constexpr std::array<tfaot::Span<const std::size_t>, 2> in_order() const noexcept {
      return {n, k};
    }
  };

  static const tfaot::Description& description() noexcept {
    static constexpr std::uint8_t kOne[] = {0, 0}, kOfN[] = {1, 0}, kOfK[] = {0, 1};
    static constexpr tfaot::SizeTerm kThree = {3, kOne}, kN = {1, kOfN}, kK = {1, kOfK};
    static constexpr tfaot::SizeTerm kSum[] = {kN, kK};
    static constexpr tfaot::SizeFormula kFreeX[] = {{&kN, 1, 1}, {&kThree, 1, 1}};
    static constexpr tfaot::SizeFormula kFreeW[] = {{&kK, 1, 1}};
    static constexpr tfaot::SizeFormula kFreeEach[] = {{kSum, 2, 1}};
    static constexpr tfaot::FreeDimension kDimensions[] = {{"n", 1, 40}, {"k", 0, 6}};
    static constexpr std::int64_t kShapeX[] = {40, 3}, kShapeW[] = {6}, kShapeTotal[] = {2},
                                  kShapeEach[] = {46};
    static constexpr tfaot::TensorInfo kInputs[] = {
        {"x", tfaot::DType::kFloat32, kShapeX, 2, 120, kFreeX},
        {"w", tfaot::DType::kFloat32, kShapeW, 1, 6, kFreeW}};
    static constexpr tfaot::TensorInfo kOutputs[] = {
        {"total", tfaot::DType::kFloat32, kShapeTotal, 1, 2},
        {"each", tfaot::DType::kFloat32, kShapeEach, 1, 46, kFreeEach}};
    static constexpr tfaot::Program kPrograms[] = {sized_bs<1, &tfaot_test_sized_bs1>::kProgram,
                                                   sized_bs<4, &tfaot_test_sized_bs4>::kProgram};
    static constexpr tfaot::Description kDescription = {
        "sized", "1.0.0", kInputs, 2, kOutputs, 2,           kPrograms, 2,
        nullptr, 0,       false,   0, "",       kDimensions, 2};
    return kDescription;
  }

  sized() : tfaot::Wrapper(description()) {}
};

}  // namespace tfaot_model

namespace tfaot_test {

// Rows of `sized`, one after another, and what it predicts.
struct SizedRows {
  // `sizes[row]`: n and k.
  explicit SizedRows(const std::vector<std::array<std::int64_t, 2>>& sizes) {
    float next = 0;
    for (const auto& [n, k] : sizes) {
      std::vector<float> of_x(static_cast<std::size_t>(3 * n));
      std::vector<float> of_w(static_cast<std::size_t>(k));
      for (std::vector<float>* values : {&of_x, &of_w}) {
        for (float& value : *values) value = next = next < 50 ? next + 1 : 0;
      }
      total.push_back(std::accumulate(of_x.begin(), of_x.end(), 0.0F));
      total.push_back(std::accumulate(of_w.begin(), of_w.end(), 0.0F));
      for (std::size_t i = 0; i < of_x.size(); i += 3) {
        each.push_back(of_x[i] + of_x[i + 1] + of_x[i + 2]);
      }
      each.insert(each.end(), of_w.begin(), of_w.end());
      x.insert(x.end(), of_x.begin(), of_x.end());
      w.insert(w.end(), of_w.begin(), of_w.end());
      n_offsets.push_back(n_offsets.back() + static_cast<std::size_t>(n));
      k_offsets.push_back(k_offsets.back() + static_cast<std::size_t>(k));
    }
  }
  SizedRows(std::size_t rows, std::int64_t n, std::int64_t k)
      : SizedRows(std::vector<std::array<std::int64_t, 2>>(rows, {n, k})) {}

  std::vector<float> x, w;
  std::vector<float> total, each;
  std::vector<std::size_t> n_offsets = {0}, k_offsets = {0};
};

}  // namespace tfaot_test
