# Made by tfaot-buildfile from BuildFile.xml.
_tfaot_buildfile_warning("BuildFile.xml:3: <skip> is not known and is ignored, but its contents are read")
_tfaot_buildfile_model("ns::M"
  PLACE "BuildFile.xml:4"
  MODEL "/data/m"
  BATCH_SIZES "1" "4"
  ${buildfile})
_tfaot_buildfile_model("net"
  PLACE "BuildFile.xml:5"
  MODEL "net.onnx"
  DIMENSIONS "n=5"
  ${buildfile})
_tfaot_buildfile_target("one"
  KIND "TEST"
  PLACE "BuildFile.xml:6"
  FILES "one.cc" "*.cpp"
  PRIVATE_USES "BuildFile.xml:1|a" "BuildFile.xml:2|b/c|source_only"
  MODELS "ns::M" "net"
  DNN_NAME "net"
  CPPDEFINES "T=\"x\;\$y\\z\""
  LDFLAGS "-Wl,-x"
  ENVIRONMENT "A=b"
  ${buildfile})
_tfaot_buildfile_target("two"
  KIND "TEST"
  PLACE "BuildFile.xml:7"
  NO_RUN
  FILES "two.cc"
  SKIPPED "x.cc"
  PRIVATE_USES "BuildFile.xml:1|a" "BuildFile.xml:2|b/c|source_only"
  INCLUDE_PATHS "i"
  MODELS "ns::M" "net"
  CPPDEFINES "T=\"x\;\$y\\z\""
  LDFLAGS "-Wl,-x"
  ${buildfile})
_tfaot_buildfile_target("three"
  KIND "TEST"
  PLACE "BuildFile.xml:8"
  PRIVATE_USES "BuildFile.xml:1|a" "BuildFile.xml:2|b/c|source_only"
  MODELS "ns::M" "net"
  CPPDEFINES "T=\"x\;\$y\\z\""
  LDFLAGS "-Wl,-x"
  RUN_COMMAND "echo \"\$A\""
  ${buildfile})
