#include "text/template_dialect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "support/call_turns.h"
#include "support/shared_data.h"
#include "text/bpe_trainer.h"

namespace hone {
namespace {

// ChatML with tools, and thoughts that are kept.
constexpr char kPlain[] =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n{{ c.function|tojson }}\n</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
// The same, but earlier turns lose their thoughts.
constexpr char kForgets[] =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{{ m.content.split('</think>')[-1] if m.role == 'assistant' and not loop.last "
    "else m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

std::unique_ptr<Dialect> Made(const char* source, TemplateOptions settings = {}) {
  ModelTemplate model;
  model.where = "a test";
  model.sources.emplace_back("default", source);
  model.tokens["eos_token"] = "<|endoftext|>";
  return NewTemplateDialect(std::move(model), std::move(settings)).value();
}

Conversation Asked(std::string content) {
  Conversation conversation;
  conversation.messages.push_back({.role = Role::kUser, .content = std::move(content)});
  return conversation;
}

TEST(TemplateDialect, FindsOutHowTurnsEndAndCallsAreSpelled) {
  const auto dialect = Made(kPlain);
  const std::vector<std::string> stops = {"<|im_end|>", "<|endoftext|>"};
  EXPECT_EQ(dialect->traits().stops, stops);
  const ParsedTurn turn = dialect->Parse(
      "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call><|im_end|>", TurnEnd::kUnknown);
  EXPECT_EQ(turn.calls.size(), 1u);
  EXPECT_EQ(dialect->ChatTemplate(), kPlain);
}

TEST(TemplateDialect, RendersTheTemplateInPiecesByAuthor) {
  Conversation conversation = Asked("hi");
  conversation.messages.insert(conversation.messages.begin(),
                               {.role = Role::kSystem, .content = "be"});
  conversation.messages.push_back({.role = Role::kAssistant, .content = "so"});
  conversation.messages.push_back({.role = Role::kUser, .content = "on <|im_end|>"});
  const auto pieces = Made(kPlain)->Render(conversation);
  ASSERT_TRUE(pieces.ok()) << pieces.error().message();
  ASSERT_EQ(pieces->size(), 4u);
  EXPECT_EQ((*pieces)[0].author, Author::kSystem);
  EXPECT_EQ((*pieces)[0].text, "<|im_start|>system\nbe<|im_end|>\n");
  EXPECT_EQ((*pieces)[1].text, "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ((*pieces)[2].author, Author::kPolicy);
  EXPECT_EQ((*pieces)[2].text, "so<|im_end|>");
  EXPECT_EQ((*pieces)[3].author, Author::kUser);
  EXPECT_EQ((*pieces)[3].text,
            "\n<|im_start|>user\non <|im_end|><|im_end|>\n<|im_start|>assistant\n");
  // The user's own marker is plain text; the template's is not.
  ASSERT_EQ((*pieces)[3].literal.size(), 1u);
  EXPECT_EQ((*pieces)[3].literal[0], (ByteRange{18, 31}));
}

// The markers of a template are not special in the files of some models: DeepSeek's turns.
TEST(TemplateDialect, NobodyCanTypeAMarkerThatTheTemplateWrites) {
  const auto dialect = Made(
      "{% for m in messages %}<|{{ m.role }}|>  {{ m.content }}{% endfor %}"
      "{% if add_generation_prompt %}<|assistant|>{% endif %}");
  BpeTrainingOptions options{.vocab_size = 300};
  for (const char* added :
       {"<|user|>", "<|assistant|>", "  ", "<other>", "content", "<｜fim▁end｜>", "<|EOT|>"}) {
    options.added.push_back({.content = added, .special = false});
  }
  const Tokenizer tokenizer = TrainBpe({"a b"}, options).value();
  const auto ids =
      EncodePieces(tokenizer, *dialect->Render(Asked("<|assistant|><|user|>  <other>content"
                                                     "<｜fim▁end｜><|EOT|>")));
  const auto count = [&](const char* added) {
    return std::count(ids.begin(), ids.end(), *tokenizer.FindAdded(added));
  };
  EXPECT_EQ(count("<|user|>"), 1) << "put together by the template, and not found in its text";
  EXPECT_EQ(count("<|assistant|>"), 1);
  EXPECT_EQ(count("  "), 2) << "blanks are vocabulary";
  EXPECT_EQ(count("<other>"), 1) << "no marker of this template";
  EXPECT_EQ(count("<｜fim▁end｜>") + count("<|EOT|>"), 0) << "marks of control of no template";
  EXPECT_EQ(count("content"), 1) << "a word of the template's text is vocabulary too";
}

TEST(TemplateDialect, ThoughtsThatAreWrittenIntoTheContentHaveTheModelsMarkers) {
  const auto dialect = Made(kPlain);
  BpeTrainingOptions options{.vocab_size = 300};
  for (const char* added : {"<think>", "</think>"}) {
    options.added.push_back({.content = added, .special = true});
  }
  const Tokenizer tokenizer = TrainBpe({"a b"}, options).value();
  Conversation said = Asked("a");
  said.messages.push_back(
      {.role = Role::kAssistant, .content = "b </think>", .reasoning = "so <think>"});
  const auto ids = EncodePieces(tokenizer, *dialect->Render(said));
  EXPECT_EQ(std::count(ids.begin(), ids.end(), *tokenizer.FindAdded("<think>")), 1);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), *tokenizer.FindAdded("</think>")), 1);
}

TEST(TemplateDialect, ContinuesBehindATurnAsItWasWritten) {
  const auto dialect = Made(kPlain);
  Conversation next;
  next.messages.push_back({.role = Role::kTool, .content = "42", .name = "f"});
  const std::string call = "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>";
  const auto ended = dialect->Continue(call + "<|im_end|>", next);
  ASSERT_TRUE(ended.ok()) << ended.error().message();
  EXPECT_EQ(ended->author, Author::kTool);
  EXPECT_EQ(ended->text, "\n<|im_start|>tool\n42<|im_end|>\n<|im_start|>assistant\n");
  const auto cut = dialect->Continue(call, next);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->text, "<|im_end|>\n<|im_start|>tool\n42<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(dialect->Continue(call, {}).error().code(), ErrorCode::kInvalidArgument);
}

TEST(TemplateDialect, SaysSoWhereTheTemplateRewritesHistory) {
  const auto dialect = Made(kForgets);
  const Conversation next = Asked("and?");
  EXPECT_TRUE(dialect->Continue("so<|im_end|>", next).ok());
  const auto piece = dialect->Continue("<think>\na\n</think>\n\nso<|im_end|>", next);
  ASSERT_FALSE(piece.ok());
  EXPECT_EQ(piece.error().code(), ErrorCode::kUnsupported);
  EXPECT_NE(piece.error().message().find("start a new segment"), std::string::npos);
}

TEST(TemplateDialect, NamedTemplatesThatGoOnDifferentlyAreNotMixed) {
  const auto made = [](const std::string& with_tools, TemplateOptions settings = {}) {
    ModelTemplate model;
    model.where = "a test";
    model.sources.emplace_back("default", kPlain);
    model.sources.emplace_back("tool_use", with_tools);
    return NewTemplateDialect(std::move(model), std::move(settings)).value();
  };
  EXPECT_TRUE(made(kPlain)->Continue("so<|im_end|>", Asked("and?")).ok());
  std::string other = kPlain;
  other.replace(other.find("assistant"), 9, "helper");
  const auto piece = made(other)->Continue("so<|im_end|>", Asked("and?"));
  ASSERT_FALSE(piece.ok());
  EXPECT_EQ(piece.error().code(), ErrorCode::kUnsupported);
  TemplateOptions chosen;
  chosen.name = "default";
  EXPECT_TRUE(made(other, chosen)->Continue("so<|im_end|>", Asked("and?")).ok());
}

TEST(TemplateDialect, ThoughtsAreReadWhateverTheCallsLookLike) {
  for (const char* calls : {"none", "llama3", "hermes", "qwen-xml"}) {
    TemplateOptions settings;
    settings.calls = CallFormatOf(calls);
    const auto dialect = Made(kPlain, settings);
    const ParsedTurn turn =
        dialect->Parse("<think>\nhm\n</think>\n\nso<|im_end|>", TurnEnd::kUnknown);
    EXPECT_EQ(turn.reasoning, "hm") << calls;
    EXPECT_EQ(turn.answer, "so") << calls;
    EXPECT_EQ(dialect->Parse("hm</think>so<|im_end|>", TurnEnd::kUnknown).answer, "so") << calls;
    const ParsedTurn open = dialect->Parse("<think>hm", TurnEnd::kCut);
    ASSERT_EQ(open.faults.size(), 1u) << calls;
    EXPECT_EQ(open.faults[0].kind, FaultKind::kIncomplete);
  }
  TemplateOptions llama;
  llama.calls = CallFormat::kLlama3;
  const ParsedTurn call =
      Made(kPlain, llama)
          ->Parse(R"(<think>hm</think>{"name": "f", "parameters": {"a": "</think>"}}<|im_end|>)",
                  TurnEnd::kUnknown);
  ASSERT_EQ(call.calls.size(), 1u);
  EXPECT_EQ(call.calls[0].range.begin, 17u);
}

// A template that writes calls in some way, made from a call that was written that way.
std::string TemplateWriting(const CallWriter& writer) {
  std::string call = writer.write({{"PROBE_NAME", Json::Of({{"x", "PROBE_VALUE"}})}});
  for (const auto& [word, code] :
       std::map<std::string, std::string>{{"PROBE_NAME", "{{ c.function.name }}"},
                                          {"PROBE_VALUE", "{{ c.function.arguments.x }}"}}) {
    call.replace(call.find(word), word.size(), code);
  }
  return "{% for m in messages %}<turn>{{ m.role }}:{{ m.content }}{% for c in m.tool_calls or [] "
         "%}" +
         call +
         "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<turn>assistant:{% "
         "endif %}";
}

TEST(TemplateDialect, FindsTheFormatOfCallsByWhatItsTemplateWrites) {
  for (const CallWriter& writer : CallWriters()) {
    const auto dialect = Made(TemplateWriting(writer).c_str());
    std::string_view expected = CallFormatName(writer.format);
    if (writer.label == "llama3-tag, JSON") expected = "llama3";  // no tool is built in
    if (writer.label == "phi4, marks") expected = "granite";  // the same, without a closing mark
    EXPECT_EQ(dialect->traits().call_format, expected) << writer.label;
    EXPECT_EQ(dialect->traits().call_format_found, "found by a call that its template wrote");
    std::vector<std::string> stops = {"<|im_end|>", "<|endoftext|>"};
    if (writer.format == CallFormat::kHarmony) stops.insert(stops.begin() + 1, "<|call|>");
    EXPECT_EQ(dialect->traits().stops, stops) << writer.label;
    // What it renders is what it reads.
    Conversation said = Asked("a");
    said.messages.push_back({.role = Role::kAssistant, .calls = {{"f", Json::Of({{"x", "so"}})}}});
    const auto pieces = dialect->Render(said);
    ASSERT_TRUE(pieces.ok()) << writer.label;
    std::string turn;
    for (const Piece& piece : *pieces) turn += piece.author == Author::kPolicy ? piece.text : "";
    const ParsedTurn read = dialect->Parse(turn, TurnEnd::kUnknown);
    ASSERT_EQ(read.calls.size(), 1u) << writer.label;
    EXPECT_EQ(read.calls[0].name, "f");
    EXPECT_EQ(read.calls[0].arguments, Json::Of({{"x", "so"}}));
  }
  EXPECT_EQ(Made(kForgets)->traits().call_format, "none");
}

TEST(TemplateDialect, SettingsStandBehindAQuestionMark) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "chat_template.jinja";
  ASSERT_TRUE(WriteFileAtomic(file, std::string("{{ strftime_now('%d %b %Y') }}\n") + kPlain).ok());
  const std::string folder = "template:" + directory.path().string();
  const auto dated = NewDialect(folder + "?date=2024-07-26&calls=none");
  ASSERT_TRUE(dated.ok()) << dated.error().message();
  EXPECT_TRUE(TextOf(*(*dated)->Render(Asked("hi"))).starts_with("26 Jul 2024\n"));
  EXPECT_TRUE((*dated)->Parse("<tool_call>", TurnEnd::kEnded).answer.has_value());
  EXPECT_TRUE(TextOf(*NewDialect(folder).value()->Render(Asked("hi"))).starts_with("01 Jan 2025"));
  for (const char* bad : {"?calls=klingon", "?date=today", "?nothing", "?name=tool_use"}) {
    EXPECT_FALSE(NewDialect(folder + bad).ok()) << bad;
  }
  EXPECT_NE(NewDialect("template").error().message().find("template:FOLDER"), std::string::npos);
  EXPECT_EQ(DialectIn("template", "m"), "template:m");
  EXPECT_EQ(DialectIn("template?calls=none", "m"), "template:m?calls=none");
  EXPECT_EQ(DialectIn("hermes", "m"), "hermes");
  EXPECT_EQ(DialectIn("template:other", "m"), "template:other");
}

// What transformers hands over as keyword arguments: of the conversation, else of the settings.
TEST(TemplateDialect, ATemplateGetsTheArgumentsThatAreGiven) {
  const std::string source =
      std::string(
          "{{ date_string|default('-') }} {{ builtin_tools|default([])|join('+') }} "
          "{{ documents[0].title if documents else 'none' }} "
          "{{ enable_thinking|default('?') }} {{ tools|length if tools else 0 }}\n") +
      kPlain;
  const TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.path() / "chat_template.jinja", source).ok());
  const std::string folder = "template:" + directory.path().string();
  const auto line = [&](const std::string& settings, const Conversation& conversation) {
    const auto dialect = NewDialect(folder + settings);
    EXPECT_TRUE(dialect.ok()) << dialect.error().message();
    const std::string text = TextOf((*dialect)->Render(conversation).value());
    return text.substr(0, text.find('\n'));
  };
  Conversation conversation = Asked("hi");
  EXPECT_EQ(line("", conversation), "-  none ? 0");
  EXPECT_EQ(line("?kwargs.date_string=1 May 2025&kwargs.builtin_tools=[\"a\",\"b\"]&kwargs."
                 "enable_thinking=false",
                 conversation),
            "1 May 2025 a+b none False 0");
  conversation =
      ConversationFromJson(*ParseJson(R"({"messages": [{"role": "user", "content": "hi"}],
      "tools": [{"type": "function", "function": {"name": "f"}}],
      "chat_template_kwargs": {"date_string": "today", "documents": [{"title": "T"}],
                               "enable_thinking": true}})"))
          .value();
  EXPECT_EQ(line("?kwargs.date_string=1 May 2025&kwargs.enable_thinking=false", conversation),
            "today  T True 1");
  for (const char* bad : {"?kwargs.tools=[]", "?kwargs.=1", "?kwargs.enable_thinking=no"}) {
    EXPECT_FALSE(NewDialect(folder + bad).ok()) << bad;
  }
  // What is appended has them, too, and nobody speaks as the template by them.
  const auto dialect = NewDialect(folder + "?kwargs.date_string=<|im_end|>").value();
  const std::vector<Piece> pieces = dialect->Render(Asked("hi")).value();
  ASSERT_FALSE(pieces[0].literal.empty());
  EXPECT_EQ(pieces[0].literal[0], (ByteRange{0, 10}));
  Conversation next;
  next.messages.push_back({.role = Role::kUser, .content = "on"});
  EXPECT_TRUE(dialect->Continue("so<|im_end|>", next).ok());
}

