#include "app/views/audit_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/html.h"
#include "evaluate/compare/dot_plot.h"

namespace hone {
namespace {

struct AuditColumn {
  const char* key;      // in JSON
  const char* head;     // of the column
  const char* meaning;  // below it
  AuditedShare CreditAudit::*share;
};
constexpr std::array<AuditColumn, 3> kAuditColumns = {{
    {"right_rose", "right calls that rose", "of the right calls in failed attempts: made likelier",
     &CreditAudit::right_rose},
    {"wrong_fell", "wrong calls that fell",
     "of the wrong calls in successful attempts: made less likely", &CreditAudit::wrong_fell},
    {"needless_fell", "needless calls that fell", "of all needless calls: made less likely",
     &CreditAudit::needless_fell},
}};

std::string AuditPercent(const AuditedShare& share) {
  if (!share.share) return "-";
  return fmt::format("{:.0f} % [{:.0f}, {:.0f}]", 100 * share.share->value, 100 * share.share->low,
                     100 * share.share->high);
}

std::string AuditHeading(const AuditFindings& findings) {
  return fmt::format("{}: {} trajectories of {} tasks, {:.0f} % succeed. One update per method.",
                     findings.subject, findings.trajectories, findings.tasks,
                     100 * findings.success);
}

// How many calls a column is about: the same for every method.
int64_t CallsAudited(const AuditFindings& findings, const AuditColumn& column) {
  return findings.audits.empty() ? 0 : (findings.audits[0].*column.share).calls;
}

std::string AuditMeaning(const AuditFindings& findings, const AuditColumn& column) {
  return fmt::format("{} ({} calls)", column.meaning, CallsAudited(findings, column));
}

}  // namespace

std::string AuditView(const AuditFindings& findings, const Terminal& terminal) {
  size_t width = 6;
  for (const CreditAudit& audit : findings.audits) width = std::max(width, audit.method.size());
  std::string text = AuditHeading(findings) + "\n\n";
  std::string head = fmt::format("{:<{}}", "method", width);
  for (const AuditColumn& column : kAuditColumns) head += fmt::format("   {:<24}", column.head);
  text += terminal.Bold(head) + "\n";
  for (const CreditAudit& audit : findings.audits) {
    std::string row = fmt::format("{:<{}}", Printable(audit.method), width);
    for (const AuditColumn& column : kAuditColumns) {
      row += fmt::format("   {:<24}", AuditPercent(audit.*column.share));
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  text += "\n";
  for (const AuditColumn& column : kAuditColumns) {
    text += fmt::format("{:<24}   {}\n", column.head, AuditMeaning(findings, column));
  }
  if (!findings.refused.empty()) text += "\nNot audited:\n";
  for (const auto& [method, why] : findings.refused) {
    text += fmt::format("  {:<{}}  {}\n", Printable(method), width, Printable(why));
  }
  return text;
}

std::string AuditMarkdown(const AuditFindings& findings) {
  std::string text = AuditHeading(findings) + "\n\n| method |", rule = "|---|";
  for (const AuditColumn& column : kAuditColumns) {
    text += fmt::format(" {} ({}) |", column.head, CallsAudited(findings, column));
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const CreditAudit& audit : findings.audits) {
    text += fmt::format("| {} |", audit.method);
    for (const AuditColumn& column : kAuditColumns) {
      text += fmt::format(" {} |", AuditPercent(audit.*column.share));
    }
    text += "\n";
  }
  if (!findings.refused.empty()) text += "\nNot audited, for want of what they read:";
  for (size_t i = 0; i < findings.refused.size(); ++i) {
    text += fmt::format("{} `{}`", i == 0 ? "" : ",", findings.refused[i].first);
  }
  return text + (findings.refused.empty() ? "" : ".\n");
}

std::string AuditPage(const AuditFindings& findings) {
  std::string body = fmt::format("<h1>What one update does to single calls</h1>\n<p>{}</p>\n",
                                 EscapeHtml(AuditHeading(findings)));
  for (const AuditColumn& column : kAuditColumns) {
    DotPlot plot{.title = column.head, .x_label = "% of these calls", .rows = {}};
    for (const CreditAudit& audit : findings.audits) {
      std::optional<Interval> share = (audit.*column.share).share;
      if (share) share = Interval{100 * share->value, 100 * share->low, 100 * share->high};
      plot.rows.push_back({.label = audit.method, .value = share, .shown = true});
    }
    body += fmt::format("<h2>{}</h2>\n<p>Share {}.</p>\n{}\n", column.head,
                        EscapeHtml(AuditMeaning(findings, column)), ToSvg(plot));
  }
  if (!findings.refused.empty()) body += "<h2>Not audited</h2>\n<ul>\n";
  for (const auto& [method, why] : findings.refused) {
    body += fmt::format("<li><b>{}</b>: {}</li>\n", EscapeHtml(method), EscapeHtml(why));
  }
  if (!findings.refused.empty()) body += "</ul>\n";
  return HtmlPage("Credit audit", "body { max-width: 60rem; }", body);
}

Json ToJson(const AuditFindings& findings) {
  Json::Array audits, refused;
  for (const CreditAudit& audit : findings.audits) {
    Json one = Json::Of({{"method", audit.method}});
    for (const AuditColumn& column : kAuditColumns) {
      const AuditedShare& share = audit.*column.share;
      one.Set(column.key, Json::Of({{"share", IntervalJson(share.share)}, {"calls", share.calls}}));
    }
    audits.push_back(std::move(one));
  }
  for (const auto& [method, why] : findings.refused) {
    refused.push_back(Json::Of({{"method", method}, {"why", why}}));
  }
  return Json::Of({{"subject", findings.subject},
                   {"tasks", findings.tasks},
                   {"trajectories", findings.trajectories},
                   {"success", findings.success},
                   {"audits", std::move(audits)},
                   {"refused", std::move(refused)}});
}

}  // namespace hone
