// SPDX-License-Identifier: Apache-2.0
#include "free_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "compiler/hlo/simplify.h"
#include "compiler/hlo/weight_values.h"
#include "compiler/rows/waiting_loops.h"
#include "compiler/sizes/batch_form.h"
#include "compiler/sizes/joined_pieces.h"
#include "compiler/sizes/polynomial.h"
#include "compiler/sizes/same_values.h"
#include "compiler/sizes/sample_sizes.h"
#include "compiler/sizes/sampled_numbers.h"
#include "compiler/sizes/sized_model.h"
#include "front/load_model.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {
namespace {

using Module = std::unique_ptr<xla::HloModule>;

// A part of the range may have every step-th size alone: 2 * count + 1 are the odd ones. The
// samples, and what is made of them, count by steps.
std::vector<FreeDimension> counted(std::vector<FreeDimension> part) {
  for (FreeDimension& one : part) {
    one.smallest /= one.step;
    one.largest /= one.step;
    if (one.step > 1) one.name = fmt::format("floor({} / {})", one.name, one.step);
    one.step = 1;
  }
  return part;
}

std::int64_t size_of(const FreeDimension& of_part, std::int64_t count) {
  return count * of_part.step + of_part.smallest % of_part.step;
}

// Nothing: the steps of the part pass the size.
std::optional<std::int64_t> count_of(const FreeDimension& of_part, std::int64_t size) {
  const std::int64_t count = size / of_part.step;
  if (size_of(of_part, count) != size) return std::nullopt;
  return count;
}

// The model is another one for each remainder of a count by this number.
struct Modulus {
  std::size_t dimension;
  std::int64_t number;
};

// A smaller of n and 30 becomes a number, as it does in the optimised model.
Status fold_constants(xla::HloModule& module) {
  xla::HloComputation& entry = *module.entry_computation();
  const WeightValues values(module, entry.num_parameters());
  Evaluator evaluator([](const HloInstruction&) -> Result<Value> {
    return fail(Error::internal("a constant reads a parameter"));
  });
  for (HloInstruction* one : entry.MakeInstructionPostOrder()) {
    if (one->opcode() == kConstant || !values.is_known(one)) continue;
    TFAOT_ASSIGN(const Value value, evaluator.value(*one));
    TFAOT_TRY(checked(one->ReplaceAllUsesWith(
        entry.AddInstruction(HloInstruction::CreateConstant(value->Clone())))));
  }
  return remove_dead_code(module);
}

// Numbers that a size may be compared with, as in Where(n == 17).
Result<std::set<std::int64_t>> compared_numbers(const LoweredModel& lowered) {
  std::set<std::int64_t> compared;
  std::set<std::int64_t> added;
  TFAOT_ASSIGN(const Module module, make_module(lowered.computation.proto()));
  for (const HloInstruction* one : instructions_of(*module)) {
    const bool is_compared = xla::HloPredicateIsOp<kCompare, kMinimum, kMaximum>(one);
    if (!is_compared && !xla::HloPredicateIsOp<kAdd, kSubtract>(one)) continue;
    for (const HloInstruction* operand : one->operands()) {
      while (xla::HloPredicateIsOp<kReshape, kBroadcast, kConvert>(operand)) {
        operand = operand->operand(0);
      }
      const bool is_number = operand->opcode() == kConstant && operand->shape().IsArray() &&
                             xla::ShapeUtil::ElementsIn(operand->shape()) == 1;
      if (!is_number) continue;
      const Dimensions first(operand->shape().dimensions().size(), 0);
      const auto number = operand->literal().GetIntegralAsS64(first);
      if (number) (is_compared ? compared : added).insert(std::abs(*number));
    }
  }
  // n - 40 may be compared with 2.
  std::set<std::int64_t> numbers = compared;
  for (const std::int64_t one : added) {
    numbers.insert(one);
    for (const std::int64_t other : compared) numbers.insert({one - other, one + other});
  }
  constexpr std::size_t kMost = 16;
  if (numbers.size() > kMost) numbers = std::move(compared);
  return numbers.size() > kMost ? std::set<std::int64_t>() : numbers;
}

// The model at some sizes, and what is made of it.
struct ModelAtSizes {
  Dimensions sizes;
  LoweredModel lowered;
  SharedModule simple;
  std::shared_ptr<const OptimizedModel> optimized = nullptr;  // where that was asked for
  SharedModule module = nullptr;                              // the same, to read
  std::int64_t smallest_free_size = 0;                        // that it was optimised for
};

struct Tried {
  Dimensions counts;
  std::shared_ptr<ModelAtSizes> model;
  std::size_t form;  // the place of the first one that has it
};

// `optimized`: as optimised models, too.
bool have_same_forms(const Tried& a, const Tried& b, bool optimized, std::string& difference) {
  return have_same_form(*a.model->simple, *b.model->simple, difference) &&
         (!optimized || have_same_form(*a.model->module, *b.model->module, difference));
}

// A size at which the model is another one.
struct OtherModel {
  Dimensions sizes;
  std::size_t dimension = 0;  // whose size makes it another one, as far as is known
  std::string what;           // it does otherwise
};

class FreeSizesOptimizer {
 public:
  explicit FreeSizesOptimizer(const FreeSizesRequest& request)
      : request_(request),
        whole_(sized_dimensions(request.job.free_dimensions)),
        part_(whole_),
        own_(counted(whole_)),
        options_(request.options),
        choices_(request.choices) {}

