# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What bench.sh and study.sh share; source it after setup.sh. Each function fetches what is missing into the cache of
# fetch_tensorflow.sh.
benchmarks="${source_dir:?}/tests/benchmark"

fill_python() { pip_install "$1" --requirement "$benchmarks/requirements.txt"; }
fill_peers() { pip_install "$1" --no-deps --requirement "$benchmarks/peers.txt"; }

# Sets $peers: the unpacked wheels.
fetch_peers() {
  step "Peers: ONNX Runtime, LiteRT, OpenVINO, IREE, and those for trees"
  peers="$(cache_folder)/bench-peers-$(hash_of "$benchmarks/peers.txt")"
  cached "$peers" fill_peers
  echo "$peers"
}

# Sets $python: for PYTHONPATH.
fetch_python() {
  step "Python with TensorFlow, which makes the nets"
  python="$(cache_folder)/bench-python-$(hash_of "$benchmarks/requirements.txt")"
  cached "$python" fill_python
  echo "$python"
}
