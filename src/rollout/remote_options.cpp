#include "rollout/remote_options.h"

namespace hone {

RemoteOptions ReadRemoteOptions(RecipeTable table) {
  RemoteOptions options;
  std::string kind = "engine";
  table.ReadChoice("kind", &kind, {"engine", "endpoint"}, "who draws the turns of training");
  options.on = kind == "endpoint";
  if (!options.on) {
    // Who has the engine draw for once keeps what the recipe says of the server.
    for (const char* key : {"api", "url", "model", "key_variable", "concurrent", "deadline",
                            "retries", "push", "push_folder"}) {
      if (table.Has(key)) table.PassOver(key);
    }
    return options;
  }
  std::string api = "completions", push = "disk";
  table.ReadChoice("api", &api, {"completions", "sglang"},
                   "completions: vLLM's and hone serve's; sglang: SGLang's own");
  options.api = api == "sglang" ? RemoteApi::kSglang : RemoteApi::kCompletions;
  table.Read("url", &options.url, "such as http://127.0.0.1:8000/v1");
  table.Read("model", &options.model, "as the server calls it; empty: the only one that it has");
  table.Read("key_variable", &options.key_variable, "the environment variable that holds the key");
  table.Read("concurrent", &options.concurrent, "turns that are asked for at a time",
             Between(1, 4096));
  table.Read("deadline", &options.deadline, "seconds of an attempt at a turn", AtLeast(1));
  table.Read("retries", &options.retries, "of a request that was refused or not answered",
             AtLeast(0));
  table.ReadChoice("push", &push, {"disk", "never"},
                   "disk: the server loads the weights of each step; never: it keeps its own");
  options.push = push == "disk";
  if (options.push) {
    table.ReadPath("push_folder", &options.push_folder,
                   "where weights are put for the server; empty: in the run's folder",
                   PathUse::kPlace);
  }
  while (options.url.ends_with('/')) options.url.pop_back();
  if (options.url.empty()) {
    table.Problem("url", "says where the server is, such as \"http://127.0.0.1:8000/v1\"");
  } else if (!options.url.starts_with("http://") && !options.url.starts_with("https://")) {
    table.Problem("url", "begins with http:// or https://");
  }
  return options;
}

}  // namespace hone
