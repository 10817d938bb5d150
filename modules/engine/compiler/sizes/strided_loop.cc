// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/strided_loop.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/kernels/kernel_call.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr auto kLess = xla::ComparisonDirection::kLt;

// Elements that are computed at once: some turns of the last loop, or all of it for some turns of
// the one before.
struct Block {
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  std::int64_t elements() const { return rows * columns; }
};

template <typename Loop, typename Visit>
void for_each_place(Loop& loop, Visit visit) {
  for (auto& value : loop.values) {
    if (value.operation == nullptr) visit(value.place);
  }
  visit(loop.place);
}

bool are_all_places(const StridedLoop& loop, const std::function<bool(const Place&)>& is) {
  bool all = true;
  for_each_place(loop, [&](const Place& place) { all = all && is(place); });
  return all;
}

// Without loops of one turn, and with two as one where all places go on evenly.
StridedLoop merged(StridedLoop loop) {
  for (std::size_t i = loop.sizes.size(); i-- > 0;) {
    const bool is_one = loop.sizes[i].constant() == 1;
    const bool is_cut = std::ranges::any_of(loop.values, [&](const LoopValue& value) {
      return value.is_whole && value.place.strides[i] != SizePolynomial(0);
    });
    const bool goes_on =
        !is_cut && i + 1 < loop.sizes.size() && are_all_places(loop, [&](const Place& place) {
          return place.strides[i] == loop.sizes[i + 1] * place.strides[i + 1];
        });
    if (!is_one && !goes_on) continue;
    if (!is_one) loop.sizes[i + 1] = loop.sizes[i] * loop.sizes[i + 1];
    const auto at = static_cast<std::ptrdiff_t>(i);
    loop.sizes.erase(loop.sizes.begin() + at);
    for_each_place(loop, [&](Place& place) { place.strides.erase(place.strides.begin() + at); });
  }
  return loop;
}

bool is_dense(const SizePolynomial& stride) {
  return stride == SizePolynomial(0) || stride == SizePolynomial(1);
}

class BlockLoop {
 public:
  BlockLoop(StridedLoop loop, Instructions results, SizeNumbers& numbers)
      : loop_(std::move(loop)),
        numbers_(numbers),
        results_(results.size()),
        start_(std::move(results)) {
    if (loop_.combine_all == nullptr) choose_block();
  }

  Instructions add() {
    // The turns of each loop, and the elements that are left in the last block.
    std::vector<HloInstruction*> turns;
    for (std::size_t i = 0; i < loops(); ++i) turns.push_back(outside_turns(i));
    if (turns.empty()) {
      inside_ = [](HloInstruction* outside) { return outside; };
      return with_block({});
    }
    const Instructions begun = start_;
    HloInstruction* const result = begun.front();
    HloInstruction* any = number_next_to(result, 1);
    for (std::size_t i = 1; i < turns.size(); ++i) any = binary(kMinimum, any, turns[i]);
    turns[0] = binary(kMultiply, turns[0], any);  // none, if another loop has none
    for (std::size_t i = 0; i < loops(); ++i) start_.push_back(number_next_to(result, 0));
    for (HloInstruction*& count : turns) count = added(count);
    collect();
    auto& module = *result->GetModule();
    HloInstruction* const state = tuple_of(start_);
    xla::HloComputation* const body = module.AddEmbeddedComputation(body_of(state->shape(), turns));
    xla::HloComputation* const condition =
        module.AddEmbeddedComputation(condition_of(state->shape(), turns.front()));
    HloInstruction* const loop =
        add_next_to(state, HloInstruction::CreateWhile(state->shape(), condition, body, state));
    Instructions results;
    for (std::size_t i = 0; i < results_; ++i) {
      results.push_back(
          reshape(element_of(loop, static_cast<std::int64_t>(i)), {elements_of(*begun[i])}));
    }
    return results;
  }

 private:
  std::int64_t first_counter() const { return static_cast<std::int64_t>(results_); }
  std::size_t loops() const { return loop_.sizes.size() - whole_; }

