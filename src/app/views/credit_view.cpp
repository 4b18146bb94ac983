#include "app/views/credit_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/views/text_views.h"
#include "credit/short_form.h"

namespace hone {
namespace {

std::string Spelled(const Tokenizer* tokenizer, const std::vector<TokenId>& tokens, size_t begin,
                    size_t end) {
  std::string text;
  for (size_t t = begin; t < end; ++t) {
    if (tokenizer == nullptr) {
      text += fmt::format("{}{}", t > begin ? " " : "", tokens[t]);
    } else if (tokenizer->IsToken(tokens[t])) {
      text += tokenizer->TokenBytes(tokens[t]);
    } else {
      text += fmt::format("<{}?>", tokens[t]);
    }
  }
  return text;
}

std::string OneLine(const std::string& text) {
  std::string line;
  for (const char c : Printable(text)) {
    if (c == '\n') {
      line += "↵";
    } else {
      line += c == '\t' ? ' ' : c;
    }
  }
  return line;
}

// A column of numbers: a method's sum, or one of its layers.
struct Column {
  std::string title;
  const std::vector<Advantages>* values;
  bool is_sum;
  int width() const { return std::clamp(Columns(title), 9, 22); }
};

std::vector<Column> ColumnsOf(const std::vector<MethodCredit>& credits) {
  std::vector<Column> columns;
  for (const MethodCredit& one : credits) {
    columns.push_back({one.method, &one.credit.advantages, true});
    if (one.credit.layers.size() < 2) continue;  // it would be the sum again
    for (const Layer& layer : one.credit.layers) {
      columns.push_back({layer.name, &layer.advantages, false});
    }
  }
  return columns;
}

class CreditPainter {
 public:
  CreditPainter(const ScoredTree& record, const std::vector<MethodCredit>& credits,
                const Tokenizer* tokenizer, const Terminal& terminal)
      : record_(record), columns_(ColumnsOf(credits)), tokenizer_(tokenizer), terminal_(terminal) {
    int numbers = 0;
    for (const Column& column : columns_) numbers += column.width() + 1;
    text_width_ = std::max(terminal.width - numbers - 12, 24);
    for (const Advantages& leaf : *columns_[0].values) {
      for (const float value : leaf.values) largest_ = std::max(largest_, std::abs(value));
    }
  }

  std::string Leaf(int32_t leaf) {
    Header(leaf);
    size_t flat = 0;
    for (const NodeId id : WholePathTo(record_.tree, record_.tree.leaves[leaf].node)) {
      const Node& node = record_.tree.nodes[id];
      if (node.author != Author::kPolicy) {
        Row(std::string(AuthorName(node.author)),
            OneLine(Spelled(tokenizer_, node.tokens, 0, node.tokens.size())), "2", "");
        continue;
      }
      for (size_t begin = 0, end = 0; begin < node.tokens.size(); begin = end) {
        end = begin + 1;
        while (end < node.tokens.size() && Same(leaf, flat + begin, flat + end)) ++end;
        Row(fmt::format("{}–{}", flat + begin, flat + end),
            OneLine(Spelled(tokenizer_, node.tokens, begin, end)),
            CreditCodes((*columns_[0].values)[leaf].values[flat + begin], largest_),
            Numbers(leaf, flat + begin));
      }
      flat += node.tokens.size();
    }
    return std::move(out_) + "\n";
  }

 private:
  void Header(int32_t leaf) {
    const hone::Leaf& end = record_.tree.leaves[leaf];
    std::string line = fmt::format("leaf {}  {}", leaf, EndingName(end.ending));
    if (end.blame != Blame::kNone) line += fmt::format(" (blame {})", BlameName(end.blame));
    for (const Score& score : record_.scores) {
      if (score.leaf != leaf) continue;
      for (const RewardTerm& term : score.terms) {
        line += fmt::format(
            "  {}{} {}", Printable(term.name),
            term.node == kNoNode ? "" : fmt::format("@{}", term.node),
            term.value ? fmt::format("{:+.2f}", term.weight * *term.value) : std::string("absent"));
      }
    }
    out_ += terminal_.Bold(line) + "\n";
    std::string titles = fmt::format("{} {}", Fitted("tokens", 10), Fitted("", text_width_));
    for (const Column& column : columns_) {
      const std::string title = Fitted(column.title, column.width());
      titles += " " + (column.is_sum ? terminal_.Bold(title) : terminal_.Dim(title));
    }
    out_ += titles + "\n";
  }

  bool Same(int32_t leaf, size_t a, size_t b) const {
    return std::all_of(columns_.begin(), columns_.end(), [&](const Column& column) {
      const std::vector<float>& values = (*column.values)[leaf].values;
      return values[a] == values[b];
    });
  }