  Result<OptimizedModel> run() {
    begin(request_.found.follows_sizes);
    Status done = add_found();
    if (!done) done = add_all(request_.options.follows_sizes);
    // Loops of the model may have been written out, of so many turns, and a size may have been
    // joined with a weight.
    if (!done && !options_.follows_sizes) done = add_all(true);
    if (!done && add_runs(whole_)) done = {};
    TFAOT_TRY(std::move(done));
    Result<OptimizedModel> model = joined();
    request_.found.pieces = std::move(pieces_);
    return model;
  }

 private:
  Result<OptimizedModel> joined() {
    if (pieces_.size() == 1 && pieces_.front().model.has_sizes) {
      return std::move(pieces_.front().model);
    }
    // Again with outputs of one shape: they would be copied.
    const std::vector<xla::Shape> outputs = joined_outputs(pieces_, request_.batch_size);
    for (SizePiece& piece : pieces_) {
      if (piece.samples.empty()) continue;
      TFAOT_ASSIGN(piece.model, sized_model(piece, outputs));
    }
    return joined_pieces(pieces_, whole_, request_.batch_size, request_.traces);
  }

  void begin(bool follows_sizes) {
    options_.follows_sizes = follows_sizes;
    choices_.folds_single = request_.choices.folds_single && !follows_sizes;
    pieces_.clear();
    kept_.clear();
    first_difference_.clear();
  }

  Status add_all(bool follows_sizes) {
    begin(follows_sizes);
    request_.found.follows_sizes = follows_sizes;
    request_.found.forms.clear();
    return add_pieces(whole_);
  }

  // The parts that another batch size has, too, where the range was checked.
  Status add_found() {
    if (!request_.found.has_form) return fail(Error("rows depend on each other"));
    if (request_.found.pieces.empty()) return fail(Error("no parts are known"));
    for (const SizePiece& piece : request_.found.pieces) {
      take_part(piece.range);
      if (piece.samples.empty()) {
        TFAOT_TRY(add_fixed());
        continue;
      }
      samples_.clear();
      bits_ = piece.bits;
      choices_.smallest_free_size = piece.smallest_free_size;
      for (const SizeSample& sample : piece.samples) {
        TFAOT_ASSIGN(const auto model, model_at(sample.sizes));
        TFAOT_ASSIGN(const bool is_alike, add_sample(sample.sizes, *model));
        if (!is_alike) return fail(Error("other operations than in another batch"));
      }
      TFAOT_TRY(add_sized(piece.has_all));
    }
    return {};
  }

  void take_part(const std::vector<FreeDimension>& part) {
    part_ = part;
    own_ = counted(part);
    like_ = nullptr;
  }

  bool is_one_size() const {
    return std::ranges::all_of(
        part_, [](const FreeDimension& one) { return one.smallest == one.largest; });
  }

  // Where a dimension is cut: the first count of the upper part.
  struct Border {
    std::size_t dimension;
    std::int64_t count;
  };

  // Those that a part of the range needs.
  Status add_pieces(const std::vector<FreeDimension>& part) {
    for (std::size_t d = 0; d < part.size(); ++d) {
      // Empty tensors are their own case in XLA and in kernels.
      if (part[d].smallest == 0 && part[d].largest > 0) return add_pieces(part, {d, 1});
    }
    take_part(part);
    if (is_one_size()) return add_fixed();
    // A model whose weights end near the largest size cannot be lowered far beyond it, and one that
    // cuts a tensor there is another one. A small part has few primes.
    std::optional<OtherModel> other;
    std::optional<Border> border;
    std::optional<Modulus> likely;
    bool had_samples = false;
    bool had_lowered = true;
    std::optional<Error> error;
    for (const SampleSide side : {SampleSide::kAbove, SampleSide::kBelow, SampleSide::kWithin}) {
      if (side == SampleSide::kWithin && !border && options_.follows_sizes) {
        if (add_runs(part)) return {};
        take_part(part);
      }
      const Status done = try_samples(side, other);
      if (done) return {};
      if (first_difference_.empty()) first_difference_ = done.error().message();
      const bool is_better = (has_samples_ && !had_samples) || !had_lowered;
      if (!error || (is_better && side != SampleSide::kWithin)) error = done.error();
      had_lowered = has_lowered_;
      had_samples = had_samples || has_samples_;
      if (other) moduli_ = one_or_none(modulus_at(*other));
      if (!moduli_.empty()) return add_residues(part, std::vector(moduli_));
      if (!likely) likely = likely_;
      if (other && !border) border = border_at(*other);
    }
    if (border) return add_pieces(part, *border);
    if (likely) return add_residues(part, {*likely});
    if (const auto last = last_of_three()) return add_pieces(part, *last);
    return fail(*std::move(error));
  }

  // A number that is equal to the largest size by chance makes its model another one, and among
  // three sizes no border is found.
  std::optional<Border> last_of_three() const {
    for (std::size_t d = 0; d < own_.size(); ++d) {
      const std::int64_t more = own_[d].largest - own_[d].smallest;
      if (more == 1 || more == 2) return Border{d, own_[d].largest};
    }
    return std::nullopt;
  }

