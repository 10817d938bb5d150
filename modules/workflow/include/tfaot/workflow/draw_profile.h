// SPDX-License-Identifier: Apache-2.0
// Plots of a profile by matplotlib, through the script that is installed with the tool. Starts
// Python.
#pragma once

#include "tfaot/base/result.h"
#include "tfaot/records/profile.h"
#include "tfaot/records/words.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

enum class PlotStyle { kPlain, kCms };
template <>
inline constexpr auto kWords<PlotStyle> =
    std::to_array<Word<PlotStyle>>({{PlotStyle::kPlain, "plain"}, {PlotStyle::kCms, "cms"}});

enum class PlotTime { kRow, kCall };
template <>
inline constexpr auto kWords<PlotTime> = std::to_array<Word<PlotTime>>({{PlotTime::kRow, "row"},
                                                                        {PlotTime::kCall, "call"}});

enum class PlotErrors { kBand, kBars };
template <>
inline constexpr auto kWords<PlotErrors> =
    std::to_array<Word<PlotErrors>>({{PlotErrors::kBand, "band"}, {PlotErrors::kBars, "bars"}});

struct PlotRequest {
  Path output;  ///< absolute; .png, .pdf or .svg
  PlotStyle style = PlotStyle::kPlain;
  PlotTime time = PlotTime::kRow;
  PlotErrors errors = PlotErrors::kBand;
};

/// Error: draw_profile() could not draw this file, since a program is missing.
Status check_drawing(Context& context, const Path& output);

/// Error: there is no Python with matplotlib. Then an existing file stays as it is.
Status draw_profile(Context& context, const Profile& profile, const PlotRequest& request);

}  // namespace tfaot::toolkit
