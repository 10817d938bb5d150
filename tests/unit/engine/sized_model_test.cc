// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/sized_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/sizes/joined_pieces.h"
#include "compiler/sizes/polynomial.h"
#include "compiler/sizes/same_values.h"
#include "compiler/sizes/sample_sizes.h"
#include "compiler/sizes/sampled_numbers.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::HasSubstr;
using testing::parse_hlo;
using testing::result_with_kernels;

// The text of a module at a size. "{n}", "{n-1}", "{2n}", "{nn}", "{n+3}": numbers that follow it.
std::string at_size(std::string text, std::int64_t n) {
  const std::pair<const char*, std::int64_t> numbers[] = {{"{n}", n},
                                                          {"{n-1}", n - 1},
                                                          {"{2n}", 2 * n},
                                                          {"{nn}", n * n},
                                                          {"{n+3}", n + 3},
                                                          {"{5n}", 5 * n},
                                                          {"{pairs}", n * (n - 1) / 2},
                                                          {"{half}", n / 2},
                                                          {"{rest}", n % 2},
                                                          {"{quarter}", (n + 3) / 4},
                                                          {"{third}", (n + 2) / 3},
                                                          {"{fourfifths}", 4 * n / 5}};
  for (const auto& [name, number] : numbers) {
    text = replace_all(text, name, std::to_string(number));
  }
  text = replace_all(text, "{log}", std::to_string(std::log(n)));
  // "{places}": those of all pairs i > j in a matrix of n rows.
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) places.push_back(i * n + j);
  }
  // "{counts}": of elements in windows of three that end with the tensor. "{next}": the next place.
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> next;
  for (std::int64_t i = 0; i < n; ++i) {
    counts.push_back(i == 0 || i == n - 1 ? 2 : 3);
    next.push_back(std::min(i + 1, n - 1));
  }
  for (const auto& [name, list] : {std::pair("{places}", &places), std::pair("{counts}", &counts),
                                   std::pair("{next}", &next)}) {
    text = replace_all(text, name, fmt::format("{{{}}}", fmt::join(*list, ", ")));
  }
  return text;
}

struct SizedCase {
  const char* name;
  const char* computations;  // the last one is the entry
  int bits = 0;              // of the size, that its numbers follow
};

void PrintTo(const SizedCase& one, std::ostream* out) { *out << one.name; }

constexpr const char* kAdd =
    "add { a = f32[] parameter(0) b = f32[] parameter(1) "
    "ROOT s = f32[] add(a, b) }\n";
constexpr const char* kSecond = "second { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }\n";

