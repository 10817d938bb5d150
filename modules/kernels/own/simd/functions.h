// SPDX-License-Identifier: Apache-2.0
// Exponentials of vectors of float32, the fractions that sigmoid and tanh are computed from, the
// curve of gelu, and the functions of tfaot/kernels/abi.h. NaN stays NaN.
// 1 / sigmoid_divisor() and tanh_of() are right to 2 ulp (activations_test.cc).
#pragma once

#include "simd/kernel.h"
#include "tfaot/kernels/abi.h"

namespace {

// x = n * log(2) + rest with |rest| <= log(2) / 2.
struct Reduced {
  Floats power;  // 2^n
  Floats rest;
};

// Reduces kSign * x, and multiplies the power by 2^kShift. REQUIRES: -87.3 <= kSign * x <= 88.
template <int kSign = 1, int kShift = 0>
TFAOT_INLINE Reduced reduce(Floats x) {
  // Adding a number this large leaves n in its last bits, with the bias of an exponent.
  constexpr float kRounder = 12582912.0F + (127.0F + kShift);
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693145751953125F;  // few bits: its multiples by n are exact
  constexpr float kLn2Low = 1.42860677e-6F;
  const Floats shifted = multiply_add<kSign>(x, kLog2E, kRounder);
  const Floats n = shifted - kRounder;
  const Floats high = multiply_add<-1, kSign>(n, kLn2High, x);
  return {Floats(Bits(shifted) << 23), multiply_add<-1>(n, kLn2Low, high)};
}

TFAOT_INLINE Floats between(float low, Floats x, float high) {
  const Floats zero = {};
  return smaller_of<float>(zero + high, larger_of<float>(zero + low, x));
}

template <int kCount>
TFAOT_INLINE Floats polynomial(const float (&of)[kCount], Floats t) {
  Floats sum = multiply_add(t, of[kCount - 1], of[kCount - 2]);
  TFAOT_FOR (int i = kCount - 3; i >= 0; --i) sum = multiply_add(sum, t, of[i]);
  return sum;
}

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, fitted for the relative error of exp(r) - 1: 2e-8.
constexpr float kExpm1[] = {0.49999997F, 0.16666543F, 0.0416672F, 0.0083665475F, 0.0013882517F};

// exp(rest) - 1
TFAOT_INLINE Floats little_expm1(Floats r) {
  const Floats square = r * r;
  const Floats high = multiply_add(square, kExpm1[4], multiply_add(r, kExpm1[3], kExpm1[2]));
  const Floats low = multiply_add(r, kExpm1[1], kExpm1[0]);
  return multiply_add(multiply_add(square, high, low), square, r);
}

// 1 + exp(-x), the inverse of sigmoid(x). For x < -87 the sigmoid stays 1.6e-38.
TFAOT_INLINE Floats sigmoid_divisor(Floats x) {
  const Reduced reduced = reduce<-1>(between(-87.0F, x, 87.0F));
  return multiply_add(reduced.power, little_expm1(reduced.rest), 1.0F) + reduced.power;
}

// |tanh(x)| = above / below: (1 - exp(-2 |x|)) / 2 and (1 + exp(-2 |x|)) / 2. Beyond 9.1 it is 1 to
// all bits. Each is rounded alone; with exp(2 |x|) the errors of small numbers would be larger.
struct TanhParts {
  Floats above, below;
};

TFAOT_INLINE TanhParts tanh_parts(Floats x) {
  const auto minus = Floats(Bits(x) | INT32_MIN);
  const Reduced half = reduce<1, -1>(larger_of<float>(Floats{} - 18.2F, minus + minus));
  const Floats change = little_expm1(half.rest);
  return {multiply_add<-1>(half.power, change, 0.5F - half.power),
          multiply_add(half.power, change, 0.5F + half.power)};
}

// `size`, which is not negative, with the sign of x.
TFAOT_INLINE Floats with_sign_of(Floats x, Floats size) {
  return Floats(Bits(size) | (Bits(x) & INT32_MIN));
}

TFAOT_INLINE Floats tanh_of(Floats x) {
  const TanhParts parts = tanh_parts(x);
  return with_sign_of(x, parts.above / parts.below);
}

// gelu is x times a curve from 0 to 1, which is (1 + erf(x / sqrt(2))) / 2 or TensorFlow's
// approximation of it, (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2. The curve is right to
// 2e-7. Where it is less than that it is 0, so that gelu(-infinity) is NaN, as in the formula.

#if TFAOT_VECTOR_BYTES == 64

// The curve minus 1/2 as a function of |x|: sixteen polynomials of degree 4 in (|x| - n *
// kGeluStep) / kGeluStep, with a register for each power. The last one is 1/2.
constexpr float kGeluStep = 0.36F;
constexpr float kGeluCurves[2][5][16] = {  // by form, by power
    {
        {0.0F, 0.140576437F, 0.264237493F, 0.359928906F, 0.425066292F, 0.464069694F, 0.484613657F,
         0.494132251F, 0.498011619F, 0.499402344F, 0.499840885F, 0.499962538F, 0.499992192F,
         0.499998569F, 0.499999762F, 0.5F},
        {0.143618956F, 0.134607002F, 0.110826403F, 0.0801558346F, 0.0509263016F, 0.0284225177F,
         0.0139345927F, 0.0060011521F, 0.00227028551F, 0.000754445908F, 0.000220228423F,
         5.64691763e-05F, 1.27185322e-05F, 2.51619349e-06F, 4.37246172e-07F, 0.0F},
        {5.10327072e-06F, -0.00872239191F, -0.0143628716F, -0.0155820623F, -0.0131999431F,
         -0.00920884963F, -0.00541780889F, -0.00272219745F, -0.0011769851F, -0.000440038741F,
         -0.000142732009F, -4.02614824e-05F, -9.89358341e-06F, -2.12073837e-06F, -3.96949531e-07F,
         0.0F},
        {-0.00313287391F, -0.002517574F, -0.00115209399F, 0.000278901571F, 0.00116953987F,
         0.00136779272F, 0.00110130804F, 0.000694909715F, 0.000359904952F, 0.000156450638F,
         5.78072395e-05F, 1.82995627e-05F, 4.98959298e-06F, 1.17623176e-06F, 2.40397668e-07F, 0.0F},
        {7.30805623e-05F, 0.000268318458F, 0.000382424914F, 0.000307293463F, 0.000132393514F,
         -2.27622731e-05F, -9.65211657e-05F, -9.81091944e-05F, -6.73155882e-05F, -3.57877761e-05F,
         -1.54878453e-05F, -5.58865804e-06F, -1.70473618e-06F, -4.43437557e-07F, -9.89502524e-08F,
         0.0F},
    },
    {
        {0.0F, 0.140562415F, 0.264153361F, 0.359762311F, 0.424907416F, 0.464033067F, 0.484722108F,
         0.494309396F, 0.498167664F, 0.499498397F, 0.49988538F, 0.499978572F, 0.499996781F,
         0.499999613F, 0.49999997F, 0.5F},
        {0.143618956F, 0.134567514F, 0.110733747F, 0.0801036134F, 0.0509988144F, 0.0285768453F,
         0.0140519962F, 0.00601949217F, 0.00221964996F, 0.000693473732F, 0.000180218311F,
         3.81962127e-05F, 6.47012121e-06F, 8.58329599e-07F, 8.73835333e-08F, 0.0F},
        {5.2180153e-06F, -0.00875556469F, -0.0143722445F, -0.0155329704F, -0.0131367557F,
         -0.00919733476F, -0.0054604183F, -0.00276999804F, -0.00119596929F, -0.000434210233F,
         -0.00013031876F, -3.17099402e-05F, -6.13054863e-06F, -9.22893719e-07F, -1.06038378e-07F,
         0.0F},
        {-0.0031489206F, -0.00252048927F, -0.00113488303F, 0.000294632569F, 0.00116161001F,
         0.00134616275F, 0.00109057955F, 0.000700853125F, 0.000370370166F, 0.000161636039F,
         5.76607745e-05F, 1.65377387e-05F, 3.74314891e-06F, 6.5606946e-07F, 8.73957831e-08F, 0.0F},
        {7.47360609e-05F, 0.00027362167F, 0.00038575739F, 0.000303161039F, 0.00012627992F,
         -2.28382232e-05F, -9.19530139e-05F, -9.51474576e-05F, -6.78399301e-05F, -3.74486553e-05F,
         -1.6354028e-05F, -5.61954175e-06F, -1.49839502e-06F, -3.05039265e-07F, -4.66246313e-08F,
         0.0F},
    }};

template <GeluForm kForm>
struct GeluCurve {
  Floats powers[5];

