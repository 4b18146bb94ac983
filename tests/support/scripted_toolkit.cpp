#include "support/scripted_toolkit.h"

namespace hone {
namespace {

struct SumSession final : Session {
  int64_t sum = 0;
  Result<std::unique_ptr<Session>> Clone() override {
    auto copy = std::make_unique<SumSession>();
    copy->sum = sum;
    return std::unique_ptr<Session>(std::move(copy));
  }
};

}  // namespace

ScriptedToolkit& ScriptedToolkit::Add(ToolSpec spec, Function function) {
  specs_.push_back(std::move(spec));
  functions_.push_back(std::move(function));
  return *this;
}

ScriptedToolkit& ScriptedToolkit::Add(std::string name, Effect effect, Function function) {
  return Add({.name = std::move(name),
              .description = "scripted",
              .parameters = Json::Of({{"type", "object"}}),
              .effect = effect},
             std::move(function));
}

ToolReply ScriptedToolkit::Call(std::string_view tool, const Json& arguments, Session*,
                                const CallLimits& limits) {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].name == tool) return functions_[i](arguments, limits);
  }
  CHECK(false, "a call of a tool that is not there");
  return {};
}

Result<std::unique_ptr<Session>> SumToolkit::Open(uint64_t) {
  ++opened_;
  return std::unique_ptr<Session>(std::make_unique<SumSession>());
}

ToolReply SumToolkit::Call(std::string_view, const Json& arguments, Session* session,
                           const CallLimits&) {
  ++called_;
  auto* own = static_cast<SumSession*>(session);
  if (arguments.Find("lost") != nullptr) {
    ToolReply lost = Refuted("lost");
    lost.session_lost = true;
    return lost;
  }
  own->sum += arguments.Find("n")->AsInteger();
  if (own->sum == 13) {
    own->sum -= arguments.Find("n")->AsInteger();
    return Refuted("not 13");
  }
  return Answered(std::to_string(own->sum));
}

std::shared_ptr<const Toolbox> ToolboxOf(std::vector<std::shared_ptr<Toolkit>> toolkits,
                                         const ToolLimits& limits) {
  std::vector<Toolbox::Kit> kits;
  for (std::shared_ptr<Toolkit>& toolkit : toolkits) kits.push_back({std::move(toolkit), limits});
  return std::make_shared<const Toolbox>(Toolbox::Of(std::move(kits)).value());
}

}  // namespace hone
