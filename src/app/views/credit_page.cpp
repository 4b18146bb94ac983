// The page of hone credit explain --html.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/views/credit_view.h"
#include "base/html.h"
#include "text/token_texts.h"

namespace hone {
namespace {

constexpr std::string_view kCreditStyle = R"(
.methods { display: flex; gap: 2rem; flex-wrap: wrap; } .method { flex: 1 1 24rem; min-width: 0; }
.layer { margin: .3rem 0 1rem; } .layer > b { display: block; font-size: .8rem; color: var(--dim); }
.scale, .notes, .terms { color: var(--dim); font-size: .85rem; }
)";

std::string Colour(float value, float largest) {
  if (value == 0 || largest == 0) return "";
  const double share = 0.12 + 0.6 * std::min(std::abs(value) / largest, 1.0f);
  return fmt::format("background:rgba({},{:.2f})", value > 0 ? "22,163,74" : "220,38,38", share);
}

// The thought that a token is part of; null: none.
const Span* ThoughtAt(const Node& node, size_t token) {
  const auto at = static_cast<int32_t>(token);
  for (const Span& thought : node.thoughts) {
    if (thought.begin <= at && at < thought.end) return &thought;
  }
  return nullptr;
}

// The beginning of what is shown when one opens it.
std::string Folded(const Span& thought) {
  const int32_t tokens = thought.end - thought.begin;
  return fmt::format(
      "<details style=\"font-style:italic;color:var(--dim)\"><summary>thought, {} token{}"
      "</summary>",
      tokens, tokens == 1 ? "" : "s");
}

std::string TermsOf(const ScoredTree& record, int32_t leaf) {
  std::string text;
  for (const Score& score : record.scores) {
    if (score.leaf != leaf) continue;
    for (const RewardTerm& term : score.terms) {
      text += fmt::format(
          "{}{}{} {}", text.empty() ? "" : " · ", EscapeHtml(Printable(term.name)),
          term.node == kNoNode ? "" : fmt::format("@node {}", term.node),
          term.value ? fmt::format("{:+.3f}", term.weight * *term.value) : "not scored");
    }
  }
  return text.empty() ? "not scored" : text;
}

}  // namespace

float LargestCredit(const std::vector<Advantages>& advantages) {
  float largest = 0;
  for (const Advantages& leaf : advantages) {
    for (const float value : leaf.values) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

std::string CreditTokens(const ScoredTree& record, int32_t leaf, const std::vector<float>& values,
                         float largest, const Tokenizer* tokenizer) {
  std::string html = "<div class=\"tokens\">";
  size_t next = 0;
  for (const NodeId id : WholePathTo(record.tree, record.tree.leaves[leaf].node)) {
    const Node& node = record.tree.nodes[id];
    const std::vector<std::string> texts = TokenTexts(tokenizer, node.tokens);
    std::string run;
    if (node.author != Author::kPolicy) {
      for (const std::string& text : texts) run += text;
      html += fmt::format("<span class=\"other\" title=\"{}\">{}</span>", AuthorName(node.author),
                          EscapeHtml(Printable(run)));
      continue;
    }
    for (size_t t = 0; t < node.tokens.size(); ++t, ++next) {
      const Span* thought = ThoughtAt(node, t);
      if (thought != nullptr && thought->begin == static_cast<int32_t>(t)) html += Folded(*thought);
      run += texts[t];
      const bool same = t + 1 < node.tokens.size() && values[next + 1] == values[next];
      if (same && ThoughtAt(node, t + 1) == thought) continue;
      html += fmt::format("<span style=\"{}\" title=\"{:+.6f}\">{}</span>",
                          Colour(values[next], largest), values[next], EscapeHtml(Printable(run)));
      run.clear();
      if (thought != nullptr && thought->end == static_cast<int32_t>(t) + 1) html += "</details>";
    }
  }
  return html + "</div>";
}

std::string CreditPage(const ScoredTree& record, const std::vector<MethodCredit>& credits,
                       const Tokenizer* tokenizer, const CreditViewOptions& options) {
  float largest = 0;
  for (const MethodCredit& one : credits) {
    largest = std::max(largest, LargestCredit(one.credit.advantages));
  }
  std::string html = fmt::format(
      "<h1>Credit, task {}</h1><p class=\"scale\">Green was earned, red was "
      "charged, up to ±{:.3f}; grey was not written by the policy. Point at a "
      "token for its number.</p>\n",
      EscapeHtml(Printable(record.tree.task.id)), largest);
  for (int32_t i = 0; i < static_cast<int32_t>(record.tree.leaves.size()); ++i) {
    if (options.leaf >= 0 && options.leaf != i) continue;
    const Leaf& leaf = record.tree.leaves[i];
    html += fmt::format("<h2>leaf {}: {}</h2><p class=\"terms\">{}</p><div class=\"methods\">\n", i,
                        EndingName(leaf.ending), TermsOf(record, i));
    for (const MethodCredit& one : credits) {
      html += fmt::format(
          "<div class=\"method\"><div class=\"layer\"><b>{}</b>{}</div>\n", EscapeHtml(one.method),
          CreditTokens(record, i, one.credit.advantages[i].values, largest, tokenizer));
      if (one.credit.layers.size() > 1) {
        html += "<details open><summary class=\"scale\">channels</summary>\n";
        for (const Layer& layer : one.credit.layers) {
          html +=
              fmt::format("<div class=\"layer\"><b>{}</b>{}</div>\n", EscapeHtml(layer.name),
                          CreditTokens(record, i, layer.advantages[i].values, largest, tokenizer));
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
      html += fmt::format("<li>{} {}: {}, {}: {}</li>\n", EscapeHtml(one.method),
                          EscapeHtml(note.channel),
                          note.leaf < 0 ? std::string("group") : fmt::format("leaf {}", note.leaf),
                          NoteKindName(note.kind), EscapeHtml(note.text));
    }
  }
  return HtmlPage("Credit", fmt::format("{}{}", kTokenStyle, kCreditStyle), html + "</ul>");
}

}  // namespace hone
