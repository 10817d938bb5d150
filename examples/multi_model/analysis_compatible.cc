// SPDX-License-Identifier: Apache-2.0
// The same through the calls of CMSSW's PhysicsTools/TensorFlowAOT, and the entry point of the
// plugin.
#include "events.h"
#include "tfaot-model-calibrator/model.h"
#include "tfaot-model-jet-tagger/model.h"

namespace example {

void predict_compatible() {
  tfaot::Model<tfaot_model::jet_tagger> tagger;
  tfaot::Int32Arrays category;
  tfaot::FloatArrays constituents;
  tfaot::BoolArrays mask;
  category.emplace_back(kCategory.begin(), kCategory.end());
  constituents.emplace_back(kConstituents.begin(), kConstituents.end());
  mask.emplace_back(kMask.begin(), kMask.end());
  const auto [best, flavour] =
      tagger.run<tfaot::Int32Arrays, tfaot::FloatArrays>(kJets, category, constituents, mask);
  print("compatible_jet_tagger", "best", best[0]);
  print("compatible_jet_tagger", "flavour", flavour[0]);

  tfaot::Model<tfaot_model::calibrator> calibrator;
  tfaot::Int64Arrays cell;
  tfaot::DoubleArrays energy;
  for (std::size_t hit = 0; hit < kHits; ++hit) {
    cell.push_back({kCell[hit]});
    energy.push_back({kEnergy[hit]});
  }
  const auto [bin, corrected, veto] =
      calibrator.run<tfaot::Int64Arrays, tfaot::DoubleArrays, tfaot::BoolArrays>(kHits, cell,
                                                                                 energy);
  std::array<std::int64_t, kHits> flat_bin{};
  std::array<double, kHits> flat_corrected{};
  std::array<bool, kHits> flat_veto{};
  for (std::size_t hit = 0; hit < kHits; ++hit) {
    flat_bin[hit] = bin[hit][0];
    flat_corrected[hit] = corrected[hit][0];
    flat_veto[hit] = veto[hit][0];
  }
  print("compatible_calibrator", "bin", flat_bin);
  print("compatible_calibrator", "corrected", flat_corrected);
  print("compatible_calibrator", "veto", flat_veto);
}

}  // namespace example

extern "C" void run_analysis() {
  example::predict_native();
  example::predict_compatible();
}
