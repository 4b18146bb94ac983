#include "lab/prediction.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/json_fields.h"
#include "lab/gradient.h"
#include "record/reward_terms.h"

namespace hone::lab {
namespace {

// The desk's teacher (envs/desk/desk_teacher.cpp): of calls that go wrong one in five is only made
// twice, and three in ten of the others are mended; before each call it may answer too early.
constexpr double kHarmless = 0.2 + 0.8 * 0.3, kEarly = 0.1;
// What the desk's rewards take away for a call that was not needed.
constexpr double kWaste = -0.25;

double Logit(double p) { return std::log(p / (1 - p)); }
double Inverse(double logit) { return 1 / (1 + std::exp(-logit)); }

Result<double> NoiseOf(const Method& method, const DecisionProcess& process, int group) {
  HONE_ASSIGN_OR_RETURN(const Estimate estimate, ExactEstimate(method, process, group));
  const std::vector<double> uphill = TrueGradient(process, {{kOutcomeTerm}, {}});
  const double along = Dot(estimate.mean, uphill) / std::sqrt(Dot(uphill, uphill));
  if (along <= 1e-12) return std::numeric_limits<double>::infinity();
  return estimate.variance / (along * along);
}

// What JSON has no number for.
Json FiniteOr(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

std::vector<ChainStart> ProvenChains() { return {{1, 0.8}, {2, 0.5}, {4, 0.3}, {8, 0.15}}; }

double SkillOf(double teacher_error) {
  return (1 - teacher_error * (1 - kHarmless)) * (1 - kEarly * teacher_error);
}

double WrongShareOf(double teacher_error) {
  const double early = kEarly * teacher_error;
  const double wrong = (1 - early) * teacher_error * (1 - kHarmless);
  return wrong / (wrong + early);
}

Result<std::vector<ChainPrediction>> PredictChains(const std::vector<ChainStart>& chains,
                                                   const std::vector<std::string>& methods,
                                                   const PredictionOptions& options) {
  std::vector<Method> made;
  for (const std::string& name : methods) {
    HONE_ASSIGN_OR_RETURN(made.emplace_back(), NewMethod(name));
  }
  std::vector<ChainPrediction> predictions;
  for (const auto& [length, teacher_error] : chains) {
    ChainPrediction prediction{
        .length = length, .goal = options.goal, .teacher_error = teacher_error};
    const double first = SkillOf(teacher_error);
    const double last = std::pow(options.goal / options.answer, 1.0 / length);
    CHECK(options.points >= 2 && first < last, "there is a way to go");
    prediction.start = std::pow(first, length) * options.answer;
    for (int i = 0; i < options.points; ++i) {
      const double share = static_cast<double>(i) / (options.points - 1);
      prediction.skills.push_back(Inverse(Logit(first) + share * (Logit(last) - Logit(first))));
    }
    for (size_t m = 0; m < made.size(); ++m) {
      PredictedMethod& method = prediction.methods.emplace_back();
      method.method = methods[m];
      for (const double skill : prediction.skills) {
        const DecisionProcess process =
            ChainAt(length, skill, options.answer, WrongShareOf(teacher_error));
        HONE_ASSIGN_OR_RETURN(const double noise, NoiseOf(made[m], process, options.group));
        method.noise.push_back(noise);
        method.sum += noise;
      }
    }
    predictions.push_back(std::move(prediction));
  }
  return predictions;
}

DecisionProcess ChainAt(int length, double skill, double answer, double wrong_share) {
  DecisionProcess process = Chain(length);
  for (int state = 0; state <= length; ++state) {
    const bool end = state == length;
    const double rest = 1 - (end ? answer : skill);
    const double right = end ? rest * (1 - wrong_share) : skill;
    const double wrong = rest * wrong_share;
    process.policy[static_cast<size_t>(state)] = {right, wrong, 1 - right - wrong};
  }
  for (Path& path : process.paths) {
    path.probability = 1;
    for (Decision& decision : path.decisions) {
      if (decision.choice == Choice::kWrongCall) decision.reward = kWaste;
      path.probability *=
          process.policy[static_cast<size_t>(decision.state)][static_cast<size_t>(decision.choice)];
    }
  }
  return process;
}

double ChainPrediction::RootSum(size_t method) const {
  double sum = 0;
  for (const double noise : methods[method].noise) sum += std::sqrt(noise);
  return sum;
}

Json ToJson(const std::vector<ChainPrediction>& predictions, const PredictionOptions& options) {
  Json::Array chains;
  for (const ChainPrediction& one : predictions) {
    Json::Array methods;
    for (const PredictedMethod& method : one.methods) {
      Json::Array noise;
      for (const double value : method.noise) noise.push_back(FiniteOr(value));
      methods.push_back(Json::Of(
          {{"method", method.method}, {"noise", std::move(noise)}, {"sum", FiniteOr(method.sum)}}));
    }
    chains.push_back(Json::Of({{"length", static_cast<int64_t>(one.length)},
                               {"teacher_error", one.teacher_error},
                               {"start", one.start},
                               {"skills", Json::ArrayOf(one.skills)},
                               {"methods", std::move(methods)}}));
  }
  return Json::Of({{"goal", options.goal},
                   {"answer", options.answer},
                   {"group", static_cast<int64_t>(options.group)},
                   {"chains", std::move(chains)}});
}

Result<std::vector<ChainPrediction>> PredictionsFromJson(const Json& json) {
  const auto wrong = [](std::string_view what) {
    return Error(ErrorCode::kInvalidArgument, "a prediction needs " + std::string(what));
  };
  const auto is_number = [](const Json& value) { return value.is_null() || value.is_number(); };
  const auto number = [](const Json& value) {
    return value.is_null() ? std::numeric_limits<double>::infinity() : value.AsDouble();
  };
  const auto numbers = [&](const Json* list, std::vector<double>* into) {
    if (list == nullptr || !list->is_array()) return false;
    for (const Json& value : list->AsArray()) {
      if (!is_number(value)) return false;
      into->push_back(number(value));
    }
    return true;
  };
  std::vector<ChainPrediction> predictions;
  const Json* chains = json.Find("chains");
  if (chains == nullptr || !chains->is_array()) return wrong("\"chains\"");
  const Json* goal = json.Find("goal");
  if (goal == nullptr || !goal->is_number()) return wrong("\"goal\"");
  for (const Json& chain : chains->AsArray()) {
    ChainPrediction one{.goal = goal->AsDouble()};
    const Json* length = chain.Find("length");
    const Json* methods = chain.Find("methods");
    if (length == nullptr || !length->is_integer() || methods == nullptr || !methods->is_array()) {
      return wrong("\"length\" and \"methods\" of each chain");
    }
    one.length = static_cast<int>(length->AsInteger());
    for (const ChainPrediction& other : predictions) {
      if (other.length == one.length) return wrong(fmt::format("length {} once", one.length));
    }
    for (const auto& [name, into] :
         {std::pair{"teacher_error", &one.teacher_error}, std::pair{"start", &one.start}}) {
      const Json* value = chain.Find(name);
      if (value == nullptr || !value->is_number()) return wrong(fmt::format("\"{}\"", name));
      *into = value->AsDouble();
    }
    if (!numbers(chain.Find("skills"), &one.skills)) return wrong("\"skills\": numbers");
    for (const Json& method : methods->AsArray()) {
      const Json* name = method.Find("method");
      const Json* sum = method.Find("sum");
      PredictedMethod& read = one.methods.emplace_back();
      if (name == nullptr || !name->is_string() || sum == nullptr || !is_number(*sum) ||
          !numbers(method.Find("noise"), &read.noise)) {
        return wrong("\"method\", \"noise\" and \"sum\" of each method");
      }
      read.method = name->AsString();
      read.sum = number(*sum);
    }
    predictions.push_back(std::move(one));
  }
  return predictions;
}

}  // namespace hone::lab
