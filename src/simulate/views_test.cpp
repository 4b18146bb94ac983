#include "simulate/views.h"

#include <gtest/gtest.h>

#include "support/scripted_toolkit.h"

namespace hone {
namespace {

ToolSpec Spec(std::string name, Effect effect, const char* parameters, std::string resource) {
  return {.name = std::move(name),
          .parameters = ParseJson(parameters).value(),
          .effect = effect,
          .resource = std::move(resource)};
}

constexpr char kOrder[] = R"({"type": "object", "required": ["order_id"],
    "properties": {"order_id": {"type": "string"}}})";
constexpr char kMove[] = R"({"type": "object", "required": ["order_id", "address"],
    "properties": {"order_id": {"type": "string"}, "address": {"type": "string"}}})";

std::shared_ptr<const Toolbox> Shop() {
  auto kit = std::make_shared<ScriptedToolkit>();
  const ScriptedToolkit::Function none = [](const Json&, const CallLimits&) {
    return Answered("");
  };
  kit->Add(Spec("track", Effect::kReads, kOrder, "shop"), none);
  kit->Add(Spec("get_order", Effect::kReads, kOrder, "shop"), none);
  kit->Add(Spec("list", Effect::kReads, R"({"type": "object"})", "shop"), none);
  kit->Add(Spec("move", Effect::kWrites, kMove, "shop"), none);
  kit->Add(Spec("get_mail", Effect::kReads, kOrder, "mail"), none);
  kit->Add(Spec("add", Effect::kPure, kOrder, "shop"), none);
  return ToolboxOf({kit});
}

std::vector<std::string> NamesOf(const std::vector<View>& views) {
  std::vector<std::string> names;
  for (const View& view : views) names.push_back(view.spec->name + DumpJson(view.arguments));
  return names;
}

TEST(Views, ACallAgreesWithTheReadsThatShowTheSameThing) {
  const auto shop = Shop();
  const Json arguments = Json::Of({{"order_id", "7"}, {"address", "Oslo"}});
  using Names = std::vector<std::string>;
  EXPECT_EQ(NamesOf(ViewsOf(*shop, shop->Find("move")->spec, arguments, false)),
            (Names{R"(get_order{"order_id":"7"})", R"(track{"order_id":"7"})"}));
  const Json order = Json::Of({{"order_id", "7"}});
  EXPECT_EQ(NamesOf(ViewsOf(*shop, shop->Find("track")->spec, order, true)),
            (Names{R"(get_order{"order_id":"7"})", R"(track{"order_id":"7"})"}));
  EXPECT_EQ(NamesOf(ViewsOf(*shop, shop->Find("get_order")->spec, order, false)), Names{});
  EXPECT_EQ(NamesOf(ViewsOf(*shop, shop->Find("get_mail")->spec, order, false)), Names{});
  EXPECT_EQ(NamesOf(ViewsOf(*shop, shop->Find("add")->spec, order, true)), Names{});
}

TEST(Views, AValueThatTheReadWouldRefuseShowsNothing) {
  const auto shop = Shop();
  EXPECT_TRUE(ViewsOf(*shop, shop->Find("move")->spec,
                      Json::Of({{"order_id", 7}, {"address", "Oslo"}}), false)
                  .empty());
}

}  // namespace
}  // namespace hone
