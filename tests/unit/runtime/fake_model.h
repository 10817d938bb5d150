// SPDX-License-Identifier: Apache-2.0
// Models as the generate room writes them, by hand, with entry functions in C++ (fake_model.cc)
// that check their buffer tables as compiled code would use them:
//   tfaot_model::fake   x: float [3], n: int64 [2] -> sum: float [2], flag: bool []; for 1, 2,
//   4, 8 rows; sum[0] = weight * (x0 + x1 + x2), sum[1] = n0 + n1; flag = x0 > 0
//   tfaot_model::plain  x: float [4] -> y: float [4]; batch sizes 4, 16; y = x + 1
//   tfaot_model::leveled  plain, and code that needs "abacus": y = x + 100; demanding: that alone
//   tfaot_model::tuned  plain with costs: 16 rows are done as four times 4; coupled: rows depend
// plain shows what is special: no weights, no scratch, code for level "x86-64" or "generic" alone.
#pragma once

#include "tests/unit/runtime/fake_code.h"
#include "tfaot/runtime/model.h"

namespace tfaot_model {

// Slots: 0 x, 1 weight, 2 unused, 3 n, 4 flag, 5 temporary, 6 result table, 7 sum.
template <std::size_t N, tfaot::EntryFunction Entry>
struct fake_bs {
  static constexpr std::size_t kBatchSize = N;
  static constexpr tfaot::BufferSlot kSlots[] = {
      {tfaot::BufferKind::kInput, 0, 0, 12 * N}, {tfaot::BufferKind::kWeight, 0, 64, 4},
      {tfaot::BufferKind::kUnused, 0, 0, 4},     {tfaot::BufferKind::kInput, 1, 0, 16 * N},
      {tfaot::BufferKind::kOutput, 1, 0, N},     {tfaot::BufferKind::kTemporary, 0, 64, 4 * N},
      {tfaot::BufferKind::kTemporary, 0, 0, 16}, {tfaot::BufferKind::kOutput, 0, 0, 8 * N},
  };
  static constexpr tfaot::Code kCodes[] = {
      {tfaot_test::kBaseLevel, "", Entry, kSlots, 8, 6, 64 + 4 * N}};
  static constexpr tfaot::Program kProgram = {N, kCodes, 1};
};

// The runtime relies on a class of this form.
class fake : public tfaot::Wrapper {
 public:
  struct Inputs {
    tfaot::Span<const float> x;
    tfaot::Span<const std::int64_t> n;

    using Types = tfaot::TensorList<tfaot::Tensor<float, 3>, tfaot::Tensor<std::int64_t, 2>>;
    constexpr auto in_order() const noexcept { return std::tie(x, n); }
  };
  struct Outputs {
    tfaot::Span<float> sum;
    tfaot::Span<bool> flag;

    using Types = tfaot::TensorList<tfaot::Tensor<float, 2>, tfaot::Tensor<bool>>;
    constexpr auto in_order() const noexcept { return std::tie(sum, flag); }
  };

  static const tfaot::Description& description() noexcept {
    static constexpr std::int64_t kShape0[] = {3};
    static constexpr std::int64_t kShape1[] = {2};
    static constexpr tfaot::TensorInfo kInputs[] = {{"x", tfaot::DType::kFloat32, kShape0, 1, 3},
                                                    {"n", tfaot::DType::kInt64, kShape1, 1, 2}};
    static constexpr tfaot::TensorInfo kOutputs[] = {{"sum", tfaot::DType::kFloat32, kShape1, 1, 2},
                                                     {"flag", tfaot::DType::kBool, nullptr, 0, 1}};
    static constexpr tfaot::Program kPrograms[] = {
        fake_bs<1, &tfaot_test_fake_bs1>::kProgram, fake_bs<2, &tfaot_test_fake_bs2>::kProgram,
        fake_bs<4, &tfaot_test_fake_bs4>::kProgram, fake_bs<8, &tfaot_test_fake_bs8>::kProgram};
    static constexpr tfaot::Description kDescription = {
        "fake", "1.0.0", kInputs,   2,    kOutputs, 2, kPrograms, 4, tfaot_test_fake_weights,
        128,    false,   1'000'000, "abc"};
    return kDescription;
  }