// DeepSeek-R1-Distill: its turns begin with added tokens that no file calls special, and its
// template writes them in its text.
TEST(TemplateDialect, NobodyCanTypeWhoSpeaksWhereThatIsAPlainAddedToken) {
  const auto dialect = Made(
      "{% for m in messages %}{% if m.role == 'user' %}{{ '<｜User｜>' + m.content }}"
      "{% elif m.role == 'tool' %}{{ '<｜tool▁output▁begin｜>' + m.content + "
      "'<｜tool▁output▁end｜>' }}{% elif m.role == 'assistant' %}{{ '<｜Assistant｜>' + "
      "(m.content or '') + '<｜end▁of▁sentence｜>' }}{% endif %}{% endfor %}"
      "{% if add_generation_prompt %}<｜Assistant｜>{% endif %}");
  const std::vector<std::string> marks = {"<｜User｜>",
                                          "<｜Assistant｜>",
                                          "<｜end▁of▁sentence｜>",
                                          "<｜tool▁output▁begin｜>",
                                          "<｜tool▁output▁end｜>",
                                          "<｜tool▁calls▁begin｜>",
                                          "<think>",
                                          "</think>"};
  BpeTrainingOptions options{.vocab_size = 300};
  std::string all;
  for (const std::string& mark : marks) {
    options.added.push_back({.content = mark, .special = false});
    all += mark;
  }
  const Tokenizer tokenizer = TrainBpe({"a b"}, options).value();
  Conversation conversation = Asked(all);
  conversation.messages.push_back({.role = Role::kAssistant, .calls = {{"f", Json::Object()}}});
  conversation.messages.push_back({.role = Role::kTool, .content = all, .name = "f"});
  const auto ids = EncodePieces(tokenizer, *dialect->Render(conversation));
  const auto count = [&](const std::string& mark) {
    return std::count(ids.begin(), ids.end(), *tokenizer.FindAdded(mark));
  };
  EXPECT_EQ(count("<｜User｜>"), 1);
  EXPECT_EQ(count("<｜Assistant｜>"), 2);
  EXPECT_EQ(count("<｜end▁of▁sentence｜>"), 1);
  EXPECT_EQ(count("<｜tool▁output▁begin｜>") + count("<｜tool▁output▁end｜>"), 2);
  EXPECT_EQ(count("<｜tool▁calls▁begin｜>") + count("<think>") + count("</think>"), 0);
}

