// SPDX-License-Identifier: Apache-2.0
#include "cpu_names.h"

namespace tfaot::toolkit {

const std::vector<CpuRow>& x86_64_cpus() {
  static const std::vector<CpuRow> table = {
      {"x86-64 athlon-fx athlon64 k8 opteron", "", ""},
      {"athlon64-sse3 k8-sse3 opteron-sse3", "", "sse3"},
      {"nocona", "", "cx16 sse3"},
      {"core2", "nocona", "sahf ssse3"},
      {"atom bonnell", "core2", "movbe"},
      {"penryn", "core2", "sse4.1"},
      {"amdfam10 barcelona", "nocona", "lzcnt popcnt sahf sse4a"},
      {"btver1", "amdfam10", "ssse3"},
      {"x86-64-v2 corei7 nehalem westmere", "", ""},
      {"corei7-avx sandybridge", "x86-64-v2", "avx"},
      {"goldmont goldmont-plus silvermont slm", "x86-64-v2", "movbe"},
      {"core-avx-i ivybridge", "sandybridge", "f16c"},
      {"tremont", "goldmont", "gfni"},
      {"bdver1", "sandybridge", "fma4 lzcnt sse4a xop"},
      {"btver2", "ivybridge", "bmi lzcnt movbe sse4a"},
      {"bdver2 bdver3", "bdver1", "bmi f16c fma tbm"},
      {"x86-64-v3 broadwell core-avx2 haswell skylake", "x86-64-v2", ""},
      {"znver1 znver2 znver3", "x86-64-v3", "sse4a"},
      {"alderlake gracemont meteorlake raptorlake", "x86-64-v3", "avxvnni gfni"},
      {"knl", "x86-64-v3", "avx512cd avx512f"},
      {"knm", "knl", "avx512vpopcntdq"},
      {"bdver4", "bdver2", "avx2 bmi2 movbe"},
      {"arrowlake grandridge sierraforest", "alderlake",
       "avxifma avxneconvert avxvnniint8 cmpccxadd"},
      {"arrowlake-s clearwaterforest lunarlake pantherlake", "arrowlake", "avxvnniint16"},
      {"x86-64-v4 skx skylake-avx512", "x86-64-v3", ""},
      {"cascadelake", "x86-64-v4", "avx512vnni"},
      {"cannonlake", "x86-64-v4", "avx512ifma avx512vbmi"},
      {"cooperlake", "cascadelake", "avx512bf16"},
      {"icelake-client icelake-server rocketlake tigerlake", "cannonlake",
       "avx512bitalg avx512vbmi2 avx512vnni avx512vpopcntdq gfni"},
      {"znver4", "icelake-client", "avx512bf16 sse4a"},
      {"emeraldrapids graniterapids graniterapids-d sapphirerapids", "icelake-client",
       "avx512bf16 avx512fp16 avxvnni"},
      {"znver5", "znver4", "avxvnni"},
  };
  return table;
}

const std::vector<CpuRow>& aarch64_cpus() {
  static const std::vector<CpuRow> table = {
      {"generic apple-a7 cortex-a34 cortex-a35 cortex-a53 cortex-a57 cortex-a72 cortex-a73 "
       "exynos-m3 kryo thunderx thunderxt81 thunderxt83 thunderxt88",
       "", ""},
      {"apple-a10 falkor", "", "rdm"},
      {"thunderx2t99", "", "lse rdm"},
      {"apple-a11 carmel", "thunderx2t99", "fullfp16"},
      {"exynos-m4 exynos-m5", "apple-a11", "dotprod"},
      {"a64fx", "apple-a11", "complxnum sve"},
      {"cortex-a55 cortex-a65 cortex-a65ae cortex-a75 cortex-a76 cortex-a76ae cortex-a77 "
       "cortex-a78 cortex-a78ae cortex-x1 neoverse-e1 neoverse-n1",
       "apple-a11", "dotprod rcpc"},
      {"thunderx3t110", "thunderx2t99", "complxnum jsconv rcpc"},
      {"apple-a12", "thunderx3t110", "fullfp16"},
      {"cortex-a78c", "cortex-a55", "flagm"},
      {"tsv110", "apple-a11", "complxnum dotprod fp16fml jsconv"},
      {"cortex-x1c", "cortex-a78c", "lse2 rcpc-immo"},
      {"saphira", "thunderx3t110", "dotprod flagm lse2 rcpc-immo"},
      {"cortex-r82 cortex-r82ae", "tsv110", "flagm rcpc rcpc-immo"},
      {"apple-a13", "cortex-r82", "lse2 sha3"},
      {"apple-a14 apple-m1", "apple-a13", "altnzcv fptoint"},
      {"neoverse-512tvb neoverse-v1", "apple-a13", "bf16 i8mm sve"},
      {"ampere1 ampere1a apple-a15 apple-a16 apple-a17 apple-m2 apple-m3 apple-m4 oryon-1",
       "apple-a14", "bf16 i8mm"},
      {"ampere1b", "ampere1", "cssc"},
      {"cobalt-100 cortex-a510 cortex-a520 cortex-a520ae cortex-a710 cortex-a715 cortex-a720 "
       "cortex-a720ae cortex-a725 cortex-x2 cortex-x3 cortex-x4 cortex-x925 grace neoverse-n2 "
       "neoverse-n3 neoverse-v2 neoverse-v3 neoverse-v3ae",
       "cortex-r82", "altnzcv bf16 fptoint i8mm lse2 sve sve2 sve2-bitperm"},
  };
  return table;
}

}  // namespace tfaot::toolkit
