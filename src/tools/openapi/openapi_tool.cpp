#include "tools/openapi/openapi_tool.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/gate.h"
#include "base/http_client.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "tools/openapi/openapi_document.h"
#include "tools/openapi/openapi_request.h"
#include "tools/openapi/yaml.h"
#include "tools/toolbox.h"

namespace hone {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

ToolReply ReplyOf(const HttpResponse& response) {
  const int status = response.status;
  if (status >= 200 && status < 300) {
    if (IsUtf8(response.body)) return Answered(response.body);
    return Answered(fmt::format("{} bytes that are not text ({})", response.body.size(),
                                Utf8Lossy(response.Header("content-type"))));
  }
  const std::string said = fmt::format("HTTP {}{}{}", status, response.body.empty() ? "" : ": ",
                                       Utf8Lossy(response.body));
  if (status >= 300 && status < 400) {
    return Unavailable(fmt::format("HTTP {}: redirects to {}, which is not followed", status,
                                   Utf8Lossy(response.Header("location"))));
  }
  // The agent has no credentials of its own: those that are wrong are the recipe's.
  if (status == 401 || status == 407) return Unavailable(said, Blame::kInfrastructure);
  if (status == 408 || status == 429 || status >= 500) {
    ToolReply reply = Unavailable(said);
    reply.retry_after = RetryAfter(response);
    reply.refused = status == 429;
    return reply;
  }
  return Refuted(said);
}

// A trajectory that has the server to itself, from its first call on.
class OpenApiSession final : public Session {
 public:
  explicit OpenApiSession(uint64_t seed_number) : seed(seed_number) {}

  const uint64_t seed;
  Gate::Pass turn;
  bool reset = false;
};

class OpenApiToolkit final : public Toolkit {
 public:
  OpenApiToolkit(const OpenApiOptions& options, Headers headers,
                 std::vector<OpenApiOperation> operations)
      : options_(options), headers_(std::move(headers)) {
    for (OpenApiOperation& operation : operations) {
      tools_.push_back(operation.spec);
      const std::string name = operation.spec.name;
      operations_.emplace(name, std::move(operation));
    }
  }

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return Resets() ? Sharing::kReplay : Sharing::kNothing; }
  int64_t sessions_at_once() const override { return Resets() ? 1 : 0; }
  Result<std::unique_ptr<Session>> Open(uint64_t seed) override {
    if (!Resets()) return std::unique_ptr<Session>();
    return std::unique_ptr<Session>(std::make_unique<OpenApiSession>(seed));
  }

  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits& limits) override {
    const OpenApiOperation& operation = operations_.find(tool)->second;
    if (Resets()) {
      const ToolReply ready = Prepare(static_cast<OpenApiSession*>(session), operation, limits);
      if (ready.status != CallStatus::kOk) return ready;
    }
    Result<HttpRequest> request = RequestOf(operation, operation.server, arguments);
    if (!request.ok()) return Refuted(request.error().message());
    for (const auto& header : headers_) request->headers.push_back(header);
    request->deadline = limits.time;
    request->max_body_bytes = static_cast<size_t>(options_.max_body_bytes);
    const Result<HttpResponse> response = HttpFetch(*request, limits.stop);
    return response.ok() ? ReplyOf(*response) : FromError(response.error());
  }

 private:
  bool Resets() const { return !options_.reset_path.empty(); }

  // The session's turn has come, and the server is at its beginning. Nothing was called before.
  ToolReply Prepare(OpenApiSession* session, const OpenApiOperation& operation,
                    const CallLimits& limits) {
    CHECK(session != nullptr, "a session of another toolkit");
    if (!session->turn) session->turn = gate_.Enter(limits.stop);
    if (!session->turn) return TimedOut("another trajectory had the server until the end");
    if (session->reset) return Answered("");
    HttpRequest request{.method = options_.reset_method,
                        .url = operation.server + options_.reset_path,
                        .headers = headers_,
                        .body = options_.reset_body,
                        .deadline = limits.time,
                        .max_body_bytes = static_cast<size_t>(options_.max_body_bytes)};
    request.headers.emplace_back("X-Hone-Session", fmt::format("{}", session->seed));
    if (!options_.reset_body.empty()) {
      request.headers.emplace_back("Content-Type", "application/json");
    }
    const Result<HttpResponse> response = HttpFetch(request, limits.stop);
    ToolReply reply = response.ok() ? ReplyOf(*response) : FromError(response.error());
    session->reset = reply.status == CallStatus::kOk;
    if (session->reset) return reply;
    // A server that cannot be reset is not the agent's fault, and nothing was called.
    reply = Unavailable(
        fmt::format("{} {}: {}", options_.reset_method, options_.reset_path, reply.content));
    reply.refused = true;
    return reply;
  }

  const OpenApiOptions options_;
  Gate gate_{1};
  const Headers headers_;
  std::vector<ToolSpec> tools_;
  std::map<std::string, OpenApiOperation, std::less<>> operations_;
};

Result<Headers> ReadHeaders(const std::vector<std::string>& lines) {
  Headers headers;
  for (const std::string& line : lines) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("headers: \"{}\" is not \"Name: value\"", line));
    }
    std::string value(Trim(std::string_view(line).substr(colon + 1)));
    if (value.starts_with("env:")) {
      const char* variable = std::getenv(value.c_str() + 4);
      if (variable == nullptr) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("headers: the environment has no variable {}; set it, it is the "
                                 "value of the header {}",
                                 value.substr(4), line.substr(0, colon)));
      }
      value = variable;
    }
    if (value.find_first_of("\r\n") != std::string::npos) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("headers: {}: a value has no line ends", line.substr(0, colon)));
    }
    headers.emplace_back(line.substr(0, colon), std::move(value));
  }
  return headers;
}

