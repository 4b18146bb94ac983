#include "envs/switchboard/switchboard_tools.h"

#include "tools/sessions.h"

namespace hone::switchboard {
namespace {

Json WordOf(std::string_view about) {
  return Json::Of({{"type", "string"}, {"description", about}});
}

ToolSpec OperationSpec(const Board& board) {
  ToolSpec spec;
  spec.name = kOperationTool;
  spec.description = "Does an operation: takes the last code and returns the next.";
  spec.parameters = Json::Of({{"type", "object"},
                              {"properties", Json::Of({{"n", WordOf("the operation")},
                                                       {"f", WordOf("its form")},
                                                       {"c", WordOf("the last code")}})},
                              {"required", Json::Array{"n", "f", "c"}},
                              {"additionalProperties", false}});
  const Json code = Json::Of({{"type", "string"}, {"enum", Json::ArrayOf(board.codes())}});
  spec.output = Json::Of({{"type", "object"},
                          {"properties", Json::Of({{"c", code}})},
                          {"required", Json::Array{"c"}},
                          {"additionalProperties", false}});
  // It could be computed, but then a simulated world would be the real one.
  spec.effect = Effect::kReads;
  spec.resource = "board";
  return spec;
}

struct BoardSession final : Session {
  explicit BoardSession(bool is_drifted) : drifted(is_drifted) {}

  Result<std::unique_ptr<Session>> Clone() override {
    return std::unique_ptr<Session>(std::make_unique<BoardSession>(*this));
  }

  bool drifted;
};

class SwitchboardToolkit final : public Toolkit {
 public:
  SwitchboardToolkit(std::shared_ptr<const Board> board, Refusals refusals)
      : board_(std::move(board)), refusals_(refusals), specs_{OperationSpec(*board_)} {}

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return Sharing::kClone; }
  Result<std::unique_ptr<Session>> Open(uint64_t seed) override {
    const bool drifted = seed == Sessions::SeedOf(board_->SessionSeed(true), 0);
    return std::unique_ptr<Session>(std::make_unique<BoardSession>(drifted));
  }

  ToolReply Call(std::string_view, const Json& arguments, Session* session,
                 const CallLimits&) override {
    const bool drifted = static_cast<BoardSession*>(session)->drifted;
    const bool loud = refusals_ != Refusals::kNone;
    const Result<Json> answer = AnswerOf(*board_, loud, drifted, arguments);
    if (answer.ok()) return Answered(DumpJson(*answer));
    const Json why =
        refusals_ == Refusals::kWithCode ? *arguments.Find("c") : Json(answer.error().message());
    return Refuted(DumpJson(Json::Of({{"error", why}})));
  }

 private:
  const std::shared_ptr<const Board> board_;
  const Refusals refusals_;
  const std::vector<ToolSpec> specs_;
};

}  // namespace

Result<Json> AnswerOf(const Board& board, bool loud, bool drifted, const Json& arguments) {
  const auto place = [&](const std::vector<std::string>& words, std::string_view key) {
    return PlaceIn(words, arguments.Find(key)->AsString());
  };
  const std::optional<size_t> operation = place(board.operations(), "n"),
                              form = place(board.forms(), "f"), code = place(board.codes(), "c");
  if (!operation || !form || !code) return Error(ErrorCode::kNotFound, "not found");
  if (loud && *form != board.Accepted(*operation, drifted)) {
    return Error(ErrorCode::kInvalidArgument, "wrong form");
  }
  return Json::Of({{"c", board.codes()[board.Next(*operation, *form, *code)]}});
}

std::unique_ptr<Toolkit> NewSwitchboardToolkit(std::shared_ptr<const Board> board,
                                               Refusals refusals) {
  return std::make_unique<SwitchboardToolkit>(std::move(board), refusals);
}

}  // namespace hone::switchboard
