#include "simulate/read_views.h"

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
  kit->Add(Spec("exchange", Effect::kWrites,
                R"({"type": "object", "required": ["order_id", "item"]})", "shop"),
           none);
  kit->Add(
      Spec("get_product", Effect::kReads, R"({"type": "object", "required": ["product"]})", "shop"),
      none);
  kit->Add(Spec("get_mail", Effect::kReads, kOrder, "mail"), none);
  kit->Add(Spec("add", Effect::kPure, kOrder, "shop"), none);
  return ToolboxOf({kit});
}

std::vector<std::string> NamesOf(const Toolbox& shop, const char* tool, const Json& arguments,
                                 const char* shown = "{}") {
  std::vector<std::string> names;
  for (const KnownResult& known :
       AskViews(shop, shop.Find(tool)->spec, arguments, [&](const ToolSpec&, const Json&) {
         return std::optional(PlayedResult{CallStatus::kOk, shown, ""});
       })) {
    names.push_back(known.tool + DumpJson(known.arguments));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Views, ACallAgreesWithTheReadsThatShowTheSameThing) {
  const auto shop = Shop();
  const Json order = Json::Of({{"order_id", "7"}});
  EXPECT_EQ(NamesOf(*shop, "move", Json::Of({{"order_id", "7"}, {"address", "Oslo"}})),
            (Names{R"(get_order{"order_id":"7"})", R"(track{"order_id":"7"})"}));
  EXPECT_EQ(NamesOf(*shop, "track", order), (Names{R"(get_order{"order_id":"7"})"}));
  EXPECT_EQ(NamesOf(*shop, "get_order", order), Names{});
  EXPECT_EQ(NamesOf(*shop, "get_mail", order), Names{});
  EXPECT_EQ(NamesOf(*shop, "add", order), Names{});
}

TEST(Views, WhatAViewShowsLeadsToTheNextOne) {
  const auto shop = Shop();
  const Json arguments = Json::Of({{"order_id", "7"}, {"item", "I2"}});
  EXPECT_EQ(
      NamesOf(
          *shop, "exchange", arguments,
          R"({"items": [{"item": "I1", "product": "lamp"}, {"item": "I2", "product": "bag"}]})"),
      (Names{R"(get_order{"order_id":"7"})", R"(track{"order_id":"7"})",
             R"(get_product{"product":"bag"})"}));
}

TEST(Views, AValueThatTheReadWouldRefuseShowsNothing) {
  const auto shop = Shop();
  EXPECT_EQ(NamesOf(*shop, "move", Json::Of({{"order_id", 7}, {"address", "Oslo"}})), Names{});
}

}  // namespace
}  // namespace hone
