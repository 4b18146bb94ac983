#include "envs/service/service_tools.h"

#include "envs/service/shop.h"
#include "tools/toolbox.h"

namespace hone::service {
namespace {

Json Text() { return Json::Of({{"type", "string"}}); }
Json Text(std::string_view about) { return Json::Of({{"type", "string"}, {"description", about}}); }
Json Integer() { return Json::Of({{"type", "integer"}, {"minimum", 0}}); }
Json Flag() { return Json::Of({{"type", "boolean"}}); }
Json OneOf(Json::Array words) { return Json::Of({{"type", "string"}, {"enum", std::move(words)}}); }
Json ListOf(Json items) { return Json::Of({{"type", "array"}, {"items", std::move(items)}}); }

Json Exactly(Json::Object properties) {
  Json::Array names;
  for (const auto& [name, schema] : properties) names.emplace_back(name);
  return Json::Of({{"type", "object"},
                   {"properties", std::move(properties)},
                   {"required", std::move(names)},
                   {"additionalProperties", false}});
}

ToolSpec Spec(std::string name, std::string about, Json parameters, Json output) {
  ToolSpec spec;
  spec.effect = IsWrite(name) ? Effect::kWrites : Effect::kReads;
  spec.name = std::move(name);
  spec.description = std::move(about);
  spec.parameters = std::move(parameters);
  spec.output = std::move(output);
  spec.resource = std::string(kSessionResource);
  return spec;
}

std::vector<ToolSpec> Specs() {
  const Json order = Text("an order such as W1234"), item = Text("an item of it, such as I1");
  const Json colour = OneOf(Json::ArrayOf(Colours()).AsArray());
  const Json status = OneOf({"pending", "shipped", "delivered", "cancelled"});
  const Json item_out = Exactly({{"item", Text()},
                                 {"product", Text()},
                                 {"colour", colour},
                                 {"price", Integer()},
                                 {"returned", Flag()}});
  return {
      Spec(
          "find_customer", "Finds a customer and the numbers of the customer's orders.",
          Exactly({{"email", Text("of the customer")}}),
          Exactly(
              {{"email", Text()}, {"name", Text()}, {"city", Text()}, {"orders", ListOf(Text())}})),
      Spec("get_order", "What an order holds, where it goes and how it stands.",
           Exactly({{"order", order}}),
           Exactly({{"order", Text()},
                    {"customer", Text()},
                    {"status", status},
                    {"city", Text()},
                    {"total", Integer()},
                    {"items", ListOf(item_out)}})),
      Spec("get_product", "The colours of a product, their prices, and whether they are in stock.",
           Exactly({{"product", Text("such as lamp")}}),
           Exactly({{"product", Text()},
                    {"colours",
                     ListOf(Exactly(
                         {{"colour", colour}, {"price", Integer()}, {"in_stock", Flag()}}))}})),
      Spec("cancel_order", "Cancels an order that is pending.",
           Exactly({{"order", order}, {"reason", OneOf({"mistake", "not needed"})}}),
           Exactly({{"order", Text()}, {"status", status}, {"refund", Integer()}})),
      Spec("change_address", "Sends an order that is pending to another city.",
           Exactly({{"order", order}, {"city", Text("where to")}}),
           Exactly({{"order", Text()}, {"city", Text()}})),
      Spec("exchange_item", "Another colour for an item of an order that is pending.",
           Exactly({{"order", order}, {"item", item}, {"colour", colour}}),
           Exactly({{"order", Text()}, {"item", item_out}, {"total", Integer()}})),
      Spec("return_item", "Takes back an item of an order that was delivered.",
           Exactly({{"order", order}, {"item", item}}),
           Exactly({{"order", Text()}, {"item", Text()}, {"refund", Integer()}})),
  };
}

struct ShopSession final : Session {
  explicit ShopSession(uint64_t seed) : shop(Shop::Of(seed)) {}

  Result<std::unique_ptr<Session>> Clone() override {
    return std::unique_ptr<Session>(std::make_unique<ShopSession>(*this));
  }

  Shop shop;
};

class ShopToolkit final : public Toolkit {
 public:
  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return Sharing::kClone; }
  Result<std::unique_ptr<Session>> Open(uint64_t seed) override {
    return std::unique_ptr<Session>(std::make_unique<ShopSession>(seed));
  }

  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits&) override {
    const Result<Json> answer = Apply(tool, arguments, &static_cast<ShopSession*>(session)->shop);
    if (!answer.ok()) return Refuted(DumpJson(Json::Of({{"error", answer.error().message()}})));
    return Answered(DumpJson(*answer));
  }

 private:
  const std::vector<ToolSpec> specs_ = Specs();
};

}  // namespace

std::unique_ptr<Toolkit> NewShopToolkit() { return std::make_unique<ShopToolkit>(); }

}  // namespace hone::service
