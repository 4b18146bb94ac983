#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "tools/journal/journal.h"

namespace hone {

// Tools that are not part of this program, and a tiny run that uses them: `phone` answers something
// else each time it is asked, `send` cannot be taken back. Every call that reaches them is written
// to a file, in the order of arrival, by whoever carries it out.
class LiveTools {
 public:
  explicit LiveTools(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "post.py") << kProgram;
    std::ofstream tasks(folder_ / "tasks.jsonl");
    for (const char* name : {"Ana", "Bo", "Cy", "Dee", "Eli", "Fay"}) {
      tasks << TaskLine("send", name, Json::Of({{"to", name}, {"text", "go"}})) << '\n'
            << TaskLine("phone", name, Json::Of({{"name", name}})) << '\n';
    }
  }

  std::string Recipe() const {
    const std::string tasks = (folder_ / "tasks.jsonl").string();
    return R"([run]
name = "live"
threads = 1
save_every = 1
sft_save_every = 80
log_every = 20
store_groups = -1
out = ")" + (folder_ / "runs").string() +
           R"("
[model]
dialect = "tagged:desk"
[model.fresh]
layers = 1
width = 32
heads = 2
positions = 128
[model.tokenizer]
texts = 12
vocabulary = 400
min_frequency = 2
[environment]
kind = "data"
name = "post"
list_tools = false
answer = "text"
train = ")" +
           tasks + "\"\ndev = \"" + tasks + "\"\ntest = \"" + tasks + R"("
[environment.rules]
turns = 3
[[tools]]
kind = "command"
command = ["python3", ")" +
           (folder_ / "post.py").string() + "\", \"" + log().string() + R"("]
processes = 2
[rollout]
turn_tokens = 32
[rewards]
preset = "toolpo"
[credit]
method = "toolpo"
[evaluation]
every = 2
dev_tasks = 2
test_tasks = 3
more = []
[[stage]]
kind = "sft"
steps = 200
batch = 8
demonstrations = 12
learning_rate = 0.01
warmup = 5
[[stage]]
kind = "rl"
steps = 3
groups = 3
group = 4
)";
  }

  std::filesystem::path log() const { return folder_ / "asked.log"; }
  std::filesystem::path run() const { return folder_ / "runs/live"; }
  std::filesystem::path journal() const { return run() / "journal.sqlite"; }

  // How often letters like each were asked for, as the tool says.
  std::map<std::string, int64_t> LettersSent() const {
    std::map<std::string, int64_t> letters;
    std::ifstream log_file(log());
    for (std::string line; std::getline(log_file, line);) {
      if (line.starts_with("send ")) ++letters[line.substr(5)];
    }
    return letters;
  }
  // How many calls for them the journals of the run know, each by its own name.
  std::map<std::string, int64_t> LettersCalledFor() const {
    std::map<std::string, int64_t> letters;
    for (const char* file : {"journal.sqlite", "real.sqlite"}) {
      const auto journal = Journal::OpenForReading(run() / file).value();
      for (const NumberedEntry& one : journal->List({.tool = "send"}, 0, 1'000'000).value()) {
        ++letters[DumpJson(one.entry.content.arguments)];
      }
      for (const BegunCall& one : journal->ListBegun({.tool = "send"}).value()) {
        ++letters[DumpJson(one.content.arguments)];
      }
    }
    return letters;
  }

 private:
  static std::string TaskLine(const std::string& tool, const std::string& name, Json arguments) {
    const Json call = Json::Of({{"name", tool}, {"arguments", std::move(arguments)}});
    return DumpJson(Json::Of(
        {{"id", tool + "-" + name},
         {"prompt", tool + " " + name},
         {"answer", "done"},
         {"reward", Json::Of({{"calls", Json::Array({call})}})},
         {"metadata",
          Json::Of({{"plan", Json::Of({{"calls", Json::Array({call})}, {"answer", "done"}})}})}}));
  }

  static constexpr char kProgram[] = R"(import json, os, sys, time
log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
def tool(name, keys, effect):
    parameters = {"type": "object", "properties": {k: {"type": "string"} for k in keys}, "required": keys}
    return {"name": name, "description": name, "parameters": parameters,
            "x-hone": {"effect": effect, "resource": "post"}}
tools = [tool("phone", ["name"], "reads"), tool("send", ["to", "text"], "irreversible")]
print(json.dumps({"tools": tools}), flush=True)
for line in sys.stdin:
    call = json.loads(line)
    arguments = json.dumps(call["arguments"], separators=(",", ":"))
    os.write(log, (call["tool"] + " " + arguments + "\n").encode())
    time.sleep(0.002)
    answer = {"ok": True} if call["tool"] == "send" else {"number": os.urandom(2).hex()}
    print(json.dumps({"id": call["id"], "result": answer}), flush=True)
)";

  const std::filesystem::path folder_;
};

}  // namespace hone