  std::string Numbers(int32_t leaf, size_t token) const {
    std::string text;
    for (const Column& column : columns_) {
      const float value = (*column.values)[leaf].values[token];
      const std::string number = value == 0 ? fmt::format("{:>{}}", "·", column.width())
                                            : fmt::format("{:>+{}.4f}", value, column.width());
      text += " " + (value > 0   ? terminal_.Green(number)
                     : value < 0 ? terminal_.Red(number)
                                 : terminal_.Dim(number));
    }
    return text;
  }

  // The text is coloured by what the first method gives it; the blanks behind it are not.
  void Row(const std::string& label, const std::string& text, const std::string& codes,
           const std::string& numbers) {
    const std::string shown = Columns(text) <= text_width_ ? text : Fitted(text, text_width_);
    const std::string blanks(std::max(text_width_ - Columns(shown), 0), ' ');
    out_ += Fitted(label, 10) + " " + (codes.empty() ? shown : terminal_.Styled(codes, shown)) +
            blanks + numbers + "\n";
  }

  const ScoredTree& record_;
  std::vector<Column> columns_;
  const Tokenizer* tokenizer_;
  const Terminal& terminal_;
  int text_width_ = 40;
  float largest_ = 0;
  std::string out_;
};

std::string NotesView(const std::vector<MethodCredit>& credits, int leaf,
                      const Terminal& terminal) {
  std::string out;
  for (const MethodCredit& one : credits) {
    for (const Note& note : one.credit.notes) {
      if (leaf >= 0 && note.leaf >= 0 && note.leaf != leaf) continue;
      out += fmt::format("{}{}: {}, {}: {}\n", one.method,
                         note.channel.empty() ? "" : " " + note.channel,
                         note.leaf < 0 ? std::string("group") : fmt::format("leaf {}", note.leaf),
                         NoteKindName(note.kind), note.text);
    }
  }
  return out.empty() ? out : terminal.Bold("notes") + "\n" + terminal.Dim(out);
}

std::string WithBlanks(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

}  // namespace

void AddExplanation(const Credit& credit, Json* json) {
  Json::Array layers, notes;
  for (const Layer& layer : credit.layers) {
    Json one = Json::Of({{"name", layer.name}});
    one.Set("advantages", *AdvantagesToShortForm(layer.advantages).Find("advantages"));
    layers.push_back(std::move(one));
  }
  for (const Note& note : credit.notes) {
    notes.push_back(Json::Of({{"kind", NoteKindName(note.kind)},
                              {"leaf", note.leaf < 0 ? Json() : Json(note.leaf)},
                              {"channel", note.channel},
                              {"text", note.text}}));
  }
  json->Set("layers", std::move(layers));
  json->Set("notes", std::move(notes));
}

std::string CreditView(const ScoredTree& record, const std::vector<MethodCredit>& credits,
                       const Tokenizer* tokenizer, const Terminal& terminal,
                       const CreditViewOptions& options) {
  std::string out = terminal.Bold("task " + Printable(record.tree.task.id)) + "\n\n";
  for (int32_t i = 0; i < static_cast<int32_t>(record.tree.leaves.size()); ++i) {
    if (options.leaf >= 0 && options.leaf != i) continue;
    out += CreditPainter(record, credits, tokenizer, terminal).Leaf(i);
  }
  return out + NotesView(credits, options.leaf, terminal);
}

std::string MethodsView(const std::vector<MethodSummary>& methods, const Terminal& terminal) {
  std::string out =
      terminal.Bold(fmt::format("{} {}", Fitted("method", 21), "what it does")) + "\n";
  for (const MethodSummary& method : methods) {
    out += fmt::format("{} {}\n", terminal.Bold(Fitted(method.name, 21)), method.about);
    out += terminal.Dim(fmt::format("{:22}needs {}\n", "", method.needs));
    if (!method.settings.empty()) {
      out += terminal.Dim(fmt::format("{:22}{}\n", "", WithBlanks(method.settings)));
    }
  }
  return out;
}

Json MethodsJson(const std::vector<MethodSummary>& methods) {
  Json::Array list;
  for (const MethodSummary& method : methods) {
    list.push_back(Json::Of({{"name", method.name},
                             {"about", method.about},
                             {"needs", method.needs},
                             {"settings", Json::ArrayOf(method.settings)},
                             {"unbiased", method.promises.unbiased},
                             {"shift_invariant", method.promises.shift_invariant},
                             {"flat", method.promises.flat}}));
  }
  return Json::Of({{"methods", std::move(list)}});
}

}  // namespace hone