  // Sets `block_`, `chunk_` and `whole_`.
  void choose_block() {
    if (loop_.sizes.empty()) return;
    constexpr std::int64_t kMostRows = 16;
    const std::size_t last = loop_.sizes.size() - 1;
    const auto size = loop_.sizes[last].constant();
    const bool is_dense_block =
        loop_.place.strides[last] == SizePolynomial(1) && are_dense_along(last);
    if (!is_dense_block || is_placed_along(last)) return;
    if (!size || *size > kBlockElements) {
      if (ends_along(last)) return;
      block_.columns = last == 0 ? 64 : 16;
      chunk_ = block_.columns;
      return;
    }
    block_.columns = *size;
    whole_ = 1;
    if (last == 0 || loop_.combine != nullptr || loop_.keeps_others ||
        !loop_.value_places.empty() || is_placed_along(last - 1) || ends_along(last - 1) ||
        !have_even_rows(last - 1, *size)) {
      return;
    }
    block_.rows = std::clamp<std::int64_t>(kBlockElements / *size, 1, kMostRows);
    chunk_ = block_.rows;
    if (block_.rows > 1) count_rows(*size);
  }

  // The places that values say change in the turns of this loop.
  bool is_placed_along(std::size_t loop) const {
    const auto is_placed = [&](const std::vector<ValuePlace>& places) {
      return std::ranges::any_of(
          places, [&](const ValuePlace& place) { return changes(place.value, loop); });
    };
    return is_placed(loop_.value_places) ||
           std::ranges::any_of(
               loop_.values, [&](const LoopValue& value) { return is_placed(value.value_places); });
  }
  bool changes(std::size_t place, std::size_t loop) const {
    const LoopValue& value = loop_.values[place];
    if (value.operation == nullptr && value.place.strides[loop] != SizePolynomial(0)) return true;
    return std::ranges::any_of(value.operands,
                               [&](std::size_t operand) { return changes(operand, loop); });
  }

  // A vector that is read in the turns of this loop has nothing beyond.
  bool ends_along(std::size_t loop) const {
    return std::ranges::any_of(loop_.values, [&](const LoopValue& value) {
      return value.is_whole && value.place.strides[loop] != SizePolynomial(0);
    });
  }

  bool are_dense_along(std::size_t loop) const {
    return std::ranges::all_of(loop_.values, [&](const LoopValue& value) {
      return value.tensor == nullptr || is_dense(value.place.strides[loop]);
    });
  }

  // Rows of a block lie one after another, or are one row or one column.
  bool have_even_rows(std::size_t rows, std::int64_t columns) const {
    if (loop_.place.strides[rows] != SizePolynomial(columns) ||
        elements_of(*start_.front()) % columns != 0 || !loop_.place.offset.divided_by(columns)) {
      return false;
    }
    for (std::size_t i = 0; i <= rows; ++i) {
      if (!loop_.place.strides[i].divided_by(columns)) return false;
    }
    return std::ranges::all_of(loop_.values, [&](const LoopValue& value) {
      if (value.operation != nullptr || value.tensor == nullptr) return true;
      const bool has_columns = value.place.strides[rows + 1] == SizePolynomial(1);
      const SizePolynomial& stride = value.place.strides[rows];
      return stride == SizePolynomial(0) || stride == SizePolynomial(has_columns ? columns : 1);
    });
  }

  // From now on the result has rows of so many columns, and its place is that of a row. A block
  // that is written to a vector would have the row and column of each element computed.
  void count_rows(std::int64_t columns) {
    HloInstruction*& result = start_.front();
    result = reshape(result, {elements_of(*result) / columns, columns});
    loop_.place.offset = *loop_.place.offset.divided_by(columns);
    for (std::size_t i = 0; i < loops(); ++i) {
      loop_.place.strides[i] = *loop_.place.strides[i].divided_by(columns);
    }
  }

  HloInstruction* outside_turns(std::size_t loop) {
    HloInstruction* const size = numbers_.scalar(loop_.sizes[loop]);
    if (loop + 1 != loops() || chunk_ == 1) return size;
    HloInstruction* const up = binary(kAdd, size, number_next_to(size, chunk_ - 1));
    return binary(kDivide, up, number_next_to(size, chunk_));
  }