// The wanted operations, in the order of the document.
Result<std::vector<OpenApiOperation>> Choose(OpenApiDocument document,
                                             const std::vector<std::string>& wanted) {
  if (wanted.empty()) return std::move(document.operations);
  std::vector<std::string> names;
  for (const OpenApiOperation& operation : document.operations) {
    names.push_back(operation.spec.name);
  }
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    for (const std::string& reason : document.left_out) {
      if (reason.starts_with(name + ":")) return Error(ErrorCode::kUnsupported, reason);
    }
    return Error(ErrorCode::kNotFound,
                 fmt::format("operations: there is no {}{}", name, DidYouMean(name, names)));
  }
  std::erase_if(document.operations, [&](const OpenApiOperation& operation) {
    return std::find(wanted.begin(), wanted.end(), operation.spec.name) == wanted.end();
  });
  return std::move(document.operations);
}

void ReadReset(RecipeTable table, OpenApiOptions* options) {
  options->reset_path = "/reset";
  table.Read("path", &options->reset_path, "behind the server's address");
  table.ReadChoice("method", &options->reset_method, {"POST", "GET", "PUT", "DELETE"},
                   "of the request");
  table.Read("body", &options->reset_body, "JSON; empty: none");
  if (!options->reset_path.starts_with('/')) table.Problem("path", "begins with /");
  if (!options->reset_body.empty() && !ParseJson(options->reset_body).ok()) {
    table.Problem("body", "is no JSON");
  }
}

constexpr size_t kMaxDocumentBytes = 32 << 20;

Result<std::string> FetchDocument(const std::string& url) {
  HONE_ASSIGN_OR_RETURN(const HttpResponse response,
                        HttpFetch({.url = url, .max_body_bytes = kMaxDocumentBytes}));
  if (response.status >= 300 && response.status < 400) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("it redirects to {}; name that address if it is the right one",
                             Utf8Lossy(response.Header("location"))));
  }
  if (response.status != 200) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("HTTP status {} instead of a document; if it needs credentials, "
                             "download it and name it as file",
                             response.status));
  }
  return response.body;
}

// JSON begins with a brace; whatever else an address answers with is YAML, or nothing.
Result<Json> ReadDocument(const OpenApiOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string text,
                        options.url.empty() ? ReadFile(options.file) : FetchDocument(options.url));
  const bool yaml = options.url.empty()
                        ? options.file.ends_with(".yaml") || options.file.ends_with(".yml")
                        : !Trim(text).starts_with("{");
  return yaml ? ParseYaml(text) : ParseJson(text);
}

// Where calls go to: what the recipe says, or the document, whose address may lack the host.
std::string ServerFor(const OpenApiOptions& options, const std::string& server) {
  if (!options.base_url.empty()) return options.base_url;
  if (options.url.empty() || (!server.empty() && !server.starts_with("/"))) return server;
  const std::string origin =
      options.url.substr(0, options.url.find('/', options.url.find("//") + 2));
  return origin + (server == "/" ? "" : server);
}

}  // namespace

OpenApiOptions ReadOpenApiOptions(RecipeTable table) {
  OpenApiOptions options;
  table.ReadPath("file", &options.file, "OpenAPI document, JSON or YAML", PathUse::kInput);
  table.Read("url", &options.url, "or where to fetch it, http:// or https://");
  table.Read("base_url", &options.base_url, "in place of the document's server");
  table.Read("headers", &options.headers, "\"Name: value\" or \"Name: env:VARIABLE\"");
  table.Read("operations", &options.operations, "names of the tools wanted; empty: all");
  table.Read("max_body_bytes", &options.max_body_bytes, "of one answer", Between(1, 1 << 30));
  if (table.Has("reset")) ReadReset(table.Table("reset"), &options);
  if (options.file.empty() == options.url.empty()) {
    table.Problem("file", "wants an OpenAPI document: a file or a url, one of them");
  }
  if (!options.url.empty() && !options.url.starts_with("http://") &&
      !options.url.starts_with("https://")) {
    table.Problem("url", "wants http:// or https://");
  }
  return options;
}

Result<std::shared_ptr<Toolkit>> NewOpenApiToolkit(const OpenApiOptions& options) {
  auto made = [&]() -> Result<std::shared_ptr<Toolkit>> {
    HONE_ASSIGN_OR_RETURN(const Json json, ReadDocument(options));
    HONE_ASSIGN_OR_RETURN(OpenApiDocument document, ReadOpenApi(json));
    const std::string left_out = document.left_out.empty() ? "" : "; " + document.left_out[0];
    HONE_ASSIGN_OR_RETURN(std::vector<OpenApiOperation> operations,
                          Choose(std::move(document), options.operations));
    if (operations.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "it has no operation that can be a tool" + left_out);
    }
    for (OpenApiOperation& operation : operations) {
      operation.server = ServerFor(options, operation.server);
      const std::string& base = operation.server;
      // Where each trajectory finds the server at its beginning, what it does there is its own.
      operation.spec.resource = options.reset_path.empty() ? base : std::string(kSessionResource);
      if (base.starts_with("http://") || base.starts_with("https://")) continue;
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: its server is \"{}\"; set base_url to an http:// or https:// "
                               "address",
                               operation.spec.name, base));
    }
    HONE_ASSIGN_OR_RETURN(Headers headers, ReadHeaders(options.headers));
    return std::shared_ptr<Toolkit>(
        std::make_shared<OpenApiToolkit>(options, std::move(headers), std::move(operations)));
  }();
  if (!made.ok()) return made.error().In(options.url.empty() ? options.file : options.url);
  return made;
}

}  // namespace hone