const SizedCase kCases[] = {
    {"whole_numbers_in_a_matrix", R"(ENTRY e { x = f32[{n},2] parameter(0)
      c = s64[1,2] constant({ { {n}, {2n} } }) f = f32[1,2] convert(c) v = f32[2] reshape(f)
      b = f32[{n},2] broadcast(v), dimensions={1} y = f32[{n},2] multiply(x, b)
      ROOT t = (f32[{n},2]) tuple(y) })"},
    {"elements", R"(ENTRY e { x = f32[1,{n},3] parameter(0) c = f32[] constant(2)
      b = f32[1,{n},3] broadcast(c), dimensions={} y = f32[1,{n},3] multiply(x, b)
      z = f32[1,{n},3] exponential(y) ROOT t = (f32[1,{n},3]) tuple(z) })"},
    {"rows_and_columns", R"(ENTRY e { x = f32[{n},{n}] parameter(0) v = f32[{n}] parameter(1)
      r = f32[{n},{n}] broadcast(v), dimensions={0} c = f32[{n},{n}] broadcast(v), dimensions={1}
      s = f32[{n},{n}] subtract(r, c) y = f32[{n},{n}] maximum(x, s)
      ROOT t = (f32[{n},{n}]) tuple(y) })"},
    {"rows_of_32", R"(ENTRY e { a = f32[{n},32] parameter(0) b = f32[{n},32] parameter(1)
      i = f32[{n},{n},32] broadcast(a), dimensions={0,2}
      j = f32[{n},{n},32] broadcast(b), dimensions={1,2} s = f32[{n},{n},32] add(i, j)
      ROOT t = (f32[{n},{n},32]) tuple(s) })"},
    {"transposes", R"(ENTRY e { x = f32[1,5,{n}] parameter(0)
      y = f32[1,{n},5] transpose(x), dimensions={0,2,1} z = f32[{5n}] reshape(y)
      ROOT t = (f32[{5n}]) tuple(z) })"},
    {"slices", R"(ENTRY e { x = f32[{n},6] parameter(0)
      a = f32[{n-1},2] slice(x), slice={[1:{n}], [1:6:3]} b = f32[{n-1},2] negate(a)
      ROOT t = (f32[{n-1},2]) tuple(b) })"},
    {"reverses", R"(ENTRY e { x = f32[{n},2] parameter(0)
      y = f32[{n},2] reverse(x), dimensions={0} ROOT t = (f32[{n},2]) tuple(y) })"},
    {"joins_rows", R"(ENTRY e { x = f32[1,{n},3] parameter(0) y = f32[1,3,3] parameter(1)
      z = f32[1,{n+3},3] concatenate(x, y), dimensions={1} ROOT t = (f32[1,{n+3},3]) tuple(z) })"},
    {"joins_columns", R"(ENTRY e { x = f32[4,{n}] parameter(0) y = f32[4,3] parameter(1)
      z = f32[4,{n+3}] concatenate(x, y), dimensions={1} ROOT t = (f32[4,{n+3}]) tuple(z) })"},
    {"pads", R"(ENTRY e { x = f32[2,{n}] parameter(0) c = f32[] constant(7)
      y = f32[2,{n+3}] pad(x, c), padding=0_0x1_2 ROOT t = (f32[2,{n+3}]) tuple(y) })"},
    {"counts", R"(ENTRY e { x = f32[{n},4] parameter(0) i = s32[{n},4] iota(), iota_dimension=0
      f = f32[{n},4] convert(i) y = f32[{n},4] add(x, f) ROOT t = (f32[{n},4]) tuple(y) })"},
    {"numbers", R"(ENTRY e { x = f32[{n}] parameter(0) c = s32[] constant({n})
      f = f32[] convert(c) b = f32[{n}] broadcast(f), dimensions={} y = f32[{n}] divide(x, b)
      ROOT t = (f32[{n}]) tuple(y) })"},
    {"chooses", R"(ENTRY e { x = f32[{n},3] parameter(0) v = f32[{n}] parameter(1)
      b = f32[{n},3] broadcast(v), dimensions={0} p = pred[{n},3] compare(x, b), direction=LT
      y = f32[{n},3] select(p, x, b) ROOT t = (f32[{n},3]) tuple(y) })"},
    {"ends_of_tables", R"(ENTRY e { x = f32[{n},2] parameter(0) c = f32[{n}] constant({counts})
      b = f32[{n},2] broadcast(c), dimensions={0} d = f32[{n},2] divide(x, b)
      i = s32[{n}] constant({next}) f = f32[{n}] convert(i)
      e = f32[{n},2] broadcast(f), dimensions={0} y = f32[{n},2] add(d, e)
      ROOT t = (f32[{n},2]) tuple(y) })"},
    {"fixed_results", R"(ENTRY e { x = f32[1,{n},4] parameter(0)
      y = f32[1,1,3] slice(x), slice={[0:1], [0:1], [1:4]} z = f32[1,1,3] tanh(y)
      ROOT t = (f32[1,1,3]) tuple(z) })"},
    {"gathers_rows", R"(ENTRY e { x = f32[{n},2] parameter(0) v = f32[{n}] parameter(1)
      i = s32[{n}] convert(v) y = f32[{n},2] gather(x, i), offset_dims={1},
        collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}
      ROOT t = (f32[{n},2]) tuple(y) })"},
    {"gathers_columns", R"(ENTRY e { x = f32[4,{n}] parameter(0) v = f32[3] parameter(1)
      i = s32[3] convert(v) y = f32[4,3] gather(x, i), offset_dims={0},
        collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={4,1}
      z = f32[4,3] negate(y) ROOT t = (f32[4,3]) tuple(z) })"},
    {"gathers_elements", R"(ENTRY e { x = f32[{n},3] parameter(0) v = f32[2,{n}] parameter(1)
      i = s32[2,{n}] convert(v) y = f32[{n}] gather(x, i), offset_dims={},
        collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1}
      ROOT t = (f32[{n}]) tuple(y) })"},
    {"gathers_in_batches", R"(ENTRY e { x = f32[{n},3] parameter(0) v = f32[{n},2] parameter(1)
      i = s32[{n},2] convert(v) y = f32[{n},2] gather(x, i), offset_dims={},
        collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0},
        start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}
      ROOT t = (f32[{n},2]) tuple(y) })"},
};