TEST(TemplateDialect, ATemplateThatCannotBeReadIsAnErrorWithItsPlace) {
  ModelTemplate model;
  model.where = "m";
  model.sources.emplace_back("default", "a\n{% if %}");
  const auto dialect = NewTemplateDialect(model, {});
  ASSERT_FALSE(dialect.ok());
  EXPECT_EQ(dialect.error().message(),
            "the chat template of m: line 2, column 7: %} where an expression should stand");
}

// Qwen's own templates, against the dialect that was written after them.
TEST(TemplateDialect, AgreesWithHermesOnQwensTemplate) {
  HONE_NEED_SHARED(data, "data/chat-templates");
  const auto own =
      NewDialect("template:" + (data / "templates" / "Qwen-Qwen2.5-7B-Instruct.jinja").string());
  ASSERT_TRUE(own.ok()) << own.error().message();
  const auto hermes = NewDialect("hermes:qwen2.5").value();
  const Json contexts = *ParseJson(*ReadFile(data / "contexts.json"));
  int compared = 0;
  for (const auto& [name, context] : contexts.AsObject()) {
    const Conversation conversation = ConversationFromJson(context).value();
    const auto mine = (*own)->Render(conversation), theirs = hermes->Render(conversation);
    ASSERT_TRUE(mine.ok() && theirs.ok()) << name;
    EXPECT_EQ(TextOf(*mine), TextOf(*theirs)) << name;
    std::string turns, hermes_turns;
    for (const Piece& piece : *mine) turns += piece.author == Author::kPolicy ? piece.text : "";
    for (const Piece& piece : *theirs) {
      hermes_turns += piece.author == Author::kPolicy ? piece.text : "";
    }
    EXPECT_EQ(turns, hermes_turns) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 23);
  Conversation next;
  next.messages.push_back({.role = Role::kTool, .content = "42", .name = "f"});
  EXPECT_EQ((*own)->Continue("x<|im_end|>", next)->text,
            hermes->Continue("x<|im_end|>", next)->text);
}

