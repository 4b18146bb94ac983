// The picture of a tree in a terminal.

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "app/views/text_views.h"
#include "base/utf8.h"

namespace hone {

std::string CreditCodes(float credit, float largest) {
  if (credit == 0 || largest == 0) return "";
  static constexpr int kGreens[] = {22, 28, 34}, kReds[] = {52, 88, 124};
  const float share = std::min(std::abs(credit) / largest, 1.0f);
  const int step = std::min(static_cast<int>(share * 3), 2);
  return fmt::format("48;5;{}", credit > 0 ? kGreens[step] : kReds[step]);
}

namespace {

class TreePainter {
 public:
  TreePainter(const ScoredTree& record, const Tokenizer* tokenizer, const Terminal& terminal,
              const TreeViewOptions& options)
      : record_(record),
        tree_(record.tree),
        tokenizer_(tokenizer),
        terminal_(terminal),
        options_(options) {
    children_.resize(tree_.nodes.size());
    for (size_t i = 0; i < tree_.nodes.size(); ++i) {
      const Node& node = tree_.nodes[i];
      const NodeId above = node.parent != kNoNode ? node.parent : node.folded_from;
      if (above != kNoNode) children_[above].push_back(static_cast<NodeId>(i));
    }
    SpreadCredit();
  }

  std::string Paint() {
    Header();
    PaintNode(0, "");
    return std::move(out_);
  }

 private:
  // A shared token has a value per leaf; what is shown is their mean.
  void SpreadCredit() {
    std::map<NodeId, int> leaves_through;
    for (const Advantages& advantages : record_.advantages) {
      size_t next = 0;
      for (const NodeId id : WholePathTo(tree_, tree_.leaves[advantages.leaf].node)) {
        const Node& node = tree_.nodes[id];
        if (node.author != Author::kPolicy) continue;
        std::vector<float>& credit = credit_[id];
        credit.resize(node.tokens.size());
        ++leaves_through[id];
        for (float& value : credit) value += advantages.values[next++];
      }
    }
    for (auto& [id, credit] : credit_) {
      for (float& value : credit) {
        value /= static_cast<float>(leaves_through[id]);
        largest_credit_ = std::max(largest_credit_, std::abs(value));
      }
    }
  }

  void Header() {
    out_ += fmt::format("{}  seed {}  {} nodes  {} leaves  {} tokens\n",
                        terminal_.Bold("task " + Printable(tree_.task.id)), tree_.seed,
                        tree_.nodes.size(), tree_.leaves.size(), CountTokens(tree_));
    if (!credit_.empty()) {
      out_ += terminal_.colour
                  ? fmt::format("credit per token: {} {} up to ±{:.2f}\n",
                                terminal_.Styled("48;5;34", " positive "),
                                terminal_.Styled("48;5;124", " negative "), largest_credit_)
                  : "credit per token: {+x} stands before the tokens that have it\n";
    }
    if (tokenizer_ == nullptr) {
      out_ += terminal_.Yellow("no tokenizer: tokens are shown as ids (give --tokenizer)") + "\n";
    }
    out_ += "\n";
  }

  // A chain goes straight down; only a branch indents, so deep episodes stay readable. A stack
  // instead of recursion: a long episode is a deep tree.
  void PaintNode(NodeId first, const std::string& first_indent) {
    struct Open {
      NodeId id;
      std::string before, indent;  // in front of the first line, and of the others
    };
    std::vector<Open> stack = {{first, first_indent, first_indent}};
    while (!stack.empty()) {
      const Open open = std::move(stack.back());
      stack.pop_back();
      Title(open.id, open.before);
      const std::vector<NodeId>& below = children_[open.id];
      const bool branches = below.size() > 1;
      Body(open.id, open.indent + (branches ? "│ " : "  "));
      Ends(open.id, open.indent);
      for (size_t i = below.size(); i-- > 0;) {
        const bool last = i + 1 == below.size();
        stack.push_back({below[i], branches ? open.indent + (last ? "└─" : "├─") : open.indent,
                         branches ? open.indent + (last ? "  " : "│ ") : open.indent});
      }
    }
  }

