#include "tools/mcp/mcp_toolkit.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/nearest.h"
#include "tools/mcp/mcp_client.h"
#include "tools/mcp/mcp_tool.h"
#include "tools/toolbox.h"

namespace hone {
namespace {

// A trajectory's share of a server: all of one, or a place among the others.
class McpSession final : public Session {
 public:
  explicit McpSession(std::unique_ptr<McpClient> own) : own_(std::move(own)) {}

  McpClient* own() { return own_.get(); }

 private:
  const std::unique_ptr<McpClient> own_;  // null: the server is everybody's
};

class McpToolkit final : public Toolkit {
 public:
  McpToolkit(McpConnect connect, std::chrono::milliseconds startup, bool per_session)
      : connect_(std::move(connect)), startup_(startup), per_session_(per_session) {}

  // Asks the server which tools it has.
  Result<void> List(const std::vector<std::string>& only) {
    // A server for each session is asked for its list once, and then not needed.
    std::unique_ptr<McpClient> client = NewClient(true);
    // The time for starting is the client's own; this one is for the list.
    HONE_ASSIGN_OR_RETURN(const std::vector<Json> listed, client->ListTools({2 * startup_, {}}));
    std::vector<std::string> names;
    for (const Json& tool : listed) {
      HONE_ASSIGN_OR_RETURN(ToolSpec spec, ToolSpecFromMcp(tool));
      if (std::find(names.begin(), names.end(), spec.name) != names.end()) {
        return Error(ErrorCode::kUnavailable,
                     fmt::format("the server lists the tool {} twice", spec.name));
      }
      names.push_back(spec.name);
      if (only.empty() || std::find(only.begin(), only.end(), spec.name) != only.end()) {
        if (NeedsTask(tool)) tasks_.insert(spec.name);
        // What it does is done to a server of the trajectory's own.
        if (per_session_ && spec.resource.empty()) spec.resource = kSessionResource;
        tools_.push_back(std::move(spec));
      }
    }
    for (const std::string& name : only) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("only: the server has no tool \"{}\"{}; it has {}", name,
                                 DidYouMean(name, names), fmt::join(names, ", ")));
      }
    }
    if (tools_.empty()) return Error(ErrorCode::kNotFound, "the server offers no tools");
    if (!per_session_) shared_ = std::move(client);
    return {};
  }

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return per_session_ ? Sharing::kReplay : Sharing::kOnce; }

  Result<std::unique_ptr<Session>> Open(uint64_t) override {
    return std::unique_ptr<Session>(
        std::make_unique<McpSession>(per_session_ ? NewClient(false) : nullptr));
  }

  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits& limits) override {
    const auto spec = std::find_if(tools_.begin(), tools_.end(),
                                   [&](const ToolSpec& one) { return one.name == tool; });
    CHECK(spec != tools_.end(), "a call of a tool that is not in the list");
    CHECK(session != nullptr, "a call without the session that Open gave");
    McpClient* own = static_cast<McpSession*>(session)->own();
    McpClient& client = own != nullptr ? *own : *shared_;
    const McpLimits mcp_limits{limits.time, limits.stop};
    const McpOutcome outcome = tasks_.contains(spec->name)
                                   ? client.CallToolAsTask(tool, arguments, mcp_limits)
                                   : client.CallTool(tool, arguments, mcp_limits);
    ToolReply reply = ReplyOfMcp(outcome, spec->output.has_value());
    const auto* failure = std::get_if<McpFailure>(&outcome);
    reply.session_lost = own != nullptr && failure != nullptr && failure->session_lost;
    return reply;
  }

 private:
  std::unique_ptr<McpClient> NewClient(bool restart) const {
    return std::make_unique<McpClient>(connect_, McpClientOptions{startup_, restart});
  }

  const McpConnect connect_;
  const std::chrono::milliseconds startup_;
  const bool per_session_;
  std::vector<ToolSpec> tools_;
  std::set<std::string> tasks_;  // those of them that run as tasks
  std::unique_ptr<McpClient> shared_;
};

}  // namespace

Result<std::shared_ptr<Toolkit>> NewMcpToolkitOver(McpConnect connect, const McpOptions& options) {
  auto toolkit = std::make_shared<McpToolkit>(
      std::move(connect), std::chrono::milliseconds(options.startup_ms), options.per_session);
  if (Result<void> listed = toolkit->List(options.only); !listed.ok()) {
    return listed.error().In("MCP server " +
                             (options.url.empty() ? options.command.at(0) : options.url));
  }
  return std::shared_ptr<Toolkit>(std::move(toolkit));
}

Result<std::shared_ptr<Toolkit>> NewMcpToolkit(const McpOptions& options) {
  HONE_ASSIGN_OR_RETURN(McpConnect connect, McpConnectionOf(options));
  return NewMcpToolkitOver(std::move(connect), options);
}

}  // namespace hone
