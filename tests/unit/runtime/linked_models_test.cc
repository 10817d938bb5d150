// SPDX-License-Identifier: Apache-2.0
// The C interface of a library of models.
#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/runtime/allocations.h"
#include "tests/unit/runtime/sized_model.h"
#include "tfaot/runtime/tfaot.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
T sized() {
  T value{};
  value.size = sizeof value;
  return value;
}

// A model that is closed at the end.
struct Opened {
  explicit Opened(const char* name, const char* versions = nullptr) : error(sized<tfaot_error>()) {
    auto request = sized<tfaot_request>();
    request.name = name;
    request.versions = versions;
    status = tfaot_models_open(&request, &model, &error);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { tfaot_models_close(model); }

  std::string version() const {
    auto record = sized<tfaot_record>();
    EXPECT_EQ(tfaot_models_record(model, &record, nullptr), TFAOT_OK);
    return record.version;
  }

  tfaot_error error;
  tfaot_handle* model = nullptr;
  int status = -1;
};

// A call of `fake` with its own tensors: x: float [3], n: int64 [2] -> sum: float [2], flag: bool.
struct FakeCall {
  explicit FakeCall(std::size_t of_rows)
      : rows(of_rows), x(3 * rows + 1), n(2 * rows + 1), sum(2 * rows + 1), flag(rows + 1) {
    for (std::size_t i = 0; i < 3 * rows; ++i) x[i] = static_cast<float>(i) - 1;
    for (std::size_t i = 0; i < 2 * rows; ++i) n[i] = static_cast<std::int64_t>(10 * i);
  }

  int run(tfaot_handle* model, tfaot_error* error = nullptr) {
    auto call = sized<tfaot_call>();
    const std::array<const void*, 2> inputs = {x.data(), n.data()};
    const std::array<void*, 2> outputs = {sum.data(), flag.data()};
    call.input_count = call.output_count = 2;
    call.rows = rows;
    call.inputs = inputs.data();
    call.outputs = outputs.data();
    return tfaot_models_run(model, &call, error);
  }

  std::size_t rows;
  std::vector<float> x;
  std::vector<std::int64_t> n;
  std::vector<float> sum;
  std::vector<char> flag;
};

TEST(LinkedModels, AreListed) {
  EXPECT_EQ(tfaot_models_interface(), std::uint32_t{TFAOT_MODELS_INTERFACE});
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < tfaot_models_count(); ++i) {
    auto record = sized<tfaot_record>();
    ASSERT_EQ(tfaot_models_list(i, &record, nullptr), TFAOT_OK);
    names.push_back(std::string(record.model_name) + " " + record.version + " " + record.hash);
    EXPECT_EQ(record.cpu_level, nullptr);
  }
  EXPECT_THAT(names, ElementsAre("fake 1.10.0 hash of 1.10", "fake 1.9.0 hash of 1.9",
                                 "fake 2.0.0 hash of 2", "plain 1.0.0 hash of plain",
                                 "plain 0.9.0 hash of demanding", "sized 1.0.0 "));
  auto error = sized<tfaot_error>();
  auto record = sized<tfaot_record>();
  EXPECT_EQ(tfaot_models_list(6, &record, &error), TFAOT_WRONG_CALL);
}

TEST(LinkedModels, OpenTheNewestThatFits) {
  EXPECT_EQ(Opened("fake").version(), "2.0.0");
  EXPECT_EQ(Opened("fake", "").version(), "2.0.0");
  EXPECT_EQ(Opened("fake", "<2").version(), "1.10.0");
  EXPECT_EQ(Opened("fake", "1.9").version(), "1.9.0");
  const Opened none("fake", ">2");
  EXPECT_EQ(none.status, TFAOT_NO_SUCH_MODEL);
  EXPECT_EQ(none.model, nullptr);
  EXPECT_STREQ(none.error.text,
               "no version of 'fake' fits '>2': the library has fake 1.10.0, fake 1.9.0, "
               "fake 2.0.0, plain 1.0.0, plain 0.9.0, sized 1.0.0");
  EXPECT_THAT(Opened("fakes").error.text, HasSubstr("no model 'fakes': the library has fake"));
  EXPECT_THAT(Opened("fake", "1.*").error.text, HasSubstr("'1.*' is not a condition"));
}

