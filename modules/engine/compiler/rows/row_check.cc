// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_check.h"

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

#include "absl/algorithm/container.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/foreign_operations.h"
#include "compiler/hlo/loop_options.h"
#include "compiler/hlo/simplify.h"
#include "compiler/rows/row_flow.h"
#include "tfaot/records/model_check.h"
#include "xla/client/client_library.h"
#include "xla/client/global_data.h"
#include "xla/client/local_client.h"
#include "xla/execution_options_util.h"
#include "xla/service/platform_util.h"

namespace tfaot::toolkit::engine {

using xla::Literal;

namespace {

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

// The numbers of inputs: every second one is the model's own, if it has any. Whole numbers are
// `index` and the next one, if it is given.
struct RowNumbers {
  Spread spread;
  const std::vector<double>* own = nullptr;
  std::optional<std::int64_t> index = {};
};

// The single numbers that the model compares with, adds and so on. An effect may appear only if an
// input is one of these numbers.
std::vector<double> numbers_of(const LoweredModel& model) {
  constexpr int kFew = 16;  // longer constants are weights
  std::vector<double> numbers;
  for (const auto& computation : model.computation.proto().computations()) {
    for (const auto& one : computation.instructions()) {
      const auto type = one.shape().element_type();
      if (one.opcode() != "constant" || type == xla::PRED || !dtype_of(type) ||
          xla::ShapeUtil::ElementsIn(xla::Shape(one.shape())) > kFew) {
        continue;
      }
      const auto constant = Literal::CreateFromProto(one.literal());
      if (!constant.ok()) continue;
      const auto wide = constant->Convert(xla::F64);
      if (wide.ok()) absl::c_copy(wide->data<double>(), std::back_inserter(numbers));
    }
  }
  std::erase_if(numbers, [](double number) { return !(std::abs(number) < 1e9); });
  absl::c_sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

template <class T>
T random_element(std::mt19937_64& random, std::uniform_real_distribution<double>& numbers,
                 const RowNumbers& from) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 0;
  } else {
    if (!kIsReal<T> && from.index) {
      return static_cast<T>(*from.index + static_cast<std::int64_t>(random() % 2));
    }
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
    TFAOT_ASSIGN(auto* const platform, or_internal(xla::PlatformUtil::GetPlatform("Host")));
    TFAOT_ASSIGN(program.client_,
                 or_internal(xla::ClientLibrary::GetOrCreateLocalClient(platform)));
    const auto& shape = model.lowered->shape;
    std::vector<xla::Shape> shapes(shape.parameters().begin(), shape.parameters().end());
    const auto inputs = model.lowered->inputs.size();
    for (std::size_t i = inputs; i < shapes.size(); ++i) {
      TFAOT_ASSIGN(const auto value, weight(i - inputs));
      TFAOT_TRY(program.add(xla::LiteralSlice(*value), *program.weights_));
    }
    xla::ExecutionOptions options = xla::CreateDefaultExecutionOptions();
    set_loop_options(*options.mutable_debug_options());
    TFAOT_ASSIGN(program.code_, or_internal(program.client_->Compile(model.lowered->computation,
                                                                     shapes, &options)));
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
    for (const Literal& input : inputs) TFAOT_TRY(add(input, *data));
    const auto execute = [client = client_, code = code_, data, weights = weights_] {
      std::vector<xla::GlobalData*> arguments;
      for (const auto& input : *data) arguments.push_back(input.get());
      for (const auto& weight : *weights) arguments.push_back(weight.get());
      return client->Execute(code, arguments);
    };
    TFAOT_ASSIGN(auto run, within_time(execute));
    TFAOT_ASSIGN(const auto result, or_internal(std::move(run)));
    xla::Shape shape = model_->shape.result();
    xla::ShapeUtil::ForEachMutableSubshape(&shape, [](xla::Shape* one, const xla::ShapeIndex&) {
      if (one->IsArray()) *one = shape_of(one->element_type(), one->dimensions());
    });
    TFAOT_ASSIGN(auto value, or_internal(client_->Transfer(*result, &shape)));
    return value.DecomposeTuple();
  }

 private:
  explicit Program(const SizedModel& model) : model_(model.lowered), rows_(model.rows) {}

