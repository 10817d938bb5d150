# SPDX-License-Identifier: Apache-2.0
"""python3 rdataframe.py AREA: a column of ROOT's RDataFrame that a model computes, in all threads.

Needs ROOT (pip install --pre root). Each of ROOT's slots has a model of its own.
"""

import glob
import sys

import ROOT

area = sys.argv[1]
include = glob.glob(f"{area}/*/current/runtime/include")[0]  # the headers that each package has
ROOT.gInterpreter.AddIncludePath(include)
ROOT.gInterpreter.Declare(
    """
#include "tfaot/runtime/models.h"

class Tagger {
 public:
  Tagger(const std::string& area, unsigned slots) {
    for (unsigned slot = 0; slot < slots; ++slot) {
      auto model = tfaot::Models(area).load("minimal", ">=1");
      if (!model) throw std::runtime_error(model.error().text);
      models_.push_back(*std::move(model));
    }
  }
  float operator()(unsigned slot, float a, float b, float c, float d) {
    const std::array<float, 4> x = {a, b, c, d};
    std::array<float, 2> y;
    const auto ran = models_[slot].run(1, {{"x", x}}, {{"y", y}});
    if (!ran) throw std::runtime_error(ran.error().text);
    return y[0];
  }

 private:
  std::vector<tfaot::LoadedModel> models_;
};
"""
)

ROOT.EnableImplicitMT(2)
events = ROOT.RDataFrame(1000)
ROOT.gInterpreter.Declare(f'Tagger tagger("{area}", {events.GetNSlots()});')
scored = (
    events.Define("a", "rdfentry_ % 2 == 0 ? 1.921875f : -1.09375f")
    .Define("b", "rdfentry_ % 2 == 0 ? -1.6875f : 0.40625f")
    .Define("c", "rdfentry_ % 2 == 0 ? -0.859375f : 1.578125f")
    .Define("d", "rdfentry_ % 2 == 0 ? -0.390625f : -1.421875f")
    .Define("score", "tagger(rdfslot_, a, b, c, d)")
)
print(f"mean score {scored.Mean('score').GetValue():.7f} of {scored.Count().GetValue()} events")
