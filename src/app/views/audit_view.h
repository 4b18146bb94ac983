#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/terminal.h"
#include "base/json.h"
#include "learn/credit_audit.h"

// What `hone credit audit` has found: for a terminal, as Markdown, as a page, and as JSON.

namespace hone {

struct AuditFindings {
  std::string subject;  // "runs/quickstart at desk", for the heading
  int64_t tasks = 0, trajectories = 0;
  double success = 0;  // share of the trajectories
  std::vector<CreditAudit> audits;
  std::vector<std::pair<std::string, std::string>> refused;  // methods, and why
};

// A row per method. Long reasons why methods were refused are told below.
std::string AuditView(const AuditFindings& findings, const Terminal& terminal);
// The same as a section of a Markdown page.
std::string AuditMarkdown(const AuditFindings& findings);
// The same, with a picture per share.
std::string AuditPage(const AuditFindings& findings);
Json ToJson(const AuditFindings& findings);

}  // namespace hone