const SizedCase kCasesWithStrides[] = {
    {"each_second", R"(ENTRY e { x = f32[3,{n}] parameter(0)
      y = f32[3,{half}] slice(x), slice={[0:3], [{rest}:{n}:2]} z = f32[3,{half}] negate(y)
      ROOT t = (f32[3,{half}]) tuple(z) })",
     1},
    {"pairs", R"(ENTRY e { x = f32[{n},3] parameter(0) c = f32[] constant(0)
      y = f32[{half},3] reduce-window(x, c), window={size=2x1 stride=2x1}, to_apply=add
      z = f32[{half},3] negate(y) ROOT t = (f32[{half},3]) tuple(z) })",
     1},
    {"each_fourth", R"(ENTRY e { x = f32[{n},3] parameter(0)
      y = f32[{quarter},3] slice(x), slice={[0:{n}:4], [0:3]} z = f32[{quarter},3] negate(y)
      ROOT t = (f32[{quarter},3]) tuple(z) })",
     2},
};

const SizedCase kCasesWithSums[] = {
    {"sums_of_windows", R"(ENTRY e { x = f32[1,{n},3] parameter(0) c = f32[] constant(0)
      y = f32[1,{n},3] reduce-window(x, c), window={size=1x3x1 pad=0_0x1_1x0_0}, to_apply=add
      ROOT t = (f32[1,{n},3]) tuple(y) })"},
    {"sums_of_dilated_windows", R"(ENTRY e { x = f32[4,{n+3}] parameter(0) c = f32[] constant(0)
      y = f32[2,{n-1}] reduce-window(x, c), window={size=2x3 stride=2x1 rhs_dilate=1x2},
        to_apply=add
      ROOT t = (f32[2,{n-1}]) tuple(y) })"},
    // Places beyond the tensor are left out.
    {"scatters_rows", R"(ENTRY e { z = f32[{n},2] parameter(0) v = f32[3] parameter(1)
      u = f32[3,2] parameter(2) i = s32[3] convert(v)
      y = f32[{n},2] scatter(z, i, u), update_window_dims={1}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
      ROOT t = (f32[{n},2]) tuple(y) })"},
    {"sums_over_it", R"(ENTRY e { x = f32[{n},5] parameter(0) c = f32[] constant(1)
      y = f32[5] reduce(x, c), dimensions={0}, to_apply=add ROOT t = (f32[5]) tuple(y) })"},
    {"sums_over_others", R"(ENTRY e { x = f32[2,{n}] parameter(0) c = f32[] constant(0)
      y = f32[{n}] reduce(x, c), dimensions={0}, to_apply=add ROOT t = (f32[{n}]) tuple(y) })"},
    {"sums_over_rows", R"(ENTRY e { x = f32[3,{n}] parameter(0) c = f32[] constant(0)
      y = f32[3] reduce(x, c), dimensions={1}, to_apply=add ROOT t = (f32[3]) tuple(y) })"},
};

constexpr const char* kLarger =
    "larger { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) "
    "j = s32[] parameter(3) p = pred[] compare(a, b), direction=GE "
    "v = f32[] select(p, a, b) k = s32[] select(p, i, j) ROOT t = (f32[], s32[]) tuple(v, k) }\n";

const SizedCase kCasesWithTwoResults[] = {
    {"largest_and_its_place", R"(ENTRY e { x = f32[{n},3] parameter(0)
      i = s32[{n},3] iota(), iota_dimension=0 c = f32[] constant(-100) z = s32[] constant(0)
      r = (f32[3], s32[3]) reduce(x, i, c, z), dimensions={0}, to_apply=larger
      v = f32[3] get-tuple-element(r), index=0 k = s32[3] get-tuple-element(r), index=1
      f = f32[3] convert(k) s = f32[3] add(v, f) ROOT t = (f32[3]) tuple(s) })"},
    {"largest_of_each_row", R"(ENTRY e { x = f32[{n},{n}] parameter(0)
      i = s32[{n},{n}] iota(), iota_dimension=1 c = f32[] constant(-100) z = s32[] constant(0)
      r = (f32[{n}], s32[{n}]) reduce(x, i, c, z), dimensions={1}, to_apply=larger
      k = s32[{n}] get-tuple-element(r), index=1 f = f32[{n}] convert(k)
      ROOT t = (f32[{n}]) tuple(f) })"},
};

