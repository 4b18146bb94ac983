#include "envs/service/goals.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone::service {
namespace {

// The policy's: what costs less is not taken back.
constexpr int64_t kLeastReturnPrice = 10;

template <typename T>
const T& PickOf(const std::vector<T>& things, Rng* rng) {
  return things[rng->Below(things.size())];
}

// One of the customer's orders of this status.
const Order* OrderOf(const GoalSetting& setting, std::string_view status) {
  std::vector<const Order*> fitting;
  for (const Order* order : setting.orders) {
    if (status.empty() || order->status == status) fitting.push_back(order);
  }
  return fitting.empty() ? nullptr : PickOf(fitting, setting.rng);
}

// {o} is the order, {p} the product. The first wording names the order, the second waits to be
// asked, the third is never in training.
void Ask(const GoalSetting& setting, std::string_view open, std::string_view terse,
         std::string_view unseen, GoalDraft* draft) {
  draft->phrase = setting.unseen_phrases ? 2 : setting.rng->Below(2);
  const std::string_view wordings[] = {open, terse, unseen};
  std::string& text = draft->goal.request;
  text = wordings[draft->phrase];
  for (const auto& [mark, word] :
       {std::pair<std::string_view, const std::string&>("{o}", draft->goal.order),
        {"{p}", draft->goal.product}}) {
    if (const size_t at = text.find(mark); at != std::string::npos) text.replace(at, 3, word);
  }
}

void Begin(const Order& order, GoalDraft* draft) {
  draft->goal.order = order.id;
  draft->calls.push_back({"get_order", Json::Of({{"order", order.id}}), {}});
}

void Tell(std::string output, std::string again, GoalDraft* draft) {
  draft->outputs.push_back(std::move(output));
  draft->goal.again = std::move(again);
}

std::string OtherCity(const GoalSetting& setting, const std::string& city) {
  std::vector<std::string> others;
  for (const std::string_view other : Cities()) {
    if (other != city) others.emplace_back(other);
  }
  return PickOf(others, setting.rng);
}

// Colours of the item's product that are there, or that are not.
std::vector<std::string> ColoursFor(const Shop& shop, const Item& item, bool in_stock) {
  std::vector<std::string> colours;
  for (const Variant& variant : shop.variants) {
    if (variant.product == item.product && variant.colour != item.colour &&
        (variant.stock > 0) == in_stock) {
      colours.push_back(variant.colour);
    }
  }
  return colours;
}

bool Status(const GoalSetting& setting, GoalDraft* draft) {
  const Order* order = OrderOf(setting, "");
  if (order == nullptr) return false;
  Begin(*order, draft);
  Ask(setting, "What is the status of my order {o}?", "What is the status of my order?",
      "How does my order {o} stand?", draft);
  Tell("${0.status}", "But what is the status?", draft);
  draft->key = fmt::format("status {} {}", order->items[0].product, setting.customer->name);
  return true;
}

bool Total(const GoalSetting& setting, GoalDraft* draft) {
  const Order* order = OrderOf(setting, "");
  if (order == nullptr) return false;
  Begin(*order, draft);
  Ask(setting, "How much is my order {o} in total?", "How much is my order in total?",
      "What does my order {o} come to?", draft);
  Tell("${0.total}", "But how much is it in total?", draft);
  draft->key = fmt::format("total {} {}", order->items[0].product, setting.customer->name);
  return true;
}

bool Cancel(const GoalSetting& setting, GoalDraft* draft) {
  const Order* order = OrderOf(setting, "pending");
  if (order == nullptr) return false;
  Begin(*order, draft);
  draft->goal.reason = setting.rng->Below(2) == 0 ? "mistake" : "not needed";
  draft->calls.push_back(
      {"cancel_order", Json::Of({{"order", order->id}, {"reason", draft->goal.reason}}), {}});
  Ask(setting, "Please cancel my order {o}.", "I want to cancel an order.",
      "I no longer want order {o}.", draft);
  draft->key = fmt::format("cancel {} {}", order->items[0].product, setting.customer->name);
  return true;
}

bool CancelTooLate(const GoalSetting& setting, GoalDraft* draft) {
  const Order* order = OrderOf(setting, setting.rng->Below(2) == 0 ? "shipped" : "delivered");
  if (order == nullptr) return false;
  Begin(*order, draft);
  draft->goal.reason = "not needed";
  Ask(setting, "Please cancel my order {o}.", "I want to cancel an order.",
      "I no longer want order {o}.", draft);
  Tell("${0.status}", "Why, what is its status?", draft);
  draft->key = fmt::format("cancel {} {}", order->items[0].product, setting.customer->name);
  return true;
}

void PlanAddress(const Order& order, const std::string& city, GoalDraft* draft) {
  draft->goal.city = city;
  draft->calls.push_back({"change_address", Json::Of({{"order", order.id}, {"city", city}}), {}});
  draft->key = fmt::format("address {} {}", order.items[0].product, city);
}

constexpr std::string_view kAddressRequests[] = {"Please send my order {o} to another city.",
                                                 "I want an order to go to another city.",
                                                 "My order {o} should go to another address."};

bool Address(const GoalSetting& setting, GoalDraft* draft) {
  const Order* order = OrderOf(setting, "pending");
  if (order == nullptr) return false;
  Begin(*order, draft);
  Ask(setting, kAddressRequests[0], kAddressRequests[1], kAddressRequests[2], draft);
  PlanAddress(*order, OtherCity(setting, order->city), draft);
  return true;
}

// Wants to cancel, then does not.
bool ChangeOfMind(const GoalSetting& setting, GoalDraft* draft) {
  const Order* order = OrderOf(setting, "pending");
  if (order == nullptr) return false;
  Begin(*order, draft);
  Ask(setting, "Please cancel my order {o}.", "I want to cancel an order.",
      "I no longer want order {o}.", draft);
  PlanAddress(*order, OtherCity(setting, order->city), draft);
  draft->goal.reason = "not needed";
  draft->goal.change =
      fmt::format("No, wait. Do not cancel it, send it to {} instead.", draft->goal.city);
  return true;
}

// Names the wrong order first.
bool Correction(const GoalSetting& setting, GoalDraft* draft) {
  if (setting.orders.size() < 2) return false;
  const size_t first = setting.rng->Below(2);
  const Order* wrong = setting.orders[first];
  const Order* right = setting.orders[1 - first];
  if (wrong->status != "pending" || right->status != "pending") return false;
  Begin(*right, draft);
  draft->goal.order = wrong->id;
  Ask(setting, kAddressRequests[0], kAddressRequests[1], kAddressRequests[2], draft);
  PlanAddress(*right, OtherCity(setting, right->city), draft);
  draft->goal.change = fmt::format("Sorry, I meant order {}.", right->id);
  return true;
}

// The item of a pending order that shall have another colour; null when there is none.
const Item* PlanExchange(const GoalSetting& setting, const Order& order, bool sold_out_first,
                         GoalDraft* draft) {
  const Item& item = PickOf(order.items, setting.rng);
  const std::vector<std::string> there = ColoursFor(*setting.shop, item, true);
  const std::vector<std::string> gone = ColoursFor(*setting.shop, item, false);
  if (there.empty() || (sold_out_first && gone.empty())) return nullptr;
  const std::string colour = PickOf(there, setting.rng);
  draft->goal.product = item.product;
  draft->goal.colour = sold_out_first ? PickOf(gone, setting.rng) : colour;
  if (sold_out_first) draft->goal.fallback = colour;
  draft->calls.push_back({"get_product", Json::Of({{"product", item.product}}), {}});
  draft->calls.push_back({"exchange_item",
                          Json::Of({{"order", order.id}, {"item", item.id}, {"colour", colour}}),
                          {}});
  draft->key = fmt::format("exchange {} {} {}", item.product, item.colour, colour);
  return &item;
}

bool ExchangeBy(const GoalSetting& setting, bool sold_out_first, GoalDraft* draft) {
  const Order* order = OrderOf(setting, "pending");
  if (order == nullptr) return false;
  Begin(*order, draft);
  if (PlanExchange(setting, *order, sold_out_first, draft) == nullptr) return false;
  Ask(setting, "I want the {p} of my order {o} in another colour.",
      "I want another colour for something I ordered.",
      "The {p} of order {o} should have another colour.", draft);
  return true;
}

bool Exchange(const GoalSetting& setting, GoalDraft* draft) {
  return ExchangeBy(setting, false, draft);
}

bool ExchangeSoldOut(const GoalSetting& setting, GoalDraft* draft) {
  return ExchangeBy(setting, true, draft);
}

// Asks afterwards for what only a fresh look tells.
bool ExchangeTotal(const GoalSetting& setting, GoalDraft* draft) {
  if (!ExchangeBy(setting, false, draft)) return false;
  draft->goal.request += " Then tell me what the order comes to.";
  draft->calls.push_back({"get_order", Json::Of({{"order", draft->goal.order}}), {}});
  Tell("${3.total}", "But what does the order come to now?", draft);
  return true;
}

const Item* PlanReturn(const GoalSetting& setting, bool cheap, GoalDraft* draft) {
  const Order* order = OrderOf(setting, "delivered");
  if (order == nullptr) return nullptr;
  const Item& item = PickOf(order->items, setting.rng);
  if ((item.price < kLeastReturnPrice) != cheap) return nullptr;
  Begin(*order, draft);
  draft->goal.product = item.product;
  draft->key = fmt::format("return {} {}", item.product, item.colour);
  if (!cheap) {
    draft->calls.push_back(
        {"return_item", Json::Of({{"order", order->id}, {"item", item.id}}), {}});
  }
  return &item;
}

bool Return(const GoalSetting& setting, GoalDraft* draft) {
  if (PlanReturn(setting, false, draft) == nullptr) return false;
  Ask(setting, "I want to return the {p} of my order {o}.", "I want to return something.",
      "Please take back the {p} of order {o}.", draft);
  return true;
}

bool ReturnTotal(const GoalSetting& setting, GoalDraft* draft) {
  if (!Return(setting, draft)) return false;
  draft->goal.request += " Then tell me what the order comes to.";
  draft->calls.push_back({"get_order", Json::Of({{"order", draft->goal.order}}), {}});
  Tell("${2.total}", "But what does the order come to now?", draft);
  return true;
}

// Too cheap to be taken back, whatever the tool would do.
bool ReturnCheap(const GoalSetting& setting, GoalDraft* draft) {
  const Item* item = PlanReturn(setting, true, draft);
  if (item == nullptr) return false;
  Ask(setting, "I want to return the {p} of my order {o}.", "I want to return something.",
      "Please take back the {p} of order {o}.", draft);
  draft->goal.request += " And what was its price?";
  const int place = item->id[1] - '1';
  Tell(fmt::format("${{0.items.{}.price}}", place), "But what was its price?", draft);
  return true;
}

constexpr GoalKind kGoals[] = {{"status", Status},
                               {"total", Total},
                               {"cancel", Cancel},
                               {"cancel_too_late", CancelTooLate},
                               {"address", Address},
                               {"change_of_mind", ChangeOfMind},
                               {"correction", Correction, false, true},
                               {"exchange", Exchange},
                               {"exchange_sold_out", ExchangeSoldOut},
                               {"exchange_total", ExchangeTotal, true},
                               {"return", Return},
                               {"return_total", ReturnTotal},
                               {"return_cheap", ReturnCheap, true}};

}  // namespace

std::span<const GoalKind> GoalKinds() { return kGoals; }

}  // namespace hone::service
