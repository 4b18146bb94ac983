#include "app/models/model_table.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "engine/encoder/encoder_weights.h"
#include "engine/engine.h"
#include "learn/sft.h"
#include "text/dialect.h"
#include "text/template_dialect.h"
#include "text/tokenizer.h"

namespace hone {
namespace {

using State = ModelStep::State;

constexpr char kTableTool[] = R"({"type": "function", "function": {"name": "get_weather",
    "description": "The weather of a city", "parameters": {"type": "object", "properties":
    {"city": {"type": "string", "description": "Its name"},
     "days": {"type": "integer", "description": "How many"}}, "required": ["city"]}}})";

// Words, numbers, blanks, code, marks, scripts, combined characters, and characters of four bytes.
const std::vector<std::string>& TableTexts() {
  static const std::vector<std::string> texts = {
      "The quick brown fox jumps over the lazy dog.",
      "It's 12345.678 or 1,000,000 – isn't it?",
      "def f(x):\n    return {\"a\": [1, 2], 'b': x ** 2}\n\n\tif x: pass",
      "  two  blanks,   three\n\n\nand a trailing one ",
      "<tool_call>{\"name\": \"f\"}</tool_call> [INST] <|im_start|> </s>",
      "Ünïcödé, Straße, naïve café, ﬁne",
      "你好，世界。こんにちは 안녕하세요",
      "שלום עולם مرحبا بالعالم नमस्ते สวัสดี",
      "🙂👩‍👩‍👧🏳️‍🌈 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ∑∫√",
      "https://example.org/a?b=c&d=%20#e user@example.com C:\\dir\\file.txt",
  };
  return texts;
}

ModelStep Absent(std::string words) { return {State::kAbsent, std::move(words)}; }
ModelStep No(std::string words) { return {State::kNo, std::move(words)}; }
ModelStep Yes(std::string words) { return {State::kYes, std::move(words)}; }

bool IsTemplateFile(const std::filesystem::path& path) { return path.extension() == ".jinja"; }
bool IsTokenizerFile(const std::filesystem::path& path) { return path.extension() == ".json"; }

ModelStep Tokenizes(const std::filesystem::path& path, std::optional<Tokenizer>* tokenizer) {
  if (IsTemplateFile(path)) return Absent("a template alone");
  const bool file =
      IsTokenizerFile(path) || Exists(path / "tokenizer.json") || Exists(path / "vocab.json");
  if (!file) return Absent("no tokenizer.json");
  Result<Tokenizer> loaded = Tokenizer::Load(path);
  if (!loaded.ok()) return No(loaded.error().message());
  size_t back = 0, settled = 0;
  for (const std::string& text : TableTexts()) {
    const std::string first = loaded->Decode(loaded->Encode(text));
    back += first == text ? 1 : 0;
    settled += loaded->Decode(loaded->Encode(first)) == first ? 1 : 0;
  }
  const size_t all = TableTexts().size();
  const int64_t size = loaded->vocab_size();
  *tokenizer = *std::move(loaded);
  if (back == all) return Yes(fmt::format("{} tokens", size));
  if (settled == all) {
    return Yes(
        fmt::format("{} tokens; {} of {} texts come back as they were, the others normalised", size,
                    back, all));
  }
  return No(fmt::format("{} of {} texts come back", back, all));
}

// A question with tools, a call, its result and an answer.
Conversation TableConversation(bool system, bool tools, const Json& arguments) {
  Conversation conversation;
  if (system) conversation.messages.push_back({.role = Role::kSystem, .content = "Be brief."});
  conversation.messages.push_back({.role = Role::kUser, .content = "What is the weather?"});
  if (!tools) return conversation;
  conversation.tools.push_back(*ParseJson(kTableTool));
  conversation.messages.push_back(
      {.role = Role::kAssistant, .calls = {{"get_weather", arguments}}});
  return conversation;
}

std::string TextOfPieces(const Result<std::vector<Piece>>& pieces) {
  return pieces.ok() ? TextOf(*pieces) : "";
}