  Status add(const xla::LiteralSlice& value, Data& to) const {
    TFAOT_ASSIGN(auto made, or_internal(client_->TransferToServer(value)));
    to.push_back(std::move(made));
    return {};
  }

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
        const std::int64_t neighbour = r == 0 ? 1 : r - 1;  // a kept row
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          copy({&first.inputs[i], neighbour}, {&inputs[i], r});
        }
      }
      TFAOT_TRY(compare_kept(first, std::move(inputs), kept));
    }
    return {};
  }

  Status move_rows(const RowNumbers& numbers) {
    const std::int64_t rows = program_.rows();
    const auto to = [rows](std::int64_t r) { return (r + 1) % rows; };
    return compare_in(program_, numbers, to, [&](std::int64_t r) {
      return fmt::format("in a batch of {}, row {} gives another result if it is row {}", rows, r,
                         to(r));
    });
  }

  // The same rows in a batch of another size.
  Status add_rows(const Program& other, const RowNumbers& numbers) {
    return compare_in(other, numbers, std::identity(), [&](std::int64_t r) {
      return fmt::format("row {} gives another result in a batch of {} than in one of {}", r,
                         program_.rows(), other.rows());
    });
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

  // Runs the rows in another program, each at the place `to` of its number.
  template <class To, class Finding>
  Status compare_in(const Program& other, const RowNumbers& numbers, To to, Finding finding) {
    TFAOT_ASSIGN(auto first, start(numbers));
    auto inputs = other.random_inputs(random_, numbers);
    const std::int64_t rows = std::min(program_.rows(), other.rows());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (std::int64_t r = 0; r < rows; ++r) copy({&first.inputs[i], r}, {&inputs[i], to(r)});
    }
    TFAOT_ASSIGN(auto outputs, other.run(inputs));
    for (std::int64_t r = 0; r < rows; ++r) {
      compare({&first.outputs, r}, {&outputs, to(r)}, false, finding(r));
    }
    return {};
  }

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
std::vector<RowNumbers> kinds_of(const std::vector<double>& own,
                                 std::optional<std::int64_t> index) {
  std::vector<RowNumbers> kinds;
  for (const Spread& spread : kSpreads) kinds.push_back({spread, nullptr, index});
  if (!own.empty()) kinds.push_back({kSpreads.front(), &own, index});
  return kinds;
}

enum class Trials { kAll, kSizes };  // kSizes: only compares the rows that both batch sizes have

// Runs a lowered model to see whether the rows of a batch depend on each other. Its code is made
// for this machine, whatever the model is compiled for. A difference proves that they do; no
// difference does not prove that they do not. Error: the model cannot run, or does not end within
// 10 s. `other`, if given, is the same model at another batch size. Whole numbers are `index` and
// the next one, if it is given.
Result<TrialFindings> try_rows(Trials trials, const SizedModel& model,
                               const std::optional<SizedModel>& other,
                               const std::function<Result<Value>(std::size_t)>& weight,
                               std::optional<std::int64_t> index = {}) {
  TFAOT_ASSIGN(const auto program, Program::create(model, weight));
  Trial trial(program, model.lowered->outputs.size());
  const auto own = numbers_of(*model.lowered);
  const std::vector<RowNumbers> kinds = kinds_of(own, index);
  if (trials == Trials::kAll) {
    for (const RowNumbers& kind : kinds) TFAOT_TRY(trial.change_others(kind, kinds));
    TFAOT_TRY(trial.move_rows(kinds.front()));
  }
  if (other) {
    TFAOT_ASSIGN(const auto twin, Program::create(*other, weight));
    for (const RowNumbers& kind : kinds) {
      TFAOT_TRY(trial.add_rows(twin, kind));
      if (trials == Trials::kAll) break;
    }
  }
  return std::move(trial).findings();
}

std::string operation(const HloInstruction& one) {
  return describe_instruction({xla::HloOpcodeString(one.opcode()), one.name()}, one.metadata());
}

std::string explained(const RowCause& cause) {
  return fmt::format("{} {}", operation(*cause.at), cause.why);
}

constexpr const char* kRule =
    "batches are composed of the compiled sizes, which is right only when each row is treated "
    "alone";
constexpr const char* kAdvice =
    "export the model so that it treats each row alone, for example in inference mode "
    "(training=False), or set 'compilation.rows: coupled', or '--rows coupled': then only batches "
    "of the compiled sizes run";

constexpr const char* kStaticQuantization =
    "the model is quantized dynamically, by a scale of the whole batch; quantize it statically "
    "(QDQ: onnxruntime.quantization.quantize_static), so that its scales are in the file";

constexpr const char* kIfRowsMix =
    ". If rows do mix, batches of other sizes than the compiled ones give wrong results: set "
    "'compilation.rows: coupled', or '--rows coupled'";

struct Mixing {
  const RowDoubt* doubt = nullptr;
  std::optional<std::string> seen;
};