  // Puts an instruction into the state, and returns it.
  HloInstruction* added(HloInstruction* outside) {
    if (std::ranges::find(start_, outside) == start_.end()) start_.push_back(outside);
    return outside;
  }

  void collect() {
    const auto collect_number = [this](const SizePolynomial& number) {
      if (!number.constant()) added(numbers_.scalar(number));
    };
    for (const LoopValue& value : loop_.values) {
      if (value.tensor != nullptr) added(value.tensor);
    }
    for_each_place(loop_, [&](const Place& place) {
      collect_number(place.offset);
      for (std::size_t i = 0; i < loops(); ++i) collect_number(step(place, i));
      for (const SizePolynomial& stride : block_strides(place)) collect_number(stride);
    });
    const auto collect_places = [&](const std::vector<ValuePlace>& places) {
      for (const ValuePlace& place : places) {
        collect_number(place.stride);
        collect_number(place.most);
      }
    };
    for (const LoopValue& value : loop_.values) collect_places(value.value_places);
    collect_places(loop_.value_places);
    collect_number(elements_of_last());
  }

  std::unique_ptr<xla::HloComputation> condition_of(const xla::Shape& state,
                                                    HloInstruction* turns) {
    xla::HloComputation::Builder builder("has_turn");
    HloInstruction* const all =
        builder.AddInstruction(HloInstruction::CreateParameter(0, state, "state"));
    const auto element = [&](std::int64_t which) {
      return builder.AddInstruction(HloInstruction::CreateGetTupleElement(all, which));
    };
    builder.AddInstruction(HloInstruction::CreateCompare(
        shape_of(xla::PRED, {}), element(first_counter()), element(place_of(turns)), kLess));
    return builder.Build();
  }

  std::int64_t place_of(const HloInstruction* outside) const {
    return std::ranges::find(start_, outside) - start_.begin();
  }

  std::unique_ptr<xla::HloComputation> body_of(const xla::Shape& state,
                                               const std::vector<HloInstruction*>& turns) {
    xla::HloComputation::Builder builder("turn");
    HloInstruction* const all =
        builder.AddInstruction(HloInstruction::CreateParameter(0, state, "state"));
    auto computation = builder.Build();
    inside_ = [this, all](HloInstruction* outside) { return element_of(all, place_of(outside)); };
    Instructions counters;
    for (std::size_t i = 0; i < loops(); ++i) {
      counters.push_back(element_of(all, first_counter() + static_cast<std::int64_t>(i)));
    }
    Instructions next;
    for (std::size_t i = 0; i < start_.size(); ++i) {
      next.push_back(element_of(all, static_cast<std::int64_t>(i)));
    }
    std::ranges::copy(with_block(counters), next.begin());
    HloInstruction* carry = number_next_to(all, 1);
    for (std::size_t i = loops(); i-- > 0;) {
      HloInstruction* const more = binary(kAdd, counters[i], carry);
      if (i == 0) {
        next[results_] = more;
        break;
      }
      HloInstruction* const is_within = compare(more, kLess, inside_(turns[i]));
      next[results_ + i] = select(is_within, more, number_next_to(all, 0));
      carry = select(is_within, number_next_to(all, 0), number_next_to(all, 1));
    }
    computation->set_root_instruction(tuple_of(next), /*accept_different_shape=*/true);
    return computation;
  }

  // A number of the turn. `like` is of the computation that is built.
  HloInstruction* number(const SizePolynomial& number, HloInstruction* like) {
    if (const auto known = number.constant()) return number_next_to(like, *known);
    return inside_(numbers_.scalar(number));
  }

  HloInstruction* position(const Place& place, const Instructions& counters, HloInstruction* like) {
    HloInstruction* sum = number(place.offset, like);
    for (std::size_t i = 0; i < counters.size(); ++i) {
      if (place.strides[i] == SizePolynomial(0)) continue;
      HloInstruction* const further = number(step(place, i), like);
      sum = binary(kAdd, sum, binary(kMultiply, counters[i], further));
    }
    return sum;
  }

  // From one turn of a loop to the next.
  SizePolynomial step(const Place& place, std::size_t loop) const {
    return place.strides[loop] * SizePolynomial(loop + 1 == loops() ? chunk_ : 1);
  }
  // Of the result, in all turns of the last loop.
  SizePolynomial elements_of_last() const {
    return loop_.sizes[loops() - 1] * SizePolynomial(block_.elements() / chunk_);
  }

