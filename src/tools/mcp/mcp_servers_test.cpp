// The client against MCP servers that other people wrote (tests/mcp/package.json; ./dev installs
// them). What goes over the wire is checked against the protocol's own schema where that is at
// hand.

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <map>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/subprocess.h"
#include "support/mcp_wire.h"
#include "tools/mcp/mcp_client.h"
#include "tools/mcp/mcp_toolkit.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const CallLimits kPlenty{seconds(60), {}};

// The program of a server, by its package.
std::string ServerProgram(const std::string& package) {
  return std::string(HONE_SOURCE_DIR) + "/build/mcp-servers/node_modules/@modelcontextprotocol/" +
         package + "/dist/index.js";
}

#define HONE_NEED_MCP_SERVERS()                                                             \
  if (!std::filesystem::exists(ServerProgram("server-everything"))) {                       \
    GTEST_SKIP() << "not run: the MCP servers of tests/mcp/package.json are not installed " \
                    "(./dev test installs them where npm and its registry can be reached)"; \
  }

McpOptions NodeServer(const std::string& package, std::vector<std::string> arguments = {}) {
  McpOptions options;
  options.command = {"node", ServerProgram(package)};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.startup_ms = 60000;
  return options;
}

// A toolkit whose every tool must be called.
class Kit {
 public:
  explicit Kit(const McpOptions& options) {
    auto kit = NewMcpToolkitOver(wire_.Tapped(*McpConnectionOf(options)), options);
    EXPECT_TRUE(kit.ok()) << kit.error().message();
    if (!kit.ok()) return;
    kit_ = *std::move(kit);
    session_ = *kit_->Open(1);
    for (const ToolSpec& spec : kit_->tools()) uncalled_.emplace(spec.name, spec);
  }

  // The answer to a call whose arguments fit the tool's schema, as everybody else would check it.
  std::string Call(const std::string& tool, const std::string& arguments,
                   CallStatus status = CallStatus::kOk) {
    const Json json = ParseJson(arguments).value();
    for (const ToolSpec& spec : kit_->tools()) {
      if (spec.name != tool) continue;
      const auto checker = ArgumentChecker::For(spec);
      EXPECT_TRUE(checker.ok()) << checker.error().message();
      EXPECT_EQ(checker->Problem(json), std::nullopt) << tool;
    }
    uncalled_.erase(tool);
    const ToolReply reply = kit_->Call(tool, json, session_.get(), kPlenty);
    EXPECT_EQ(reply.status, status) << tool << ": " << reply.content;
    return reply.content;
  }

  void ExpectAllCalled() const {
    for (const auto& [name, spec] : uncalled_) ADD_FAILURE() << "not called: " << name;
  }

  Effect EffectOf(const std::string& tool) const {
    for (const ToolSpec& spec : kit_->tools()) {
      if (spec.name == tool) return spec.effect;
    }
    ADD_FAILURE() << tool;
    return Effect::kPure;
  }

  Toolkit& kit() { return *kit_; }
  Session* session() { return session_.get(); }
  Wire& wire() { return wire_; }