  Status add_pieces(std::vector<FreeDimension> part, const Border& border) {
    std::vector<FreeDimension> upper = part;
    const std::int64_t size = size_of(part[border.dimension], border.count);
    upper[border.dimension].smallest = size;
    part[border.dimension].largest = size - part[border.dimension].step;
    TFAOT_TRY(add_pieces(part));
    return add_pieces(upper);
  }

  static std::vector<Modulus> one_or_none(const std::optional<Modulus>& modulus) {
    return modulus ? std::vector{*modulus} : std::vector<Modulus>();
  }

  // A part for each remainder, by all of these.
  Status add_residues(const std::vector<FreeDimension>& part, std::vector<Modulus> moduli) {
    if (moduli.empty()) return add_pieces(part);
    const Modulus modulus = moduli.front();
    moduli.erase(moduli.begin());
    for (std::int64_t i = 0; i < modulus.number; ++i) {
      std::vector<FreeDimension> residue = part;
      FreeDimension& one = residue[modulus.dimension];
      one.smallest += i * one.step;
      one.step *= modulus.number;
      if (one.smallest > one.largest) break;
      one.largest -= (one.largest - one.smallest) % one.step;
      TFAOT_TRY(add_residues(residue, moduli));
    }
    return {};
  }

  // The model at the one size of the part.
  Status add_fixed() {
    const Result<LoweredModel> lowered = lower(default_sizes(own_));
    if (!lowered) return fail(with_sizes(lowered.error(), default_sizes(own_)));
    TFAOT_ASSIGN(OptimizedModel model,
                 optimized(*lowered, sizes_at(default_sizes(own_)), request_.choices));
    return add({part_, {}, 0, std::move(model)});
  }

  Status add(SizePiece piece) {
    constexpr std::size_t kMostPieces = 32;
    if (pieces_.size() == kMostPieces) {
      return fail(
          Error(fmt::format("the model computes otherwise in more than {} parts of the range of "
                            "its free dimensions",
                            kMostPieces))
              .note("of the whole range: " + first_difference_)
              .note("give a range in which it is the same model, or fixed sizes: "
                    "compilation.dimensions, model.dimensions"));
    }
    pieces_.push_back(std::move(piece));
    return {};
  }

  Status add_sized(bool has_all = false) {
    SizePiece piece{part_, samples_, bits_, {}, has_all, choices_.smallest_free_size};
    TFAOT_ASSIGN(piece.model, sized_model(piece));
    return add(std::move(piece));
  }

  // The last resort where one dimension varies: all sizes are samples, from the largest on as many
  // as have one form and whose numbers have rules. Error: there are too many such runs.
  Status add_runs(const std::vector<FreeDimension>& part) {
    constexpr std::int64_t kMostSizes = 256;
    constexpr std::ptrdiff_t kMostRuns = 12;
    std::vector<FreeDimension> range = part;
    const auto varies = [](const FreeDimension& one) { return one.smallest < one.largest; };
    if (std::ranges::count_if(part, varies) != 1) return fail(Error("several dimensions vary"));
    FreeDimension& run = *std::ranges::find_if(range, varies);
    const std::int64_t smallest = run.smallest;
    if ((run.largest - smallest) / run.step >= kMostSizes) return fail(Error("too many sizes"));
    const std::ptrdiff_t before = std::ssize(pieces_);
    Status done;
    for (; done && run.largest >= smallest; run.largest = run.smallest - run.step) {
      run.smallest = smallest;
      const bool may = std::ssize(pieces_) - before < kMostRuns;
      done = may ? add_last_run(range, run) : fail(Error("too many runs"));
    }
    if (!done) pieces_.erase(pieces_.begin() + before, pieces_.end());
    return done;
  }

  // `range` becomes that of the run. `varying`: of it.
  Status add_last_run(const std::vector<FreeDimension>& range, FreeDimension& varying) {
    take_part(range);
    samples_.clear();
    bits_ = 0;
    choices_.smallest_free_size = 1;
    Dimensions counts = default_sizes(own_);
    std::int64_t& count = counts[static_cast<std::size_t>(&varying - range.data())];
    const std::int64_t least = varying.smallest / varying.step;
    // Empty tensors are their own case.
    for (bool is_alike = true; is_alike && count >= least && (count > 0 || samples_.empty());
         --count) {
      TFAOT_ASSIGN(const auto model, model_at(counts));
      TFAOT_ASSIGN(is_alike, add_sample(counts, *model));
    }
    for (;; samples_.resize((samples_.size() + 1) / 2)) {
      varying.smallest = varying.largest - varying.step * (std::ssize(samples_) - 1);
      take_part(range);
      if (is_one_size()) return add_fixed();
      if (add_sized(/*has_all=*/true)) return {};
    }
  }