constexpr const char* kLess =
    "less { a = f32[] parameter(0) b = f32[] parameter(1) "
    "ROOT p = pred[] compare(a, b), direction=LT }\n";
constexpr const char* kLessOfTwo =
    "less { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) "
    "j = s32[] parameter(3) ROOT p = pred[] compare(a, b), direction=LT }\n";

const SizedCase kSort = {"sorts", R"(ENTRY e { x = f32[4,{n}] parameter(0)
      s = f32[4,{n}] sort(x), dimensions={1}, to_apply=less, is_stable=true
      y = f32[4,{n}] negate(s) ROOT t = (f32[4,{n}]) tuple(y) })"};
const SizedCase kSortOfPlaces = {
    "sorts_places", R"(ENTRY e { x = f32[{n},3] parameter(0) i = s32[{n},3] iota(), iota_dimension=0
      s = (f32[{n},3], s32[{n},3]) sort(x, i), dimensions={0}, to_apply=less, is_stable=true
      v = f32[{n},3] get-tuple-element(s), index=0 k = s32[{n},3] get-tuple-element(s), index=1
      f = f32[{n},3] convert(k) y = f32[{n},3] subtract(v, f) ROOT t = (f32[{n},3]) tuple(y) })"};

const SizedCase kCasesWithPlaces[] = {
    {"scatters_pairs", R"(ENTRY e { z = f32[{nn}] parameter(0) u = f32[{pairs}] parameter(1)
      i = s64[{pairs}] constant({places})
      y = f32[{nn}] scatter(z, i, u), update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second
      ROOT t = (f32[{nn}]) tuple(y) })"},
};

// A loop of n turns, or over tensors of n rows; the state is (i, x, y) but for the first one.
constexpr const char* kGoesOn =
    "goes_on { s = (s32[], f32[4], f32[{n},4], f32[{n},4]) parameter(0) "
    "i = s32[] get-tuple-element(s), index=0 n = s32[] constant({n}) "
    "ROOT p = pred[] compare(i, n), direction=LT }\n";