  TFAOT_INLINE GeluCurve() {
    TFAOT_EACH (i, 5) powers[i] = load(kGeluCurves[kForm][i]);
  }

  TFAOT_INLINE Floats of(Floats x) const {
    constexpr float kRounder = 12582912.0F;  // leaves whole numbers in the last bits
    const Floats size = smaller_of<float>(Floats{} + 15 * kGeluStep, Floats(Bits(x) & INT32_MAX));
    const Floats shifted = multiply_add(size, 1 / kGeluStep, kRounder);
    const Floats rest = multiply_add<1, -1>(size, 1 / kGeluStep, shifted - kRounder);
    Floats sum = power(shifted, 4);
    TFAOT_FOR (int i = 3; i >= 0; --i) sum = multiply_add(sum, rest, power(shifted, i));
    return Floats(Bits(sum) | (Bits(x) & INT32_MIN)) + 0.5F;
  }

 private:
  TFAOT_INLINE Floats power(Floats shifted, int i) const {
    return _mm512_maskz_permutexvar_ps(0xFFFF, __m512i(shifted), powers[i]);
  }
};

#else

// The curve minus 1/2 is x times a fraction of polynomials of x^2 up to a limit, where it is 1/2 to
// all bits, with and without fused multiply-adds.
struct GeluFraction {
  float limit, above[5], below[6];
};
constexpr GeluFraction kGeluFractions[] = {  // by form
    {5.49F,
     {0.398941607F, 0.0595491128F, 0.00624866625F, 0.000425031405F, 7.58949762e-6F},
     {1.0F, 0.315922854F, 0.0433377156F, 0.00334925857F, 0.000152627402F, 6.19747604e-7F}},
    {4.95F,
     {0.398941994F, 0.0374258496F, 0.00372740789F, 0.000170138126F, 4.55860572e-6F},
     {1.0F, 0.261300057F, 0.0275445208F, 0.0014682801F, 7.4394804e-5F, 4.38594412e-7F}}};

template <GeluForm kForm>
struct GeluCurve {
  TFAOT_INLINE Floats of(Floats x) const {
    constexpr const GeluFraction& kFraction = kGeluFractions[kForm];
    const Floats near = between(-kFraction.limit, x, kFraction.limit);
    const Floats t = near * near;
    return near * polynomial(kFraction.above, t) / polynomial(kFraction.below, t) + 0.5F;
  }
};

#endif

// The functions of a result. `of`: the two numbers that some of them have.
struct FunctionNumbers {
  explicit FunctionNumbers(const ResultFunction& of)
      : above(static_cast<float>(of.above)), below(static_cast<float>(of.below)) {}
  float above, below;
};

struct TanhOf {
  TFAOT_INLINE Floats operator()(Floats x, FunctionNumbers /*of*/) const { return tanh_of(x); }
};

struct SigmoidOf {
  TFAOT_INLINE Floats operator()(Floats x, FunctionNumbers /*of*/) const {
    return 1.0F / sigmoid_divisor(x);
  }
};

// Below -87, where sigmoid_divisor() stops growing, sigmoid(x) is taken as 0.
struct SwishOf {
  TFAOT_INLINE Floats operator()(Floats x, FunctionNumbers /*of*/) const {
    return x * (x < -87.0F ? Floats{} : 1.0F / sigmoid_divisor(x));
  }
};

template <GeluForm kForm>
struct GeluOf {
  TFAOT_INLINE Floats operator()(Floats x, FunctionNumbers /*of*/) const { return x * curve.of(x); }
  GeluCurve<kForm> curve;
};

// (atanh(s) / s - 1) / s^2 as a polynomial of s^2 for s <= 1/3, fitted for the relative error of
// atanh(s): 2e-10.
constexpr float kAtanh[] = {0.333333373F, 0.199994445F, 0.143082976F, 0.107153706F, 0.121447794F};

// log(1 + t) for 0 <= t <= 1, which is 2 atanh(t / (2 + t)).
TFAOT_INLINE Floats log1p_of(Floats t) {
  const Floats s = t / (t + 2.0F);
  const Floats double_s = s + s;
  return multiply_add(double_s * (s * s), polynomial(kAtanh, s * s), double_s);
}

// log(1 + exp(x)); for x < -87 it stays 1.6e-38.
struct SoftplusOf {
  TFAOT_INLINE Floats operator()(Floats x, FunctionNumbers /*of*/) const {
    const Floats size = x < 0.0F ? -x : x;
    const Reduced reduced = reduce(between(-87.0F, -size, 0.0F));
    const Floats power = multiply_add(reduced.power, little_expm1(reduced.rest), reduced.power);
    return relu<float>(x) + log1p_of(power);
  }
};

struct LeakyOf {
  TFAOT_INLINE Floats operator()(Floats x, FunctionNumbers of) const {
    return x > 0.0F ? x * of.above : x * of.below;
  }
};

struct EluOf {  // exp(x) - 1 is right to 1.6 ulp
  TFAOT_INLINE Floats operator()(Floats x, FunctionNumbers of) const {
    const Reduced reduced = reduce(between(-87.0F, x, 0.0F));
    const Floats below =
        multiply_add(reduced.power, little_expm1(reduced.rest), reduced.power - 1.0F);
    return x > 0.0F ? x * of.above : below * of.below;
  }
};

// As in the formula, hard swish of -infinity is NaN.
struct HardSigmoidOf {
  TFAOT_INLINE Floats operator()(Floats x, FunctionNumbers of) const {
    return smaller_of<float>(Floats{} + 1.0F, relu<float>(multiply_add(x, of.above, of.below)));
  }
};

struct HardSwishOf {
  TFAOT_INLINE Floats operator()(Floats x, FunctionNumbers of) const {
    return x * HardSigmoidOf()(x, of);
  }
};

}  // namespace