  fake() : tfaot::Wrapper(description()) {}
};

// Slots: 0 x, 1 y, which is the result itself because there is no table.
template <std::size_t N, tfaot::EntryFunction Entry, std::uint64_t Cost = 0>
struct plain_bs {
  static constexpr tfaot::BufferSlot kSlots[] = {{tfaot::BufferKind::kInput, 0, 0, 16 * N},
                                                 {tfaot::BufferKind::kOutput, 0, 0, 16 * N}};
  static constexpr tfaot::Code kCodes[] = {
      {tfaot_test::kBaseLevel, "", Entry, kSlots, 2, 1, 0, Cost}};
  static constexpr tfaot::Program kProgram = {N, kCodes, 1};
};

template <std::size_t N, tfaot::EntryFunction Entry, tfaot::EntryFunction Abacus>
struct leveled_bs {
  static constexpr const auto& kSlots = plain_bs<N, Entry>::kSlots;
  static constexpr tfaot::Code kCodes[] = {
      {tfaot_test::kBaseLevel, "", Entry, kSlots, 2, 1, 0},
      {tfaot_test::kAbacusLevel, "abacus", Abacus, kSlots, 2, 1, 0}};
  static constexpr tfaot::Program kProgram = {N, kCodes, 2};
};
template <std::size_t N, tfaot::EntryFunction Abacus>
struct demanding_bs {
  static constexpr const auto& kSlots = plain_bs<N, Abacus>::kSlots;
  static constexpr tfaot::Code kCode = {
      tfaot_test::kAbacusLevel, "abacus", Abacus, kSlots, 2, 1, 0};
  static constexpr tfaot::Program kProgram = {N, &kCode, 1};
};

template <class Small, class Large, bool Coupled = false>
class plain_of : public tfaot::Wrapper {
 public:
  // As in headers of tfaot 0.2: without names.
  using Inputs = tfaot::TensorList<tfaot::Tensor<float, 4>>;
  using Outputs = tfaot::TensorList<tfaot::Tensor<float, 4>>;

  static const tfaot::Description& description() noexcept {
    static constexpr std::int64_t kShape[] = {4};
    static constexpr tfaot::TensorInfo kInputs[] = {{"x", tfaot::DType::kFloat32, kShape, 1, 4}};
    static constexpr tfaot::TensorInfo kOutputs[] = {{"y", tfaot::DType::kFloat32, kShape, 1, 4}};
    static constexpr tfaot::Program kPrograms[] = {Small::kProgram, Large::kProgram};
    static constexpr tfaot::Description kDescription = {"plain",   "1.0.0", kInputs, 1, kOutputs, 1,
                                                        kPrograms, 2,       nullptr, 0, Coupled};
    return kDescription;
  }

  plain_of() : tfaot::Wrapper(description()) {}
};

using plain = plain_of<plain_bs<4, &tfaot_test_plain_bs4>, plain_bs<16, &tfaot_test_plain_bs16>>;
using leveled = plain_of<leveled_bs<4, &tfaot_test_plain_bs4, &tfaot_test_abacus_bs4>,
                         leveled_bs<16, &tfaot_test_plain_bs16, &tfaot_test_abacus_bs16>>;
using demanding =
    plain_of<demanding_bs<4, &tfaot_test_abacus_bs4>, demanding_bs<16, &tfaot_test_abacus_bs16>>;
using small = plain_bs<4, &tfaot_test_plain_bs4, 100>;
using large = plain_bs<16, &tfaot_test_plain_bs16, 500>;
using tuned = plain_of<small, large>;
using coupled = plain_of<small, large, true>;

}  // namespace tfaot_model