const SizedCase kLoops[] = {
    // The state of each turn, and a tensor that is only passed on.
    {"collects_states", R"(body { s = (s32[], f32[4], f32[{n},4], f32[{n},4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0 h = f32[4] get-tuple-element(s), index=1
      x = f32[{n},4] get-tuple-element(s), index=2 all = f32[{n},4] get-tuple-element(s), index=3
      one = s32[] constant(1) zero = s32[] constant(0) j = s32[] add(i, one)
      r = f32[1,4] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,4} v = f32[4] reshape(r)
      half = f32[] constant(0.5) b = f32[4] broadcast(half), dimensions={}
      w = f32[4] multiply(h, b) g = f32[4] add(w, v) q = f32[1,4] reshape(g)
      m = f32[{n},4] dynamic-update-slice(all, q, i, zero)
      ROOT t = (s32[], f32[4], f32[{n},4], f32[{n},4]) tuple(j, g, x, m) }
      ENTRY e { x = f32[{n},4] parameter(0) h = f32[4] parameter(1) zero = s32[] constant(0)
      z = f32[] constant(0) a = f32[{n},4] broadcast(z), dimensions={}
      s = (s32[], f32[4], f32[{n},4], f32[{n},4]) tuple(zero, h, x, a)
      w = (s32[], f32[4], f32[{n},4], f32[{n},4]) while(s), condition=goes_on, body=body
      y = f32[{n},4] get-tuple-element(w), index=3 ROOT t = (f32[{n},4]) tuple(y) })"},
    // From the last turn to the first, by a number that follows the size.
    {"counts_down", R"(body { s = (s32[], f32[4], f32[{n},4], f32[{n},4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0 h = f32[4] get-tuple-element(s), index=1
      x = f32[{n},4] get-tuple-element(s), index=2 all = f32[{n},4] get-tuple-element(s), index=3
      one = s32[] constant(1) zero = s32[] constant(0) j = s32[] add(i, one)
      last = s32[] constant({n-1}) k = s32[] subtract(last, i)
      r = f32[1,4] dynamic-slice(x, k, zero), dynamic_slice_sizes={1,4} v = f32[4] reshape(r)
      g = f32[4] subtract(v, h)
      ROOT t = (s32[], f32[4], f32[{n},4], f32[{n},4]) tuple(j, g, x, all) }
      ENTRY e { x = f32[{n},4] parameter(0) h = f32[4] parameter(1) zero = s32[] constant(0)
      s = (s32[], f32[4], f32[{n},4], f32[{n},4]) tuple(zero, h, x, x)
      w = (s32[], f32[4], f32[{n},4], f32[{n},4]) while(s), condition=goes_on, body=body
      y = f32[4] get-tuple-element(w), index=1 ROOT t = (f32[4]) tuple(y) })"},
    // Columns of all rows, which do not lie together; places beyond count as the last ones.
    {"writes_columns", R"(body { s = (s32[], f32[4], f32[{n},4], f32[{n},4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0 h = f32[4] get-tuple-element(s), index=1
      x = f32[{n},4] get-tuple-element(s), index=2 all = f32[{n},4] get-tuple-element(s), index=3
      one = s32[] constant(1) zero = s32[] constant(0) j = s32[] add(i, one)
      r = f32[{n},2] dynamic-slice(all, zero, i), dynamic_slice_sizes={{n},2}
      q = f32[{n},2] dynamic-slice(x, i, i), dynamic_slice_sizes={{n},2} g = f32[{n},2] add(r, q)
      m = f32[{n},4] dynamic-update-slice(all, g, i, j)
      ROOT t = (s32[], f32[4], f32[{n},4], f32[{n},4]) tuple(j, h, x, m) }
      ENTRY e { x = f32[{n},4] parameter(0) h = f32[4] parameter(1) zero = s32[] constant(0)
      s = (s32[], f32[4], f32[{n},4], f32[{n},4]) tuple(zero, h, x, x)
      w = (s32[], f32[4], f32[{n},4], f32[{n},4]) while(s), condition=goes_on, body=body
      y = f32[{n},4] get-tuple-element(w), index=3 ROOT t = (f32[{n},4]) tuple(y) })"},
    // The whole tensor becomes another one in each turn.
    {"replaces_its_state", R"(body { s = (s32[], f32[4], f32[{n},4], f32[{n},4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0 h = f32[4] get-tuple-element(s), index=1
      x = f32[{n},4] get-tuple-element(s), index=2 all = f32[{n},4] get-tuple-element(s), index=3
      one = s32[] constant(1) j = s32[] add(i, one) b = f32[{n},4] broadcast(h), dimensions={1}
      r = f32[{n},4] reverse(all), dimensions={0} d = f32[{n},4] subtract(r, b)
      g = f32[{n},4] maximum(d, x)
      ROOT t = (s32[], f32[4], f32[{n},4], f32[{n},4]) tuple(j, h, g, d) }
      ENTRY e { x = f32[{n},4] parameter(0) h = f32[4] parameter(1) zero = s32[] constant(0)
      s = (s32[], f32[4], f32[{n},4], f32[{n},4]) tuple(zero, h, x, x)
      w = (s32[], f32[4], f32[{n},4], f32[{n},4]) while(s), condition=goes_on, body=body
      y = f32[{n},4] get-tuple-element(w), index=3 z = f32[{n},4] get-tuple-element(w), index=2
      d = f32[{n},4] subtract(y, z) ROOT t = (f32[{n},4]) tuple(d) })"},
};
const SizedCase kBranches[] = {
    {"takes_a_branch", R"(yes { s = (f32[{n},2]) parameter(0)
      x = f32[{n},2] get-tuple-element(s), index=0 c = f32[] constant({n})
      b = f32[{n},2] broadcast(c), dimensions={} ROOT y = f32[{n},2] multiply(x, b) }
      no { x = f32[{n},2] parameter(0) ROOT y = f32[{n},2] reverse(x), dimensions={0} }
      ENTRY e { x = f32[{n},2] parameter(0) f = f32[1,2] slice(x), slice={[0:1], [0:2]}
      g = f32[1,1] slice(f), slice={[0:1], [1:2]} h = f32[] reshape(g) zero = f32[] constant(0)
      p = pred[] compare(h, zero), direction=LT s = (f32[{n},2]) tuple(x)
      y = f32[{n},2] conditional(p, s, x), true_computation=yes, false_computation=no
      ROOT t = (f32[{n},2]) tuple(y) })"},
};

// Numbers that differ.
std::string some_numbers(std::int64_t count, std::int64_t start) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    text += fmt::format(" {}", static_cast<double>((start + i) * 37 % 101 - 50) / 16);
  }
  return text;
}

