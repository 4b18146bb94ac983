#include "envs/service/shop.h"

#include <gtest/gtest.h>

#include <set>

namespace hone::service {
namespace {

Json Args(std::string_view text) { return *ParseJson(text); }

TEST(ShopTest, IsAFunctionOfTheSeed) {
  EXPECT_EQ(Shop::Of(3), Shop::Of(3));
  EXPECT_FALSE(Shop::Of(3) == Shop::Of(4));
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Shop shop = Shop::Of(seed);
    std::set<std::string> emails, orders;
    for (const Customer& customer : shop.customers) emails.insert(customer.email);
    for (const Order& order : shop.orders) {
      orders.insert(order.id);
      std::set<std::string> products;
      for (const Item& item : order.items) products.insert(item.product);
      EXPECT_EQ(products.size(), order.items.size()) << "\"the lamp\" must say which";
    }
    EXPECT_EQ(emails.size(), shop.customers.size());
    EXPECT_EQ(orders.size(), shop.orders.size());
  }
}

TEST(ShopTest, WritesDependOnStateAndChangeNothingWhenRefused) {
  Shop shop = Shop::Of(1);
  Order& order = shop.orders[0];
  const std::string id = order.id;
  order.status = "shipped";
  const Shop before = shop;
  const Json cancel = Json::Of({{"order", id}, {"reason", "mistake"}});
  EXPECT_FALSE(Apply("cancel_order", cancel, &shop).ok());
  EXPECT_FALSE(Apply("get_order", Args(R"({"order":"W0"})"), &shop).ok());
  EXPECT_FALSE(Apply("return_item", Json::Of({{"order", id}, {"item", "I1"}}), &shop).ok());
  EXPECT_EQ(shop, before);
  shop.orders[0].status = "pending";
  const int64_t total = shop.orders[0].Total();
  const Result<Json> cancelled = Apply("cancel_order", cancel, &shop);
  ASSERT_TRUE(cancelled.ok());
  EXPECT_EQ(*cancelled->Find("refund"), Json(total));
  EXPECT_EQ(shop.FindOrder(id)->status, "cancelled");
  EXPECT_FALSE(Apply("cancel_order", cancel, &shop).ok()) << "not twice";
}

TEST(ShopTest, AnExchangeMovesStockAndPrice) {
  Shop shop = Shop::Of(1);
  Order& order = shop.orders[0];
  order.status = "pending";
  const std::string id = order.id, product = order.items[0].product;
  order.items[0].colour = "red";
  shop.FindVariant(product, "red")->stock = 0;
  shop.FindVariant(product, "blue")->stock = 1;
  const Json blue = Json::Of({{"order", id}, {"item", "I1"}, {"colour", "blue"}});
  ASSERT_TRUE(Apply("exchange_item", blue, &shop).ok());
  EXPECT_EQ(shop.FindVariant(product, "red")->stock, 1);
  EXPECT_EQ(shop.FindVariant(product, "blue")->stock, 0);
  EXPECT_EQ(shop.FindOrder(id)->items[0].price, shop.FindVariant(product, "blue")->price);
  const Result<Json> again = Apply("exchange_item", blue, &shop);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message(), "blue " + product + " is out of stock");
}

TEST(ShopTest, AReturnLowersTheTotalOnce) {
  Shop shop = Shop::Of(1);
  shop.orders[0].status = "delivered";
  const Json item = Json::Of({{"order", shop.orders[0].id}, {"item", "I1"}});
  const int64_t before = shop.orders[0].Total(), price = shop.orders[0].items[0].price;
  ASSERT_TRUE(Apply("return_item", item, &shop).ok());
  EXPECT_EQ(shop.orders[0].Total(), before - price);
  EXPECT_FALSE(Apply("return_item", item, &shop).ok());
}

}  // namespace
}  // namespace hone::service
