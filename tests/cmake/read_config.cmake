# SPDX-License-Identifier: Apache-2.0
# What the reader of configs at configure time makes of them. An empty word means that it cannot tell.
cmake_minimum_required(VERSION 3.20)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/detail/tfaot_read_config.cmake")

function(expect name namespace text)
  file(WRITE "${SCRATCH}/config.yaml" "${text}")
  _tfaot_read_config("${SCRATCH}/config.yaml" actual_name actual_namespace)
  if(NOT "${actual_name}|${actual_namespace}" STREQUAL "${name}|${namespace}")
    message(SEND_ERROR "read '${actual_name}' and '${actual_namespace}', should be '${name}' and '${namespace}', of\n${text}")
  endif()
endfunction()

expect(test my::ns "model:\n  name: test\n  version: 1\ncompilation:\n  batch_sizes: [1, 2]\n  namespace: my::ns\n")
expect(test tfaot_model "model:\n  name: test\n")
expect(test tfaot_model "model:\n  name: test # a comment\ncompilation:\n  namespace: null  # the default\n  batch_sizes: [1]\n")
expect(test tfaot_model "model:\n  name: test\ncompilation:\n  namespace:\n  batch_sizes: [1]\n")
expect(test tfaot_model "model:\n  name: test\ncompilation:\n  namespace: ~\n")
expect(test ns "# first\n\n---\ncompilation:\r\n    # inner\r\n\r\n    namespace: 'ns'\r\n    batch_sizes:\r\n    - 1\r\nmodel: # here\r\n\r\n  \"name\": \"test\"\r\n")
expect(test ns "compilation:\n  namespace: ns\nmodel:\n  version: '1;2'\n# in the first column\n\n  name: test")
expect(test ns "model:\n  description: >\n    name: wrong\n    [;\n  name: test\nother:\n  name: wrong\ncompilation:\n  namespace: ns\n")
expect(null_ _null "model:\n  name: null_\ncompilation:\n  namespace: _null\n")

# Another way of writing: no word rather than a wrong one.
expect("" "" "model:\n  version: 1\ncompilation:\n  batch_sizes: [1]\n")
expect("" "" "model: {name: test}\ncompilation: {namespace: ns}\n")
expect("" "" "model: &m\n  name: test\n")
expect("" ns "model:\n  <<: *base\n  name: test\ncompilation:\n  namespace: ns\n")
expect("" ns "model:\n  name: *alias\ncompilation:\n  namespace: ns\n")
expect("" ns "model:\n  name: |\n    test\ncompilation:\n  namespace: ns\n")
expect("" "" "model:\n  name:\n    test\ncompilation:\n  namespace:\n    ns\n")
expect("" ns "model:\n  name: \"te\\x73t\"\ncompilation:\n  namespace: ns\n")
expect("" ns "model:\n  ? name\n  : test\ncompilation:\n  namespace: ns\n")

expect(test ns "{\"model\": {\"name\": \"test\"}, \"compilation\": {\"batch_sizes\": [1], \"namespace\": \"ns\"}}")
expect(test tfaot_model "\n {\"model\": {\"name\": \"test\"}, \"compilation\": {\"namespace\": null}}")
expect("" "" "{model: {name: test}, compilation: {namespace: ns}}")