  Result<OptimizedModel> sized_model(const SizePiece& piece,
                                     std::vector<xla::Shape> outputs = {}) const {
    const std::vector<FreeDimension>& range = piece.range;
    const std::vector<FreeDimension> counts = counted(range);
    Dimensions smallest, widest;
    for (std::size_t d = 0; d < range.size(); ++d) {
      smallest.push_back(std::max<std::int64_t>(counts[d].smallest, 1));
      widest.push_back((whole_[d].largest - range[d].smallest % range[d].step) / range[d].step);
    }
    TFAOT_ASSIGN(OptimizedModel model,
                 with_free_sizes(piece.samples, default_sizes(counts),
                                 {.weights = request_.weights,
                                  .traces = request_.traces,
                                  .smallest = std::move(smallest),
                                  .widest = std::move(widest),
                                  .outputs = std::move(outputs),
                                  .names = mapped(counts, &FreeDimension::name),
                                  .bits = piece.bits,
                                  .has_all = piece.has_all}));
    for (auto* tensors : {&model.inputs, &model.outputs}) {
      for (TensorSpec& tensor : *tensors) {
        for (SizeFormula& size : tensor.free_shape) size = of_sizes(size, range);
      }
    }
    return model;
  }

  Dimensions sizes_at(Dimensions counts) const {
    for (std::size_t d = 0; d < counts.size(); ++d) counts[d] = size_of(part_[d], counts[d]);
    return counts;
  }

  // "n = 7, m = 3"
  std::string sizes_text(const Dimensions& counts) const {
    const Dimensions sizes = sizes_at(counts);
    std::vector<std::string> texts;
    for (std::size_t d = 0; d < part_.size(); ++d) {
      texts.push_back(fmt::format("{} = {}", part_[d].name, sizes[d]));
    }
    return join(texts, ", ");
  }

  Result<LoweredModel> lower(const Dimensions& counts) const {
    TFAOT_ASSIGN(const LoadedSizes loaded, load_at_sizes(request_.job, options_, sizes_at(counts)));
    const auto& weights = loaded.lowering->weights();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const bool is_same = weights.size() == request_.raw.size() &&
                           weights[i].name == request_.raw[i].name &&
                           weights[i].shape == request_.raw[i].shape;
      if (!is_same) {
        return fail(Error(fmt::format("the weight '{}' has another shape at {}", weights[i].name,
                                      sizes_text(counts))));
      }
    }
    return loaded.lowering->lower(request_.batch_size);
  }

  // Parts of the range, and what is asked of one, have sizes in common.
  Result<std::shared_ptr<ModelAtSizes>> model_at(const Dimensions& counts) {
    constexpr std::size_t kMostKept = 64;
    const Dimensions sizes = sizes_at(counts);
    if (const auto known = kept_.find(sizes); known != kept_.end()) return known->second;
    TFAOT_ASSIGN(LoweredModel lowered, lower(counts));
    TFAOT_ASSIGN(SharedModule simple, simplified(lowered));
    if (kept_.size() == kMostKept) kept_.clear();
    return kept_[sizes] = std::make_shared<ModelAtSizes>(
               ModelAtSizes{sizes, std::move(lowered), std::move(simple)});
  }

  // With its calls inlined and what depends on constants alone computed.
  Result<SharedModule> simplified(const LoweredModel& lowered) const {
    TFAOT_ASSIGN(Module module, make_module(lowered.computation.proto()));
    TFAOT_TRY(inline_calls(*module));  // no kernel is chosen by an operation's name
    PassContext context{*module, std::ssize(lowered.inputs), request_.choices, &request_.weights};
    TFAOT_TRY(run_passes(context, "simplify"));
    TFAOT_TRY(fold_constants(*module));
    return std::make_shared<const ReadModule>(std::move(module));
  }

  // With the form that it has in any batch.
  Result<OptimizedModel> optimized(const LoweredModel& lowered, const Dimensions& sizes,
                                   const Choices& choices) {
    if (!request_.found.has_form) {
      return optimize(lowered, request_.weights, choices, Traces::kNames);
    }
    std::shared_ptr<BatchForm>& form = request_.found.forms[sizes];
    if (form == nullptr) {
      const auto lower = [&job = request_.job, options = options_,
                          sizes](std::int64_t rows) -> Result<LoweredModel> {
        TFAOT_ASSIGN(const LoadedSizes loaded, load_at_sizes(job, options, sizes));
        return loaded.lowering->lower(rows);
      };
      form = std::make_shared<BatchForm>(lower, lowered, choices, request_.weights, like_);
    }
    if (like_ == nullptr) like_ = form;
    return optimize(lowered, request_.weights, choices, Traces::kNames, {}, form.get());
  }

  // By the choices of the samples.
  Result<SharedModule> optimized(ModelAtSizes& model) {
    if (model.module && model.smallest_free_size == choices_.smallest_free_size) {
      return model.module;
    }
    TFAOT_ASSIGN(OptimizedModel made, optimized(model.lowered, model.sizes, choices_));
    TFAOT_ASSIGN(Module module, make_module(made.computation.proto()));
    model.optimized = std::make_shared<const OptimizedModel>(std::move(made));
    model.smallest_free_size = choices_.smallest_free_size;
    return model.module = std::make_shared<const ReadModule>(std::move(module));
  }

  // Adds the piece, or says where the model is `other` than that of the samples.
  Status try_samples(SampleSide range, std::optional<OtherModel>& other) {
    other.reset();
    TFAOT_TRY(take_samples(range));
    TFAOT_ASSIGN(other, check_range());
    if (other) {
      return fail(Error(fmt::format("at {} the model computes otherwise than at other sizes: {}",
                                    sizes_text(other->sizes), other->what))
                      .note("give ranges in which it is the same model, or fixed sizes: "
                            "compilation.dimensions, model.dimensions"));
    }
    return add_sized();
  }