// What can be put behind a call and its result in each of the models' templates, and where a new
// segment has to begin.
TEST(TemplateDialect, EveryTemplateOfTheDataIsContinuedOrSaysThatItRewrites) {
  HONE_NEED_SHARED(data, "data/chat-templates/templates");
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    const TemporaryDirectory folder;
    std::filesystem::copy(entry.path(), folder.path() / "chat_template.jinja");
    ASSERT_TRUE(WriteFileAtomic(folder.path() / "tokenizer_config.json",
                                R"({"bos_token": "<s>", "eos_token": "</s>"})")
                    .ok());
    const auto dialect = NewDialect("template:" + folder.path().string());
    ASSERT_TRUE(dialect.ok()) << entry.path() << dialect.error().message();
    Conversation next;
    next.messages.push_back({.role = Role::kTool, .content = "42", .name = "f"});
    const auto result = (*dialect)->Continue("x", next);
    const auto user = (*dialect)->Continue("<think>\na\n</think>\n\nx", Asked("and?"));
    const auto said = [](const Result<Piece>& piece) {
      if (piece.ok()) return std::string("appends");
      return piece.error().code() == ErrorCode::kUnsupported ? "rewrites" : piece.error().message();
    };
    found[entry.path().stem().string()] =
        said(result) + " after a result, " + said(user) + " after a question";
  }
  const std::string appends = "appends after a result, appends after a question";
  const std::string rewrites = "rewrites after a result, rewrites after a question";
  const std::map<std::string, std::string> expected = {
      {"HuggingFaceTB-SmolLM3-3B", appends},
      {"Qwen-Qwen2.5-7B-Instruct", appends},
      {"Qwen-Qwen3-0.6B", rewrites},  // an empty thought, as of "x", is there only at the end
      {"deepseek-ai-DeepSeek-V3.1",   // it never shows what was thought
       "appends after a result, rewrites after a question"},
      {"ibm-granite-granite-3.3-2B-Instruct", appends},
      {"microsoft-Phi-3.5-mini-instruct", appends},
      {"mistralai-Mistral-Nemo-Instruct-2407", rewrites},  // tools stand at the last question
      {"trl-qwen2_5", appends},
      {"trl-qwen2_5_training", appends},
      {"trl-qwen3", rewrites},
      {"trl-qwen3_training", appends},
  };
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace hone
