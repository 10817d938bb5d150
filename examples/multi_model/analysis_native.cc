// SPDX-License-Identifier: Apache-2.0
// Both models through the native API: arguments in the order of their names, which the head of each
// model.h lists.
#include "events.h"
#include "tfaot-model-calibrator/model.h"
#include "tfaot-model-jet-tagger/model.h"

namespace example {

void predict_native() {
  tfaot::native::Model<tfaot_model::jet_tagger> tagger;
  std::array<std::int32_t, kJets> best{};
  std::array<float, kJets * 4> flavour{};
  tagger.run(kJets, tfaot::inputs(kCategory, kConstituents, kMask), tfaot::outputs(best, flavour));
  print("native_jet_tagger", "best", best);
  print("native_jet_tagger", "flavour", flavour);

  tfaot::native::Model<tfaot_model::calibrator> calibrator;
  std::array<std::int64_t, kHits> bin{};
  std::array<double, kHits> corrected{};
  std::array<bool, kHits> veto{};
  calibrator.run(kHits, tfaot::inputs(kCell, kEnergy), tfaot::outputs(bin, corrected, veto));
  print("native_calibrator", "bin", bin);
  print("native_calibrator", "corrected", corrected);
  print("native_calibrator", "veto", veto);
}

}  // namespace example