  // More bits of the sizes, and so more samples, if strides make numbers that follow them. Forms of
  // the optimised models tell, too, but optimising takes long: `optimizes` says to do so at all
  // sizes, not at those of the samples alone.
  Status take_samples(SampleSide range, int bits = 0, bool optimizes = false) {
    std::size_t wanted = points_to_fit(own_.size(), bits);
    const std::vector<Dimensions> points = sample_sizes(own_, range, 3 * wanted, bits);
    if (range == SampleSide::kWithin) wanted = std::min(wanted, points.size());
    if (!points.empty()) choices_.smallest_free_size = smallest_of(points);
    bits_ = bits;
    like_ = nullptr;
    forget_samples();
    moduli_.clear();
    likely_.reset();
    has_lowered_ = false;
    std::vector<Tried> tried;
    std::string difference = "there are too few sizes to tell";
    bool& has_others = has_other_forms_ = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Dimensions& sizes = points[i];
      const auto made = model_at(sizes);
      has_lowered_ = made.has_value();
      if (!made) {
        const bool is_beyond = range == SampleSide::kAbove;
        return fail(is_beyond ? made.error() : with_sizes(made.error(), sizes));
      }
      if (i == 0) {
        TFAOT_ASSIGN(compared_, compared_numbers((*made)->lowered));
      }
      if (optimizes) {
        TFAOT_TRY(optimized(**made));
      }
      Tried one{sizes, *made, tried.size()};
      const auto is_alike = [&, ignored = std::string()](const Tried& other) mutable {
        return have_same_forms(other, one, optimizes, ignored);
      };
      const auto alike = std::ranges::find_if(tried, is_alike);
      if (alike != tried.end()) one.form = alike->form;
      tried.push_back(std::move(one));
      const bool may_restart = range == SampleSide::kBelow && alike_.size() == 1;
      const bool is_another =
          !alike_.empty() && !have_same_forms(alike_.front(), tried.back(), optimizes, difference);
      if (is_another && may_restart) {
        // The largest sizes may be equal to some number by chance.
        forget_samples();
      } else if (is_another) {
        has_others = true;
        const bool is_lost = bits == 0 && alike_.size() + points.size() - i <= wanted;
        if (is_lost || (bits > 0 && parity_of_forms(tried).is_sure)) break;
        continue;
      }
      simplified_.add(sizes, (*made)->simple);
      alike_.push_back(tried.back());
      has_samples_ = alike_.size() == wanted;
      if (has_samples_) break;
    }
    const bool is_within = range == SampleSide::kWithin;
    const bool is_all = bits == 0 || have_all_parities(tried);
    if (has_samples_ && (is_within || (is_all && simplified_.have_rules()))) {
      TFAOT_ASSIGN(const bool are_of_one_form, optimize_samples());
      if (!are_of_one_form) return take_samples(range, bits, true);
      if (is_within || optimized_.have_constants()) return {};
    }
    if (bits > 0 && has_others) {
      const Parity parity = parity_of_forms(tried);
      moduli_ = parity.certain;
      likely_ = parity.likely;
      if (moduli_.empty() && has_samples_ && !have_all_parities(tried)) {
        moduli_ = one_or_none(likely_);
      }
    }
    // Forms of even and odd sizes tell, and numbers may follow more bits.
    const bool may_tell = has_samples_ || (bits == 0 && has_others);
    if (moduli_.empty() && may_tell && bits < SizePolynomial::kMostBits && !is_within) {
      return take_samples(range, bits + 1);
    }
    if (has_samples_ && moduli_.empty() && (!has_others || simplified_.have_rules())) {
      TFAOT_ASSIGN(const bool are_of_one_form, optimize_samples());
      if (!are_of_one_form) return take_samples(range, bits, true);
      moduli_ = one_or_none(modulus_of_numbers());
      TFAOT_TRY(sized_model({part_, samples_, bits, {}}));  // says which number has no rule
      return {};
    }
    return fail(
        Error("the model has other operations at other sizes of its free dimensions: " + difference)
            .note("give these dimensions fixed sizes: model.dimensions"));
  }

  // The samples, optimised. False: they have several forms. What strides leave of a free size may
  // be smaller than that.
  Result<bool> optimize_samples() {
    const std::int64_t smallest = choices_.smallest_free_size;
    for (const std::int64_t strides : {1, 8, 64}) {
      choices_.smallest_free_size = std::max<std::int64_t>(smallest / strides, 1);
      TFAOT_ASSIGN(const bool are_of_one_form, optimize_alike());
      if (are_of_one_form) return true;
    }
    choices_.smallest_free_size = smallest;
    return false;
  }

  Result<bool> optimize_alike() {
    samples_.clear();
    optimized_ = SampledNumbers(bits_);
    for (const Tried& one : alike_) {
      TFAOT_ASSIGN(const bool is_alike, add_sample(one.counts, *one.model));
      if (!is_alike) return false;
      optimized_.add(one.counts, samples_.back().module);
    }
    return true;
  }

  // Adds the optimised model at these counts. False: it has another form than the samples.
  Result<bool> add_sample(const Dimensions& counts, ModelAtSizes& model) {
    TFAOT_ASSIGN(const SharedModule module, optimized(model));
    std::string ignored;
    const bool is_alike =
        samples_.empty() || have_same_form(*samples_.front().module, *module, ignored);
    if (is_alike) samples_.push_back({counts, model.optimized, module});
    return is_alike;
  }

  // Whether the samples have odd and even counts as all that were tried. Where both counts are
  // even, say, a U-Net pads nothing: what follows a product of bits is not known there.
  bool have_all_parities(const std::vector<Tried>& tried) const {
    const auto are_alike = [](const Dimensions& a, const Dimensions& b) {
      return std::ranges::equal(
          a, b, [](std::int64_t one, std::int64_t other) { return (one - other) % 2 == 0; });
    };
    return std::ranges::all_of(tried, [&](const Tried& one) {
      return std::ranges::any_of(
          alike_, [&](const Tried& sample) { return are_alike(one.counts, sample.counts); });
    });
  }

  // The dimensions whose odd and even counts have no form in common, and then those of which every
  // second one of these has another form, too; and the one, if there are none, that has the most
  // different ones.
  struct Parity {
    std::vector<Modulus> certain;
    std::optional<Modulus> likely;
    bool is_sure = false;  // enough models of the same form were compared
  };
  Parity parity_of_forms(const std::vector<Tried>& tried) const {
    constexpr std::size_t kEnough = 24;
    std::vector<std::int64_t> differ(own_.size());  // more pairs of other parity than of the same
    std::vector<std::int64_t> common(own_.size(), 4);  // divisor of what is between the same forms
    std::size_t same = 0;
    for (std::size_t i = 0; i < tried.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const bool is_same = tried[i].form == tried[k].form;
        if (is_same) ++same;
        for (std::size_t d = 0; d < own_.size(); ++d) {
          const std::int64_t between = tried[i].counts[d] - tried[k].counts[d];
          if (is_same) common[d] = std::gcd(common[d], between);
          if (!is_same) differ[d] += between % 2 != 0 ? 1 : -1;
        }
      }
    }
    Parity parity;
    if (same == 0) return parity;
    for (const std::int64_t number : {2, 4}) {
      for (std::size_t d = 0; d < own_.size(); ++d) {
        const bool is_one = own_[d].smallest < own_[d].largest && common[d] % number == 0 &&
                            within_most_steps({d, number});
        if (is_one && (parity.certain.empty() || same >= kEnough)) parity.certain.push_back({d, 2});
      }
    }
    parity.is_sure = same >= kEnough && !parity.certain.empty();
    const auto most = std::ranges::max_element(differ) - differ.begin();
    parity.likely = parity.certain.empty() ? within_most_steps({static_cast<std::size_t>(most), 2})
                                           : parity.certain.front();
    return parity;
  }

  // Of a number that follows no polynomial.
  std::optional<Modulus> modulus_of_numbers() {
    const auto found = simplified_.step_of_numbers();
    if (!found) return std::nullopt;
    return within_most_steps({found->dimension, found->step});
  }

  // Whether odd and even counts are different, or every third one is.
  std::optional<Modulus> modulus_at(const OtherModel& other) {
    const std::size_t d = other.dimension;
    const auto is_other_at = [&](std::int64_t count) {
      Dimensions counts = other.sizes;
      counts[d] = count;
      const auto difference = difference_at(counts);
      return difference && !difference->empty();
    };
    const std::int64_t from = other.sizes[d];
    for (const std::int64_t step : {2, 3}) {
      const std::int64_t sign = from + step <= own_[d].largest ? 1 : -1;
      if (from + sign * step < own_[d].smallest) continue;
      bool is_it = is_other_at(from + sign * step);
      for (std::int64_t i = 1; is_it && i < step; ++i) is_it = !is_other_at(from + sign * i);
      if (is_it) return within_most_steps({d, step});
    }
    return std::nullopt;
  }

  std::optional<Modulus> within_most_steps(const Modulus& modulus) const {
    constexpr std::int64_t kMostSteps = 32;
    if (part_[modulus.dimension].step * modulus.number > kMostSteps) return std::nullopt;
    return modulus;
  }

  void forget_samples() {
    alike_.clear();
    has_samples_ = false;
    simplified_ = SampledNumbers(bits_);
  }

  // Of the sizes that vary.
  std::int64_t smallest_of(const std::vector<Dimensions>& points) const {
    std::int64_t smallest = kLargestSize;
    for (const Dimensions& sizes : points) {
      for (std::size_t d = 0; d < own_.size(); ++d) {
        if (own_[d].smallest < own_[d].largest) smallest = std::min(smallest, sizes[d]);
      }
    }
    return smallest;
  }

  // From the model that the samples say; empty: none. Some operations are others at small sizes, as
  // a reshape in place of a broadcast: then what they compute is compared.
  Result<std::string> difference_at(const Dimensions& sizes) {
    TFAOT_ASSIGN(const auto model, model_at(sizes));
    const SampledNumbers::Difference found = simplified_.difference(sizes, *model->simple);
    if (!found.is_form) return found.what;
    const auto made = simplified_.module_at(sizes);
    if (!made) return fmt::format("{} ({})", found.what, made.error().message());
    const std::int64_t inputs = std::ssize(model->lowered.inputs);
    std::string difference = difference_of_values(
        *model->simple->module, **made, inputs, [&](const HloInstruction& weight) {
          return request_.weights.value(
              static_cast<std::size_t>(weight.parameter_number() - inputs));
        });
    return difference.empty() ? difference : fmt::format("{} ({})", found.what, difference);
  }

  static constexpr std::int64_t kNotTiny = 5;  // where a size is equal to no other number by chance

  // At the ends of the range and in its middle, at odd and even sizes.
  Result<std::optional<OtherModel>> check_range() {
    // Not two of one size: what is equal by chance becomes one operation.
    Dimensions smallest;
    Dimensions largest;
    for (const FreeDimension& one : own_) {
      std::int64_t low = one.smallest;
      while (place_among(smallest, low) >= 0 && low < one.largest) ++low;
      smallest.push_back(low);
      std::int64_t high = one.largest;
      while (place_among(largest, high) >= 0 && high > one.smallest) --high;
      largest.push_back(high);
    }
    std::vector<std::pair<Dimensions, std::size_t>> points;  // and the dimension in question
    for (std::size_t d = 0; d < own_.size(); ++d) {
      Dimensions sizes = largest;
      const std::int64_t low = own_[d].smallest;
      const std::int64_t high = own_[d].largest;
      const std::int64_t middle = low + (high - low) / 3;
      std::set<std::int64_t> checked = {low,        low + 1,    middle,   middle + 1,
                                        middle + 2, middle + 3, high - 1, high};
      checked.insert({3, 4, 5, 8, 11, 16});  // small, but not tiny
      for (const std::int64_t number : compared_) {
        // What is special may lie beside it.
        for (const std::int64_t size : {number - 1, number, number + 1}) {
          if (const auto count = count_of(part_[d], size)) checked.insert(*count);
        }
      }
      for (const std::int64_t size : checked) {
        if (size < low || size > high) continue;
        sizes[d] = size;
        if (std::ranges::count(sizes, size) == 1) points.emplace_back(sizes, d);
      }
    }
    for (Dimensions& sizes : parities()) points.emplace_back(std::move(sizes), 0);
    // After them: a border of one dimension is found along it.
    points.emplace_back(std::move(smallest), 0);
    for (const auto& [sizes, dimension] : points) {
      TFAOT_ASSIGN(auto other, check_at(sizes, dimension));
      if (other) return other;
    }
    TFAOT_ASSIGN(auto other, check_equal_sizes(largest));
    if (other) return other;
    return check_optimized(largest);
  }

  // A model may compare two sizes, and all points of other checks have different ones. What is
  // equal by chance becomes one operation there, so values decide.
  Result<std::optional<OtherModel>> check_equal_sizes(const Dimensions& largest) {
    for (std::size_t d = 0; d < own_.size(); ++d) {
      for (std::size_t e = 0; e < own_.size(); ++e) {
        const bool is_one = own_[d].smallest == own_[d].largest;
        if (d == e || own_[e].smallest == own_[e].largest || (!is_one && d > e)) continue;
        const std::int64_t least = std::max(size_of(part_[d], own_[d].smallest), kNotTiny);
        for (const std::int64_t count : {own_[d].smallest, least / part_[d].step + 1}) {
          const auto same = count_of(part_[e], size_of(part_[d], count));
          if (count > own_[d].largest || !same || *same < own_[e].smallest ||
              *same > own_[e].largest) {
            continue;
          }
          Dimensions sizes = largest;
          sizes[d] = count;
          sizes[e] = *same;
          TFAOT_ASSIGN(auto other, check_at(sizes, e));
          if (!other) continue;
          if (is_one) return other;
          return fail(
              Error(fmt::format("where {} and {} are equal, the model computes otherwise: {}",
                                whole_[d].name, whole_[e].name, other->what))
                  .note("give one of them a fixed size, or both the same range if they are "
                        "always equal: " +
                        fmt::format("{}: {}", whole_[e].name, whole_[d].name)));
        }
      }
    }
    return std::optional<OtherModel>();
  }

  // Odd and even sizes of each dimension beside those of all others, if the model tells them apart.
  std::vector<Dimensions> parities() const {
    constexpr std::size_t kMostDimensions = 4;
    const bool tells =
        own_.size() > 1 && own_.size() <= kMostDimensions && (bits_ > 0 || has_other_forms_);
    std::vector<Dimensions> points;
    for (std::size_t odd = 0; tells && odd < std::size_t{1} << own_.size(); ++odd) {
      Dimensions& point = points.emplace_back();
      for (std::size_t d = 0; d < own_.size(); ++d) {
        const FreeDimension& one = own_[d];
        std::int64_t size = one.smallest + (one.largest - one.smallest) / 3;
        while (size % 2 != static_cast<std::int64_t>(odd >> d & 1) || place_among(point, size) >= 0)
          ++size;
        point.push_back(std::min(size, one.largest));
      }
    }
    return points;
  }

  // The optimizer, too, computes tables, whose elements may stop to follow the sizes.
  Result<std::optional<OtherModel>> check_optimized(const Dimensions& sizes) {
    TFAOT_ASSIGN(const auto model, model_at(sizes));
    TFAOT_ASSIGN(const SharedModule module, optimized(*model));
    const SampledNumbers::Difference found = optimized_.difference(sizes, *module);
    if (found.is_form || found.what.empty()) return std::optional<OtherModel>();
    return OtherModel{sizes, 0, found.what};
  }

  Error with_sizes(Error error, const Dimensions& sizes) const {
    return std::move(error).note(
        fmt::format("this is at {}, which compilation.dimensions allow", sizes_text(sizes)));
  }

  // Says from where on the model can be lowered, such as the k of a TopK: also where the other
  // dimensions are smallest or largest.
  Error with_smallest(Error error, const Dimensions& sizes, std::size_t dimension) const {
    const std::int64_t impossible = sizes[dimension];
    std::int64_t smallest = impossible;
    for (Dimensions others : {sizes, mapped(own_, &FreeDimension::smallest), default_sizes(own_)}) {
      const auto is_possible = [&](std::int64_t size) {
        others[dimension] = size;
        return lower(others).has_value();
      };
      if (is_possible(smallest)) continue;
      if (!is_possible(own_[dimension].largest)) return error;
      smallest = last_like(own_[dimension].largest, smallest, is_possible);
    }
    if (smallest == impossible) return error;
    const FreeDimension& whole = whole_[dimension];
    // The next size may be one of another part.
    return std::move(error).note(fmt::format("the smallest size that works is {0}: {1}={0}..{2}",
                                             size_of(part_[dimension], smallest - 1) + 1,
                                             whole.name, whole.largest));
  }

  // The last size from one that is so towards another one that is not.
  template <typename Is>
  static std::int64_t last_like(std::int64_t same, std::int64_t other, const Is& is_same) {
    while (std::abs(same - other) > 1) {
      const std::int64_t middle = (same + other) / 2;
      (is_same(middle) ? same : other) = middle;
    }
    return same;
  }

  // `dimension`: the one of the size in question.
  Result<std::optional<OtherModel>> check_at(const Dimensions& sizes, std::size_t dimension) {
    auto difference = difference_at(sizes);
    if (!difference) {
      return fail(with_smallest(with_sizes(difference.error(), sizes), sizes, dimension));
    }
    if (difference->empty()) return std::optional<OtherModel>();
    return OtherModel{sizes, dimension, *std::move(difference)};
  }

  // Between the other model and the samples' one: along the dimension that makes it another one,
  // or along any.
  std::optional<Border> border_at(const OtherModel& other) {
    auto border = border_along(other.dimension, other.sizes);
    for (std::size_t d = 0; d < own_.size() && !border; ++d) border = border_along(d, other.sizes);
    return border;
  }

  std::optional<Border> border_along(std::size_t dimension, Dimensions point) {
    const std::int64_t outside = point[dimension];
    const auto is_same_at = [&](std::int64_t size) {
      point[dimension] = size;
      const auto difference = difference_at(point);
      return difference && difference->empty();
    };
    for (const std::int64_t same : {own_[dimension].largest, own_[dimension].smallest}) {
      if (same == outside || !is_same_at(same)) continue;
      const std::int64_t last = last_like(same, outside, is_same_at);
      return Border{dimension, last < outside ? last + 1 : last};
    }
    return std::nullopt;
  }

  const FreeSizesRequest& request_;
  const std::vector<FreeDimension> whole_;  // the range
  std::vector<FreeDimension> part_;         // the part of it in question
  std::vector<FreeDimension> own_;          // the same, counted by steps, as samples are
  std::set<std::int64_t> compared_;         // numbers in the model that sizes may be compared with
  bool has_lowered_ = false;                // at the last size that was tried
  std::optional<Modulus> likely_;           // of the samples: what may make them different models
  std::vector<Modulus> moduli_;             // of the samples: where they are of different models
  std::vector<SizePiece> pieces_;
  std::string first_difference_;  // between sizes of the whole range
  std::map<Dimensions, std::shared_ptr<ModelAtSizes>> kept_;
  LoweringOptions options_;
  Choices choices_;                  // of the samples
  std::vector<Tried> alike_;         // the samples
  std::vector<SizeSample> samples_;  // the same, optimised
  std::shared_ptr<BatchForm> like_;  // of the first of them
  bool has_samples_ = false;         // enough of one form
  bool has_other_forms_ = false;     // at sizes between those of the samples
  int bits_ = 0;                     // of the sizes, that numbers of the samples may follow
  SampledNumbers simplified_;        // of the samples
  SampledNumbers optimized_;         // of the same
};

}  // namespace

JobModel at_sizes(const JobModel& job, const Dimensions& sizes) {
  JobModel model = job;
  for (DimensionSize& size : named_sizes(job.free_dimensions, sizes)) {
    model.dimensions.push_back(std::move(size));
  }
  return model;
}

Result<LoadedSizes> load_at_sizes(const JobModel& job, const LoweringOptions& options,
                                  const Dimensions& sizes) {
  LoadedSizes loaded;
  TFAOT_ASSIGN(loaded.model, load_model(at_sizes(job, sizes)));
  TFAOT_TRY(loaded.model->prepare());
  TFAOT_ASSIGN(auto lowering, loaded.model->lowering(options));
  loaded.lowering = with_frozen_rows(std::move(lowering));
  return loaded;
}

Result<OptimizedModel> optimize_for_free_sizes(const FreeSizesRequest& request) {
  return FreeSizesOptimizer(request).run();
}

}  // namespace tfaot::toolkit::engine