class SizedModel : public ::testing::TestWithParam<std::pair<SizedCase, const char*>> {
 protected:
  static OptimizedModel model_at(const std::string& text, std::int64_t n) {
    const auto module = parse_hlo(at_size(text, n));
    OptimizedModel model;
    for (const auto* one : module->entry_computation()->parameter_instructions()) {
      model.inputs.push_back({std::string(one->name()), DType::kFloat32, {}});
    }
    model.outputs.push_back({"y", DType::kFloat32, {}});
    model.computation = canonical(xla::XlaComputation(module->ToProto()), Traces::kNames).value();
    model.shape = xla::ProgramShape(model.computation.proto().host_program_shape());
    return model;
  }

  static Result<OptimizedModel> for_all_sizes(const std::string& text, std::int64_t largest,
                                              std::int64_t widest = 0, int bits = 0) {
    const std::vector<FreeDimension> own = {{"n", 1, largest}};
    std::vector<SizeSample> samples;
    for (const Dimensions& sizes :
         sample_sizes(own, SampleSide::kAbove, points_to_fit(1, bits), bits)) {
      const auto model = std::make_shared<const OptimizedModel>(model_at(text, sizes.front()));
      auto module = make_module(model->computation.proto()).value();
      samples.push_back({sizes, model, std::make_shared<const ReadModule>(std::move(module))});
    }
    RealFileSystem files;
    const TemporaryFolder folder;
    const auto weights = WeightStore::create(files, folder.path(), {}).value();
    return with_free_sizes(samples, {largest},
                           {.weights = weights,
                            .smallest = {1},
                            .widest = {std::max(largest, widest)},
                            .names = {"n"},
                            .bits = bits});
  }
};

TEST_P(SizedModel, HasTheResultsOfEachSize) {
  const std::string text = std::string(GetParam().second) + GetParam().first.computations;
  constexpr std::int64_t kLargest = 21;
  const auto sized = for_all_sizes(text, kLargest, kLargest, GetParam().first.bits);
  ASSERT_TRUE(sized) << sized.error().text();
  const auto module = make_module(sized->computation.proto()).value();
  for (const std::int64_t n : {1, 2, 3, 5, 16, 17, 20, 21}) {
    const auto fixed = make_module(model_at(text, n).computation.proto()).value();
    std::vector<std::string> numbers;
    std::vector<std::string> of_sized;
    const auto* const entry = module->entry_computation();
    for (const auto* one : fixed->entry_computation()->parameter_instructions()) {
      const std::int64_t count = elements_of(*one);
      numbers.push_back(some_numbers(count, 7 * one->parameter_number()));
      of_sized.push_back(numbers.back());
      const auto& flat = *entry->parameter_instruction(one->parameter_number());
      for (std::int64_t i = count; i < elements_of(flat); ++i) of_sized.back() += " nan";
    }
    of_sized.push_back(std::to_string(n));
    const auto wanted = testing::numbers_of(result_with_kernels(*fixed, numbers));
    auto found = testing::numbers_of(result_with_kernels(*module, of_sized));
    ASSERT_GE(found.size(), wanted.size());
    found.resize(wanted.size());
    EXPECT_EQ(found, wanted) << "n = " << n;
  }
}

std::vector<std::pair<SizedCase, const char*>> all_cases() {
  std::vector<std::pair<SizedCase, const char*>> all;
  for (const SizedCase& one : kCases) all.emplace_back(one, "");
  for (const SizedCase& one : kCasesWithSums) all.emplace_back(one, kAdd);
  for (const SizedCase& one : kCasesWithStrides) all.emplace_back(one, kAdd);
  for (const SizedCase& one : kCasesWithTwoResults) all.emplace_back(one, kLarger);
  for (const SizedCase& one : kCasesWithPlaces) all.emplace_back(one, kSecond);
  for (const SizedCase& one : kLoops) all.emplace_back(one, kGoesOn);
  for (const SizedCase& one : kBranches) all.emplace_back(one, "");
  all.emplace_back(kSort, kLess);
  all.emplace_back(kSortOfPlaces, kLessOfTwo);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, SizedModel, ::testing::ValuesIn(all_cases()),
                         [](const auto& one) { return std::string(one.param.first.name); });

TEST(SizedModelForm, OfOtherOperationsIsAnother) {
  const ReadModule a(parse_hlo("ENTRY e { x = f32[7] parameter(0) ROOT y = f32[7] negate(x) }"));
  const ReadModule b(parse_hlo("ENTRY e { x = f32[9] parameter(0) ROOT y = f32[9] negate(x) }"));
  const ReadModule c(parse_hlo("ENTRY e { x = f32[9] parameter(0) ROOT y = f32[9] abs(x) }"));
  std::string difference;
  EXPECT_TRUE(have_same_form(a, b, difference));
  EXPECT_FALSE(have_same_form(a, c, difference));
  EXPECT_EQ(difference, "negate and abs");
}

