#include "envs/service/service_tools.h"

#include <gtest/gtest.h>

#include "envs/service/shop.h"
#include "tools/toolbox.h"

namespace hone::service {
namespace {

TEST(ShopToolkitTest, AnswersFitTheirSchemasAndSessionsCanBeCloned) {
  const std::shared_ptr<Toolkit> toolkit = NewShopToolkit();
  const Toolbox toolbox = Toolbox::Of({{toolkit, {}}}).value();
  const Shop shop = Shop::Of(9);
  const auto session = toolkit->Open(9).value();
  const auto call = [&](Session* in, const char* tool, const Json& arguments) {
    EXPECT_FALSE(toolbox.Find(tool)->checker.Problem(arguments)) << tool;
    const ToolReply reply = toolkit->Call(tool, arguments, in, {});
    if (reply.status == CallStatus::kOk) {
      const JsonSchema schema = JsonSchema::Compile(*toolbox.Find(tool)->spec.output).value();
      EXPECT_TRUE(schema.Check(*ParseJson(reply.content)).empty()) << tool << reply.content;
    }
    return reply;
  };
  for (const Order& order : shop.orders) {
    const Json id = Json::Of({{"order", order.id}});
    EXPECT_EQ(call(session.get(), "get_order", id).status, CallStatus::kOk);
    call(session.get(), "get_product", Json::Of({{"product", order.items[0].product}}));
    call(session.get(), "find_customer", Json::Of({{"email", order.customer}}));
    const auto clone = session->Clone().value();
    call(clone.get(), "exchange_item",
         Json::Of({{"order", order.id}, {"item", "I1"}, {"colour", "red"}}));
    call(clone.get(), "change_address", Json::Of({{"order", order.id}, {"city", "Rome"}}));
    call(clone.get(), "cancel_order", Json::Of({{"order", order.id}, {"reason", "mistake"}}));
    call(clone.get(), "return_item", Json::Of({{"order", order.id}, {"item", "I1"}}));
    EXPECT_NE(call(session.get(), "get_order", id).content.find(order.status), std::string::npos)
        << "what was done to the clone is not done to the original";
  }
}

}  // namespace
}  // namespace hone::service
