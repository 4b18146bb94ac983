#include "envs/service/played_user.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace hone::service {
namespace {

// The orders that a goal speaks of: its own, and the one that a change of mind names.
std::vector<std::string> OrdersOf(const Goal& goal, const Shop& shop) {
  std::vector<std::string> orders;
  if (!goal.order.empty()) orders.push_back(goal.order);
  for (const Order& order : shop.orders) {
    if (order.id != goal.order && Mentions(goal.change, order.id)) orders.push_back(order.id);
  }
  return orders;
}

// Written otherwise than a customer would say it, so that reciting it can be told from speaking.
std::string InWords(const Goal& goal, const Shop& shop) {
  const std::string order = "order " + goal.order;
  const std::string& kind = goal.kind;
  std::string text;
  if (kind == "status") return fmt::format("to be told how {} stands.", order);
  if (kind == "total") return fmt::format("to be told the sum of {}.", order);
  if (kind == "cancel" || kind == "cancel_too_late") {
    return fmt::format("{} cancelled; the reason, if that matters: {}.", order, goal.reason);
  }
  if (kind == "address") return fmt::format("{} sent to {}.", order, goal.city);
  if (kind == "change_of_mind") {
    return fmt::format(
        "at first {} cancelled (reason: {}); asked to confirm, you have another idea: not "
        "cancelled, but sent to {}.",
        order, goal.reason, goal.city);
  }
  if (kind == "correction") {
    const std::vector<std::string> orders = OrdersOf(goal, shop);
    return fmt::format(
        "an order sent to {}. You take it for {}; only when asked to confirm you notice that it is "
        "{}.",
        goal.city, orders.front(), orders.back());
  }
  if (kind.starts_with("exchange")) {
    text = fmt::format("{} of {} in {}{}", goal.product, order, goal.colour,
                       goal.fallback.empty() ? "." : "; sold out, then in " + goal.fallback + ".");
  } else if (kind.starts_with("return")) {
    text = fmt::format("{} of {} taken back.", goal.product, order);
  } else {
    return goal.request;
  }
  if (kind.ends_with("_total")) text += " Afterwards to be told the sum of the order.";
  if (kind == "return_cheap") text += " Also to be told the price that was paid for it.";
  return text;
}

using Names = std::map<std::string, std::set<std::string>>;

// What is wanted, by name.
Names ValuesOf(const Script& script, const Shop& shop) {
  Names values;
  values["email"].insert(script.email);
  for (const Goal& goal : script.goals) {
    for (const std::string& order : OrdersOf(goal, shop)) values["order"].insert(order);
    for (const auto& [name, value] :
         {std::pair("product", &goal.product), std::pair("colour", &goal.colour),
          std::pair("colour", &goal.fallback), std::pair("city", &goal.city)}) {
      if (!value->empty()) values[name].insert(*value);
    }
  }
  return values;
}

// What else there is in the shop, by the same names.
Names OthersOf(const Names& values, const Shop& shop) {
  Names others;
  for (const Customer& customer : shop.customers) others["email"].insert(customer.email);
  for (const Order& order : shop.orders) others["order"].insert(order.id);
  for (const std::string_view product : Products()) others["product"].emplace(product);
  for (const std::string_view colour : Colours()) others["colour"].emplace(colour);
  for (const std::string_view city : Cities()) others["city"].emplace(city);
  for (auto& [name, all] : others) {
    const auto wanted = values.find(name);
    if (wanted == values.end()) continue;
    for (const std::string& value : wanted->second) all.erase(value);
  }
  return others;
}

Json AsJson(const Names& names) {
  Json::Object object;
  for (const auto& [name, values] : names) {
    object.emplace_back(name,
                        Json::ArrayOf(std::vector<std::string>(values.begin(), values.end())));
  }
  return object;
}

}  // namespace

Json PlayedScript(const Script& script, const Shop& shop, bool met) {
  std::string goal = fmt::format("Your email is {}.", script.email);
  Json::Array wishes;
  for (size_t i = 0; i < script.goals.size(); ++i) {
    const Goal& one = script.goals[i];
    goal +=
        fmt::format(" You want{}: {}", i == 0 ? "" : ", when that is settled", InWords(one, shop));
    std::vector<std::string> signs;
    // The first wish is spoken of from the beginning.
    if (i > 0) {
      signs = OrdersOf(one, shop);
      if (!one.product.empty()) signs.push_back(one.product);
    }
    wishes.push_back(Json::ArrayOf(signs));
  }
  const Names values = ValuesOf(script, shop);
  return Json::Of({{"goal", goal},
                   {"stop",
                    "when everything is settled or the clerk says that it cannot be, and there is "
                    "nothing left to ask for"},
                   {"values", AsJson(values)},
                   {"alternatives", AsJson(OthersOf(values, shop))},
                   {"wishes", std::move(wishes)},
                   {"met", met}});
}

}  // namespace hone::service
