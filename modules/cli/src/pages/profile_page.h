// SPDX-License-Identifier: Apache-2.0
// The page of `tfaot profile`, and its plots. Pure functions.
#pragma once

#include "text/profile_report.h"
#include "tfaot/records/profile.h"
#include "tfaot/report/page.h"
#include "tfaot/report/plot.h"
#include "tfaot/workflow/draw_profile.h"

namespace tfaot::toolkit {

// Of one machine, or of several that measured the same.
report::Page profile_page(const std::vector<Profile>& profiles);

// Microseconds over rows, a curve for each of the model's.
report::Plot time_plot(const ModelCurves& model, PlotTime time,
                       PlotErrors errors = PlotErrors::kBand);

}  // namespace tfaot::toolkit