  void Title(NodeId id, const std::string& before) {
    const Node& node = tree_.nodes[id];
    std::string details = fmt::format("#{}  {} tokens", id, node.tokens.size());
    if (node.author == Author::kPolicy) {
      double logprob = 0, entropy = 0;
      for (const float x : node.logprobs) logprob += x;
      for (const float x : node.entropies) entropy += x;
      details += fmt::format(
          "  logprob {:.2f}  entropy {:.2f}/token  policy {}", logprob,
          node.entropies.empty() ? 0.0 : entropy / static_cast<double>(node.entropies.size()),
          node.policy_version);
    }
    if (!node.thoughts.empty()) {
      details += fmt::format("  thought {} tokens", ThoughtTokens(node));
      if (node.closed_thoughts > 0) details += ", closed by a limit";
    }
    if (node.folded_from != kNoNode) {
      details += fmt::format("  {} #{}", IsFold(node) ? "folds" : "rewrites", node.folded_from);
    }
    out_ += fmt::format("{}{} {}\n", terminal_.Dim(before), AuthorLabel(node.author),
                        terminal_.Dim(details));
  }

  std::string AuthorLabel(Author author) const {
    const std::string_view name = AuthorName(author);
    switch (author) {
      case Author::kSystem: return terminal_.Bold(name);
      case Author::kUser: return terminal_.Styled("1;36", name);
      case Author::kPolicy: return terminal_.Styled("1;32", name);
      case Author::kTool: return terminal_.Styled("1;33", name);
    }
    return std::string(name);
  }

  void Body(NodeId id, const std::string& indent) {
    const Node& node = tree_.nodes[id];
    PutLines(TextOfNode(id), indent);
    for (const Call& call : node.calls) {
      PutLines(
          fmt::format("{} {} {}  {}{}", terminal_.Cyan("→"), terminal_.Bold(Printable(call.name)),
                      Printable(DumpJson(call.arguments, JsonStyle::kSpaced)),
                      terminal_.Dim(fmt::format("tokens {}–{}", call.span.begin, call.span.end)),
                      RewardsAt(id, call.span)),
          indent);
    }
    for (const Fault& fault : node.faults) {
      PutLines(fmt::format("{} {}: {}{}", terminal_.Red("✗"), FaultKindName(fault.kind),
                           Printable(fault.message), RewardsAt(id, fault.span)),
               indent);
    }
    for (const ToolResult& result : node.results) {
      if (result.status == CallStatus::kOk && result.injected.empty()) continue;
      const std::string injected =
          result.injected.empty() ? "" : fmt::format(", injected {}", result.injected);
      PutLines(fmt::format("{} call {}: {} (blame {}, tried {}×{})", terminal_.Red("✗"),
                           result.call, CallStatusName(result.status), BlameName(result.blame),
                           result.attempts, injected),
               indent);
    }
    const std::string rewards = RewardsAt(id, std::nullopt);
    if (!rewards.empty()) PutLines(terminal_.Dim("reward") + rewards, indent);
  }

  void Ends(NodeId id, const std::string& indent) {
    for (size_t i = 0; i < tree_.leaves.size(); ++i) {
      const Leaf& leaf = tree_.leaves[i];
      if (leaf.node != id) continue;
      std::string line = fmt::format("● {}", EndingName(leaf.ending));
      if (leaf.blame != Blame::kNone) line += fmt::format(" (blame {})", BlameName(leaf.blame));
      line = terminal_.Bold(line);
      for (const Score& score : record_.scores) {
        if (score.leaf != static_cast<int32_t>(i)) continue;
        const std::optional<double> total = Total(score);
        line += total ? fmt::format("  reward {}", Signed(*total)) : std::string("  not scored");
        for (const RewardTerm& term : score.terms) {
          if (term.node == kNoNode) line += "  " + TermText(term);
        }
      }
      PutLines(line, indent + "  ");
    }
  }

  std::string Signed(double value) const {
    const std::string text = fmt::format("{:+.2f}", value);
    return value > 0 ? terminal_.Green(text) : value < 0 ? terminal_.Red(text) : text;
  }

  std::string TermText(const RewardTerm& term) const {
    const std::string value =
        term.value ? Signed(term.weight * *term.value)
        : term.fault
            ? terminal_.Yellow(fmt::format("fault of the {}: {}", BlameName(term.fault->blame),
                                           Printable(term.fault->message)))
            : terminal_.Dim("absent");
    return fmt::format("{} {}", Printable(term.name), value);
  }

  // Terms placed on this node: on this span, or (nullopt) on no span that a call or fault shows.
  std::string RewardsAt(NodeId id, std::optional<Span> span) const {
    std::string text;
    for (const Score& score : record_.scores) {
      for (const RewardTerm& term : score.terms) {
        if (term.node != id) continue;
        const bool shown_elsewhere = term.span && IsShown(id, *term.span);
        if (span ? term.span == span : !shown_elsewhere) {
          const std::string entry = "  " + TermText(term);
          if (text.find(entry) == std::string::npos) text += entry;  // the same from every leaf
        }
      }
    }
    return text;
  }