  Dimensions block_sizes() const { return {block_.rows, block_.columns}; }

  // Strides of the block's rows and columns.
  std::array<SizePolynomial, 2> block_strides(const Place& place) const {
    const std::size_t count = place.strides.size();
    if (block_.elements() == 1 && whole_ == 0) return {};
    if (whole_ == 0) return {SizePolynomial(0), place.strides[count - 1]};
    return {count > 1 && block_.rows > 1 ? place.strides[count - 2] : SizePolynomial(0),
            place.strides[count - 1]};
  }

  // The value in this turn, as a whole number.
  static HloInstruction* scalar_of(HloInstruction* value) {
    HloInstruction* const first = reshape(slice(value, {0, 0}, {1, 1}), {});
    return type_of(*first) == xla::S64 ? first : convert(first, xla::S64);
  }

  // Adds what the values say; values beyond count as the nearest.
  HloInstruction* position_by(HloInstruction* position, const std::vector<ValuePlace>& places,
                              const Instructions& values) {
    for (const ValuePlace& place : places) {
      HloInstruction* const value =
          clamp(number_next_to(position, 0), scalar_of(values[place.value]),
                number(place.most, position));
      position = binary(kAdd, position, binary(kMultiply, value, number(place.stride, position)));
    }
    return position;
  }

  // True if no value is beyond; null: there are no values.
  HloInstruction* are_within(const std::vector<ValuePlace>& places, const Instructions& values) {
    HloInstruction* all = nullptr;
    for (const ValuePlace& place : places) {
      HloInstruction* const value = scalar_of(values[place.value]);
      HloInstruction* const near =
          clamp(number_next_to(value, 0), value, number(place.most, value));
      all = accumulate(kAnd, all, compare(near, xla::ComparisonDirection::kEq, value));
    }
    return all;
  }

  static HloInstruction* read(HloInstruction* tensor, HloInstruction* start, std::int64_t count) {
    return add_next_to(start, HloInstruction::CreateDynamicSlice(
                                  shape_of(type_of(*tensor), {count}), tensor, {start}, {count}));
  }

  HloInstruction* element(const LoopValue& value, const Instructions& counters,
                          const Instructions& values) {
    HloInstruction* const tensor = inside_(value.tensor);
    HloInstruction* const start =
        position_by(position(value.place, counters, tensor), value.value_places, values);
    const auto [rows, columns] = block_strides(value.place);
    const bool has_rows = rows != SizePolynomial(0) && block_.rows > 1;
    const bool has_columns = columns != SizePolynomial(0) && block_.columns > 1;
    const std::int64_t count = (has_rows ? block_.rows : 1) * (has_columns ? block_.columns : 1);
    HloInstruction* const elements = read(tensor, start, count);
    if (has_rows && has_columns) return reshape(elements, block_sizes());
    if (has_rows) return broadcast(elements, block_sizes(), {0});
    if (has_columns) return broadcast(elements, block_sizes(), {1});
    return broadcast(reshape(elements, {}), block_sizes(), {});
  }

  HloInstruction* counted(const LoopValue& value, const Instructions& counters,
                          HloInstruction* like) {
    HloInstruction* sum = broadcast(position(value.place, counters, like), block_sizes(), {});
    const auto strides = block_strides(value.place);
    for (std::int64_t d = 0; d < 2; ++d) {
      const SizePolynomial& stride = engine::entry(strides, d);
      if (stride == SizePolynomial(0)) continue;
      HloInstruction* const steps = iota_next_to(like, shape_of(xla::S64, block_sizes()), d);
      HloInstruction* const step = broadcast(number(stride, like), block_sizes(), {});
      sum = binary(kAdd, sum, binary(kMultiply, steps, step));
    }
    return convert(sum, value.counted);
  }

