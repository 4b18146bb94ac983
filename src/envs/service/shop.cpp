#include "envs/service/shop.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/rng.h"
#include "tools/sessions.h"

namespace hone::service {
namespace {

using Word = std::string_view;

constexpr Word kProducts[] = {"lamp", "chair", "desk", "kettle", "radio", "clock", "tent", "bag"};
constexpr Word kColours[] = {"red", "blue", "green", "black", "white"};
constexpr Word kCities[] = {"Oslo", "Paris", "Rome", "Lima", "Delhi", "Tokyo", "Berlin", "Boston"};
constexpr Word kNames[] = {"ana", "ben",  "cleo", "dan", "eva", "finn",
                           "gia", "hugo", "ida",  "jon", "kai", "lea"};
constexpr Word kStatuses[] = {"pending", "pending", "shipped", "delivered", "delivered"};
constexpr size_t kCustomers = 6;
constexpr size_t kOrdersEach = 2;

Word Pick(Rng* rng, std::span<const Word> words) { return words[rng->Below(words.size())]; }

Json ItemJson(const Item& item) {
  return Json::Of({{"item", item.id},
                   {"product", item.product},
                   {"colour", item.colour},
                   {"price", item.price},
                   {"returned", item.returned}});
}

Json OrderJson(const Order& order) {
  Json::Array items;
  for (const Item& item : order.items) items.push_back(ItemJson(item));
  return Json::Of({{"order", order.id},
                   {"customer", order.customer},
                   {"status", order.status},
                   {"city", order.city},
                   {"total", order.Total()},
                   {"items", std::move(items)}});
}

Error Refused(std::string why) { return Error(ErrorCode::kInvalidArgument, std::move(why)); }

const std::string& Text(const Json& arguments, Word key) { return arguments.Find(key)->AsString(); }

Result<Order*> OrderIn(const Json& arguments, Shop* shop) {
  Order* order = shop->FindOrder(Text(arguments, "order"));
  if (order == nullptr) return Refused(fmt::format("no order {}", Text(arguments, "order")));
  return order;
}

Result<Order*> OrderWith(const Json& arguments, Word status, Shop* shop) {
  HONE_ASSIGN_OR_RETURN(Order * order, OrderIn(arguments, shop));
  if (order->status != status) {
    return Refused(fmt::format("order {} is {}, not {}", order->id, order->status, status));
  }
  return order;
}

Result<Item*> ItemIn(const Json& arguments, Order* order) {
  for (Item& item : order->items) {
    if (item.id == Text(arguments, "item")) return &item;
  }
  return Refused(fmt::format("order {} has no item {}", order->id, Text(arguments, "item")));
}

Result<Json> FindCustomer(const Json& arguments, Shop* shop) {
  for (const Customer& customer : shop->customers) {
    if (customer.email != Text(arguments, "email")) continue;
    Json::Array orders;
    for (const Order& order : shop->orders) {
      if (order.customer == customer.email) orders.emplace_back(order.id);
    }
    return Json::Of({{"email", customer.email},
                     {"name", customer.name},
                     {"city", customer.city},
                     {"orders", std::move(orders)}});
  }
  return Refused(fmt::format("no customer {}", Text(arguments, "email")));
}

Result<Json> GetProduct(const Json& arguments, Shop* shop) {
  Json::Array colours;
  for (const Variant& variant : shop->variants) {
    if (variant.product != Text(arguments, "product")) continue;
    colours.push_back(Json::Of(
        {{"colour", variant.colour}, {"price", variant.price}, {"in_stock", variant.stock > 0}}));
  }
  if (colours.empty()) return Refused(fmt::format("no product {}", Text(arguments, "product")));
  return Json::Of({{"product", Text(arguments, "product")}, {"colours", std::move(colours)}});
}

Result<Json> CancelOrder(const Json& arguments, Shop* shop) {
  HONE_ASSIGN_OR_RETURN(Order * order, OrderWith(arguments, "pending", shop));
  order->status = "cancelled";
  order->reason = Text(arguments, "reason");
  for (const Item& item : order->items) ++shop->FindVariant(item.product, item.colour)->stock;
  return Json::Of({{"order", order->id}, {"status", order->status}, {"refund", order->Total()}});
}

Result<Json> ChangeAddress(const Json& arguments, Shop* shop) {
  HONE_ASSIGN_OR_RETURN(Order * order, OrderWith(arguments, "pending", shop));
  order->city = Text(arguments, "city");
  return Json::Of({{"order", order->id}, {"city", order->city}});
}

Result<Json> ExchangeItem(const Json& arguments, Shop* shop) {
  HONE_ASSIGN_OR_RETURN(Order * order, OrderWith(arguments, "pending", shop));
  HONE_ASSIGN_OR_RETURN(Item * item, ItemIn(arguments, order));
  Variant* wanted = shop->FindVariant(item->product, Text(arguments, "colour"));
  if (wanted == nullptr) {
    return Refused(fmt::format("no {} {}", Text(arguments, "colour"), item->product));
  }
  if (wanted->stock == 0) {
    return Refused(fmt::format("{} {} is out of stock", wanted->colour, wanted->product));
  }
  ++shop->FindVariant(item->product, item->colour)->stock;
  --wanted->stock;
  item->colour = wanted->colour;
  item->price = wanted->price;
  return Json::Of({{"order", order->id}, {"item", ItemJson(*item)}, {"total", order->Total()}});
}

Result<Json> ReturnItem(const Json& arguments, Shop* shop) {
  HONE_ASSIGN_OR_RETURN(Order * order, OrderWith(arguments, "delivered", shop));
  HONE_ASSIGN_OR_RETURN(Item * item, ItemIn(arguments, order));
  if (item->returned) return Refused(fmt::format("item {} was returned before", item->id));
  item->returned = true;
  return Json::Of({{"order", order->id}, {"item", item->id}, {"refund", item->price}});
}

// Orders are numbered without a number coming twice.
std::string FreshOrderId(const Shop& shop, Rng* rng) {
  while (true) {
    std::string id = fmt::format("W{}", 1000 + rng->Below(9000));
    if (shop.FindOrder(id) == nullptr) return id;
  }
}

Order MakeOrder(const Shop& shop, const Customer& customer, Rng* rng) {
  Order order;
  order.id = FreshOrderId(shop, rng);
  order.customer = customer.email;
  order.status = Pick(rng, kStatuses);
  order.city = customer.city;
  const size_t count = 1 + rng->Below(3);
  size_t product = rng->Below(std::size(kProducts));
  for (size_t i = 0; i < count; ++i) {
    // Each product at most once in an order, so that "the lamp" says which.
    product = (product + 1 + rng->Below(2)) % std::size(kProducts);
    const Word colour = Pick(rng, kColours);
    const Variant* variant = shop.FindVariant(kProducts[product], colour);
    order.items.push_back(
        {fmt::format("I{}", i + 1), variant->product, variant->colour, variant->price, false});
  }
  return order;
}

}  // namespace

std::span<const Word> Products() { return kProducts; }
std::span<const Word> Colours() { return kColours; }
std::span<const Word> Cities() { return kCities; }

int64_t Order::Total() const {
  int64_t total = 0;
  for (const Item& item : items) total += item.returned ? 0 : item.price;
  return total;
}

Shop Shop::Of(uint64_t seed) {
  Rng rng = Rng(seed).Split("shop");
  Shop shop;
  for (const Word product : kProducts) {
    const int64_t base = 4 + static_cast<int64_t>(rng.Below(60));
    for (const Word colour : kColours) {
      shop.variants.push_back({std::string(product), std::string(colour),
                               base + static_cast<int64_t>(rng.Below(5)),
                               std::max<int64_t>(0, static_cast<int64_t>(rng.Below(6)) - 1)});
    }
  }
  const size_t first = rng.Below(std::size(kNames));
  for (size_t i = 0; i < kCustomers; ++i) {
    // Every other name, so that no two customers share one.
    const std::string name(kNames[(first + 2 * i) % std::size(kNames)]);
    shop.customers.push_back({fmt::format("{}{}@mail.test", name, rng.Below(100)), name,
                              std::string(Pick(&rng, kCities))});
  }
  for (const Customer& customer : shop.customers) {
    for (size_t i = 0; i < kOrdersEach; ++i) shop.orders.push_back(MakeOrder(shop, customer, &rng));
  }
  return shop;
}

const Order* Shop::FindOrder(Word id) const {
  const auto found = std::find_if(orders.begin(), orders.end(),
                                  [&](const Order& order) { return order.id == id; });
  return found == orders.end() ? nullptr : &*found;
}

Order* Shop::FindOrder(Word id) { return const_cast<Order*>(std::as_const(*this).FindOrder(id)); }

const Variant* Shop::FindVariant(Word product, Word colour) const {
  const auto found = std::find_if(variants.begin(), variants.end(), [&](const Variant& variant) {
    return variant.product == product && variant.colour == colour;
  });
  return found == variants.end() ? nullptr : &*found;
}

Variant* Shop::FindVariant(Word product, Word colour) {
  return const_cast<Variant*>(std::as_const(*this).FindVariant(product, colour));
}

bool IsWrite(Word tool) {
  return tool == "cancel_order" || tool == "change_address" || tool == "exchange_item" ||
         tool == "return_item";
}

Result<Json> Apply(Word tool, const Json& arguments, Shop* shop) {
  if (tool == "find_customer") return FindCustomer(arguments, shop);
  if (tool == "get_product") return GetProduct(arguments, shop);
  if (tool == "cancel_order") return CancelOrder(arguments, shop);
  if (tool == "change_address") return ChangeAddress(arguments, shop);
  if (tool == "exchange_item") return ExchangeItem(arguments, shop);
  if (tool == "return_item") return ReturnItem(arguments, shop);
  CHECK(tool == "get_order", "a tool that the shop does not have");
  HONE_ASSIGN_OR_RETURN(const Order* order, OrderIn(arguments, shop));
  return OrderJson(*order);
}

Shop ShopOf(uint64_t session_seed) { return Shop::Of(Sessions::SeedOf(session_seed, 0)); }

}  // namespace hone::service
