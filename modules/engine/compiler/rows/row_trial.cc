// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <random>
#include <thread>
#include <type_traits>

#include "compiler/hlo/conversions.h"
#include "xla/client/client_library.h"
#include "xla/client/global_data.h"
#include "xla/client/local_client.h"
#include "xla/service/platform_util.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::Literal;
using Data = std::vector<std::unique_ptr<xla::GlobalData>>;

// The distribution of the numbers in a row: small, usual and large ones, of one sign, and zeros, as
// in rows of padding. Conditions on sums over rows and the like are then true in some runs and
// false in others.
struct Spread {
  double middle = 0;
  double width = 1;
};
constexpr std::array kSpreads = {Spread{0, 1},  Spread{0, 0.05}, Spread{5, 4},
                                 Spread{-5, 4}, Spread{0, 1000}, Spread{0, 0}};

// How inputs are made: every second number is one of the model's own, if it has any.
struct RowNumbers {
  Spread spread;
  const std::vector<double>* own = nullptr;
};

bool is_number(xla::PrimitiveType type) { return type != xla::PRED && dtype_of(type).has_value(); }

// The single numbers that the model compares with, adds and so on. An effect may appear only if an
// input is one of these numbers.
std::vector<double> numbers_of(const LoweredModel& model) {
  constexpr int kFew = 16;  // longer constants are weights
  std::vector<double> numbers;
  for (const auto& computation : model.computation.proto().computations()) {
    for (const auto& one : computation.instructions()) {
      if (one.opcode() != "constant" || !is_number(one.shape().element_type())) continue;
      if (xla::ShapeUtil::ElementsIn(xla::Shape(one.shape())) > kFew) continue;
      const auto constant = Literal::CreateFromProto(one.literal());
      if (!constant.ok()) continue;
      const auto wide = constant->Convert(xla::F64);
      if (wide.ok())
        numbers.insert(numbers.end(), wide->data<double>().begin(), wide->data<double>().end());
    }
  }
  const auto unusable = [](double number) { return !(std::abs(number) < 1e9); };
  numbers.erase(std::remove_if(numbers.begin(), numbers.end(), unusable), numbers.end());
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

template <class T>
T random_element(std::mt19937_64& random, std::uniform_real_distribution<double>& numbers,
                 const RowNumbers& from) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 0;
  } else {
    // A whole number that the type does not have becomes one that it has.
    using Whole = std::conditional_t<kIsReal<T>, double, std::int64_t>;
    if (from.own != nullptr && random() % 2 == 0) {
      constexpr std::array kAround = {1.0, 1.0, 0.9, 1.1};
      return static_cast<T>(static_cast<Whole>((*from.own)[random() % from.own->size()] *
                                               kAround[random() % kAround.size()]));
    }
    if constexpr (kIsReal<T>) return static_cast<T>(numbers(random));
    // Most runs use small numbers, such as those of classes.
    const Spread& spread = from.spread;
    const bool is_small = spread.middle == 0 && spread.width <= 1 && spread.width > 0;
    return static_cast<T>(is_small ? static_cast<long>(random() % 10)
                                   : std::lround(numbers(random)));
  }
}

// REQUIRES: the literal's type is one of inputs and outputs.
DType dtype_of_literal(const Literal& value) { return *dtype_of(value.shape().element_type()); }

void fill(Literal& value, std::mt19937_64& random, const RowNumbers& from) {
  const Spread& spread = from.spread;
  std::uniform_real_distribution<double> numbers(spread.middle - spread.width,
                                                 spread.middle + spread.width);
  visit_dtype(dtype_of_literal(value), [&]<class T>(ElementType<T>) {
    auto* const elements = static_cast<T*>(value.untyped_data());
    for (std::int64_t i = 0; i < value.element_count(); ++i) {
      elements[i] = random_element<T>(random, numbers, from);
    }
  });
}

// A row of a tensor: bytes in a row-major literal.
struct Row {
  Literal* of = nullptr;
  std::int64_t number = 0;

  std::size_t size() const {
    return static_cast<std::size_t>(of->size_bytes() / of->shape().dimensions(0));
  }
  char* data() const {
    return static_cast<char*>(of->untyped_data()) + size() * static_cast<std::size_t>(number);
  }
};

void copy(const Row& from, const Row& to) { std::memcpy(to.data(), from.data(), to.size()); }

// Code for other rows or another batch size may add up in another order.
template <class T>
constexpr double kRounding = 1e-3;
template <>
constexpr double kRounding<bfloat16> = 0x1p-6;  // two of its last digits

template <class T>
bool are_near(const Row& a, const Row& b, bool exact) {
  const T* left = reinterpret_cast<const T*>(a.data());
  const T* right = reinterpret_cast<const T*>(b.data());
  const std::size_t count = a.size() / sizeof(T);
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<double>(left[i]);
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (left[i] == right[i]) continue;
    if (std::isnan(left[i]) && std::isnan(right[i])) continue;
    const double difference = std::abs(static_cast<double>(left[i]) - double{right[i]});
    if (!exact && difference <= kRounding<T> * std::max(largest, 1e-30)) continue;
    return false;
  }
  return true;
}

