# SPDX-License-Identifier: Apache-2.0
# tfaot_install_model(<target> ...): the old name of tfaot_deploy_model(), as CMake calls something else "install". It makes the
# target <target>_install too, which builds <target>_deploy.
function(tfaot_install_model target)
  message(DEPRECATION "tfaot_install_model() is called tfaot_deploy_model() now, and its target ${target}_deploy. \
For CMake's install(), see \"Installing what links a model\" in docs/cmake.md.")
  tfaot_deploy_model(${ARGV})
  _tfaot_get_model(tfaot_install_model "${target}" model tree)
  add_custom_target(${model}_install)
  add_dependencies(${model}_install ${model}_deploy)
endfunction()
