// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/allowed_calls.h"

#include <algorithm>
#include <string_view>

#include "runtime_symbols.h"
#include "tfaot/base/text.h"
#include "tfaot/records/symbols.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kMemorySymbols = "memcmp memcpy memmove memset";

constexpr std::string_view kCompilerSymbols =
    "__ashlti3 __ashrti3 __divti3 __fixdfti __fixsfti __fixunsdfti __fixunssfti __floattidf "
    "__floattisf __floatuntidf __floatuntisf __lshrti3 __modti3 __multi3 __popcountdi2 __udivti3 "
    "__umodti3";

// Only what arithmetic needs: a model whose code calls another function of the C library is
// refused.
constexpr std::string_view kMathematicsSymbols =
    "acos acosf acosh acoshf asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf cbrt "
    "cbrtf ceil ceilf copysign copysignf cos cosf cosh coshf erf erfc erfcf erff exp exp10 exp10f "
    "exp2 exp2f expf expm1 expm1f fabs fabsf fdim fdimf floor floorf fma fmaf fmax fmaxf fmin "
    "fminf fmod fmodf frexp frexpf hypot hypotf ldexp ldexpf llrint llrintf llround llroundf log "
    "log10 log10f log1p log1pf log2 log2f logb logbf logf lrint lrintf lround lroundf modf modff "
    "nearbyint nearbyintf pow powf remainder remainderf rint rintf round roundeven roundevenf "
    "roundf scalbn scalbnf sin sincos sincosf sinf sinh sinhf sqrt sqrtf tan tanf tanh tanhf trunc "
    "truncf";

bool is_listed(const std::string& symbol) {
  return kRuntimeSymbols.find("\n" + symbol + "\n") != std::string_view::npos;
}

// "tfaot_matmul_f32_x86_64_v3"
bool has_the_form_of_a_kernel(const std::string& symbol) {
  return symbol.starts_with(kSymbolPrefix) &&
         std::ranges::any_of(split_words(kKernelLevels), [&](const std::string& level) {
           return symbol.ends_with("_f32_" + level) || symbol.ends_with("_f64_" + level);
         });
}

}  // namespace

CallKind kind_of_call(const std::string& symbol) {
  const bool allocates =
      symbol.starts_with("__xla_cpu_runtime_Eigen") || symbol.starts_with("__xla_cpu_runtime_Ducc");
  if (is_listed(symbol)) return allocates ? CallKind::kAllocating : CallKind::kRuntime;
  if (has_the_form_of_a_kernel(symbol)) return CallKind::kRuntime;
  if (is_one_of(kMemorySymbols, symbol)) return CallKind::kMemory;
  if (is_one_of(kCompilerSymbols, symbol)) return CallKind::kCompiler;
  if (is_one_of(kMathematicsSymbols, symbol)) return CallKind::kMathematics;
  return CallKind::kForbidden;
}

bool runtime_offers(const std::string& symbol, const std::string& target_triple) {
  return !target_triple.starts_with("x86_64") || is_listed(symbol);
}

}  // namespace tfaot::toolkit