bool are_alike(const Row& a, const Row& b, bool exact) {
  return visit_dtype(dtype_of_literal(*a.of), [&]<class T>(ElementType<T>) {
    if constexpr (kIsReal<T>) return are_near<T>(a, b, exact);
    return std::memcmp(a.data(), b.data(), a.size()) == 0;
  });
}

// A loop may never end with numbers that its model is not made for.
constexpr std::chrono::seconds kLongestRun{10};

// A run cannot be stopped. If it takes too long, it continues in its thread until the engine ends,
// so everything it uses is in `run`.
template <class Run>
auto within_time(Run run) -> Result<decltype(run())> {
  std::packaged_task<decltype(run())()> task(std::move(run));
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  if (result.wait_for(kLongestRun) == std::future_status::ready) return result.get();
  return fail(
      Error(fmt::format("a run with random numbers did not end within {} s", kLongestRun.count())));
}

// A compiled model and its weights, ready to run with XLA.
class Program {
 public:
  static Result<Program> create(const SizedModel& model,
                                const std::function<Result<Value>(std::size_t)>& weight) {
    Program program(model);
    const auto platform = xla::PlatformUtil::GetPlatform("Host");
    if (!platform.ok()) return fail(internal_error(platform.status()));
    const auto client = xla::ClientLibrary::GetOrCreateLocalClient(*platform);
    if (!client.ok()) return fail(internal_error(client.status()));
    program.client_ = *client;
    const auto& shape = model.lowered->shape;
    std::vector<xla::Shape> shapes(shape.parameters().begin(), shape.parameters().end());
    const auto inputs = model.lowered->inputs.size();
    for (std::size_t i = inputs; i < shapes.size(); ++i) {
      TFAOT_ASSIGN(const auto value, weight(i - inputs));
      auto made = program.client_->TransferToServer(xla::LiteralSlice(*value));
      if (!made.ok()) return fail(internal_error(made.status()));
      program.weights_->push_back(std::move(*made));
    }
    const auto code = program.client_->Compile(model.lowered->computation, shapes);
    if (!code.ok()) return fail(internal_error(code.status()));
    program.code_ = *code;
    return program;
  }

  std::int64_t rows() const { return rows_; }

  std::vector<Literal> random_inputs(std::mt19937_64& random, const RowNumbers& numbers) const {
    std::vector<Literal> made;
    for (std::size_t i = 0; i < model_->inputs.size(); ++i) {
      const auto& shape = model_->shape.parameters(static_cast<int>(i));
      made.emplace_back(shape_of(shape.element_type(), shape.dimensions()));
      fill(made.back(), random, numbers);
    }
    return made;
  }

  Result<std::vector<Literal>> run(const std::vector<Literal>& inputs) const {
    const auto data = std::make_shared<Data>();
    for (const Literal& input : inputs) {
      auto made = client_->TransferToServer(input);
      if (!made.ok()) return fail(internal_error(made.status()));
      data->push_back(std::move(*made));
    }
    const auto execute = [client = client_, code = code_, data, weights = weights_] {
      std::vector<xla::GlobalData*> arguments;
      for (const auto& input : *data) arguments.push_back(input.get());
      for (const auto& weight : *weights) arguments.push_back(weight.get());
      return client->Execute(code, arguments);
    };
    TFAOT_ASSIGN(auto result, within_time(execute));
    if (!result.ok()) return fail(internal_error(result.status()));
    xla::Shape shape = model_->shape.result();
    xla::ShapeUtil::ForEachMutableSubshape(&shape, [](xla::Shape* one, const xla::ShapeIndex&) {
      if (one->IsArray()) *one = shape_of(one->element_type(), one->dimensions());
    });
    auto value = client_->Transfer(**result, &shape);
    if (!value.ok()) return fail(internal_error(value.status()));
    return value->DecomposeTuple();
  }

 private:
  explicit Program(const SizedModel& model) : model_(model.lowered), rows_(model.rows) {}

  const LoweredModel* model_;
  std::int64_t rows_;
  xla::Client* client_ = nullptr;
  xla::ExecutionHandle code_;
  std::shared_ptr<Data> weights_ = std::make_shared<Data>();
};

class Trial {
 public:
  Trial(const Program& program, std::size_t outputs) : program_(program), findings_(outputs) {}