TEST(LinkedModels, SayWhatTheyAre) {
  const Opened fake("fake", "1.9.0");
  auto record = sized<tfaot_record>();
  ASSERT_EQ(tfaot_models_record(fake.model, &record, nullptr), TFAOT_OK);
  EXPECT_STREQ(record.hash, "hash of 1.9");
  EXPECT_EQ(record.record_version, 7);
  EXPECT_NE(record.cpu_level, nullptr);
  auto signature = sized<tfaot_signature>();
  ASSERT_EQ(tfaot_models_signature(fake.model, &signature, nullptr), TFAOT_OK);
  EXPECT_EQ(signature.input_count, 2U);
  EXPECT_EQ(signature.output_count, 2U);
  EXPECT_EQ(signature.coupled_rows, 0U);
  EXPECT_THAT(std::vector<std::uint64_t>(signature.batch_sizes,
                                         signature.batch_sizes + signature.batch_size_count),
              ElementsAre(1, 2, 4, 8));
  auto tensor = sized<tfaot_tensor>();
  ASSERT_EQ(tfaot_models_input(fake.model, 1, &tensor, nullptr), TFAOT_OK);
  EXPECT_STREQ(tensor.name, "n");
  EXPECT_EQ(tensor.dtype, TFAOT_INT64);
  EXPECT_EQ(tensor.rank, 1U);
  EXPECT_EQ(tensor.row_shape[0], 2);
  ASSERT_EQ(tfaot_models_output(fake.model, 1, &tensor, nullptr), TFAOT_OK);
  EXPECT_STREQ(tensor.name, "flag");
  EXPECT_EQ(tensor.rank, 0U);
  EXPECT_EQ(tensor.row_elements, 1U);
  EXPECT_EQ(tfaot_models_output(fake.model, 2, &tensor, nullptr), TFAOT_WRONG_CALL);
}

// A caller of an older header has smaller structs, one of a newer header larger ones.
TEST(LinkedModels, FillWhatTheCallersStructHolds) {
  const Opened fake("fake");
  tfaot_record record{};
  record.size = offsetof(tfaot_record, hash);
  record.hash = "untouched";
  ASSERT_EQ(tfaot_models_record(fake.model, &record, nullptr), TFAOT_OK);
  EXPECT_STREQ(record.version, "2.0.0");
  EXPECT_STREQ(record.hash, "untouched");
  struct {
    tfaot_record record;
    std::uint64_t newer;
  } larger = {sized<tfaot_record>(), 7};
  larger.record.size = sizeof larger;
  ASSERT_EQ(tfaot_models_record(fake.model, &larger.record, nullptr), TFAOT_OK);
  EXPECT_EQ(larger.record.size, sizeof(tfaot_record));
  EXPECT_EQ(larger.newer, 7U);
  tfaot_error error{};
  error.size = offsetof(tfaot_error, text) + 6;
  record.size = 0;
  EXPECT_EQ(tfaot_models_record(fake.model, &record, &error), TFAOT_WRONG_CALL);
  EXPECT_STREQ(error.text, "a str");
  EXPECT_EQ(error.status, TFAOT_WRONG_CALL);
}

TEST(LinkedModels, RunAnyNumberOfRows) {
  const Opened fake("fake");
  for (const std::size_t rows : {0, 1, 3, 8, 21}) {
    FakeCall call(rows);
    ASSERT_EQ(call.run(fake.model), TFAOT_OK) << rows;
    for (std::size_t row = 0; row < rows; ++row) {
      const float first = call.x[3 * row];
      EXPECT_EQ(call.sum[2 * row], 2.5F * (3 * first + 3)) << rows;
      EXPECT_EQ(call.sum[2 * row + 1], static_cast<float>(40 * row + 10)) << rows;
      EXPECT_EQ(call.flag[row] != 0, first > 0) << rows;
    }
  }
}

TEST(LinkedModels, AllocateNothingAfterPrepare) {
  const Opened fake("fake");
  ASSERT_EQ(tfaot_models_prepare(fake.model, 11, nullptr), TFAOT_OK);
  FakeCall call(11);  // 8, 2 and a padded 1, or as it comes: staging is needed for unaligned rows
  const std::size_t before = tfaot_test::allocations();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(call.run(fake.model), TFAOT_OK);
  EXPECT_EQ(tfaot_test::allocations(), before);
}

