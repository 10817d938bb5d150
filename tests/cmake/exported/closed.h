// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

std::vector<float> closed_predictions(const std::vector<float>& x);