ModelStep Renders(const std::filesystem::path& path, std::unique_ptr<Dialect>* dialect) {
  if (IsTokenizerFile(path)) return Absent("a tokenizer alone");
  const Result<ModelTemplate> found = LoadModelTemplate(path);
  if (!found.ok() && found.error().code() == ErrorCode::kNotFound) return Absent("no template");
  if (!found.ok()) return No(found.error().message());
  ModelTemplate model = *found;
  // A template without its tokenizer does not know them.
  if (IsTemplateFile(path)) {
    model.tokens.emplace("bos_token", "<s>");
    model.tokens.emplace("eos_token", "</s>");
  }
  Result<std::unique_ptr<Dialect>> made = NewTemplateDialect(std::move(model), {});
  if (!made.ok()) return No(made.error().message());
  *dialect = *std::move(made);
  const Json arguments = Json::Of({{"city", "Paris"}});
  Result<std::vector<Piece>> plain = (*dialect)->Render(TableConversation(true, false, arguments));
  const bool system = plain.ok();
  if (!system) plain = (*dialect)->Render(TableConversation(false, false, arguments));
  if (!plain.ok()) return No(plain.error().message());
  Conversation with_tools = TableConversation(system, true, arguments);
  const auto says = [&](std::string_view words) {
    return TextOfPieces((*dialect)->Render(with_tools)).find(words) != std::string::npos;
  };
  const bool calls = says("Paris");
  with_tools.messages.pop_back();
  const bool tools = says("get_weather");
  const std::string_view what = tools && calls ? "tools and calls"
                                : tools        ? "tools, no calls"
                                : calls        ? "calls, no tools"
                                               : "no tools";
  return Yes(fmt::format("{}{}", what, system ? "" : "; no system message"));
}

// The call that the template writes in a turn, read back; false where it writes none.
bool WritesCall(const Dialect& dialect, const Json& arguments, bool tools, ParsedTurn* parsed) {
  Conversation conversation = TableConversation(false, true, arguments);
  if (!tools) conversation.tools.clear();
  const Result<std::vector<Piece>> pieces = dialect.Render(conversation);
  if (!pieces.ok()) return false;
  for (const Piece& piece : *pieces) {
    if (piece.author != Author::kPolicy || piece.text.find("get_weather") == std::string::npos) {
      continue;
    }
    *parsed = dialect.Parse(piece.text, TurnEnd::kEnded);
    return true;
  }
  return false;
}

ModelStep Parses(const Dialect* dialect) {
  if (dialect == nullptr) return Absent("no template");
  const std::string& format = dialect->traits().call_format;
  const Json rich = *ParseJson(
      R"({"city": "Zürich \"HB\"", "days": 3, "where": {"lat": 47.4, "tags": ["a", "b"]}})");
  const Json simple = Json::Of({{"city", "Paris"}});
  bool written = false;
  for (const Json& arguments : {rich, simple}) {
    for (const bool tools : {true, false}) {
      ParsedTurn parsed;
      if (!WritesCall(*dialect, arguments, tools, &parsed)) continue;
      written = true;
      if (parsed.calls.size() != 1 || parsed.calls[0].name != "get_weather" ||
          parsed.calls[0].arguments != arguments || !parsed.faults.empty()) {
        continue;
      }
      return Yes(format + (arguments == rich ? "" : "; of texts alone"));
    }
  }
  if (written) return No(fmt::format("{}: its template's own call is not read back", format));
  if (format == "none") return Absent("its template knows no calls");
  return Absent(fmt::format("{}, by its text: its template writes no call", format));
}

// Its architecture in the words of its own file.
std::string ShapeOf(const ModelConfig& config) {
  const auto count = static_cast<double>(config.ParameterCount());
  const Json* type = config.source.Find("model_type");
  return fmt::format("{}, {}",
                     type != nullptr && type->is_string() ? type->AsString() : "no model_type",
                     count < 1e9 ? fmt::format("{:.1f} M parameters", count / 1e6)
                                 : fmt::format("{:.1f} B parameters", count / 1e9));
}

bool HasWeights(const std::filesystem::path& path) {
  return Exists(path / "model.safetensors") || Exists(path / "model.safetensors.index.json");
}

// An encoder of texts loads and is never trained.
ModelStep LoadsEncoder(const std::filesystem::path& path) {
  const Result<EncoderShape> shape = LoadEncoderShape(path);
  if (!shape.ok()) return No(shape.error().message());
  const std::string words = fmt::format("bert, {:.1f} M parameters; encoder: hone embed",
                                        static_cast<double>(shape->ParameterCount()) / 1e6);
  if (!HasWeights(path)) return Absent(words + "; no weights here");
  const Result<EncoderWeights> weights = LoadEncoderWeights(path);
  return weights.ok() ? Yes(words) : No(weights.error().message());
}

