#include "app/passes/passes.h"

#include <memory>

#include <fmt/format.h>

#include "app/views/text_views.h"
#include "record/record_json.h"
#include "record/store.h"
#include "record/validate.h"
#include "text/dialect.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

const PassOption kTokenizer = {"tokenizer", "tokenizer.json, or a folder with tokenizer files",
                               true};
const PassOption kTokenizerIfWanted = {"tokenizer", "a tokenizer; adds token ids or token spans",
                                       false};
const PassOption kDialect = {"dialect", "e.g. hermes, action-json, tagged:desk", true};

Json Schema(std::string_view text) {
  Result<Json> schema = ParseJson(text);
  CHECK(schema.ok(), schema.ok() ? "" : schema.error().message());
  return *schema;
}

Result<std::shared_ptr<Tokenizer>> LoadTokenizer(const PassOptions& options) {
  const auto found = options.find("tokenizer");
  if (found == options.end()) return std::shared_ptr<Tokenizer>();
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(found->second));
  return std::make_shared<Tokenizer>(std::move(tokenizer));
}

Result<std::shared_ptr<Dialect>> LoadDialect(const PassOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Dialect> dialect, NewDialect(options.at("dialect")));
  return std::shared_ptr<Dialect>(std::move(dialect));
}

Result<std::string> TextOfLine(const Json& in) {
  const Json* text = in.Find("text");
  if (text == nullptr || !text->is_string()) {
    return Error(ErrorCode::kInvalidArgument, "the line needs \"text\", a string");
  }
  return text->AsString();
}

Pass TokenizePass() {
  return {.name = "tokenize",
          .about = "Turn a text into token ids, and the ids back into text.",
          .options = {kTokenizer},
          .input_schema = Schema(R"({"type": "object", "required": ["text"],
              "properties": {"text": {"type": "string"}}})"),
          .output_schema = Schema(R"({"type": "object", "required": ["ids", "decoded"],
              "properties": {"ids": {"type": "array", "items": {"type": "integer"}},
                             "decoded": {"type": "string"}}})"),
          .example = R"({"text": "Hello, world!"})",
          .open = [](const PassOptions& options) -> Result<PassFunction> {
            HONE_ASSIGN_OR_RETURN(auto tokenizer, LoadTokenizer(options));
            return PassFunction([tokenizer](const Json& in) -> Result<Json> {
              HONE_ASSIGN_OR_RETURN(const std::string text, TextOfLine(in));
              const std::vector<TokenId> ids = tokenizer->Encode(text);
              return Json::Of({{"ids", Json::ArrayOf(ids)}, {"decoded", tokenizer->Decode(ids)}});
            });
          }};
}

Pass RenderPass() {
  return {
      .name = "render",
      .about = "Turn a conversation into the text and token ids that the policy reads.",
      .options = {kDialect, kTokenizerIfWanted},
      .input_schema = Schema(R"({"type": "object", "required": ["messages"], "properties": {
              "messages": {"type": "array", "items": {"type": "object"}},
              "tools": {"type": "array", "items": {"type": "object"}},
              "add_generation_prompt": {"type": "boolean",
                "description": "absent: true when the policy is to speak next"},
              "enable_thinking": {"type": "boolean"},
              "chat_template_kwargs": {"type": "object"}}})"),
      .output_schema = Schema(R"({"type": "object", "required": ["text"], "properties": {
              "text": {"type": "string"},
              "ids": {"type": "array", "items": {"type": "integer"},
                "description": "with --tokenizer"}}})"),
      .example = R"({"messages": [{"role": "user", "content": "Weather in Oslo?"}], "tools": []})",
      .open = [](const PassOptions& options) -> Result<PassFunction> {
        HONE_ASSIGN_OR_RETURN(auto dialect, LoadDialect(options));
        HONE_ASSIGN_OR_RETURN(auto tokenizer, LoadTokenizer(options));
        return PassFunction([dialect, tokenizer](const Json& in) -> Result<Json> {
          HONE_ASSIGN_OR_RETURN(const Conversation conversation, ConversationFromJson(in));
          HONE_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, dialect->Render(conversation));
          Json out = Json::Of({{"text", TextOf(pieces)}});
          if (tokenizer != nullptr) {
            out.Set("ids", Json::ArrayOf(EncodePieces(*tokenizer, pieces)));
          }
          return out;
        });
      }};
}

Pass TemplatePass() {
  return {.name = "template",
          .about =
              "Write the chat template of a dialect, which makes Hugging Face's transformers "
              "render as the pass `render` does.",
          .options = {},
          .input_schema = Schema(R"({"type": "object", "required": ["dialect"],
              "properties": {"dialect": {"type": "string"}}})"),
          .output_schema = Schema(R"({"type": "object", "required": ["chat_template"],
              "properties": {"chat_template": {"type": "string", "description": "Jinja"}}})"),
          .example = R"({"dialect": "hermes:qwen3"})",
          .open = [](const PassOptions&) -> Result<PassFunction> {
            return PassFunction([](const Json& in) -> Result<Json> {
              const Json* name = in.Find("dialect");
              if (name == nullptr || !name->is_string()) {
                return Error(ErrorCode::kInvalidArgument, "the line needs \"dialect\", a string");
              }
              HONE_ASSIGN_OR_RETURN(const auto dialect, NewDialect(name->AsString()));
              return Json::Of({{"chat_template", dialect->ChatTemplate()}});
            });
          }};
}