  Instructions with_block(const Instructions& counters) {
    HloInstruction* const result = inside_(start_.front());
    Instructions values;
    for (const LoopValue& value : loop_.values) {
      if (value.tensor != nullptr) {
        values.push_back(element(value, counters, values));
      } else if (value.operation == nullptr) {
        values.push_back(counted(value, counters, result));
      } else {
        values.push_back(computed(value, values, result));
      }
    }
    HloInstruction* const start =
        position_by(position(loop_.place, counters, result), loop_.value_places, values);
    if (loop_.combine_all != nullptr) return with_all(start, values);
    return {with_values(values, start, counters)};
  }

  // The new elements of all results.
  Instructions with_all(HloInstruction* start, const Instructions& values) {
    Instructions arguments;
    std::vector<xla::Shape> shapes;
    for (std::size_t i = 0; i < results_; ++i) {
      arguments.push_back(reshape(read(inside_(start_[i]), start, 1), {}));
      shapes.push_back(arguments.back()->shape());
    }
    for (std::size_t i = values.size() - results_; i < values.size(); ++i) {
      arguments.push_back(reshape(values[i], {}));
    }
    HloInstruction* const made =
        add_next_to(start, HloInstruction::CreateCall(xla::ShapeUtil::MakeTupleShape(shapes),
                                                      arguments, loop_.combine_all));
    Instructions results;
    for (std::size_t i = 0; i < results_; ++i) {
      HloInstruction* const result = inside_(start_[i]);
      HloInstruction* const element = reshape(element_of(made, static_cast<std::int64_t>(i)), {1});
      results.push_back(add_next_to(result, HloInstruction::CreateDynamicUpdateSlice(
                                                result->shape(), result, element, {start})));
    }
    return results;
  }

  HloInstruction* with_values(const Instructions& values, HloInstruction* start,
                              const Instructions& counters) {
    HloInstruction* const result = inside_(start_.front());
    if (block_.rows > 1) {
      HloInstruction* const column = number_next_to(result, 0);
      return add_next_to(result, HloInstruction::CreateDynamicUpdateSlice(
                                     result->shape(), result, values.back(), {start, column}));
    }
    HloInstruction* block = reshape(values.back(), {block_.elements()});
    if (loop_.combine != nullptr) {
      HloInstruction* const old = read(result, start, block_.elements());
      block = rebuild(*loop_.combine, {block_.elements()}, {old, block});
    }
    if (HloInstruction* const within = are_within(loop_.value_places, values)) {
      block = select(broadcast(within, {block_.elements()}, {}), block,
                     read(result, start, block_.elements()));
    }
    if (chunk_ > 1 && (loop_.keeps_others || loop_.combine != nullptr)) {
      block = masked(block, read(result, start, block_.elements()), counters);
    }
    return add_next_to(
        result, HloInstruction::CreateDynamicUpdateSlice(result->shape(), result, block, {start}));
  }

  HloInstruction* computed(const LoopValue& value, const Instructions& values,
                           HloInstruction* like) {
    if (value.operation->opcode() == kConstant) {
      HloInstruction* const number = constant_next_to(like, value.operation->literal().Clone());
      return broadcast(reshape(number, {}), block_sizes(), {});
    }
    Instructions operands;
    for (const std::size_t operand : value.operands) operands.push_back(values[operand]);
    return rebuild(*value.operation, block_sizes(), operands);
  }

  // The block's elements up to the end of the loop, and the old ones after it.
  HloInstruction* masked(HloInstruction* block, HloInstruction* old, const Instructions& counters) {
    HloInstruction* const done =
        binary(kMultiply, counters.back(), number_next_to(block, block_.elements()));
    HloInstruction* const left = binary(kSubtract, number(elements_of_last(), block), done);
    HloInstruction* const places = iota_next_to(block, shape_of(xla::S64, {block_.elements()}), 0);
    return select(compare(places, kLess, broadcast(left, {block_.elements()}, {})), block, old);
  }

  StridedLoop loop_;
  SizeNumbers& numbers_;
  std::size_t results_;
  Instructions start_;  // the state: the result, the counters, then all that is read
  Block block_{};
  std::int64_t chunk_ = 1;  // turns of the last loop in a block
  std::size_t whole_ = 0;   // loops that the block has whole: the last one, or none
  std::function<HloInstruction*(HloInstruction*)> inside_;
};

}  // namespace