ModelStep Loads(const std::filesystem::path& path, const ModelTableOptions& options,
                std::optional<Model>* model) {
  if (!Exists(path / "config.json")) return Absent("no config.json");
  const Result<ModelConfig> config = LoadModelConfig(path);
  if (!config.ok()) return No(config.error().message());
  const std::string shape = ShapeOf(*config);
  if (!HasWeights(path)) return Absent(shape + "; no weights here");
  if (config->ParameterCount() > options.most_parameters) {
    return Absent(shape + "; more than --most-parameters");
  }
  Result<Model> loaded = LoadModel(path);
  if (!loaded.ok()) return No(loaded.error().message());
  *model = *std::move(loaded);
  return Yes(shape);
}

// One step of imitation of a few tokens, on a copy that nobody keeps.
ModelStep Trains(std::optional<Model> model, const std::optional<Tokenizer>& tokenizer) {
  if (!model) return Absent("no weights");
  const int64_t vocab = model->config.vocab;
  std::vector<TokenId> tokens;
  if (tokenizer && tokenizer->vocab_size() <= vocab) tokens = tokenizer->Encode(TableTexts()[0]);
  for (TokenId id = 1; tokens.size() < 8; id += 7)
    tokens.push_back(id % static_cast<TokenId>(vocab));
  tokens.resize(std::min(tokens.size(), static_cast<size_t>(model->config.max_positions)));
  Tree tree;
  Node& node = tree.nodes.emplace_back();
  node.author = Author::kPolicy;
  node.tokens = std::move(tokens);
  tree.leaves.push_back({.node = 0});
  Engine engine(*std::move(model), {.precision = Precision::kF32});
  const SftMetrics metrics = AccumulateSft({}, {&tree, 1}, {{0}}, &engine);
  const double norm = engine.Step({});
  const std::string found = fmt::format("loss {:.2f} nats, gradient {:.3g}", metrics.loss, norm);
  return std::isfinite(norm) && std::isfinite(metrics.loss) && norm > 0 ? Yes(found) : No(found);
}

std::string_view StateName(State state) {
  switch (state) {
    case State::kYes: return "yes";
    case State::kNo: return "no";
    case State::kAbsent: return "absent";
  }
  return "unknown";
}

}  // namespace

std::vector<std::pair<std::string, const ModelStep*>> StepsOf(const ModelRow& row) {
  return {{"tokenizes", &row.tokenizes},
          {"renders", &row.renders},
          {"parses", &row.parses},
          {"loads", &row.loads},
          {"trains", &row.trains}};
}

Json ModelRow::ToJson() const {
  Json json = Json::Of({{"name", name}});
  for (const auto& [step, found] : StepsOf(*this)) {
    json.Set(step, Json::Of({{"state", StateName(found->state)}, {"words", found->words}}));
  }
  return json;
}

ModelRow CheckModel(const std::filesystem::path& path, const ModelTableOptions& options) {
  ModelRow row;
  const bool file = IsTemplateFile(path) || IsTokenizerFile(path);
  row.name =
      file ? path.stem().string() : std::filesystem::weakly_canonical(path).filename().string();
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  if (!Exists(path) || !(folder || file)) {
    const char* why = !Exists(path) ? "there is no such folder"
                                    : "neither a folder nor NAME.jinja or NAME.json; a GGUF file "
                                      "becomes a folder with hone model convert";
    for (ModelStep* step : {&row.tokenizes, &row.renders, &row.parses, &row.loads, &row.trains}) {
      *step = No(why);
    }
    return row;
  }
  std::optional<Tokenizer> tokenizer;
  std::unique_ptr<Dialect> dialect;
  std::optional<Model> model;
  row.tokenizes = Tokenizes(path, &tokenizer);
  row.renders = Renders(path, &dialect);
  row.parses = Parses(dialect.get());
  if (IsEncoderFolder(path)) {
    row.loads = LoadsEncoder(path);
    row.trains = Absent("encoders are not trained");
    return row;
  }
  row.loads = Loads(path, options, &model);
  row.trains = Trains(std::move(model), tokenizer);
  return row;
}

}  // namespace hone