// The rule of a model of K = min(n, 54) cuts a tensor at n = 54, too: to compute it would take
// long.
TEST(SameValues, OfModulesThatAreAlikeAreNotComputed) {
  const auto module = [](const std::string& y) {
    return parse_hlo("ENTRY e { x = f32[54] parameter(0) w = f32[54] parameter(1) " + y +
                     " z = f32[54] multiply(y, w) ROOT t = (f32[54]) tuple(z) }");
  };
  const auto actual = module("y = f32[54] negate(x)");
  const auto cut = module("a = f32[54] negate(x) y = f32[54] slice(a), slice={[0:54]}");
  const auto never = [](const HloInstruction&) -> Result<Value> {
    return fail(Error("a weight was read"));
  };
  EXPECT_EQ(difference_of_values(*actual, *cut, 1, never), "");
  EXPECT_EQ(difference_of_values(*actual, *module("y = f32[54] abs(x)"), 1, never),
            "values that cannot be compared: a weight was read");
}

// A number is shown as it is.
TEST_F(SizedModel, SaysWhichNumbersFollowNoRule) {
  const auto refusal = [](const std::string& number) {
    const std::string text = "ENTRY e { x = f32[{n}] parameter(0) c = f32[] constant(" + number +
                             ") b = f32[{n}] broadcast(c), dimensions={} "
                             "y = f32[{n}] multiply(x, b) ROOT t = (f32[{n}]) tuple(y) }";
    const auto made = for_all_sizes(text, 21);
    return made ? std::string() : made.error().message();
  };
  EXPECT_THAT(refusal("{log}"), HasSubstr("needs the number 3.85015 at n = 47; "));
  EXPECT_THAT(refusal("{fourfifths}"), HasSubstr("needs floor(4 * n / 5), "));
}

// As K = min(n, 7) does, and with a model of its own for no rows.
TEST_F(SizedModel, HasABranchForEachPartOfItsRange) {
  constexpr std::int64_t kLargest = 21;
  const std::string few =
      "ENTRY e { x = f32[1,{n},3] parameter(0) y = f32[1,{n},3] negate(x) "
      "ROOT t = (f32[1,{n},3]) tuple(y) }";
  const std::string many =
      "ENTRY e { x = f32[1,{n},3] parameter(0) s = f32[1,7,3] slice(x), "
      "slice={[0:1], [0:7], [0:3]} y = f32[1,7,3] exponential(s) "
      "ROOT t = (f32[1,7,3]) tuple(y) }";
  std::vector<SizePiece> pieces;
  const auto add = [&](const std::string& text, std::int64_t smallest, std::int64_t largest) {
    pieces.push_back({{{"n", smallest, largest}}, {}, {}});
    pieces.back().model = smallest == largest ? model_at(text, largest)
                                              : for_all_sizes(text, largest, kLargest).value();
  };
  add(few, 0, 0);
  add(few, 1, 6);
  add(many, 7, kLargest);
  for (SizePiece& piece : pieces) {
    piece.model.inputs[0].row_shape = {piece.range[0].largest, 3};
    if (piece.model.outputs[0].free_shape.empty()) {
      piece.model.outputs[0].row_shape = {piece.range[0].largest == 0 ? 0 : 7, 3};
    }
  }
  const auto joined = joined_pieces(pieces, {{"n", 0, kLargest}}, 1);
  ASSERT_TRUE(joined) << joined.error().text();
  EXPECT_EQ(formula_text(joined->outputs[0].free_shape.at(0), {{"n", 0, kLargest}}), "min(n, 7)");
  EXPECT_EQ(joined->outputs[0].row_shape, (Dimensions{7, 3}));
  const auto module = make_module(joined->computation.proto()).value();
  for (const std::int64_t n : {0, 1, 6, 7, 20, 21}) {
    const auto fixed = make_module(model_at(n < 7 ? few : many, n).computation.proto()).value();
    const std::string numbers = some_numbers(3 * n, 0);
    const auto& flat = *module->entry_computation()->parameter_instruction(0);
    std::string of_joined = numbers;
    for (std::int64_t i = 3 * n; i < elements_of(flat); ++i) of_joined += " nan";
    const auto wanted = testing::numbers_of(result_with_kernels(*fixed, {numbers}));
    auto found = testing::numbers_of(result_with_kernels(*module, {of_joined, std::to_string(n)}));
    ASSERT_GE(found.size(), wanted.size());
    found.resize(wanted.size());
    EXPECT_EQ(found, wanted) << "n = " << n;
  }
}