TEST(LinkedModels, RefuseWrongCalls) {
  const Opened fake("fake");
  auto error = sized<tfaot_error>();
  auto call = sized<tfaot_call>();
  const std::array<const void*, 2> inputs = {};
  const std::array<void*, 2> outputs = {};
  call.input_count = 1;
  call.output_count = 2;
  EXPECT_EQ(tfaot_models_run(fake.model, &call, &error), TFAOT_INPUT_MISMATCH);
  EXPECT_STREQ(error.text, "the call has another number of inputs");
  call.input_count = 2;
  call.output_count = 3;
  EXPECT_EQ(tfaot_models_run(fake.model, &call, &error), TFAOT_OUTPUT_MISMATCH);
  call.output_count = 2;
  call.rows = 1;
  EXPECT_EQ(tfaot_models_run(fake.model, &call, &error), TFAOT_INPUT_MISMATCH);
  call.inputs = inputs.data();
  call.outputs = outputs.data();
  EXPECT_EQ(tfaot_models_run(fake.model, &call, &error), TFAOT_INPUT_MISMATCH);
  EXPECT_STREQ(error.text, "an input is null");
  call.size = 8;
  EXPECT_EQ(tfaot_models_run(fake.model, &call, &error), TFAOT_WRONG_CALL);
  EXPECT_EQ(tfaot_models_run(nullptr, nullptr, nullptr), TFAOT_WRONG_CALL);
  EXPECT_EQ(tfaot_models_open(nullptr, nullptr, nullptr), TFAOT_WRONG_CALL);
  EXPECT_EQ(tfaot_models_copy(nullptr, nullptr, nullptr), TFAOT_WRONG_CALL);
  tfaot_models_close(nullptr);
}

TEST(LinkedModels, GiveTheRuntimesErrors) {
  const Opened plain("plain");
  ASSERT_EQ(plain.status, TFAOT_OK);
  auto error = sized<tfaot_error>();
  auto call = sized<tfaot_call>();
  alignas(16) std::array<float, 20> x{};
  const std::array<const void*, 1> inputs = {x.data()};
  std::array<float, 20> y{};
  const std::array<void*, 1> outputs = {y.data()};
  call.input_count = call.output_count = 1;
  call.rows = 5;
  call.inputs = inputs.data();
  call.outputs = outputs.data();
  EXPECT_EQ(tfaot_models_run(plain.model, &call, &error), TFAOT_UNKNOWN_BATCH_SIZE);
  EXPECT_STREQ(error.text,
               "model 'plain': 5 rows cannot be run, because rows of a batch depend on each other "
               "(compilation.rows: coupled); compiled batch sizes: 4, 16");
  const Opened demanding("plain", "0.9.0");
  EXPECT_EQ(demanding.status, TFAOT_UNSUPPORTED_CPU);
  EXPECT_EQ(demanding.model, nullptr);
  EXPECT_THAT(demanding.error.text, HasSubstr("model 'plain' has no code for this CPU"));
}