HloInstruction* SizeNumbers::product(const SizePolynomial::Powers& powers) {
  const auto found = products_.find(powers);
  if (found != products_.end()) return found->second;
  HloInstruction* value = nullptr;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    if (powers[i] == 0) continue;
    const auto size = static_cast<std::int64_t>(i / SizePolynomial::kVariables);
    const std::size_t bit = i % SizePolynomial::kVariables;
    HloInstruction* scalar = reshape(slice(sizes_, {size}, {size + 1}), {});
    if (bit > 0) {
      const auto place = number_next_to(sizes_, std::int64_t{1} << (bit - 1));
      scalar = binary(kRemainder, binary(kDivide, scalar, place), number_next_to(sizes_, 2));
    }
    for (int power = 0; power < powers[i]; ++power) value = accumulate(kMultiply, value, scalar);
  }
  return products_[powers] = value == nullptr ? number_next_to(sizes_, 1) : value;
}

HloInstruction* SizeNumbers::scalar(const SizePolynomial& number) {
  const auto found = scalars_.find(number);
  if (found != scalars_.end()) return found->second;
  HloInstruction* sum = nullptr;
  for (const auto& [powers, factor] : number.terms()) {
    HloInstruction* const times = number_next_to(sizes_, factor);
    sum = accumulate(kAdd, sum, powers.empty() ? times : binary(kMultiply, product(powers), times));
  }
  if (sum == nullptr) sum = number_next_to(sizes_, 0);
  if (number.divisor() != 1) {
    sum = binary(kDivide, sum, number_next_to(sizes_, number.divisor()));
  }
  return scalars_[number] = sum;
}

HloInstruction* SizeNumbers::words(const std::vector<SizePolynomial>& numbers) {
  // One vector of factors for each product of sizes. Words with divisors get twice the factors.
  std::int64_t divisor = 1;
  for (const SizePolynomial& number : numbers) divisor = std::max(divisor, number.divisor());
  std::map<SizePolynomial::Powers, std::vector<std::int64_t>> factors;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (const auto& [powers, factor] : numbers[i].terms()) {
      auto& column = factors.try_emplace(powers, numbers.size(), 0).first->second;
      column[i] = factor * (divisor / numbers[i].divisor());
    }
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  HloInstruction* sum = nullptr;
  for (const auto& [powers, column] : factors) {
    HloInstruction* term = words_next_to(sizes_, column);
    if (!powers.empty()) term = binary(kMultiply, term, broadcast(product(powers), {count}, {}));
    sum = accumulate(kAdd, sum, term);
  }
  if (sum == nullptr) sum = words_next_to(sizes_, std::vector<std::int64_t>(numbers.size(), 0));
  if (divisor == 1) return sum;
  return binary(kDivide, sum, broadcast(number_next_to(sizes_, divisor), {count}, {}));
}

HloInstruction* number_next_to(HloInstruction* other, std::int64_t number) {
  return constant_next_to(other, xla::LiteralUtil::CreateR0<std::int64_t>(number));
}

HloInstruction* unwritten_next_to(HloInstruction* other, const xla::Shape& shape,
                                  std::int64_t number, const HloInstruction& model) {
  const auto words = as_words(kernels::RowSumCall{0, number, kernels::kRowSumOfNumbers});
  HloInstruction* const nothing = scalar_next_to(other, xla::F32, 0);
  HloInstruction* const call = add_kernel_call({Kernel::kRowSum, words, {nothing}, {1}}, model);
  HloInstruction* const made = call_again(*call, shape, operands_of(*call));
  CHECK_OK(call->parent()->RemoveInstruction(call));
  return made;
}

HloInstruction* add_loop(const StridedLoop& loop, HloInstruction* result, SizeNumbers& numbers) {
  return add_loop(loop, Instructions{result}, numbers).front();
}

Instructions add_loop(const StridedLoop& loop, const Instructions& results, SizeNumbers& numbers) {
  // No turns at any size: it would read from tensors of no elements.
  const auto is_nothing = [](const SizePolynomial& size) { return size.constant() == 0; };
  if (std::ranges::any_of(loop.sizes, is_nothing)) return results;
  return BlockLoop(merged(loop), results, numbers).add();
}

}  // namespace tfaot::toolkit::engine
