// The page of hone credit explain --html.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/credit_view.h"

namespace hone {
namespace {

constexpr char kHead[] = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Credit</title>
<style>
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --dim: #6b7280; --line: #d9dde3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --paper: #14171a; --dim: #9aa3ad; --line: #333a41; } }
body { font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       margin: 2rem auto; max-width: 110rem; padding: 0 1.5rem; }
h1 { font-size: 1.25rem; } h2 { font-size: 1rem; border-top: 1px solid var(--line); padding-top: 1rem; }
.methods { display: flex; gap: 2rem; flex-wrap: wrap; } .method { flex: 1 1 24rem; min-width: 0; }
.layer { margin: .3rem 0 1rem; } .layer > b { display: block; font-size: .8rem; color: var(--dim); }
.tokens { font: 13px/1.9 ui-monospace, monospace; white-space: pre-wrap; word-break: break-word; }
.tokens span { border-radius: 3px; padding: 1px 0; } .other { color: var(--dim); }
.scale, .notes, .terms { color: var(--dim); font-size: .85rem; }
</style></head><body>
)";

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string Colour(float value, float largest) {
  if (value == 0 || largest == 0) return "";
  const double share = 0.12 + 0.6 * std::min(std::abs(value) / largest, 1.0f);
  return fmt::format("background:rgba({},{:.2f})", value > 0 ? "22,163,74" : "220,38,38", share);
}

std::string TokenText(const Tokenizer* tokenizer, TokenId token) {
  if (tokenizer == nullptr) return fmt::format("{} ", token);
  if (!tokenizer->IsToken(token)) return fmt::format("<{}?>", token);
  return Printable(tokenizer->TokenBytes(token));
}

// The tokens of one leaf's path; those of the policy coloured by `values`.
std::string Tokens(const ScoredTree& record, int32_t leaf, const std::vector<float>& values,
                   float largest, const Tokenizer* tokenizer) {
  std::string html = "<div class=\"tokens\">";
  size_t next = 0;
  for (const NodeId id : WholePathTo(record.tree, record.tree.leaves[leaf].node)) {
    const Node& node = record.tree.nodes[id];
    std::string run;
    if (node.author != Author::kPolicy) {
      for (const TokenId token : node.tokens) run += TokenText(tokenizer, token);
      html += fmt::format("<span class=\"other\" title=\"{}\">{}</span>", AuthorName(node.author),
                          Escaped(run));
      continue;
    }
    for (size_t t = 0; t < node.tokens.size(); ++t, ++next) {
      run += TokenText(tokenizer, node.tokens[t]);
      if (t + 1 < node.tokens.size() && values[next + 1] == values[next]) continue;
      html += fmt::format("<span style=\"{}\" title=\"{:+.6f}\">{}</span>",
                          Colour(values[next], largest), values[next], Escaped(run));
      run.clear();
    }
  }
  return html + "</div>";
}

std::string TermsOf(const ScoredTree& record, int32_t leaf) {
  std::string text;
  for (const Score& score : record.scores) {
    if (score.leaf != leaf) continue;
    for (const RewardTerm& term : score.terms) {
      text += fmt::format(
          "{}{}{} {}", text.empty() ? "" : " · ", Escaped(Printable(term.name)),
          term.node == kNoNode ? "" : fmt::format("@node {}", term.node),
          term.value ? fmt::format("{:+.3f}", term.weight * *term.value) : "not scored");
    }
  }
  return text.empty() ? "not scored" : text;
}

float Largest(const std::vector<MethodCredit>& credits) {
  float largest = 0;
  for (const MethodCredit& one : credits) {
    for (const Advantages& leaf : one.credit.advantages) {
      for (const float value : leaf.values) largest = std::max(largest, std::abs(value));
    }
  }
  return largest;
}

}  // namespace

std::string CreditPage(const ScoredTree& record, const std::vector<MethodCredit>& credits,
                       const Tokenizer* tokenizer, const CreditViewOptions& options) {
  const float largest = Largest(credits);
  std::string html = kHead;
  html += fmt::format(
      "<h1>Credit, task {}</h1><p class=\"scale\">Green was earned, red was "
      "charged, up to ±{:.3f}; grey was not written by the policy. Point at a "
      "token for its number.</p>\n",
      Escaped(Printable(record.tree.task.id)), largest);
  for (int32_t i = 0; i < static_cast<int32_t>(record.tree.leaves.size()); ++i) {
    if (options.leaf >= 0 && options.leaf != i) continue;
    const Leaf& leaf = record.tree.leaves[i];
    html += fmt::format("<h2>leaf {}: {}</h2><p class=\"terms\">{}</p><div class=\"methods\">\n", i,
                        EndingName(leaf.ending), TermsOf(record, i));
    for (const MethodCredit& one : credits) {
      html += fmt::format("<div class=\"method\"><div class=\"layer\"><b>{}</b>{}</div>\n",
                          Escaped(one.method),
                          Tokens(record, i, one.credit.advantages[i].values, largest, tokenizer));
      if (one.credit.layers.size() > 1) {
        html += "<details open><summary class=\"scale\">channels</summary>\n";
        for (const Layer& layer : one.credit.layers) {
          html += fmt::format("<div class=\"layer\"><b>{}</b>{}</div>\n", Escaped(layer.name),
                              Tokens(record, i, layer.advantages[i].values, largest, tokenizer));
        }
        html += "</details>";
      }
      html += "</div>\n";
    }
    html += "</div>\n";
  }
  html += "<h2>notes</h2><ul class=\"notes\">\n";
  for (const MethodCredit& one : credits) {
    for (const Note& note : one.credit.notes) {
      html +=
          fmt::format("<li>{} {}: {}, {}: {}</li>\n", Escaped(one.method), Escaped(note.channel),
                      note.leaf < 0 ? std::string("group") : fmt::format("leaf {}", note.leaf),
                      NoteKindName(note.kind), Escaped(note.text));
    }
  }
  return html + "</ul></body></html>\n";
}

}  // namespace hone