TEST(LinkedModels, AreCopiedForThreads) {
  const Opened fake("fake");
  std::vector<std::thread> threads;
  std::array<bool, 8> right{};
  for (bool& done : right) {
    threads.emplace_back([&] {
      tfaot_handle* copy = nullptr;
      ASSERT_EQ(tfaot_models_copy(fake.model, &copy, nullptr), TFAOT_OK);
      bool is_right = true;
      for (std::size_t rows = 1; rows < 40; ++rows) {
        FakeCall call(rows);
        is_right = call.run(copy) == TFAOT_OK && is_right &&
                   call.sum[2 * rows - 1] == static_cast<float>(40 * (rows - 1) + 10);
      }
      tfaot_models_close(copy);
      done = is_right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, ::testing::Each(true));
}

// A call of `sized` (sized_model.h) with its own outputs.
int run_sized(tfaot_handle* model, const tfaot_test::SizedRows& sample, std::size_t rows,
              const std::int64_t* sizes, tfaot_error* error, std::vector<float>& each) {
  std::vector<float> total(2 * rows);
  auto call = sized<tfaot_call>();
  const std::array<const void*, 2> inputs = {sample.x.data(), sample.w.data()};
  const std::array<void*, 2> outputs = {total.data(), each.data()};
  call.input_count = call.output_count = 2;
  call.rows = rows;
  call.inputs = inputs.data();
  call.outputs = outputs.data();
  call.sizes = sizes;
  return tfaot_models_run(model, &call, error);
}

TEST(LinkedModels, FreeDimensionsAreDescribed) {
  const Opened opened("sized");
  ASSERT_EQ(opened.status, TFAOT_OK) << opened.error.text;
  auto signature = sized<tfaot_signature>();
  ASSERT_EQ(tfaot_models_signature(opened.model, &signature, nullptr), TFAOT_OK);
  EXPECT_EQ(signature.dimension_count, 2U);
  auto dimension = sized<tfaot_dimension>();
  ASSERT_EQ(tfaot_models_dimension(opened.model, 1, &dimension, nullptr), TFAOT_OK);
  EXPECT_STREQ(dimension.name, "k");
  EXPECT_EQ(dimension.smallest, 0);
  EXPECT_EQ(dimension.largest, 6);
  EXPECT_EQ(tfaot_models_dimension(opened.model, 2, &dimension, nullptr), TFAOT_WRONG_CALL);

  auto tensor = sized<tfaot_tensor>();
  ASSERT_EQ(tfaot_models_input(opened.model, 0, &tensor, nullptr), TFAOT_OK);
  EXPECT_THAT(std::vector<std::int64_t>(tensor.row_shape, tensor.row_shape + tensor.rank),
              ElementsAre(40, 3));
  EXPECT_THAT(std::vector<std::int32_t>(tensor.axes, tensor.axes + tensor.rank),
              ElementsAre(0, TFAOT_FIXED_SIZE));
  ASSERT_EQ(tfaot_models_output(opened.model, 1, &tensor, nullptr), TFAOT_OK);
  EXPECT_EQ(*tensor.axes, TFAOT_FOLLOWS_SIZES);
  ASSERT_EQ(tfaot_models_output(opened.model, 0, &tensor, nullptr), TFAOT_OK);
  EXPECT_EQ(tensor.axes, nullptr);

  const std::array<std::int64_t, 2> sizes = {7, 2};
  std::array<std::int64_t, 2> shape = {-1, -1};
  ASSERT_EQ(tfaot_models_input_shape(opened.model, 0, sizes.data(), shape.data(), nullptr),
            TFAOT_OK);
  EXPECT_THAT(shape, ElementsAre(7, 3));
  ASSERT_EQ(tfaot_models_output_shape(opened.model, 1, sizes.data(), shape.data(), nullptr),
            TFAOT_OK);
  EXPECT_EQ(shape[0], 9);
  ASSERT_EQ(tfaot_models_output_shape(opened.model, 1, nullptr, shape.data(), nullptr), TFAOT_OK);
  EXPECT_EQ(shape[0], 46);
  const std::array<std::int64_t, 2> too_many = {7, 9};
  auto error = sized<tfaot_error>();
  EXPECT_EQ(tfaot_models_input_shape(opened.model, 0, too_many.data(), shape.data(), &error),
            TFAOT_SIZE_OUT_OF_RANGE);
  EXPECT_STREQ(error.text, "model 'sized': the size of 'k' is 9, but the code is for 0 to 6");
}

TEST(LinkedModels, ACallHasItsSizes) {
  const Opened opened("sized");
  auto error = sized<tfaot_error>();
  for (const std::int64_t n : {1, 40, 7}) {
    const std::array<std::int64_t, 2> sizes = {n, 2};
    const tfaot_test::SizedRows sample(3, n, 2);
    std::vector<float> each(sample.each.size());
    ASSERT_EQ(run_sized(opened.model, sample, 3, sizes.data(), &error, each), TFAOT_OK);
    EXPECT_EQ(each, sample.each);
  }
  const tfaot_test::SizedRows largest(1, 40, 6);
  std::vector<float> each(largest.each.size());
  ASSERT_EQ(run_sized(opened.model, largest, 1, nullptr, &error, each), TFAOT_OK);
  EXPECT_EQ(each, largest.each);
  const std::array<std::int64_t, 2> none = {0, 2};
  EXPECT_EQ(run_sized(opened.model, largest, 1, none.data(), &error, each),
            TFAOT_SIZE_OUT_OF_RANGE);
}

// A program that was compiled with the first version of the header.
TEST(LinkedModels, ACallWithoutSizesIsOfTheLargest) {
  const Opened opened("sized");
  const tfaot_test::SizedRows sample(1, 40, 6);
  std::vector<float> total(2), each(46);
  const std::array<const void*, 2> inputs = {sample.x.data(), sample.w.data()};
  const std::array<void*, 2> outputs = {total.data(), each.data()};
  const std::array<std::int64_t, 2> small = {1, 1};
  tfaot_call call = {
      offsetof(tfaot_call, sizes), 2, 2, 0, 1, inputs.data(), outputs.data(), small.data()};
  ASSERT_EQ(tfaot_models_run(opened.model, &call, nullptr), TFAOT_OK);
  EXPECT_EQ(each, sample.each);
}

// A ragged call of `sized`.
struct SizedCall {
  int run(tfaot_handle* model, tfaot_error* error = nullptr) {
    call.size = sizeof call;
    return tfaot_models_run_ragged(model, &call, error);
  }

  const tfaot_test::SizedRows sample{{{7, 0}, {40, 6}, {40, 6}, {1, 3}}};
  std::vector<float> total = std::vector<float>(sample.total.size());
  std::vector<float> each = std::vector<float>(sample.each.size());
  std::array<const void*, 2> inputs = {sample.x.data(), sample.w.data()};
  std::array<void*, 2> outputs = {total.data(), each.data()};
  std::array<const std::uint64_t*, 2> offsets = {sample.n_offsets.data(), sample.k_offsets.data()};
  std::array<std::uint64_t, 2> elements = {sample.x.size(), sample.w.size()};
  tfaot_ragged_call call = {sizeof call,    2,       2,      2, 4, inputs.data(), outputs.data(),
                            offsets.data(), nullptr, nullptr};
};

TEST(LinkedModels, RunRaggedRows) {
  const Opened model("sized");
  for (const bool checked : {false, true}) {
    SizedCall call;
    if (checked) call.call.input_elements = call.elements.data();
    EXPECT_EQ(call.run(model.model), TFAOT_OK);
    EXPECT_EQ(call.total, call.sample.total);
    EXPECT_EQ(call.each, call.sample.each);
  }
  SizedCall none;
  none.call.rows = 0;
  EXPECT_EQ(none.run(model.model), TFAOT_OK);
}

TEST(LinkedModels, CheckARaggedCall) {
  const Opened model("sized");
  auto error = sized<tfaot_error>();
  const auto run = [&](SizedCall& call) { return call.run(model.model, &error); };
  SizedCall counted;
  counted.call.input_elements = counted.elements.data();
  ++counted.elements[1];
  EXPECT_EQ(run(counted), TFAOT_INPUT_MISMATCH);
  EXPECT_THAT(error.text, HasSubstr("input 'w' holds 16 elements, but all rows together have 15"));
  SizedCall without;
  without.offsets[1] = nullptr;
  EXPECT_EQ(run(without), TFAOT_INPUT_MISMATCH);
  EXPECT_STREQ(error.text, "the offsets of a dimension are null");
  SizedCall few;
  few.call.dimension_count = 1;
  EXPECT_EQ(run(few), TFAOT_INPUT_MISMATCH);
  SizedCall missing;
  missing.inputs[0] = nullptr;
  EXPECT_EQ(run(missing), TFAOT_INPUT_MISMATCH);
  SizedCall falling;
  const std::array<std::uint64_t, 5> offsets = {0, 7, 5, 10, 11};
  falling.offsets[0] = offsets.data();
  EXPECT_EQ(run(falling), TFAOT_INPUT_MISMATCH);
  EXPECT_THAT(error.text, HasSubstr("the offsets of 'n' fall at row 1"));
  SizedCall large;
  large.call.rows = 1;
  const std::array<std::uint64_t, 2> beyond = {0, 41};
  large.offsets[0] = beyond.data();
  EXPECT_EQ(run(large), TFAOT_SIZE_OUT_OF_RANGE);
  SizedCall unsized;
  unsized.call.size = 8;
  EXPECT_EQ(tfaot_models_run_ragged(model.model, &unsized.call, &error), TFAOT_WRONG_CALL);
}

// n up to 3, twice of odd ones; then nothing.
TEST(SizeFormula, HasTermsOfSomeSizesAlone) {
  static constexpr std::uint8_t kOne[] = {1};
  static constexpr tfaot::SizeSteps kFew[] = {{0, 3, 1}}, kOdd[] = {{1, 3, 2}};
  static constexpr tfaot::SizeTerm kTerms[] = {{1, kOne, kFew}, {1, kOne, kOdd}};
  std::vector<std::int64_t> numbers;
  for (std::int64_t n = 0; n < 6; ++n) {
    numbers.push_back(tfaot::number_at({kTerms, 2, 1}, &n, 1));
  }
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{0, 2, 2, 6, 0, 0}));
}

}  // namespace
