#include "tools/builtin/calculator.h"

#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "tools/builtin/decimal.h"

namespace hone {
namespace {

constexpr size_t kLongest = 4000;        // characters
constexpr int kDeepestExpression = 100;  // parentheses and signs inside each other

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Decimal> Whole() {
    HONE_ASSIGN_OR_RETURN(Decimal value, Sum());
    SkipBlanks();
    if (at_ < text_.size()) return Expected("an operator");
    return value;
  }

 private:
  Error Expected(std::string_view what) const {
    const std::string found =
        at_ < text_.size() ? fmt::format("\"{}\"", text_.substr(at_, 1)) : "the end";
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("at character {}: expected {}, found {}", at_ + 1, what, found));
  }

  void SkipBlanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  // Takes the operator if it comes next, and is not the beginning of a longer one.
  bool Take(std::string_view symbol) {
    SkipBlanks();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    const std::string_view rest = text_.substr(at_ + symbol.size());
    if ((symbol == "*" && rest.starts_with('*')) || (symbol == "/" && rest.starts_with('/'))) {
      return false;
    }
    at_ += symbol.size();
    return true;
  }

  Result<Decimal> Sum() {
    HONE_ASSIGN_OR_RETURN(Decimal value, Product());
    while (true) {
      if (Take("+")) {
        HONE_ASSIGN_OR_RETURN(const Decimal right, Product());
        HONE_ASSIGN_OR_RETURN(value, Add(value, right));
      } else if (Take("-")) {
        HONE_ASSIGN_OR_RETURN(const Decimal right, Product());
        HONE_ASSIGN_OR_RETURN(value, Subtract(value, right));
      } else {
        return value;
      }
    }
  }

  Result<Decimal> Product() {
    HONE_ASSIGN_OR_RETURN(Decimal value, Signed());
    while (true) {
      if (Take("*")) {
        HONE_ASSIGN_OR_RETURN(const Decimal right, Signed());
        HONE_ASSIGN_OR_RETURN(value, Multiply(value, right));
      } else if (Take("//")) {
        HONE_ASSIGN_OR_RETURN(const Decimal right, Signed());
        HONE_ASSIGN_OR_RETURN(value, FloorDivide(value, right));
      } else if (Take("/")) {
        HONE_ASSIGN_OR_RETURN(const Decimal right, Signed());
        HONE_ASSIGN_OR_RETURN(value, Divide(value, right));
      } else if (Take("%")) {
        HONE_ASSIGN_OR_RETURN(const Decimal right, Signed());
        HONE_ASSIGN_OR_RETURN(const Decimal whole, FloorDivide(value, right));
        HONE_ASSIGN_OR_RETURN(const Decimal part, Multiply(whole, right));
        HONE_ASSIGN_OR_RETURN(value, Subtract(value, part));
      } else {
        return value;
      }
    }
  }

  // A sign binds less than a power: -2^2 is -4.
  Result<Decimal> Signed() {
    if (depth_ >= kDeepestExpression)
      return Error(ErrorCode::kInvalidArgument, "nested too deeply");
    ++depth_;
    Result<Decimal> value = Decimal();
    if (Take("-")) {
      value = Signed();
      if (value.ok()) value = value->Negated();
    } else if (Take("+")) {
      value = Signed();
    } else {
      value = Powers();
    }
    --depth_;
    return value;
  }

  Result<Decimal> Powers() {
    HONE_ASSIGN_OR_RETURN(const Decimal base, Atom());
    if (!Take("**") && !Take("^")) return base;
    HONE_ASSIGN_OR_RETURN(const Decimal exponent, Signed());  // from the right: 2^3^2 is 2^9
    if (Compare(exponent, *Divide(1, 2)) == 0) return SquareRoot(base);
    HONE_ASSIGN_OR_RETURN(const int64_t whole, exponent.AsInteger());
    return Power(base, whole);
  }

  Result<Decimal> Atom() {
    SkipBlanks();
    if (Take("(")) {
      HONE_ASSIGN_OR_RETURN(Decimal value, Sum());
      if (!Take(")")) return Expected("\")\"");
      return value;
    }
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return Number();
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) return Name();
    return Expected("a number");
  }

  Result<Decimal> Number() {
    const size_t begin = at_;
    auto digits = [&] {
      while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    };
    digits();
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      size_t sign = at_ + 1;
      if (sign < text_.size() && (text_[sign] == '-' || text_[sign] == '+')) ++sign;
      if (sign < text_.size() && std::isdigit(static_cast<unsigned char>(text_[sign])) != 0) {
        at_ = sign;
        digits();
      }
    }
    return Decimal::Parse(text_.substr(begin, at_ - begin));
  }

  Result<Decimal> Name() {
    const size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (name == "pi") {
      return Decimal::Parse("3.1415926535897932384626433832795028841971693993751");
    }
    if (name == "e") return Decimal::Parse("2.7182818284590452353602874713526624977572470937000");
    if (!Take("(")) {
      at_ = begin;
      return Expected("a number, pi, e or a function");
    }
    std::vector<Decimal> values;
    do {
      HONE_ASSIGN_OR_RETURN(Decimal value, Sum());
      values.push_back(std::move(value));
    } while (Take(","));
    if (!Take(")")) return Expected("\")\"");
    return Call(name, values);
  }

  static Result<Decimal> Call(const std::string& name, const std::vector<Decimal>& values) {
    const bool one = values.size() == 1;
    if (name == "abs" && one) return values[0].Magnitude();
    if (name == "floor" && one) return values[0].Floor();
    if (name == "ceil" && one) return values[0].Negated().Floor().Negated();
    if (name == "sqrt" && one) return SquareRoot(values[0]);
    if (name == "round" && values.size() <= 2) {
      int64_t places = 0;
      if (!one) {
        HONE_ASSIGN_OR_RETURN(places, values[1].AsInteger());
      }
      return values[0].Rounded(places);
    }
    if (name == "min" || name == "max") {
      Decimal best = values[0];
      for (const Decimal& value : values) {
        if (Compare(value, best) == (name == "min" ? -1 : 1)) best = value;
      }
      return best;
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("there is no function {} of {} numbers; there are abs, floor, ceil, "
                             "round, sqrt, min and max",
                             name, values.size()));
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<std::string> Calculate(std::string_view expression) {
  if (expression.size() > kLongest) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("an expression of more than {} characters", kLongest));
  }
  HONE_ASSIGN_OR_RETURN(const Decimal value, Parser(expression).Whole());
  return value.Text();
}

}  // namespace hone
