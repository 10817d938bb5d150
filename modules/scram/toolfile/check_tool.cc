// SPDX-License-Identifier: Apache-2.0
#include "tfaot/scram/check_tool.h"

#include <fmt/format.h>

#include <algorithm>

#include "grammar/xml_source.h"
#include "toolfile/tool_checker.h"

namespace tfaot::toolkit {

Result<ToolReport> check_tool(const FileSystem& fs, const CheckToolOptions& options) {
  TFAOT_ASSIGN(const std::string text, fs.read(options.file));
  Findings findings;
  XmlSource xml;
  if (const auto fault = xml.parse(text)) {
    findings.error(fault->line, fault->what, {fault->scram, fault->advice});
  } else {
    ToolChecker(fs, options, xml, findings).check();
  }
  ToolReport report{findings.take()};
  std::ranges::stable_sort(report.findings, {}, &ToolFinding::line);
  return report;
}

std::string finding_text(const ToolFinding& finding, const std::string& file) {
  const std::string place = finding.line > 0 ? fmt::format("{}:{}", file, finding.line) : file;
  return fmt::format("{}: {}: {}\n  scram {}\n  {}\n", place,
                     finding.severity == Severity::kError ? "error" : "warning", finding.what,
                     finding.scram, finding.advice);
}

}  // namespace tfaot::toolkit