 private:
  Wire wire_;
  std::shared_ptr<Toolkit> kit_;
  std::unique_ptr<Session> session_;
  std::map<std::string, ToolSpec> uncalled_;
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void CallEverything(Kit& kit) {
  EXPECT_EQ(kit.Call("echo", R"({"message": "gr\u00fc\u00df"})"), "Echo: gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(kit.Call("get-sum", R"({"a": 2, "b": 40})"), "The sum of 2 and 40 is 42.");
  EXPECT_TRUE(
      Has(kit.Call("get-annotated-message", R"({"messageType": "success", "includeImage": true})"),
          "[image (image/png, "));
  EXPECT_TRUE(Has(kit.Call("get-env", "{}"), "PATH"));
  EXPECT_TRUE(Has(kit.Call("get-resource-links", R"({"count": 2})"), "[link to resource demo://"));
  EXPECT_TRUE(
      Has(kit.Call("get-resource-reference", R"({"resourceType": "Text", "resourceId": 1})"),
          "[resource demo://resource/dynamic/text/1 (text/plain)]\n"));
  EXPECT_TRUE(
      Has(kit.Call("get-resource-reference", R"({"resourceType": "Blob", "resourceId": 1})"),
          " bytes)]"));
  const Json weather =
      ParseJson(kit.Call("get-structured-content", R"({"location": "Chicago"})")).value();
  EXPECT_NE(weather.Find("temperature"), nullptr);
  EXPECT_TRUE(Has(kit.Call("get-tiny-image", "{}"), "[image (image/png, "));
  EXPECT_TRUE(Has(kit.Call("gzip-file-as-resource",
                           R"({"name": "a.gz", "data": "data:text/plain;base64,aGVsbG8=",
                               "outputType": "resource"})"),
                  "(application/gzip, 25 bytes)]"));
  EXPECT_TRUE(Has(kit.Call("toggle-simulated-logging", "{}"), "Started"));
  EXPECT_TRUE(Has(kit.Call("toggle-simulated-logging", "{}"), "Stopped"));
  EXPECT_TRUE(Has(kit.Call("toggle-subscriber-updates", "{}"), "Started"));
  EXPECT_TRUE(Has(kit.Call("toggle-subscriber-updates", "{}"), "Stopped"));
  EXPECT_TRUE(Has(kit.Call("trigger-long-running-operation", R"({"duration": 0.2, "steps": 2})"),
                  "Long running operation completed"));
  // It runs as a task only.
  EXPECT_TRUE(Has(kit.Call("simulate-research-query", R"({"topic": "bees"})"), "bees"));
  kit.ExpectAllCalled();
  EXPECT_EQ(kit.EffectOf("echo"), Effect::kReads);
}

TEST(McpServers, EverythingOverStdio) {
  HONE_NEED_MCP_SERVERS();
  Kit kit(NodeServer("server-everything"));
  CallEverything(kit);
  EXPECT_GE(kit.wire().seen("CallToolResult"), 15);
}

// server-everything on a free port.
class EverythingOverHttp {
 public:
  EverythingOverHttp() : port_(std::to_string(FreePort())) { Start(); }
  ~EverythingOverHttp() { Stop(); }
  void Restart() {
    Stop();
    Start();
  }
  McpOptions options() const {
    McpOptions options;
    options.url = "http://127.0.0.1:" + port_ + "/mcp";
    return options;
  }

 private:
  void Start() {
    SubprocessOptions options;
    options.keep_error_bytes = 10000;
    options.environment = {"PORT=" + port_, std::string("PATH=") + std::getenv("PATH")};
    process_ =
        *Subprocess::Start({"node", ServerProgram("server-everything"), "streamableHttp"}, options);
    // What it prints must go somewhere, or it would stop.
    reader_ = std::jthread([this](const std::stop_token& stop) {
      while (process_->ReadLine(seconds(600), stop).ok()) {
      }
    });
    for (int i = 0; i < 6000 && !Has(process_->LastErrors(), "listening on port"); ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
  }
  void Stop() {
    reader_.request_stop();
    reader_.join();
    process_ = nullptr;
  }
  static int FreePort() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(fd);
    return ntohs(address.sin_port);
  }

