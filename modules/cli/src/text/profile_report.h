// SPDX-License-Identifier: Apache-2.0
// What `tfaot profile` prints. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

std::string profile_text(const Profile& profile);

// Nothing for wall time.
std::string clock_text(ProfileClock clock);
// "peak heap (massif)". REQUIRES: it was measured.
std::string heap_title(const Profile& profile);
// "TensorFlow"
std::string engine_title(ProfiledEngine engine);
// What tells a curve from the others of its model: "tfaot, x86-64-v3, padding", "LiteRT". Level and
// strategy are left out if all curves of packages have the same, and so is the package's path if
// each model has one.
std::vector<std::string> curve_labels(const std::vector<ProfiledCurve>& curves);
// "AMD EPYC, 2 cores, core 1, governor performance, 2400 MHz, load 0.1, noise 0.5 %"
std::string machine_text(const ProfiledMachine& machine);
// "operations of 4 rows, x86-64-v4: 77 % in kernels, 18 % in emitted loops"
std::string operations_title(const ProfiledOperations& operations);
// "1.86", with three digits that count.
std::string short_number(double value);

// The models in their order, each with its curves.
struct ModelCurves {
  std::string title;  // "tagger 1.0.0"
  std::vector<ProfiledCurve> curves;
  std::vector<std::string> labels;
};
std::vector<ModelCurves> curves_by_model(const Profile& profile);

// A number of rows of one curve.
struct MeasuredSize {
  std::size_t curve;
  const ProfiledSize* size;
  double times;  // its call's time over that of the first curve with as many rows; 0: unknown
};
// All curves for each number of rows, which not every curve has.
std::vector<MeasuredSize> sizes_by_rows(const ModelCurves& model);
// What `tfaot tune` would make faster, a line for each curve that knows of something.
std::vector<std::string> tuning_advice(const ModelCurves& model);
// All curves as if of one model; labels name the model if there are several.
ModelCurves all_curves(const Profile& profile);

}  // namespace tfaot::toolkit
