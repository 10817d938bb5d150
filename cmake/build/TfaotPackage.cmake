# SPDX-License-Identifier: Apache-2.0
# The toolkit as packages, which packaging/release.sh makes: a tarball that works wherever it is unpacked, of which it also makes the
# wheel (packaging/make_wheels.py), and a .deb. They contain what is installed (TfaotInstall.cmake), without the component "here", and
# what TfaotFinishPackage.cmake adds.
set(CPACK_PACKAGE_NAME tfaot)
set(CPACK_PACKAGE_VENDOR tfaot)
set(CPACK_PACKAGE_CONTACT "tfaot maintainers <maintainers@users.noreply.a-seed-68d4a3c1.example>")
set(CPACK_PACKAGE_FILE_NAME "tfaot-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}-linux")
set(CPACK_GENERATOR "TGZ;DEB")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};tfaot;Unspecified;/")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/TfaotFinishPackage.cmake")

# The .deb needs Debian's libraries; dpkg-shlibdeps says which. No package contains TensorFlow's.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${TFAOT_TENSORFLOW_ROOT}")
set(CPACK_DEBIAN_PACKAGE_DEPENDS "ca-certificates, python3-pip")  # of `tfaot setup`
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "binutils")  # its ld, of `tfaot run`, `validate` and `profile`
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, python3-numpy")  # of plugins, `tfaot tune`, `import tfaot`

# For the script.
set(CPACK_TFAOT_RUNTIME_TOOL "${PROJECT_BINARY_DIR}/tfaot-runtime.xml.in")
set(CPACK_TFAOT_DATADIR "${CMAKE_INSTALL_DATADIR}")
set(CPACK_TFAOT_DOCDIR "${CMAKE_INSTALL_DOCDIR}")
set(CPACK_TFAOT_BINDIR "${CMAKE_INSTALL_BINDIR}")
set(CPACK_TFAOT_LIBEXECDIR "${CMAKE_INSTALL_LIBEXECDIR}/tfaot")
set(CPACK_TFAOT_LIBRARY_DIR "${library_dir}")
set(CPACK_TFAOT_COMPILER "${CMAKE_CXX_COMPILER}")
set(CPACK_TFAOT_LIBARCHIVE "${LibArchive_LIBRARIES}")
set(CPACK_TFAOT_PYTHON_DIR "${CMAKE_INSTALL_LIBDIR}/tfaot/python")
include(CPack)