Error refusal(const std::vector<Mixing>& mixing) {
  const RowDoubt& first = *mixing.front().doubt;
  Error error(fmt::format("output '{}' mixes the rows of a batch: {}", first.output,
                          explained(*first.cause)));
  if (mixing.front().seen) error.note("seen in a trial run: " + *mixing.front().seen);
  for (std::size_t i = 1; i < mixing.size(); ++i) {
    error.note(fmt::format("so does output '{}': {}", mixing[i].doubt->output,
                           explained(*mixing[i].doubt->cause)));
  }
  // An ONNX operator: instructions have its name.
  if (first.cause->at->metadata().op_type().starts_with("DynamicQuantize")) {
    error.note(kStaticQuantization);
  }
  std::vector<std::string> nodes;
  for (const Mixing& one : mixing) nodes.push_back(name_of_node(*one.doubt->cause->at));
  return std::move(error.note(kRule))
      .note(kAdvice)
      .about(word_of(ProblemKind::kRowsMix), std::move(nodes));
}

void not_tried(const std::vector<RowDoubt>& doubts, const Error& why, const RowMessages& messages) {
  for (const RowDoubt& one : doubts) {
    messages.warning(
        fmt::format("output '{}' may mix the rows of a batch: {}, and it could not be tried ({}){}",
                    one.output, explained(*one.cause), why.message(), kIfRowsMix));
  }
}

constexpr std::array<std::int64_t, 12> kPrimes = {5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43};

class RowCheck {
 public:
  RowCheck(const Lowering& lowering, const WeightStore& weights, const RowMessages& messages)
      : lowering_(lowering), weights_(weights), messages_(messages) {}

  // `sized`: the model at one of the batch sizes, or at one row.
  Status at_two_sizes(std::pair<std::int64_t, std::int64_t> sizes, const SizedModel& sized,
                      const std::vector<std::int64_t>& batch_sizes) {
    TFAOT_ASSIGN(const auto small, lowering_.lower(sizes.first));
    TFAOT_ASSIGN(const auto large, lowering_.lower(sizes.second));
    TFAOT_ASSIGN(const auto module, simplified(small));
    TFAOT_ASSIGN(const auto twin, simplified(large));
    const RowSizes differences = compare_sizes(*module, *twin, sizes);
    const SizedModel first = {&small, sizes.first};
    TFAOT_TRY(judge(*module, differences, first, SizedModel{&large, sizes.second}));
    TFAOT_ASSIGN(const auto raw, as_lowered(small));
    TFAOT_ASSIGN(const auto raw_twin, as_lowered(large));
    std::set<std::int64_t> others(batch_sizes.begin(), batch_sizes.end());
    others.insert(1);
    for (const std::int64_t rows : others) {
      std::optional<LoweredModel> made;
      if (rows != sized.rows) {
        auto lowered = lowering_.lower(rows);
        if (!lowered) continue;  // one row never runs alone, or compiling this size says why
        made = *std::move(lowered);
      }
      const SizedModel other = {made ? &*made : sized.lowered, rows};
      TFAOT_TRY(same_output_rows(first, other));
      TFAOT_ASSIGN(const auto as_it_is, as_lowered(*other.lowered));
      if (difference_at({*as_it_is, rows}, *raw, *raw_twin, sizes) == nullptr) continue;
      TFAOT_ASSIGN(const auto simple, simplified(*other.lowered));
      const auto* const at = difference_at({*simple, rows}, *module, *twin, sizes);
      if (at != nullptr) TFAOT_TRY(judge_difference(*at, first, other));
    }
    return {};
  }

  Status at_one_size(const LoweredModel& lowered, std::int64_t batch_size) {
    TFAOT_ASSIGN(const auto module, simplified(lowered));
    return judge(*module, {}, {&lowered, batch_size}, std::nullopt);
  }

 private:
  static Result<std::unique_ptr<xla::HloModule>> simplified(const LoweredModel& lowered) {
    TFAOT_ASSIGN(auto module, as_lowered(lowered));
    TFAOT_TRY(simplify(*module));
    return module;
  }

  // A branch or a loop that depends on the number of rows is unrolled while lowering, so a row
  // alone, or those of one batch size, may get other operations than the rows of the two sizes.
  Status judge_difference(const HloInstruction& at, const SizedModel& model,
                          const SizedModel& other) {
    const std::string rows = other.rows == 1 ? "a row alone" : fmt::format("{} rows", other.rows);
    const RowCause cause{&at, fmt::format("is another operation for {}, or is missing", rows),
                         false};
    std::vector<RowDoubt> doubts;
    for (std::size_t i = 0; i < model.lowered->outputs.size(); ++i) {
      doubts.push_back({model.lowered->outputs[i].name, i, &cause});
    }
    return judge_rows(doubts, try_rows(Trials::kSizes, model, other, weight_reader(), index_),
                      messages_);
  }

