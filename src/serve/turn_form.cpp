#include "serve/turn_form.h"

#include <algorithm>

#include <fmt/format.h>

#include "serve/json_grammar.h"

namespace hone {
namespace {

constexpr std::string_view kMark = "HONE_MARK_7f3a";

// How a dialect writes something: the texts around it.
struct Around {
  std::string before, after;
};

// The turn that a message is, as the dialect writes it, without thoughts before it.
Result<std::string> TurnText(const Dialect& dialect, Message message) {
  Conversation conversation;
  message.role = Role::kAssistant;
  conversation.messages = {{.role = Role::kUser, .content = "?"}, std::move(message)};
  HONE_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, dialect.Render(conversation));
  const auto last = std::find_if(pieces.rbegin(), pieces.rend(), [](const Piece& piece) {
    return piece.author == Author::kPolicy;
  });
  if (last == pieces.rend()) return Error(ErrorCode::kUnsupported, "it has no turns");
  const TurnMarks& marks = dialect.traits().marks;
  std::string text = last->text;
  if (!marks.think_open.empty() && text.starts_with(marks.think_open)) {
    const size_t close = text.find(marks.think_close);
    if (close == text.npos) return Error(ErrorCode::kUnsupported, "its thoughts do not end");
    text.erase(0, text.find_first_not_of(" \n", close + marks.think_close.size()));
  }
  return text;
}

Result<Around> AroundCall(const Dialect& dialect, const std::string& name) {
  Message message;
  message.calls = {{name, Json::Of({{std::string(kMark), 0}})}};
  HONE_ASSIGN_OR_RETURN(const std::string text, TurnText(dialect, std::move(message)));
  const size_t mark = text.find(kMark);
  const size_t open = mark == text.npos ? mark : text.rfind('{', mark);
  const size_t close = mark == text.npos ? mark : text.find('}', mark);
  const Error cannot(ErrorCode::kUnsupported,
                     fmt::format("tool_choice: the dialect {} does not write arguments as JSON, so "
                                 "that nobody can make the model call; leave it at \"auto\"",
                                 dialect.traits().name));
  if (open == text.npos || close == text.npos) return cannot;
  Around around{text.substr(0, open), text.substr(close + 1)};
  // What it reads there is the call, or it writes calls otherwise.
  const ParsedTurn read =
      dialect.Parse(around.before + "{\"a\":1}" + around.after, TurnEnd::kEnded);
  const bool same = read.faults.empty() && read.calls.size() == 1 && read.calls[0].name == name &&
                    read.calls[0].arguments == Json::Of({{"a", 1}});
  if (!same) return cannot;
  return around;
}

Result<Around> AroundAnswer(const Dialect& dialect) {
  Message message;
  message.content = std::string(kMark);
  HONE_ASSIGN_OR_RETURN(const std::string text, TurnText(dialect, std::move(message)));
  const size_t mark = text.find(kMark);
  const Error cannot(ErrorCode::kUnsupported,
                     fmt::format("response_format: the dialect {} does not write answers as they "
                                 "are, so that none can be made JSON",
                                 dialect.traits().name));
  if (mark == text.npos) return cannot;
  Around around{text.substr(0, mark), text.substr(mark + kMark.size())};
  const std::string json = "{\"a\":1}";
  const ParsedTurn read = dialect.Parse(around.before + json + around.after, TurnEnd::kEnded);
  if (!read.faults.empty() || read.answer != json) return cannot;
  return around;
}

class FormBuilder {
 public:
  FormBuilder(const Dialect& dialect, const Tokenizer& tokenizer)
      : dialect_(dialect), made_(std::make_shared<TurnGrammar>()) {
    for (const std::string& stop : dialect.traits().stops) {
      if (const auto token = tokenizer.FindAdded(stop)) made_->ends.push_back(*token);
    }
    std::sort(made_->ends.begin(), made_->ends.end());
    const std::string& think = dialect.traits().marks.think_open;
    thinks_ = !think.empty() && tokenizer.FindAdded(think).has_value();
  }

  bool can_end() const { return !made_->ends.empty(); }

  Result<void> AddCall(const Json& tool) {
    const Json* function = tool.Find("function");
    const Json& described = function != nullptr ? *function : tool;
    const std::string name = described.Find("name")->AsString();
    HONE_ASSIGN_OR_RETURN(const Around around, AroundCall(dialect_, name));
    const Json* parameters = described.Find("parameters");
    Grammar& g = made_->grammar;
    Grammar::Rule arguments = 0;
    if (parameters == nullptr || !parameters->is_object()) {
      arguments = g.Literal("{}");
    } else {
      const Result<Grammar::Rule> read = JsonTexts(*parameters, SchemaForm::kLoose, &g);
      if (!read.ok()) return read.error().In(fmt::format("tools: the parameters of {}", name));
      arguments = *read;
    }
    Add(around, arguments);
    return {};
  }

  Result<void> AddAnswer(const Json& schema) {
    HONE_ASSIGN_OR_RETURN(const Around around, AroundAnswer(dialect_));
    if (schema.is_null()) {
      Add(around, JsonObjectTexts(&made_->grammar));
      return {};
    }
    const Result<Grammar::Rule> read = JsonTexts(schema, SchemaForm::kStrict, &made_->grammar);
    if (!read.ok()) return read.error().In("response_format: the schema at");
    Add(around, *read);
    return {};
  }

  std::shared_ptr<const TurnGrammar> Finish(bool thinking) {
    Grammar& g = made_->grammar;
    Grammar::Rule start = g.Choice(std::move(choices_));
    const TurnMarks& marks = dialect_.traits().marks;
    if (thinking || thinks_) {
      Grammar::Bytes blanks;
      blanks.set(' ');
      blanks.set('\n');
      const auto rest =
          g.Sequence({g.Until(marks.think_close), g.Repeat(g.OneOf(blanks), 0, 4), start});
      start = thinking ? rest : g.Choice({start, g.Sequence({g.Literal(marks.think_open), rest})});
    }
    made_->start = start;
    return made_;
  }

 private:
  void Add(const Around& around, Grammar::Rule between) {
    Grammar& g = made_->grammar;
    choices_.push_back(g.Sequence({g.Literal(around.before), between, g.Literal(around.after)}));
  }

  const Dialect& dialect_;
  const std::shared_ptr<TurnGrammar> made_;
  std::vector<Grammar::Rule> choices_;
  bool thinks_ = false;  // the model has a token for it: it was made to
};

}  // namespace

Result<std::shared_ptr<const TurnGrammar>> GrammarOf(const TurnForm& form, const Dialect& dialect,
                                                     const Tokenizer& tokenizer, bool thinking) {
  FormBuilder builder(dialect, tokenizer);
  if (!builder.can_end()) {
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("{}: no token of this model ends a turn of the dialect {}, so that "
                    "the form of turns cannot be kept to",
                    form.must_call ? "tool_choice" : "response_format", dialect.traits().name));
  }
  for (const Json& tool : form.calls) HONE_RETURN_IF_ERROR(builder.AddCall(tool));
  if (!form.must_call && form.answer) HONE_RETURN_IF_ERROR(builder.AddAnswer(*form.answer));
  return builder.Finish(thinking);
}

}  // namespace hone
