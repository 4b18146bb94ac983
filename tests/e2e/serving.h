#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/http_client.h"
#include "base/json.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"
#include "tools/mcp/sse.h"

namespace hone {

// A small model that knows nothing, with a real tokenizer.
inline std::string FreshModel(const std::filesystem::path& folder,
                              const std::string& width = "width=32") {
  const std::string model = (folder / "fresh").string();
  EXPECT_EQ(Hone({"model", "new", model, "layers=2", width, "heads=2", "vocab=5000",
                  "positions=512", "--type", "f32"})
                .exit_code,
            0);
  std::filesystem::copy(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json",
                        model + "/tokenizer.json");
  return model;
}

// A run whose model has seen how calls are made at a small desk.
inline std::string TaughtRun(const std::filesystem::path& folder) {
  std::string recipe = TinyRecipe(folder);
  recipe.resize(recipe.rfind("[[stage]]"));
  const auto change = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(recipe.find(from), std::string::npos);
    recipe.replace(recipe.find(from), from.size(), to);
  };
  change("positions = 192", "positions = 768");  // clients show their tools
  change("steps = 60", "steps = 200");
  const std::string file = (folder / "tiny.toml").string();
  EXPECT_TRUE(WriteFileAtomic(file, recipe).ok());
  const SubprocessResult trained = Hone({"train", file});
  EXPECT_EQ(trained.exit_code, 0) << trained.standard_error;
  return (folder / "tiny").string();
}

// `hone serve` as a program of its own.
class ServedProgram {
 public:
  explicit ServedProgram(const std::string& model, std::vector<std::string> more = {}) {
    std::vector<std::string> command = {HONE_BINARY, "--json", "serve",     model,
                                        "--port",    "0",      "--threads", "1"};
    command.insert(command.end(), more.begin(), more.end());
    SubprocessOptions options;
    options.keep_error_bytes = 1 << 16;
    auto started = Subprocess::Start(command, options);
    EXPECT_TRUE(started.ok());
    program_ = *std::move(started);
    const auto line = program_->ReadLine(std::chrono::seconds(60));
    EXPECT_TRUE(line.ok()) << program_->LastErrors();
    if (!line.ok()) return;
    const auto json = ParseJson(*line);
    EXPECT_TRUE(json.ok()) << *line;
    url_ = json->Find("url")->AsString();
    name_ = json->Find("model")->AsString();
  }

  const std::string& url() const { return url_; }
  const std::string& name() const { return name_; }
  int pid() const { return program_->pid(); }

  HttpRequest Request(const std::string& path, const Json& body = {}) const {
    HttpRequest request;
    request.url = url_ + path;
    request.deadline = std::chrono::seconds(60);
    if (body.is_null()) return request;
    request.method = "POST";
    request.body = DumpJson(body);
    return request;
  }
  HttpResponse Ask(const std::string& path, const Json& body = {}) const {
    const auto response = HttpFetch(Request(path, body));
    EXPECT_TRUE(response.ok()) << (response.ok() ? "" : response.error().message());
    return response.ok() ? *response : HttpResponse();
  }
  // The answer of a request that succeeds.
  Json Answer(const std::string& path, const Json& body = {}) const {
    const HttpResponse response = Ask(path, body);
    EXPECT_EQ(response.status, 200) << response.body;
    const auto json = ParseJson(response.body);
    return json.ok() ? *json : Json();
  }
  Json Health() const {
    HttpRequest request;
    request.url = url_.substr(0, url_.size() - 3) + "/health";
    return *ParseJson(HttpFetch(request)->body);
  }

  void Signal() { ::kill(program_->pid(), SIGTERM); }
  // Ends it, and says with which status.
  int End() {
    Signal();
    return Wait();
  }
  // With which status it ended.
  int Wait() {
    const auto status = program_->Wait(std::chrono::seconds(60));
    EXPECT_TRUE(status.ok());
    return status.ok() ? *status : -1;
  }

 private:
  std::unique_ptr<Subprocess> program_;
  std::string url_, name_;
};

// What a stream says.
struct Streamed {
  std::string content, reason, error;
  Json::Array calls;
  std::vector<int64_t> token_ids;
  Json usage;
  bool done = false;  // [DONE] came

  void Take(const SseEvent& event) {
    if (event.data == "[DONE]") {
      done = true;
      return;
    }
    const auto chunk = ParseJson(event.data);
    ASSERT_TRUE(chunk.ok()) << event.data;
    if (const Json* problem = chunk->Find("error")) error = problem->Find("message")->AsString();
    if (const Json* used = chunk->Find("usage"); used != nullptr && !used->is_null()) usage = *used;
    if (chunk->Find("choices") == nullptr || chunk->Find("choices")->AsArray().empty()) return;
    const Json& choice = chunk->Find("choices")->AsArray()[0];
    if (const Json* ids = choice.Find("token_ids")) {
      for (const Json& id : ids->AsArray()) token_ids.push_back(id.AsInteger());
    }
    if (choice.Find("finish_reason")->is_string()) {
      reason = choice.Find("finish_reason")->AsString();
    }
    const Json* delta = choice.Find("delta");
    if (const Json* text = delta != nullptr ? delta->Find("content") : choice.Find("text")) {
      content += text->AsString();
    }
    if (const Json* made = delta != nullptr ? delta->Find("tool_calls") : nullptr) {
      for (const Json& call : made->AsArray()) calls.push_back(call);
    }
  }
};

inline Streamed Stream(const ServedProgram& served, const std::string& path, Json body,
                       const std::function<void()>& on_first = {}) {
  body.Set("stream", true);
  HttpRequest request = served.Request(path, body);
  SseReader reader;
  Streamed streamed;
  bool first = true;
  request.on_data = [&](std::string_view data) {
    for (const SseEvent& event : reader.Feed(data)) streamed.Take(event);
    if (first && on_first) on_first();
    first = false;
    return true;
  };
  const auto response = HttpFetch(request);
  EXPECT_TRUE(response.ok()) << (response.ok() ? "" : response.error().message());
  return streamed;
}

}  // namespace hone
