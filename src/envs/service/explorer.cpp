#include "envs/service/explorer.h"

#include <fmt/format.h>

#include "envs/service/shop.h"

namespace hone::service {
namespace {

constexpr int kOrders = 3;
constexpr int kChangesEach = 2;
constexpr double kWrong = 0.125;
constexpr double kAllowed = 0.75;
constexpr double kLooksAgain = 0.5;

constexpr std::string_view kOfPending[] = {"cancel_order", "change_address", "exchange_item",
                                           "exchange_item"};
constexpr std::string_view kOfDelivered[] = {"return_item"};
constexpr std::string_view kGivenReasons[] = {"mistake", "not needed"};
constexpr std::string_view kAny[] = {"cancel_order", "change_address", "exchange_item",
                                     "return_item"};

class Explorer {
 public:
  Explorer(uint64_t session_seed, Rng rng) : shop_(ShopOf(session_seed)), rng_(rng) {}

  std::vector<Call> Explore() {
    for (int i = 0; i < kOrders; ++i) {
      const Order& order = shop_.orders[rng_.Below(shop_.orders.size())];
      const Item& item = order.items[rng_.Below(order.items.size())];
      Add("find_customer",
          Json::Of({{"email", Wrong() ? Odd(fmt::format("no{}@mail.test", rng_.Below(100)))
                                      : order.customer}}));
      if (Wrong()) Add("get_order", Json::Of({{"order", Odd(OddOrder())}}));
      Add("get_order", Json::Of({{"order", order.id}}));
      if (Wrong()) Add("get_product", Json::Of({{"product", Odd("piano")}}));
      Add("get_product", Json::Of({{"product", item.product}}));
      for (int change = 0; change < kChangesEach; ++change) {
        Change(order, item);
        if (Chance(kLooksAgain)) Add("get_order", Json::Of({{"order", order.id}}));
      }
    }
    return std::move(calls_);
  }

 private:
  bool Chance(double probability) { return rng_.NextDouble() < probability; }
  bool Wrong() { return Chance(kWrong); }
  std::string Pick(std::span<const std::string_view> words) {
    return std::string(words[rng_.Below(words.size())]);
  }
  std::string OddOrder() { return fmt::format("W{}", rng_.Below(10000)); }
  // What is meant to be wrong: as given, or some other word of the shop.
  std::string Odd(std::string like) {
    const Order& order = shop_.orders[rng_.Below(shop_.orders.size())];
    switch (rng_.Below(12)) {
      case 0: return Pick(Products());
      case 1: return Pick(Colours());
      case 2: return Pick(Cities());
      case 3: return order.customer;
      case 4: return order.id;
      case 5: return order.items[0].id;
      default: return like;
    }
  }

  void Add(std::string tool, Json arguments) {
    calls_.push_back({std::move(tool), std::move(arguments), {}});
  }

  std::string PickChange(const Order& order) {
    if (!Chance(kAllowed)) return Pick(kAny);
    if (order.status == "pending") return Pick(kOfPending);
    return order.status == "delivered" ? Pick(kOfDelivered) : Pick(kAny);
  }

  void Change(const Order& order, const Item& item) {
    const std::string tool = PickChange(order);
    Json arguments = Json::Of({{"order", Wrong() ? Odd(OddOrder()) : order.id}});
    if (tool == "cancel_order") {
      arguments.Set("reason", Pick(kGivenReasons));
    } else if (tool == "change_address") {
      arguments.Set("city", Wrong() ? Odd("Atlantis") : Pick(Cities()));
    } else {
      arguments.Set("item", Wrong() ? Odd("I9") : item.id);
      if (tool == "exchange_item") arguments.Set("colour", Pick(Colours()));
    }
    Add(tool, std::move(arguments));
  }

  const Shop shop_;
  Rng rng_;
  std::vector<Call> calls_;
};

}  // namespace

std::vector<Call> ExplorationOf(uint64_t session_seed, Rng rng) {
  return Explorer(session_seed, rng).Explore();
}

}  // namespace hone::service
