#include "dash/dash_api.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "credit/methods.h"
#include "dash/dash_page.h"

namespace hone {
namespace {

constexpr int64_t kMostGroups = 200;  // on one page

ServerResponse WithHeaders(ServerResponse answer) {
  // The page needs nothing from elsewhere, and nobody may put it into theirs.
  answer.headers = {{"content-security-policy",
                     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
                     "data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                     "frame-ancestors 'none'"},
                    {"x-content-type-options", "nosniff"},
                    {"referrer-policy", "no-referrer"},
                    {"cache-control", "no-store"}};
  return answer;
}

ServerResponse Failure(int status, std::string_view message) {
  return WithHeaders({.status = status, .body = DumpJson(Json::Of({{"error", message}})) + "\n"});
}

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound: return 404;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kParse: return 400;
    case ErrorCode::kUnavailable: return 503;
    default: return 500;
  }
}

ServerResponse AnswerOf(const Result<Json>& json) {
  if (!json.ok()) return Failure(StatusOf(json.error().code()), json.error().message());
  return WithHeaders({.body = DumpJson(*json) + "\n"});
}

// The parameters of a query; what is wrong with them is kept until asked for.
class Parameters {
 public:
  explicit Parameters(const IncomingRequest& request) : request_(request) {}

  std::string Text(std::string_view name) {
    return request_.Parameter(name).value_or(std::string());
  }
  bool Flag(std::string_view name) { return Text(name) == "1"; }

  template <typename T>
  std::optional<T> Number(std::string_view name) {
    const std::string text = Text(name);
    if (text.empty()) return std::nullopt;
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && std::isfinite(static_cast<double>(value))) {
      return value;
    }
    if (!problem_) {
      problem_ = Error(ErrorCode::kInvalidArgument,
                       fmt::format("the parameter {} must be a number, not \"{}\"", name, text));
    }
    return std::nullopt;
  }
  std::string Required(std::string_view name) {
    std::string text = Text(name);
    if (text.empty() && !problem_) {
      problem_ =
          Error(ErrorCode::kInvalidArgument, fmt::format("the parameter {} is missing", name));
    }
    return text;
  }
  // Taken apart at commas.
  std::vector<std::string> List(std::string_view name) {
    std::vector<std::string> parts;
    const std::string text = Text(name);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      if (end > begin) parts.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return parts;
  }

  const std::optional<Error>& problem() const { return problem_; }

 private:
  const IncomingRequest& request_;
  std::optional<Error> problem_;
};

Result<Json> GroupsFor(Parameters* parameters, DashBoard* board) {
  const std::string run = parameters->Required("run");
  GroupFilter filter{.first_step = parameters->Number<int64_t>("first_step").value_or(1),
                     .last_step = parameters->Number<int64_t>("last_step"),
                     .least_reward = parameters->Number<double>("least_reward"),
                     .most_reward = parameters->Number<double>("most_reward"),
                     .text = parameters->Text("text"),
                     .tool = parameters->Text("tool"),
                     .ending = parameters->Text("ending"),
                     .differing = parameters->Flag("differing"),
                     .faults = parameters->Flag("faults")};
  GroupPage page{.newest_first = parameters->Text("order") != "oldest"};
  page.limit = std::clamp<int64_t>(parameters->Number<int64_t>("limit").value_or(page.limit), 1,
                                   kMostGroups);
  const auto step = parameters->Number<int64_t>("after_step");
  const auto id = parameters->Number<int64_t>("after_id");
  if (step && id) page.behind = RunStore::TreePlace{*step, *id};
  if (parameters->problem()) return *parameters->problem();
  return board->Groups(run, filter, page);
}

Result<Json> MetricsFor(Parameters* parameters, DashBoard* board) {
  const std::string run = parameters->Required("run");
  const std::vector<std::string> names = parameters->List("names");
  const int64_t generation = parameters->Number<int64_t>("generation").value_or(-1);
  const int64_t row = parameters->Number<int64_t>("row").value_or(0);
  if (parameters->problem()) return *parameters->problem();
  return board->Metrics(run, names, generation, row);
}

Result<Json> GroupFor(Parameters* parameters, DashBoard* board) {
  const std::string run = parameters->Required("run");
  parameters->Required("id");
  const int64_t id = parameters->Number<int64_t>("id").value_or(0);
  if (parameters->problem()) return *parameters->problem();
  return board->Group(run, id, parameters->Text("method"));
}

Result<Json> RunFor(Parameters* parameters, DashBoard* board, double now) {
  const std::string run = parameters->Required("run");
  if (parameters->problem()) return *parameters->problem();
  return board->Run(run, now);
}

Result<Json> DifferencesFor(Parameters* parameters, DashBoard* board) {
  parameters->Required("runs");
  if (parameters->problem()) return *parameters->problem();
  return board->Differences(parameters->List("runs"));
}

Json Methods() {
  Json::Array methods;
  for (const MethodSummary& method : ListMethods()) {
    methods.push_back(Json::Of({{"name", method.name}, {"about", method.about}}));
  }
  return Json::Of({{"methods", std::move(methods)}});
}

ServerResponse NoPage() {
  return WithHeaders({.content_type = "text/plain; charset=utf-8",
                      .body = fmt::format("hone dash: {}.\n", HowToGetThePage())});
}

}  // namespace

ServerResponse AnswerDash(const IncomingRequest& request, DashBoard* board, double now) {
  if (request.method != "GET" && request.method != "HEAD") {
    ServerResponse refused = Failure(405, "the dashboard only shows: GET is all that it answers");
    refused.headers.emplace_back("allow", "GET, HEAD");
    return refused;
  }
  if (const auto file = FindPageFile(request.path)) {
    return WithHeaders(
        {.content_type = std::string(file->content_type), .body = std::string(file->content)});
  }
  if (request.path == "/") return NoPage();
  Parameters parameters(request);
  if (request.path == "/api/runs") return AnswerOf(board->Runs(now));
  if (request.path == "/api/run") return AnswerOf(RunFor(&parameters, board, now));
  if (request.path == "/api/differences") return AnswerOf(DifferencesFor(&parameters, board));
  if (request.path == "/api/metrics") return AnswerOf(MetricsFor(&parameters, board));
  if (request.path == "/api/groups") return AnswerOf(GroupsFor(&parameters, board));
  if (request.path == "/api/group") return AnswerOf(GroupFor(&parameters, board));
  if (request.path == "/api/methods") return AnswerOf(Methods());
  return Failure(404, "there is nothing here; the page is at /, its data under /api/");
}

}  // namespace hone