Result<TurnEnd> EndOfLine(const Json& in) {
  const Json* end = in.Find("end");
  if (end == nullptr || *end == Json("unknown")) return TurnEnd::kUnknown;
  if (*end == Json("ended")) return TurnEnd::kEnded;
  if (*end == Json("cut")) return TurnEnd::kCut;
  return Error(ErrorCode::kInvalidArgument, "\"end\" must be \"ended\", \"cut\" or \"unknown\"");
}

// The bytes of a turn, from its text or, with a tokenizer, from its ids.
Result<std::string> TurnOfLine(const Json& in, const Tokenizer* tokenizer,
                               std::vector<TokenId>* ids) {
  const Json* given = in.Find("ids");
  if (given != nullptr && tokenizer == nullptr && in.Find("text") == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "\"ids\" can only be read with --tokenizer");
  }
  if (tokenizer == nullptr) return TextOfLine(in);
  std::string text;
  if (given != nullptr) {
    JsonErrors errors;
    ReadJson(*given, "ids", &errors, ids);
    HONE_RETURN_IF_ERROR(errors.Check());
  } else {
    HONE_ASSIGN_OR_RETURN(text, TextOfLine(in));
    *ids = tokenizer->Encode(text);
  }
  std::string bytes;
  for (const TokenId id : *ids) {
    if (!tokenizer->IsToken(id)) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("ids: {} is not a token", id));
    }
    bytes += tokenizer->TokenBytes(id);
  }
  if (given == nullptr && bytes != text) {
    return Error(
        ErrorCode::kInvalidArgument,
        "the tokenizer normalises this text, so its tokens spell other bytes; give \"ids\", or "
        "normalise the text first (NFC)");
  }
  return bytes;
}

Pass ParsePass() {
  return {
      .name = "parse",
      .about =
          "Read a turn of the policy: its calls, its answer, or the fault in it. Spans are "
          "half-open; `span` counts UTF-8 bytes of the text, `char_span` its characters, "
          "`token_span` tokens.",
      .options = {kDialect, kTokenizerIfWanted},
      .input_schema = Schema(R"({"type": "object", "properties": {
              "text": {"type": "string"},
              "ids": {"type": "array", "items": {"type": "integer"},
                "description": "instead of text, with --tokenizer"},
              "end": {"enum": ["ended", "cut", "unknown"],
                "description": "how the turn came to its end; unknown when absent"}}})"),
      .output_schema = Schema(R"({"type": "object",
              "required": ["calls", "answer", "error", "content", "reasoning"], "properties": {
              "calls": {"type": "array", "items": {"type": "object",
                "required": ["name", "arguments", "span"], "properties": {
                  "name": {"type": "string"}, "arguments": {"type": "object"},
                  "span": {"type": "array", "items": {"type": "integer"}},
                  "char_span": {"type": "array", "items": {"type": "integer"}},
                  "token_span": {"type": "array", "items": {"type": "integer"}}}}},
              "answer": {"type": ["string", "null"]},
              "error": {"type": ["object", "null"], "properties": {
                "kind": {"enum": ["incomplete", "bad_json", "bad_call", "unexpected_text", "no_action"]},
                "message": {"type": "string"},
                "span": {"type": "array", "items": {"type": "integer"}}}},
              "content": {"type": "string"}, "reasoning": {"type": "string"}}})"),
      .example = R"({"text": "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>"})",
      .open = [](const PassOptions& options) -> Result<PassFunction> {
        HONE_ASSIGN_OR_RETURN(auto dialect, LoadDialect(options));
        HONE_ASSIGN_OR_RETURN(auto tokenizer, LoadTokenizer(options));
        return PassFunction([dialect, tokenizer](const Json& in) -> Result<Json> {
          std::vector<TokenId> ids;
          HONE_ASSIGN_OR_RETURN(const std::string turn, TurnOfLine(in, tokenizer.get(), &ids));
          HONE_ASSIGN_OR_RETURN(const TurnEnd end, EndOfLine(in));
          return ParsedTurnJson(turn, dialect->Parse(turn, end), tokenizer.get(), ids);
        });
      }};
}

Pass ValidatePass() {
  return {
      .name = "validate",
      .about = "Check whether a tree is sound, and list everything that is wrong with it.",
      .options = {},
      .input_schema = Schema(R"({"type": "object", "required": ["format", "version"],
              "properties": {"format": {"const": "hone.tree"}, "version": {"const": 1}},
              "description": "docs/formats/tree.md"})"),
      .output_schema = Schema(R"({"type": "object", "required": ["ok"], "properties": {
              "ok": {"type": "boolean"},
              "errors": {"type": "array", "items": {"type": "string"}}}})"),
      .example =
          R"({"format": "hone.tree", "version": 1, "task": {"id": "t"}, "nodes": [{"author": "user", "tokens": [1]}], "leaves": [{"node": 0, "ending": "user_stop"}]})",
      .open = [](const PassOptions&) -> Result<PassFunction> {
        return PassFunction([](const Json& in) -> Result<Json> {
          HONE_ASSIGN_OR_RETURN(const ScoredTree record, RecordFromJson(in));
          const std::vector<std::string> problems = Validate(record);
          Json out = Json::Of({{"ok", problems.empty()}});
          if (!problems.empty()) out.Set("errors", Json::ArrayOf(problems));
          return out;
        });
      }};
}

