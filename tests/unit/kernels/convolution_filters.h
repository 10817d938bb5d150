// SPDX-License-Identifier: Apache-2.0
// Filters as the kernels of convolutions take them.
#pragma once

#include <vector>

#include "tests/unit/kernels/windows.h"

namespace tfaot::kernels_test {

using kernels::ConvolutionCall;

// filter[tap, channel of the group, output channel], packed for each group.
template <typename T>
void pack_filter(T* to, const Tensor<T>& filter, const ConvolutionCall& c) {
  const Int depth = elements(c.window.size) * c.in_channels / c.groups;
  const Int columns = c.out_channels / c.groups;
  for (Int g = 0; g < c.groups; ++g) {
    pack(to, depth, columns,
         [&](Int l, Int j) { return filter[l * c.out_channels + g * columns + j]; });
    to += kernels::panel_count(columns, sizeof(T)) * depth * kernels::panel_columns(sizeof(T));
  }
}

// The same for the taps of each phase, one after the other.
template <typename T>
std::vector<T> phase_filters(const Tensor<T>& filter, const ConvolutionCall& c) {
  const Window& w = c.window;
  const Int group_in = c.in_channels / c.groups;
  std::vector<T> packed;
  kernels::Phase p[kSpatial];
  for (Int phase = 0; phase < phase_count(w, 0) * phase_count(w, 1) * phase_count(w, 2); ++phase) {
    p[0] = phase_of(w, 0, phase / phase_count(w, 2) / phase_count(w, 1));
    p[1] = phase_of(w, 1, phase / phase_count(w, 2) % phase_count(w, 1));
    p[2] = phase_of(w, 2, phase % phase_count(w, 2));
    ConvolutionCall part = c;
    for (int d = 0; d < kSpatial; ++d) part.window.size[d] = p[d].size;
    const Int taps = elements(part.window.size);
    if (taps == 0) continue;
    Tensor<T> own(taps * group_in * c.out_channels);
    for (Int i = 0; i < own.size(); ++i) {
      const Int tap = i / c.out_channels / group_in;
      const Int at[kSpatial] = {tap / p[2].size / p[1].size, tap / p[2].size % p[1].size,
                                tap % p[2].size};
      Int from = 0;
      for (int d = 0; d < kSpatial; ++d) {
        from = from * w.size[d] + p[d].first_tap + at[d] * p[d].tap_step;
      }
      own[i] = filter[from * group_in * c.out_channels + i % (group_in * c.out_channels)];
    }
    const Int panels = c.groups * kernels::panel_count(c.out_channels / c.groups, sizeof(T));
    const std::size_t before = packed.size();
    packed.resize(before + static_cast<std::size_t>(panels * taps * group_in *
                                                    kernels::panel_columns(sizeof(T))));
    pack_filter(packed.data() + before, own, part);
  }
  return packed;
}

// The matrices of Winograd's way, packed one after the other.
template <typename T>
std::vector<T> winograd_filters(const Tensor<T>& filter, const kernels::WinogradCall& call) {
  const ConvolutionCall& c = call.convolution;
  const Window& w = c.window;
  const Int matrices = kernels::winograd_matrices(call);
  const Int columns = kernels::winograd_inputs(call, 2);
  const Int panels = kernels::panel_count(c.out_channels, sizeof(T));
  const Int each = panels * c.in_channels * kernels::panel_columns(sizeof(T));
  std::vector<T> packed(static_cast<std::size_t>(matrices * each));
  for (Int m = 0; m < matrices; ++m) {
    pack(packed.data() + m * each, c.in_channels, c.out_channels, [&](Int l, Int j) {
      double sum = 0;
      for (Int tap = 0; tap < elements(w.size); ++tap) {
        const Int row = tap / w.size[2], column = tap % w.size[2];
        const double of_row =
            w.size[1] == 3 ? kernels::winograd_factor(call.results, m / columns, row) : 1;
        const double of_column =
            w.size[2] == 3 ? kernels::winograd_factor(call.results, m % columns, column) : 1;
        sum += of_row * of_column * filter[(tap * c.in_channels + l) * c.out_channels + j];
      }
      return static_cast<T>(sum);
    });
  }
  return packed;
}

// kForTwo and kForFour: for Winograd's tiles of so many results a dimension.
enum class Filter { kPacked, kPackedByPhase, kForTwo, kForFour, kAsItIs };

// The call as Winograd's kernel takes it; the other kernels take its first member.
inline kernels::WinogradCall winograd_call(Filter kind, const ConvolutionCall& c) {
  return {c, kind == Filter::kForFour ? 4 : 2};
}
inline bool is_for_winograd(Filter kind) {
  return kind == Filter::kForTwo || kind == Filter::kForFour;
}

// As the kernel takes it.
template <typename T>
std::vector<T> filter_of(Filter kind, const Tensor<T>& filter, const ConvolutionCall& c) {
  if (kind == Filter::kPackedByPhase) return phase_filters(filter, c);
  if (is_for_winograd(kind)) return winograd_filters(filter, winograd_call(kind, c));
  if (kind == Filter::kAsItIs) return {filter.data(), filter.data() + filter.size()};
  const Int panels = c.groups * kernels::panel_count(c.out_channels / c.groups, sizeof(T));
  std::vector<T> packed(static_cast<std::size_t>(panels * elements(c.window.size) * c.in_channels /
                                                 c.groups * kernels::panel_columns(sizeof(T))));
  pack_filter(packed.data(), filter, c);
  return packed;
}

inline Int scratch_bytes_of(Filter kind, const ConvolutionCall& c, Int element_bytes) {
  if (kind == Filter::kPackedByPhase) return kernels::transposed_scratch_bytes(c, element_bytes);
  if (is_for_winograd(kind)) return kernels::winograd_scratch_bytes(winograd_call(kind, c));
  return kernels::convolution_scratch_bytes(c, element_bytes);
}

}  // namespace tfaot::kernels_test
