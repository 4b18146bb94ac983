#include "envs/service/service_teacher.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "envs/agents.h"
#include "envs/service/shop.h"
#include "envs/service/user.h"

namespace hone::service {
namespace {

constexpr double kGivesUp = 0.1;
constexpr double kRecovers = 0.3;
constexpr int64_t kLeastReturn = 10;  // the policy's
constexpr std::array<std::string_view, 2> kReasons = {"mistake", "not needed"};

enum class Wish { kStatus, kTotal, kPrice, kCancel, kAddress, kExchange, kReturn };

// What a customer can say, or a clerk believe.
struct Facts {
  std::string order, product, colour, city, reason;
};

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Wish WishIn(std::string_view request) {
  if (Has(request, "colour")) return Wish::kExchange;
  if (Has(request, "return") || Has(request, "take back")) return Wish::kReturn;
  if (Has(request, "cancel") || Has(request, "no longer")) return Wish::kCancel;
  if (Has(request, "city") || Has(request, "address")) return Wish::kAddress;
  if (Has(request, "status") || Has(request, "stand")) return Wish::kStatus;
  return Has(request, "price") ? Wish::kPrice : Wish::kTotal;
}

// Words of a line: what stands between blanks, without the points after it.
std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t begin = line.find_first_not_of(' '); begin != std::string_view::npos;) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    std::string_view word = line.substr(begin, end - begin);
    while (!word.empty() && Has(".,?!", word.substr(word.size() - 1))) word.remove_suffix(1);
    words.push_back(word);
    begin = line.find_first_not_of(' ', end);
  }
  return words;
}