TEST_F(SizedModel, HasOutputsWhoseSizeIsAnotherInEachPart) {
  std::vector<SizePiece> pieces;
  for (const std::int64_t size : {3, 9, 4, 8}) {
    const auto n = std::ssize(pieces);
    pieces.push_back(
        {{{"n", n, n}},
         {},
         0,
         model_at("ENTRY e { x = f32[1,{n}] parameter(0) ROOT t = (f32[1,{n}]) tuple(x) }", size)});
    pieces.back().model.inputs[0].row_shape = {n};
    pieces.back().model.outputs[0].row_shape = {size};
  }
  const auto joined = joined_pieces(pieces, {{"n", 0, 3}}, 1);
  ASSERT_TRUE(joined) << joined.error().text();
  const TensorSpec& output = joined->outputs[0];
  EXPECT_EQ(output.row_shape, Dimensions{9});
  EXPECT_EQ(formula_text(output.free_shape.at(0), {{"n", 0, 3}}),
            "3 if n = 0; 9 if n = 1; 4 if n = 2; 8 if n = 3");
}

// Counts are floor(n / 3); the sizes are 1, 4 and so on.
TEST(SizesOfCounts, AreTheirPolynomials) {
  const std::vector<FreeDimension> range = {{"m", 2, 9}, {"n", 4, 40, "", 3}};
  const SizeFormula squares = {{{5, {0, 2}}, {1, {1}, {{2, 8, 2}, {1, kLargestSize, 2}}}, {7}}};
  const SizeFormula of_size = of_sizes(squares, range);
  for (std::int64_t m = 2; m <= 9; ++m) {
    for (std::int64_t count = 1; count <= 13; ++count) {
      EXPECT_EQ(size_at(of_size, {m, 3 * count + 1}), size_at(squares, {m, count}));
    }
  }
  EXPECT_EQ(formula_text(of_sizes({{{3, {0, 1}}, {1}}}, range), range), "n");
}

class SizedModelRefuses : public SizedModel {};

TEST_F(SizedModelRefuses, AnOperationThatHasNoLoop) {
  const auto sized = for_all_sizes(
      "ENTRY e { x = f32[4,{n}] parameter(0) y = f32[{n},4] transpose(x), dimensions={1,0} "
      "s = f32[{n},{n}] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
      "metadata={op_name=\"net/pairs\"} ROOT t = (f32[{n},{n}]) tuple(s) }",
      9);
  ASSERT_FALSE(sized);
  EXPECT_EQ(sized.error().message(),
            "node 'net/pairs' has an operation without a loop over its elements, which cannot "
            "follow a free size");
  EXPECT_THAT(sized.error().text(), HasSubstr("its operation in the compiler: dot"));
}

TEST_F(SizedModelRefuses, ARoundedQuotientByItsRule) {
  const auto sized = for_all_sizes(
      "ENTRY e { x = f32[{n}] parameter(0) y = f32[{third}] slice(x), slice={[0:{n}:3]} "
      "z = f32[{third}] negate(y), metadata={op_name=\"net/third\"} "
      "ROOT t = (f32[{third}]) tuple(z) }",
      9);
  ASSERT_FALSE(sized);
  EXPECT_EQ(sized.error().message(),
            "node 'net/third' needs floor((n + 2) / 3), which cannot follow a free size");
}

TEST_F(SizedModelRefuses, AFunctionOfOtherNumbers) {
  const auto sized = for_all_sizes(
      "plus { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] constant({n}) "
      "d = f32[] multiply(b, c) ROOT s = f32[] add(a, d) }\n"
      "ENTRY e { x = f32[{n}] parameter(0) z = f32[] constant(0) "
      "y = f32[] reduce(x, z), dimensions={0}, to_apply=plus ROOT t = (f32[]) tuple(y) }",
      9);
  ASSERT_FALSE(sized);
  EXPECT_THAT(sized.error().message(), HasSubstr("calls a function of other numbers"));
  EXPECT_THAT(sized.error().text(), HasSubstr("its operation in the compiler: reduce"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
