# SPDX-License-Identifier: Apache-2.0
# Processes the specs for cmsdist as CMS's build tool does: it inserts an included file for its "## INCLUDE" line, writes the
# preamble from "### RPM GROUP NAME VERSION", takes a Source that is not an address from SOURCE.file, defines %{n},
# %{realversion}, %{i}, %{pkgrel} and %{relocateConfig}, drops archives and pkg-config files that the spec does not keep, and
# packs %{i}.
case_needs_plain_folder()
set(tool "${CASE_PREFIX}/bin/tfaot")
set(name tfaot-model-minimal)
set(root "${CASE_BINARY}/cms")
set(source "${CASE_BINARY}/Sub-Pkg-1")
file(COPY "${CASE_TOOLKIT}/examples/minimal/saved_model" "${CASE_TOOLKIT}/examples/minimal/aot_config.yaml"
     DESTINATION "${source}/data/minimal")
case_execute("tar" COMMAND "${CMAKE_COMMAND}" -E tar czf Sub-Pkg-1.tar.gz Sub-Pkg-1)

# walk(<spec option>...): to RPMS/walked.rpm
function(walk)
  set(dist "${CASE_BINARY}/cmsdist")
  case_execute("spec" COMMAND "${tool}" spec --source Sub-Pkg-1.tar.gz -c data/minimal/aot_config.yaml -o "${dist}" ${ARGN})
  file(READ "${dist}/${name}.spec" spec)
  file(READ "${dist}/tfaot-compile.file" included)
  if(NOT spec MATCHES "^### RPM ([^ ]+) ([^ ]+) ([^ \n]+)\n")
    message(FATAL_ERROR "no '### RPM' line:\n${spec}")
  endif()
  set(group "${CMAKE_MATCH_1}")
  set(tool_name "${CMAKE_MATCH_2}")
  set(version "${CMAKE_MATCH_3}")
  set(rel "arch/${group}/${tool_name}/${version}")
  string(REPLACE "## INCLUDE tfaot-compile\n" "${included}" spec "${spec}")
  string(REGEX REPLACE "\nBuildRequires:[^\n]*" "" spec "${spec}")  # other packages, which are not there
  if(spec MATCHES "\nSource: ([^\n]+)")
    configure_file("${dist}/${CMAKE_MATCH_1}.file" "${CASE_BINARY}/sources/${CMAKE_MATCH_1}" COPYONLY)
  endif()
  string(REPLACE "\n%post\n" "
%if \"%{?keep_archives:set}\" != \"set\"
rm -f %{i}/lib/*.a
%endif
%if \"%{?keep_pkgconfig:set}\" != \"set\"
rm -rf %{i}/lib/pkgconfig
%endif

%post
" spec "${spec}")
  file(WRITE "${CASE_BINARY}/walked.spec" "Name: ${group}+${tool_name}+${version}
Version: 1
Release: 1
Summary: walked
License: none
AutoReqProv: no
Prefix: ${root}
%define n ${tool_name}
%define realversion ${version}
%define pkgrel ${rel}
%define i %{buildroot}${root}/${rel}
%define relocateConfig sed -i \"s|/[^ ]*${root}|$RPM_INSTALL_PREFIX|g\" $RPM_INSTALL_PREFIX/%{pkgrel}/
%define __os_install_post %{nil}
${spec}
%description
%files
${root}/${rel}
")
  case_execute("rpmbuild" COMMAND "${CMAKE_COMMAND}" -E env "PATH=${CASE_PREFIX}/bin:$ENV{PATH}" "DATA_SUB_PKG_ROOT=${CASE_BINARY}"
               rpmbuild --define "_topdir ${CASE_BINARY}/top" --define "_sourcedir ${CASE_BINARY}/sources"
               --define "_rpmfilename walked.rpm" -bb walked.spec)
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()

# As a source of the spec, then from a data package, which exists when the model is built.
file(RENAME "${source}" "${CASE_BINARY}/unpacked")
walk()
file(COPY "${CASE_BINARY}/unpacked/data" DESTINATION "${CASE_BINARY}/Sub/Pkg")
file(REMOVE_RECURSE "${CASE_BINARY}/cmsdist" "${CASE_BINARY}/sources" "${CASE_BINARY}/top/RPMS/walked.rpm")
walk(--data-package data-Sub-Pkg)
file(STRINGS "${CASE_BINARY}/cmsdist/tfaot-models.file" models REGEX "^Requires:")
if(NOT models STREQUAL "Requires: ${name}")
  message(FATAL_ERROR "the list holds ${models}")
endif()

set(area "${CASE_BINARY}/area")
case_execute("rpm -i" COMMAND rpm --dbpath "${CASE_BINARY}/db" -i --nodeps --prefix "${area}" top/RPMS/walked.rpm)
set(installed "${area}/arch/external/${name}/1.0.0")
file(READ "${installed}/etc/scram.d/${name}.xml" case_output)
case_expect("default=\"${installed}\"")
case_expect_not("@TOOL_BASE@|BUILDROOT")

set(CASE_PREFIX "${installed}")
case_configure(SOURCE "${CASE_TOOLKIT}/examples/plugin")
case_build()
case_run(load_plugin ./plugin.so)
case_expect_predictions(plugin minimal 2)