bool IsOneOf(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Puts what the line says over what was known.
void Read(std::string_view line, Facts* facts) {
  for (const std::string_view word : WordsOf(line)) {
    const bool is_order = word.size() > 1 && word[0] == 'W' &&
                          word.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (is_order) facts->order = word;
    if (IsOneOf(Products(), word)) facts->product = word;
    if (IsOneOf(Colours(), word)) facts->colour = word;
    if (IsOneOf(Cities(), word)) facts->city = word;
  }
  for (const std::string_view reason : kReasons) {
    if (Mentions(line, reason)) facts->reason = reason;
  }
}

bool IsText(const Json* json) { return json != nullptr && json->is_string(); }

// Whether somebody answered as the shop does: it may be simulated.
bool IsAnswerOf(std::string_view tool, const Json& answer) {
  const auto has_list = [&](std::string_view key, const auto& fits) {
    const Json* list = answer.Find(key);
    return list != nullptr && list->is_array() && !list->AsArray().empty() &&
           std::all_of(list->AsArray().begin(), list->AsArray().end(), fits);
  };
  if (!answer.is_object()) return false;
  if (tool == "find_customer") {
    return has_list("orders", [](const Json& order) { return order.is_string(); });
  }
  if (tool == "get_product") {
    return has_list("colours", [](const Json& one) {
      return one.is_object() && IsText(one.Find("colour")) && one.Find("in_stock") != nullptr;
    });
  }
  if (tool != "get_order") return true;
  return IsText(answer.Find("status")) && answer.Find("total") != nullptr &&
         has_list("items", [](const Json& item) {
           return item.is_object() && IsText(item.Find("item")) && IsText(item.Find("product")) &&
                  item.Find("price") != nullptr && item.Find("price")->is_integer();
         });
}

class Teacher final : public Agent {
 public:
  Teacher(std::string_view request, double error, Rng rng) : error_(error), rng_(rng) {
    Begin(request);
  }

  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& turns) override {
    if (turns.empty()) return Says("Hello. What is your email?");
    if (called_) {
      Observe(turns.back().agent.results);
    } else {
      Listen(turns.back().environment.user);
    }
    if (over_ || Errs(kGivesUp)) return Finish("Sorry, it cannot be done.");
    if (customer_.is_null()) return Calls("find_customer", Json::Of({{"email", email_}}));
    if (believed_.order.empty()) {
      if (!Errs()) return Says("Which order number?");
      believed_.order = AnyOrder();
    }
    if (looked_at_ != believed_.order) {
      if (Errs()) believed_.order = AnyOrder();
      return LookAtOrder();
    }
    return Serve();
  }

 private:
  bool Errs(double share = 1) { return rng_.NextDouble() < share * error_ && !careful_; }

  std::string AnyOf(std::span<const std::string_view> words) {
    return std::string(words[rng_.Below(words.size())]);
  }

  std::string AnyOrder() {
    const Json::Array& orders = customer_.Find("orders")->AsArray();
    return orders[rng_.Below(orders.size())].AsString();
  }

  // A wish, from its beginning.
  void Begin(std::string_view request) {
    wish_ = WishIn(request);
    then_total_ = wish_ != Wish::kTotal && Has(request, "comes to");
    written_ = confirmed_ = looked_again_ = told_sold_out_ = false;
    careful_ = false;
    said_ = {};
    Forget();
    Read(request, &said_);
    believed_ = said_;
  }

  void Forget() {
    looked_at_.clear();
    order_ = product_ = Json();
  }

  // What the customer says now.
  void Listen(std::string_view line) {
    over_ = false;
    for (const std::string_view word : WordsOf(line)) {
      if (Has(word, "@")) email_ = word;
    }
    if (std::exchange(finished_, false)) {
      // Thanks and wishes something else, or misses something.
      const Facts before = said_;
      Begin(line);
      if (!line.starts_with("Thank")) said_ = believed_ = before;
      return;
    }
    if (Has(line, "send it to")) wish_ = Wish::kAddress;
    confirmed_ = line.starts_with("Yes");
    Read(line, &said_);
    Read(line, &believed_);
  }

  void Observe(const std::vector<ToolResult>& results) {
    const std::string tool = std::exchange(called_, std::nullopt).value();
    const Result<Json> value = ParseJson(results[0].content);
    if (results[0].status != CallStatus::kOk || !value.ok() || !IsAnswerOf(tool, *value)) {
      written_ = confirmed_ = false;
      over_ = tool == "find_customer" || careful_ || rng_.NextDouble() >= kRecovers;
      careful_ = true;
      believed_ = said_;
      Forget();
      return;
    }
    if (tool == "find_customer") customer_ = *value;
    if (tool == "get_product") product_ = *value;
    if (tool != "get_order") return;
    looked_again_ = written_;
    order_ = *value;
  }

  // Asks for what the change needs and nobody said; empty: for nothing.
  std::string MissingDetails() const {
    std::string question;
    const auto need = [&](const std::string& fact, std::string_view words) {
      if (fact.empty()) question += fmt::format("{}{}", question.empty() ? "Which " : ", ", words);
    };
    if (wish_ == Wish::kExchange || wish_ == Wish::kReturn) need(believed_.product, "item");
    if (wish_ == Wish::kExchange) need(believed_.colour, "colour");
    if (wish_ == Wish::kAddress) need(believed_.city, "city");
    if (wish_ == Wish::kCancel) need(believed_.reason, "reason");
    return question;
  }

  void Guess() {
    if (believed_.product.empty()) believed_.product = AnyOf(Products());
    if (believed_.colour.empty()) believed_.colour = AnyOf(Colours());
    if (believed_.city.empty()) believed_.city = AnyOf(Cities());
    if (believed_.reason.empty()) believed_.reason = AnyOf(kReasons);
  }

  // With the order at hand.
  AgentTurn Serve() {
    if (written_ && then_total_ && !looked_again_ && !Errs()) {
      return LookAtOrder();
    }
    if (written_) return Finish(then_total_ ? "Done. " + Told("total") : "Done.");
    if (wish_ == Wish::kStatus) return Finish(Told("status"));
    if (wish_ == Wish::kTotal) return Finish(Told("total"));
    if (wish_ == Wish::kPrice) return Finish(fmt::format("The price is {}.", PriceOf(Item())));
    const std::string_view needed = wish_ == Wish::kReturn ? "delivered" : "pending";
    if (*order_.Find("status") != Json(needed)) return Finish("Sorry. " + Told("status"));
    if (const std::string missing = MissingDetails(); !missing.empty()) {
      if (!Errs()) return Says(missing + "?");
      Guess();
    }
    const Json* item = Item();
    if (wish_ == Wish::kExchange || wish_ == Wish::kReturn) {
      if (item == nullptr) return Finish("Sorry, it cannot be done.");
    }
    if (wish_ == Wish::kReturn && PriceOf(item) < kLeastReturn) {
      return Finish(fmt::format("Sorry. The price is {}.", PriceOf(item)));
    }
    if (wish_ == Wish::kExchange && !confirmed_) {
      if (product_.is_null() && !Errs()) {
        return Calls("get_product", Json::Of({{"product", believed_.product}}));
      }
      if (IsSoldOut()) {
        if (std::exchange(told_sold_out_, true)) return Finish("Sorry, it cannot be done.");
        const std::string colour = std::exchange(believed_.colour, "");
        said_.colour = "";
        return Says(fmt::format("{} is out of stock. Which colour?", colour));
      }
    }
    if (!confirmed_ && !Errs()) return Says(fmt::format("Shall I {}?", Deed()));
    return Write(item);
  }

  const Json* Item() const {
    for (const Json& item : order_.Find("items")->AsArray()) {
      if (*item.Find("product") == Json(believed_.product)) return &item;
    }
    return nullptr;
  }

  static int64_t PriceOf(const Json* item) {
    return item == nullptr ? 0 : item->Find("price")->AsInteger();
  }

  bool IsSoldOut() const {
    if (product_.is_null()) return false;
    for (const Json& one : product_.Find("colours")->AsArray()) {
      if (*one.Find("colour") == Json(believed_.colour))
        return *one.Find("in_stock") == Json(false);
    }
    return false;
  }

  std::string Told(std::string_view what) const {
    const Json& value = *order_.Find(what);
    return fmt::format("The {} is {}.", what,
                       value.is_string() ? value.AsString() : DumpJson(value));
  }

  std::string Deed() const {
    switch (wish_) {
      case Wish::kCancel: return fmt::format("cancel {}", believed_.order);
      case Wish::kAddress: return fmt::format("send {} to {}", believed_.order, believed_.city);
      case Wish::kExchange:
        return fmt::format("make the {} of {} {}", believed_.product, believed_.order,
                           believed_.colour);
      default: return fmt::format("take back the {} of {}", believed_.product, believed_.order);
    }
  }

  AgentTurn Write(const Json* item) {
    Json arguments = Json::Of({{"order", believed_.order}});
    std::string tool = "cancel_order";
    if (wish_ == Wish::kCancel) {
      arguments.Set("reason", Errs() ? AnyOf(kReasons) : believed_.reason);
    } else if (wish_ == Wish::kAddress) {
      tool = "change_address";
      arguments.Set("city", Errs() ? AnyOf(Cities()) : believed_.city);
    } else {
      tool = wish_ == Wish::kExchange ? "exchange_item" : "return_item";
      arguments.Set(
          "item", Errs() ? fmt::format("I{}", 1 + rng_.Below(3)) : item->Find("item")->AsString());
      if (wish_ == Wish::kExchange) arguments.Set("colour", believed_.colour);
    }
    written_ = true;
    return Calls(std::move(tool), std::move(arguments));
  }

  AgentTurn LookAtOrder() {
    looked_at_ = believed_.order;
    return Calls("get_order", Json::Of({{"order", looked_at_}}));
  }

  AgentTurn Calls(std::string tool, Json arguments) {
    called_ = tool;
    AgentTurn turn;
    turn.calls = {{std::move(tool), std::move(arguments), {}}};
    return turn;
  }

  AgentTurn Finish(std::string_view text) {
    finished_ = true;
    return Says(fmt::format("{} Is there anything else?", text));
  }

  const double error_;
  Rng rng_;

  std::string email_;
  Wish wish_ = Wish::kStatus;
  bool then_total_ = false;
  Facts said_, believed_;
  Json customer_, order_, product_;  // what was last seen of them
  std::string looked_at_;            // the order's number

  std::optional<std::string> called_;  // the tool whose answer is awaited
  bool confirmed_ = false;             // the customer said yes to what comes next
  bool written_ = false;
  bool looked_again_ = false;  // after the change
  bool told_sold_out_ = false;
  bool finished_ = false;  // has asked whether there is anything else
  bool over_ = false;      // gives this wish up
  bool careful_ = false;   // since a call failed
};

}  // namespace

Result<std::unique_ptr<Agent>> NewTeacher(const Task& task, double teacher_error, Rng rng) {
  const Json* user = task.metadata.Find("user");
  if (user == nullptr) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("task \"{}\" has no customer", task.id));
  }
  HONE_ASSIGN_OR_RETURN(const Script script, ScriptFromJson(*user));
  return std::unique_ptr<Agent>(
      std::make_unique<Teacher>(script.goals[0].request, teacher_error, rng));
}

}  // namespace hone::service