Pass StorePass() {
  return {
      .name = "store",
      .about = "Write trees into the store of a run and give their ids.",
      .options = {{"run", "the run's folder; made when absent", true},
                  {"step", "the training step they belong to (0 when absent)", false}},
      .input_schema =
          Schema(R"({"type": "object", "description": "a tree, docs/formats/tree.md"})"),
      .output_schema = Schema(R"({"type": "object", "required": ["id"],
              "properties": {"id": {"type": "integer"}}})"),
      .example =
          R"({"format": "hone.tree", "version": 1, "task": {"id": "t"}, "nodes": [{"author": "user", "tokens": [1]}], "leaves": [{"node": 0, "ending": "user_stop"}]})",
      .open = [](const PassOptions& options) -> Result<PassFunction> {
        const std::filesystem::path run = options.at("run");
        std::error_code failed;
        std::filesystem::create_directories(run, failed);
        if (failed) {
          return Error(ErrorCode::kIo,
                       fmt::format("cannot create {}: {}", run.string(), failed.message()));
        }
        int64_t step = 0;
        if (const auto found = options.find("step"); found != options.end()) {
          Result<Json> number = ParseJson(found->second);
          if (!number.ok() || !number->is_integer() || number->AsInteger() < 0) {
            return Error(ErrorCode::kInvalidArgument, "--step wants a number of at least 0");
          }
          step = number->AsInteger();
        }
        HONE_ASSIGN_OR_RETURN(std::unique_ptr<RunStore> opened,
                              RunStore::Open(run / "store.sqlite"));
        std::shared_ptr<RunStore> store = std::move(opened);
        return PassFunction([store, step](const Json& in) -> Result<Json> {
          HONE_ASSIGN_OR_RETURN(const ScoredTree record, RecordFromJson(in));
          HONE_ASSIGN_OR_RETURN(const int64_t id, store->AddTree(step, record));
          return Json::Of({{"id", id}});
        });
      }};
}

}  // namespace

std::vector<Pass> BuiltInPasses() {
  std::vector<Pass> passes = {TokenizePass(), RenderPass(),   TemplatePass(),
                              ParsePass(),    ValidatePass(), StorePass()};
  for (Pass& pass : ToolPasses()) passes.push_back(std::move(pass));
  for (Pass& pass : RewardPasses()) passes.push_back(std::move(pass));
  for (Pass& pass : CreditPasses()) passes.push_back(std::move(pass));
  for (Pass& pass : TrainingPasses()) passes.push_back(std::move(pass));
  for (Pass& pass : EnginePasses()) passes.push_back(std::move(pass));
  return passes;
}

Json PassesJson(const std::vector<Pass>& passes) {
  Json::Array list;
  for (const Pass& pass : passes) {
    Json::Array options;
    for (const PassOption& option : pass.options) {
      options.push_back(Json::Of(
          {{"name", option.name}, {"about", option.about}, {"required", option.required}}));
    }
    list.push_back(Json::Of({{"name", pass.name},
                             {"about", pass.about},
                             {"options", std::move(options)},
                             {"input", pass.input_schema},
                             {"output", pass.output_schema},
                             {"example", pass.example}}));
  }
  return list;
}

std::string PassesMarkdown(const std::vector<Pass>& passes) {
  std::string text =
      "# Passes\n\n"
      "<!-- Written by `hone pipe list --markdown`; a test keeps it true. -->\n\n"
      "Every step of the data path can be run alone: `hone pipe NAME [options] < in.jsonl > "
      "out.jsonl`. Each line in gives one line out, in order. A line that cannot be processed "
      "gives "
      "`{\"error\": {\"code\", \"message\"}}` in its place, the others go on, and the exit status "
      "at "
      "the end is 1. Numbers are printed so that they read back to the same bits. Keys of the "
      "input "
      "that a pass does not know are passed over, except inside trees.\n";
  for (const Pass& pass : passes) {
    text += fmt::format("\n## {}\n\n{}\n\n", pass.name, pass.about);
    for (const PassOption& option : pass.options) {
      text += fmt::format("- `--{}`{}: {}\n", option.name, option.required ? "" : " (optional)",
                          option.about);
    }
    text += fmt::format(
        "\nExample "
        "line:\n\n```json\n{}\n```\n\nIn:\n\n```json\n{}\n```\n\nOut:\n\n```json\n{}\n```\n",
        pass.example, DumpJson(pass.input_schema, JsonStyle::kPretty),
        DumpJson(pass.output_schema, JsonStyle::kPretty));
  }
  return text;
}

}  // namespace hone