  const std::string port_;
  std::unique_ptr<Subprocess> process_;
  std::jthread reader_;
};

TEST(McpServers, EverythingOverStreamableHttp) {
  HONE_NEED_MCP_SERVERS();
  EverythingOverHttp server;
  Kit kit(server.options());
  CallEverything(kit);
}

TEST(McpServers, ASessionThatTheServerHasForgottenIsBegunAgain) {
  HONE_NEED_MCP_SERVERS();
  EverythingOverHttp server;
  Kit kit(server.options());
  EXPECT_EQ(kit.Call("echo", R"({"message": "a"})"), "Echo: a");
  server.Restart();  // sessions live in its memory
  const ToolReply reply =
      kit.kit().Call("echo", Json::Of({{"message", "b"}}), kit.session(), kPlenty);
  EXPECT_EQ(reply, Answered("Echo: b"));
  EXPECT_EQ(kit.wire().seen("InitializeRequest"), 2);
}

TEST(McpServers, Filesystem) {
  HONE_NEED_MCP_SERVERS();
  const TemporaryDirectory folder;
  const std::string root = std::filesystem::canonical(folder.path()).string();
  Kit kit(NodeServer("server-filesystem", {root}));
  auto path = [&](const std::string& name) { return DumpJson(Json(root + "/" + name)); };
  EXPECT_TRUE(Has(kit.Call("list_allowed_directories", "{}"), root));
  kit.Call("create_directory", R"({"path": )" + path("d") + "}");
  kit.Call("write_file", R"({"path": )" + path("d/a.txt") + R"(, "content": "one\ntwo\n"})");
  EXPECT_EQ(*ReadFile(root + "/d/a.txt"), "one\ntwo\n");
  EXPECT_TRUE(Has(kit.Call("read_file", R"({"path": )" + path("d/a.txt") + "}"), "one\\ntwo"));
  EXPECT_TRUE(Has(kit.Call("read_text_file", R"({"path": )" + path("d/a.txt") + R"(, "head": 1})"),
                  R"({"content":"one"})"));
  kit.Call("edit_file", R"({"path": )" + path("d/a.txt") +
                            R"(, "edits": [{"oldText": "two", "newText": "three"}]})");
  EXPECT_EQ(*ReadFile(root + "/d/a.txt"), "one\nthree\n");
  EXPECT_TRUE(
      Has(kit.Call("read_multiple_files", R"({"paths": [)" + path("d/a.txt") + "]}"), "three"));
  std::ofstream(root + "/d/p.png") << "\x89PNG";
  kit.Call("read_media_file", R"({"path": )" + path("d/p.png") + "}");
  EXPECT_TRUE(Has(kit.Call("list_directory", R"({"path": )" + path("d") + "}"), "[FILE] a.txt"));
  EXPECT_TRUE(
      Has(kit.Call("list_directory_with_sizes", R"({"path": )" + path("d") + "}"), "a.txt"));
  EXPECT_TRUE(Has(kit.Call("directory_tree", R"({"path": )" + path("") + "}"), "a.txt"));
  EXPECT_TRUE(
      Has(kit.Call("search_files", R"({"path": )" + path("") + R"(, "pattern": "**/*.txt"})"),
          "a.txt"));
  EXPECT_TRUE(Has(kit.Call("get_file_info", R"({"path": )" + path("d/a.txt") + "}"), "size: 10"));
  kit.Call("move_file",
           R"({"source": )" + path("d/a.txt") + R"(, "destination": )" + path("d/b.txt") + "}");
  EXPECT_TRUE(std::filesystem::exists(root + "/d/b.txt"));
  // What it refuses is the agent's fault.
  EXPECT_TRUE(
      Has(kit.Call("read_file", R"({"path": "/etc/passwd"})", CallStatus::kToolError), "denied"));
  kit.ExpectAllCalled();
  EXPECT_EQ(kit.EffectOf("read_text_file"), Effect::kReads);
  EXPECT_EQ(kit.EffectOf("create_directory"), Effect::kWrites);
  EXPECT_EQ(kit.EffectOf("move_file"), Effect::kIrreversible);
}

TEST(McpServers, Memory) {
  HONE_NEED_MCP_SERVERS();
  const TemporaryDirectory folder;
  McpOptions options = NodeServer("server-memory");
  options.environment = {"MEMORY_FILE_PATH=" + (folder.path() / "memory.jsonl").string()};
  Kit kit(options);
  kit.Call("create_entities",
           R"({"entities": [{"name": "Ada", "entityType": "person", "observations": ["writes"]},
                            {"name": "Engine", "entityType": "machine", "observations": []}]})");
  kit.Call("create_relations",
           R"({"relations": [{"from": "Ada", "to": "Engine", "relationType": "programs"}]})");
  kit.Call("add_observations",
           R"({"observations": [{"entityName": "Ada", "contents": ["counts"]}]})");
  EXPECT_TRUE(Has(kit.Call("read_graph", "{}"), "programs"));
  EXPECT_TRUE(Has(kit.Call("search_nodes", R"({"query": "counts"})"), "Ada"));
  EXPECT_TRUE(Has(kit.Call("open_nodes", R"({"names": ["Engine"]})"), "machine"));
  kit.Call("delete_observations",
           R"({"deletions": [{"entityName": "Ada", "observations": ["counts"]}]})");
  kit.Call("delete_relations",
           R"({"relations": [{"from": "Ada", "to": "Engine", "relationType": "programs"}]})");
  kit.Call("delete_entities", R"({"entityNames": ["Engine"]})");
  const std::string graph = kit.Call("read_graph", "{}");
  EXPECT_TRUE(Has(graph, "Ada"));
  EXPECT_FALSE(Has(graph, "Engine"));
  EXPECT_FALSE(Has(graph, "counts"));
  kit.ExpectAllCalled();
}

TEST(McpServers, AServerKilledInTheMiddleOfACallIsStartedAgain) {
  HONE_NEED_MCP_SERVERS();
  const TemporaryDirectory folder;
  const std::string pid_file = (folder.path() / "pid").string();
  McpOptions options = NodeServer("server-everything");
  options.command = {"sh", "-c", "echo $$ > '" + pid_file + "'; exec node \"$0\"",
                     options.command[1]};
  Kit kit(options);
  EXPECT_EQ(kit.Call("echo", R"({"message": "a"})"), "Echo: a");
  const pid_t pid = std::stoi(*ReadFile(pid_file));
  std::jthread killer([&] {
    while (kit.wire().seen("CallToolRequest") < 2) std::this_thread::yield();
    ::kill(pid, SIGKILL);
  });
  const ToolReply reply = kit.kit().Call("trigger-long-running-operation",
                                         Json::Of({{"duration", 1000}}), kit.session(), kPlenty);
  EXPECT_EQ(reply.status, CallStatus::kUnavailable);
  EXPECT_TRUE(Has(reply.content, "exit code 137")) << reply.content;
  EXPECT_EQ(kit.Call("echo", R"({"message": "b"})"), "Echo: b");
  EXPECT_NE(std::stoi(*ReadFile(pid_file)), pid);
}

TEST(McpServers, ACallThatIsCancelledLeavesTheServerWell) {
  HONE_NEED_MCP_SERVERS();
  EverythingOverHttp http;
  for (const McpOptions& options : {NodeServer("server-everything"), http.options()}) {
    Kit kit(options);
    const ToolReply reply =
        kit.kit().Call("trigger-long-running-operation", Json::Of({{"duration", 1000}}),
                       kit.session(), {milliseconds(300), {}});
    EXPECT_EQ(reply.status, CallStatus::kTimeout);
    EXPECT_EQ(kit.wire().seen("CancelledNotification"), 1);
    EXPECT_EQ(kit.Call("echo", R"({"message": "after"})"), "Echo: after");
    EXPECT_EQ(kit.wire().seen("InitializeRequest"), 1);
  }
}

TEST(McpServers, AChangeOfTheListIsNoted) {
  HONE_NEED_MCP_SERVERS();
  // It adds tools when it has heard what its client can do.
  Wire wire;
  McpClient client(wire.Tapped(*McpConnectionOf(NodeServer("server-everything"))), {});
  const auto tools = client.ListTools({seconds(60), {}});
  ASSERT_TRUE(tools.ok()) << tools.error().message();
  EXPECT_GE(client.list_changes(), 1);
  EXPECT_GE(wire.seen("ServerNotification"), 1);
}

// The protocol's own examples, and the same with one thing changed, get the verdicts of the
// reference validator.
TEST(McpServers, TheProtocolsExamplesGetTheirVerdicts) {
  HONE_NEED_SHARED(data, "data/mcp");
  ProtocolSchema schema(data / "schema/2026-07-28/schema.json");
  for (const char* file : {"examples.jsonl", "mutated_examples.jsonl"}) {
    const auto examples = ParseJsonLines(*ReadFile(data / file));
    ASSERT_TRUE(examples.ok()) << examples.error().message();
    int valid = 0;
    for (const Json& example : *examples) {
      const std::string problems =
          schema.ProblemsOf(example.Find("type")->AsString(), *example.Find("instance"));
      EXPECT_EQ(problems.empty(), example.Find("valid")->AsBool()) << DumpJson(example) << "\n"
                                                                   << problems;
      valid += problems.empty();
    }
    std::printf("%s: %zu, of which %d are valid\n", file, examples->size(), valid);
    EXPECT_GT(examples->size(), 50u);
  }
}

}  // namespace
}  // namespace hone
