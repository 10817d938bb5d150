# Made by tfaot-buildfile from BuildFile.xml.
_tfaot_buildfile_target("SubPkg"
  KIND "PACKAGE"
  PLACE "BuildFile.xml"
  ALL_SOURCES
  SUBFOLDERS
  PUBLIC_USES "BuildFile.xml:1|a"
  ${buildfile})
