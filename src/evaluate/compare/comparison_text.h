#pragma once

#include <span>
#include <string>
#include <vector>

#include "evaluate/compare/comparison.h"

// A comparison as Markdown that reads well as plain text, too.

namespace hone {

// Cells row by row; the first row is the heading.
using TableRows = std::vector<std::vector<std::string>>;

// Columns of equal width. All rows have as many cells as the first, the heading.
std::string MarkdownTable(const TableRows& rows);
// Cells of many words have the class "long".
std::string HtmlTable(const TableRows& rows);

// "91.8 [90.1, 93.2]", "1.14 [1.12, 1.17]", "33.3 k", "212 s"; "-" for nothing.
std::string QuantityText(const QuantityKind& kind, const Quantity& quantity);
// "+1.8 [+0.3, +3.2]"
std::string DifferenceText(const QuantityKind& kind, const Difference& difference);
// "4 more, 1 less", "5 more"; what differs by seed.
std::string SignText(const Difference& difference);
// "12.8 k", "later than 38.4 k (2 of 5 reached it)"
std::string GoalText(const GoalTimes& goal);
// What a difference lets one say: "higher", "lower", "no effect shown".
std::string VerdictText(const Difference& difference);

// A table of the report of a section.
struct ReportTable {
  std::string heading;
  TableRows rows;
  std::string note;  // to be read with it; may be empty
};
// All that there is something to say in, most important first.
std::vector<ReportTable> TablesOf(const ComparedSection& section, const SectionReport& report);

// Every training run that was made, whatever became of it.
TableRows RunRows(std::span<const ComparedRun> runs);

// What must be known to read the tables, in sentences.
std::string ReadingNotes(const ComparedSection& section);

struct ComparisonText {
  std::string title;
  std::string text;
  std::string command;                   // that made it
  std::vector<ReportTable> claims = {};  // in front of the sections
  std::vector<ReportTable> tables = {};  // behind the sections; those without rows are left out
};
std::string ComparisonMarkdown(const ComparisonText& head,
                               const std::vector<ComparedSection>& sections,
                               const std::vector<SectionReport>& reports,
                               std::span<const ComparedRun> runs,
                               const std::vector<std::string>& problems);

}  // namespace hone
