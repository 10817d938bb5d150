// SPDX-License-Identifier: Apache-2.0
// A curve as MLProf writes one: no title, and for each measured call its number of rows and its
// milliseconds, "4,0.00213". Here each round gives a line. Pure functions.
#pragma once

#include <string>

#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

std::string curve_to_csv(const ProfiledCurve& curve);

// "tagger_1.0.0_tfaot_x86-64-v3_normal.csv": tells the curves of a profile apart.
std::string csv_file_name(const ProfiledCurve& curve);

}  // namespace tfaot::toolkit
