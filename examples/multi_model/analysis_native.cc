// SPDX-License-Identifier: Apache-2.0
// Both models through the native API, by name. This is how C++17 writes it; in C++20 it is
// run(rows, {.category = ...}, {.best = ...}), see examples/minimal.
#include "events.h"
#include "tfaot-model-calibrator/model.h"
#include "tfaot-model-jet-tagger/model.h"

namespace example {

void predict_native() {
  tfaot::native::Model<tfaot_model::jet_tagger> tagger;
  std::array<std::int32_t, kJets> best{};
  std::array<float, kJets * 4> flavour{};
  tfaot_model::jet_tagger::Inputs jets;
  jets.constituents = kConstituents;
  jets.mask = kMask;
  jets.category = kCategory;
  tfaot_model::jet_tagger::Outputs tags;
  tags.best = best;
  tags.flavour = flavour;
  tagger.run(kJets, jets, tags);
  print("native_jet_tagger", "best", best);
  print("native_jet_tagger", "flavour", flavour);

  tfaot::native::Model<tfaot_model::calibrator> calibrator;
  std::array<std::int64_t, kHits> bin{};
  std::array<double, kHits> corrected{};
  std::array<bool, kHits> veto{};
  tfaot_model::calibrator::Inputs hits;
  hits.energy = kEnergy;
  hits.cell = kCell;
  tfaot_model::calibrator::Outputs calibrated;
  calibrated.bin = bin;
  calibrated.corrected = corrected;
  calibrated.veto = veto;
  calibrator.run(kHits, hits, calibrated);
  print("native_calibrator", "bin", bin);
  print("native_calibrator", "corrected", corrected);
  print("native_calibrator", "veto", veto);
}

}  // namespace example