  bool IsShown(NodeId id, const Span& span) const {
    const Node& node = tree_.nodes[id];
    return std::any_of(node.calls.begin(), node.calls.end(),
                       [&](const Call& call) { return call.span == span; }) ||
           std::any_of(node.faults.begin(), node.faults.end(),
                       [&](const Fault& fault) { return fault.span == span; });
  }

  // How a run of tokens is shown: credit behind it, thoughts in italics, and dim where no credit
  // is.
  std::string CodesOf(float credit, bool thought) const {
    const std::string codes = CreditCodes(credit, largest_credit_);
    if (!thought) return codes;
    return codes.empty() ? "2;3" : "3;" + codes;
  }

  static bool IsThought(const Node& node, size_t token) {
    const auto at = static_cast<int32_t>(token);
    return std::any_of(node.thoughts.begin(), node.thoughts.end(),
                       [&](const Span& span) { return span.begin <= at && at < span.end; });
  }

  // The node's tokens, credit shown where there is any.
  std::string TextOfNode(NodeId id) const {
    const Node& node = tree_.nodes[id];
    const auto found = credit_.find(id);
    const std::vector<float>* credit = found == credit_.end() ? nullptr : &found->second;
    std::string text, run;
    float run_credit = 0;
    bool run_thought = false;
    auto flush = [&] {
      if (run.empty()) return;
      const std::string shown = Printable(run);
      const std::string codes = CodesOf(run_credit, run_thought);
      if (!terminal_.colour && credit != nullptr) text += fmt::format("{{{:+.2f}}}", run_credit);
      text += codes.empty() ? shown : StyledLines(codes, shown);
      run.clear();
    };
    for (size_t t = 0; t < node.tokens.size(); ++t) {
      const float value = credit != nullptr ? (*credit)[t] : 0;
      // Without colours a thought is not told apart, and so begins no run.
      const bool thought = terminal_.colour && IsThought(node, t);
      if (value != run_credit || thought != run_thought) {
        // A character that goes on in the next token is shown with that.
        const std::string begun = run.substr(run.size() - Utf8IncompleteSuffix(run));
        run.resize(run.size() - begun.size());
        flush();
        run = begun;
      }
      run_credit = value;
      run_thought = thought;
      run += Spelled(node.tokens[t], t);
    }
    flush();
    return text;
  }

  std::string Spelled(TokenId token, size_t position) const {
    if (tokenizer_ == nullptr) return fmt::format("{}{}", position > 0 ? " " : "", token);
    if (!tokenizer_->IsToken(token)) return fmt::format("<{}?>", token);
    return std::string(tokenizer_->TokenBytes(token));
  }

  // A colour that ends before each line break, so that it does not run into the margin.
  std::string StyledLines(const std::string& codes, const std::string& text) const {
    std::string out;
    size_t at = 0;
    while (true) {
      const size_t end = std::min(text.find('\n', at), text.size());
      out += terminal_.Styled(codes, std::string_view(text).substr(at, end - at));
      if (end == text.size()) return out;
      out += '\n';
      at = end + 1;
    }
  }

  void PutLines(const std::string& text, const std::string& indent) {
    int lines = 0;
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      if (end == text.size() && end == at && lines > 0) break;  // a final line break opens no line
      if (options_.lines_per_node > 0 && lines == options_.lines_per_node) {
        const auto left =
            std::count(text.begin() + static_cast<ptrdiff_t>(at), text.end(), '\n') + 1;
        out_ += terminal_.Dim(fmt::format("{}… {} more lines (--full shows them)", indent, left)) +
                "\n";
        return;
      }
      PutLine(std::string_view(text).substr(at, end - at), indent);
      ++lines;
      at = end + 1;
    }
  }

  // Long lines are broken on a terminal, so that the margin stays; elsewhere they are left whole.
  void PutLine(std::string_view line, const std::string& indent) {
    const int room = std::max(terminal_.width - Columns(indent), 20);
    const auto parts =
        terminal_.colour ? Wrapped(line, room) : std::vector<std::string>{std::string(line)};
    for (const std::string& part : parts) out_ += terminal_.Dim(indent) + part + "\n";
  }

  const ScoredTree& record_;
  const Tree& tree_;
  const Tokenizer* tokenizer_;
  const Terminal& terminal_;
  TreeViewOptions options_;
  std::vector<std::vector<NodeId>> children_;
  std::map<NodeId, std::vector<float>> credit_;
  float largest_credit_ = 0;
  std::string out_;
};

}  // namespace

std::string TreeView(const ScoredTree& record, const Tokenizer* tokenizer, const Terminal& terminal,
                     const TreeViewOptions& options) {
  return TreePainter(record, tokenizer, terminal, options).Paint();
}

}  // namespace hone
