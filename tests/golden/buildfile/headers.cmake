# Made by tfaot-buildfile from BuildFile.xml.
_tfaot_buildfile_target("SubPkg"
  KIND "PACKAGE"
  PLACE "BuildFile.xml"
  NO_LIBRARY
  ALL_SOURCES
  ${buildfile})