  // Some rows stay and the others change: first every second row, then the rest. The others get
  // numbers of every kind, so that results of all rows together, such as a condition, change too.
  Status change_others(const RowNumbers& numbers, const std::vector<RowNumbers>& kinds) {
    TFAOT_ASSIGN(auto first, start(numbers));
    for (const std::int64_t kept : {0, 1}) {
      for (const RowNumbers& others : kinds) {
        TFAOT_TRY(compare_kept(first, program_.random_inputs(random_, others), kept));
      }
      auto inputs = program_.random_inputs(random_, numbers);
      for (std::int64_t r = 1 - kept; r < program_.rows(); r += 2) {
        const std::int64_t beside = r == 0 ? 1 : r - 1;  // a kept one
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          copy({&first.inputs[i], beside}, {&inputs[i], r});
        }
      }
      TFAOT_TRY(compare_kept(first, std::move(inputs), kept));
    }
    return {};
  }

  // Moves each row to the next position.
  Status move_rows(const RowNumbers& numbers) {
    TFAOT_ASSIGN(auto first, start(numbers));
    auto inputs = program_.random_inputs(random_, numbers);
    const auto to = [&](std::int64_t r) { return (r + 1) % program_.rows(); };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (std::int64_t r = 0; r < program_.rows(); ++r) {
        copy({&first.inputs[i], r}, {&inputs[i], to(r)});
      }
    }
    TFAOT_ASSIGN(auto outputs, program_.run(inputs));
    for (std::int64_t r = 0; r < program_.rows(); ++r) {
      compare({&first.outputs, r}, {&outputs, to(r)}, false,
              fmt::format("in a batch of {}, row {} gives another result if it is row {}",
                          program_.rows(), r, to(r)));
    }
    return {};
  }

  // The same rows in a batch of another size.
  Status add_rows(const Program& other, const RowNumbers& numbers) {
    TFAOT_ASSIGN(auto first, start(numbers));
    auto inputs = other.random_inputs(random_, numbers);
    const std::int64_t rows = std::min(program_.rows(), other.rows());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (std::int64_t r = 0; r < rows; ++r) copy({&first.inputs[i], r}, {&inputs[i], r});
    }
    TFAOT_ASSIGN(auto outputs, other.run(inputs));
    for (std::int64_t r = 0; r < rows; ++r) {
      compare({&first.outputs, r}, {&outputs, r}, false,
              fmt::format("row {} gives another result in a batch of {} than in one of {}", r,
                          program_.rows(), other.rows()));
    }
    return {};
  }

  TrialFindings findings() && { return std::move(findings_); }

 private:
  struct Run {
    std::vector<Literal> inputs;
    std::vector<Literal> outputs;
  };
  struct RowOfAll {
    std::vector<Literal>* outputs = nullptr;
    std::int64_t row = 0;
  };

  // REQUIRES: `inputs` have the form of those of `first`; the kept rows are copied into them.
  Status compare_kept(Run& first, std::vector<Literal> inputs, std::int64_t kept) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (std::int64_t r = kept; r < program_.rows(); r += 2) {
        copy({&first.inputs[i], r}, {&inputs[i], r});
      }
    }
    TFAOT_ASSIGN(auto outputs, program_.run(inputs));
    for (std::int64_t r = kept; r < program_.rows(); r += 2) {
      compare({&first.outputs, r}, {&outputs, r}, true,
              fmt::format("in a batch of {}, row {} of the output changed when only other rows "
                          "of the inputs did",
                          program_.rows(), r));
    }
    return {};
  }

  Result<Run> start(const RowNumbers& numbers) {
    Run run;
    run.inputs = program_.random_inputs(random_, numbers);
    TFAOT_ASSIGN(run.outputs, program_.run(run.inputs));
    return run;
  }

  void compare(const RowOfAll& a, const RowOfAll& b, bool exact, const std::string& finding) {
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      if (findings_[i]) continue;
      const bool alike = are_alike({&(*a.outputs)[i], a.row}, {&(*b.outputs)[i], b.row}, exact);
      if (!alike) findings_[i] = finding;
    }
  }

  const Program& program_;
  std::mt19937_64 random_;  // the same numbers every time
  TrialFindings findings_;
};

// Usual numbers first.
std::vector<RowNumbers> kinds_of(const std::vector<double>& own) {
  std::vector<RowNumbers> kinds;
  for (const Spread& spread : kSpreads) kinds.push_back({spread, nullptr});
  if (!own.empty()) kinds.push_back({kSpreads.front(), &own});
  return kinds;
}

}  // namespace

Result<TrialFindings> try_rows(const SizedModel& model, const std::optional<SizedModel>& other,
                               const std::function<Result<Value>(std::size_t)>& weight) {
  TFAOT_ASSIGN(const auto program, Program::create(model, weight));
  Trial trial(program, model.lowered->outputs.size());
  const auto own = numbers_of(*model.lowered);
  const std::vector<RowNumbers> kinds = kinds_of(own);
  for (const RowNumbers& kind : kinds) TFAOT_TRY(trial.change_others(kind, kinds));
  TFAOT_TRY(trial.move_rows(kinds.front()));
  if (other) {
    TFAOT_ASSIGN(const auto larger, Program::create(*other, weight));
    TFAOT_TRY(trial.add_rows(larger, kinds.front()));
  }
  return std::move(trial).findings();
}

Result<TrialFindings> try_sizes(const SizedModel& model, const SizedModel& other,
                                const std::function<Result<Value>(std::size_t)>& weight) {
  TFAOT_ASSIGN(const auto program, Program::create(model, weight));
  TFAOT_ASSIGN(const auto twin, Program::create(other, weight));
  Trial trial(program, model.lowered->outputs.size());
  const auto own = numbers_of(*model.lowered);
  for (const RowNumbers& kind : kinds_of(own)) TFAOT_TRY(trial.add_rows(twin, kind));
  return std::move(trial).findings();
}

}  // namespace tfaot::toolkit::engine
