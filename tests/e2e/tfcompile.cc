// SPDX-License-Identifier: Apache-2.0
// tfcompile: TensorFlow's library contains the whole program except main(), but not its header.
// saved_model_cli and cms_tfaot_compile start this program in the end, so its areas are upstream's.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "xla/tsl/util/command_line_flags.h"

namespace tensorflow::tfcompile {

// As in TensorFlow 2.18; the names are the flags'.
struct MainFlags {
  std::string graph;
  std::string debug_info;
  std::string debug_info_path_begin_marker;
  std::string config;
  bool dump_fetch_nodes = false;
  std::string target_triple;
  std::string target_cpu;
  std::string target_features;
  std::string entry_point;
  std::string cpp_class;
  std::string out_function_object;
  std::string out_metadata_object;
  std::string out_header;
  std::string out_session_module;
  std::string mlir_components;
  bool experimental_quantize = false;
  bool sanitize_dataflow = false;
  std::string sanitize_abilists_dataflow;
  bool gen_name_to_index = false;
  bool gen_program_shape = false;
};

void AppendMainFlags(std::vector<tsl::Flag>* flag_list, MainFlags* flags);
absl::Status Main(const MainFlags& flags);

}  // namespace tensorflow::tfcompile

int main(int argc, char** argv) {
  // Like saved_model_cli without --multithreading.
  setenv("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false", 1);
  tensorflow::tfcompile::MainFlags flags;
  std::vector<tsl::Flag> list;
  tensorflow::tfcompile::AppendMainFlags(&list, &flags);
  if (!tsl::Flags::Parse(&argc, argv, list) || argc != 1) {
    std::cerr << "tfcompile: bad flags\n";
    return 2;
  }
  const absl::Status status = tensorflow::tfcompile::Main(flags);
  if (!status.ok()) std::cerr << "tfcompile: " << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
