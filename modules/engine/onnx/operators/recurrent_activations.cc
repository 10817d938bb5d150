// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators/recurrent_activations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tfaot/base/letter_case.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// Which parameters an activation takes, and what they are if the node does not say.
struct GateActivationKind {
  const char* name;
  std::optional<float> alpha;
  std::optional<float> beta;
};
constexpr auto kGateActivations = std::to_array<GateActivationKind>({
    {"affine", 1.0F, 0.0F},
    {"elu", 1.0F, std::nullopt},
    {"hardsigmoid", 0.2F, 0.5F},
    {"leakyrelu", 0.01F, std::nullopt},
    {"relu", std::nullopt, std::nullopt},
    {"scaledtanh", 1.0F, 1.0F},
    {"sigmoid", std::nullopt, std::nullopt},
    {"softplus", std::nullopt, std::nullopt},
    {"softsign", std::nullopt, std::nullopt},
    {"tanh", std::nullopt, std::nullopt},
    {"thresholdedrelu", 1.0F, std::nullopt},
});

}  // namespace

std::vector<GateActivation> gate_activations(const Node& node,
                                             const std::vector<std::string>& usual,
                                             std::int64_t directions) {
  std::vector<std::string> names = node.texts("activations");
  const std::size_t wanted = usual.size() * static_cast<std::size_t>(directions);
  // RNN's default has two, whatever the direction.
  if (names.size() > wanted && directions == 1 && usual.size() == 1) names.resize(1);
  while (node.texts("activations").empty() && names.size() < wanted) {
    names.insert(names.end(), usual.begin(), usual.end());
  }
  if (names.size() != wanted) {
    node.refuse(fmt::format("has {} activations instead of {}", names.size(), wanted));
  }
  const auto alphas = node.reals("activation_alpha");
  const auto betas = node.reals("activation_beta");
  auto alpha = alphas.begin();
  auto beta = betas.begin();
  std::vector<GateActivation> activations;
  for (const std::string& name : names) {
    GateActivation one{lower_case(name)};
    const auto* const kind =
        std::ranges::find(kGateActivations, one.name, &GateActivationKind::name);
    if (kind == kGateActivations.end()) node.refuse(fmt::format("has the activation '{}'", name));
    if (kind->alpha) one.alpha = alpha == alphas.end() ? *kind->alpha : *alpha++;
    if (kind->beta) one.beta = beta == betas.end() ? *kind->beta : *beta++;
    activations.push_back(std::move(one));
  }
  return activations;
}

XlaOp activated(const GateActivation& activation, XlaOp x) {
  const auto number = [x](float value) { return xla::ScalarLike(x, value); };
  const XlaOp alpha = number(activation.alpha);
  const XlaOp beta = number(activation.beta);
  const XlaOp zero = number(0);
  const std::string& name = activation.name;
  if (name == "sigmoid") return xla::Logistic(x);
  if (name == "tanh") return xla::Tanh(x);
  if (name == "relu") return xla::Max(x, zero);
  if (name == "affine") return xla::Add(xla::Mul(alpha, x), beta);
  if (name == "elu") return xla::Select(xla::Ge(x, zero), x, xla::Mul(alpha, xla::Expm1(x)));
  if (name == "hardsigmoid") {
    return xla::Min(xla::Max(xla::Add(xla::Mul(alpha, x), beta), zero), number(1));
  }
  if (name == "leakyrelu") return xla::Select(xla::Ge(x, zero), x, xla::Mul(alpha, x));
  if (name == "scaledtanh") return xla::Mul(alpha, xla::Tanh(xla::Mul(beta, x)));
  if (name == "softplus") {
    return xla::Add(xla::Max(x, zero), xla::Log1p(xla::Exp(xla::Neg(xla::Abs(x)))));
  }
  if (name == "softsign") return xla::Div(x, xla::Add(number(1), xla::Abs(x)));
  return xla::Select(xla::Ge(x, alpha), x, zero);  // thresholdedrelu
}

}  // namespace tfaot::toolkit::engine
