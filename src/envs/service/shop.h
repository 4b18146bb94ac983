#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

// The shop behind the service desk: its database, and what every tool does to it. One
// implementation serves the real tools, the task generator and the episode's own bookkeeping.

namespace hone::service {

std::span<const std::string_view> Products();
std::span<const std::string_view> Colours();
std::span<const std::string_view> Cities();

struct Item {
  std::string id;  // "I2", unique within the order
  std::string product, colour;
  int64_t price = 0;
  bool returned = false;

  bool operator==(const Item&) const = default;
};

struct Order {
  std::string id;        // "W4711"
  std::string customer;  // an email
  std::string status;    // pending, shipped, delivered, cancelled
  std::string city;      // where it goes
  std::string reason;    // why it was cancelled
  std::vector<Item> items;

  int64_t Total() const;  // of what was not returned
  bool operator==(const Order&) const = default;
};

struct Customer {
  std::string email, name, city;

  bool operator==(const Customer&) const = default;
};

struct Variant {
  std::string product, colour;
  int64_t price = 0;
  int64_t stock = 0;

  bool operator==(const Variant&) const = default;
};

struct Shop {
  std::vector<Customer> customers;
  std::vector<Order> orders;
  std::vector<Variant> variants;

  // Everything as a function of the seed: six customers with two orders each, of one to three
  // items; about a third of the variants are out of stock.
  static Shop Of(uint64_t seed);

  const Order* FindOrder(std::string_view id) const;
  Order* FindOrder(std::string_view id);
  const Variant* FindVariant(std::string_view product, std::string_view colour) const;
  Variant* FindVariant(std::string_view product, std::string_view colour);

  bool operator==(const Shop&) const = default;
};

// What a tool answers to arguments that fit its schema; a write changes the shop. What cannot be
// done in this state changes nothing, and the error says why.
Result<Json> Apply(std::string_view tool, const Json& arguments, Shop* shop);
// Whether the tool changes anything.
bool IsWrite(std::string_view tool);

// The shop in which the tools of a trajectory with this session seed live, when they are the
// toolbox's first toolkit.
Shop ShopOf(uint64_t session_seed);

}  // namespace hone::service