  static Result<std::unique_ptr<xla::HloModule>> as_lowered(const LoweredModel& lowered) {
    return make_module(lowered.computation.proto());
  }

  std::function<Result<Value>(std::size_t)> weight_reader() const {
    return [this](std::size_t i) { return weights_.value(i); };
  }

  Status judge(const xla::HloModule& module, const RowSizes& differences, const SizedModel& model,
               const std::optional<SizedModel>& other) {
    RowStudy study(model.rows, differences);
    const auto& outputs = model.lowered->outputs;
    const auto causes = follow_rows(module, std::ssize(model.lowered->inputs), study);
    std::vector<RowDoubt> doubts;
    for (std::size_t i = 0; i < causes.size(); ++i) {
      if (causes[i] != nullptr) doubts.push_back({outputs[i].name, i, causes[i]});
    }
    if (doubts.empty()) return {};
    const auto tried = try_rows(Trials::kAll, model, other, weight_reader());
    if (tried && mix_by_indices(doubts, *tried)) {
      for (const std::int64_t index : {0, 1}) {
        const auto within = try_rows(Trials::kAll, model, other, weight_reader(), index);
        if (!within || std::ranges::any_of(*within, &has_finding)) continue;
        messages_.warning(fmt::format(
            "output '{}' mixes the rows of a batch unless each index is within its row: {}. In "
            "trial runs with the indices {} and {}, each row was treated alone",
            doubts.front().output, explained(*doubts.front().cause), index, index + 1));
        index_ = index;
        return {};
      }
    }
    return judge_rows(doubts, tried, messages_);
  }

  static bool has_finding(const std::optional<std::string>& finding) { return finding.has_value(); }

  // A lookup, as of the last step of a sequence, may have got an index beyond the row.
  static bool mix_by_indices(const std::vector<RowDoubt>& doubts, const TrialFindings& tried) {
    return std::ranges::any_of(tried, &has_finding) &&
           std::ranges::all_of(doubts, [&](const RowDoubt& one) {
             return !tried[one.index] || one.cause->at->opcode() == kGather;
           });
  }

  const Lowering& lowering_;
  const WeightStore& weights_;
  const RowMessages& messages_;
  std::optional<std::int64_t> index_;  // whole numbers with which rows do not mix; empty: all
};

}  // namespace

std::pair<std::int64_t, std::int64_t> telling_batch_sizes(const LoweredModel& lowered) {
  Dimensions used;
  const auto add = [&](const xla::Shape& shape, int from) {
    for (int d = from; d < shape.rank(); ++d) used.push_back(shape.dimensions(d));
  };
  const auto inputs = static_cast<int>(lowered.inputs.size());
  for (int i = 0; i < lowered.shape.parameters_size(); ++i) {
    add(lowered.shape.parameters(i), i < inputs ? 1 : 0);
  }
  for (const auto& output : lowered.shape.result().tuple_shapes()) add(output, 1);
  Dimensions free;
  for (const auto prime : kPrimes) {
    const bool taken = std::ranges::any_of(
        used, [&](std::int64_t size) { return size >= prime && size % prime == 0; });
    if (!taken) free.push_back(prime);
  }
  free.insert(free.end(), {47, 53});
  return {free[0], free[1]};
}

Status judge_rows(const std::vector<RowDoubt>& doubts, const Result<TrialFindings>& tried,
                  const RowMessages& messages) {
  if (!tried) {
    not_tried(doubts, tried.error(), messages);
    return {};
  }
  std::vector<Mixing> mixing;
  for (const RowDoubt& one : doubts) {
    const auto& seen = (*tried)[one.index];
    if (seen) {
      mixing.push_back({&one, seen});
      continue;
    }
    const std::string doubt = fmt::format(
        "output '{}' is not proved to treat each row alone, since {}; in trial runs each row was "
        "treated alone",
        one.output, explained(*one.cause));
    if (one.cause->mixes) {
      messages.warning(doubt + kIfRowsMix);
    } else {
      messages.detail(doubt);
    }
  }
  if (!mixing.empty()) return fail(refusal(mixing));
  return {};
}

Status check_rows_alone(const Lowering& lowering, const SizedModel& sized,
                        const std::vector<std::int64_t>& batch_sizes, const WeightStore& weights,
                        const RowMessages& messages) {
  RowCheck check(lowering, weights, messages);
  if (!lowering.has_fixed_batch()) {
    return check.at_two_sizes(telling_batch_sizes(*sized.lowered), sized, batch_sizes);
  }
  // In a batch of one row, each row is alone.
  return sized.rows == 1 ? Status() : check.at_one_size(*sized.lowered, sized.rows);
}

}  // namespace tfaot::toolkit::engine
