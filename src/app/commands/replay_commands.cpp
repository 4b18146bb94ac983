// hone replay.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/device_option.h"
#include "app/interrupts.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "app/views/replay_view.h"
#include "train/verify/verify_run.h"

namespace hone {
namespace {

struct ReplayArguments {
  std::string run, scratch;
  bool verify = false;
  VerifyOptions options;
};

Result<std::string> ReplayRun(const ReplayArguments& arguments, CommandContext* context) {
  VerifyOptions options = arguments.options;
  options.scratch = arguments.scratch;
  const Terminal terminal = Terminal::Of(stdout);
  if (!arguments.verify) {
    HONE_ASSIGN_OR_RETURN(const Verification plan, PlanVerification(arguments.run, options));
    if (!context->json) return ReplayPlanView(arguments.run, plan, terminal);
    Json json = plan.ToJson();
    json.Set("passed", Json());  // nobody knows yet
    return DumpJson(json) + "\n";
  }
  ProgressBar bar(stderr);
  options.progress = [&](std::string_view stage, int64_t step, int64_t steps) {
    bar.Show(fmt::format("deriving, {}", stage), step, steps);
  };
  options.stop = Interrupted;
  WatchInterrupts();
  const Result<Verification> verification = VerifyRun(arguments.run, options);
  bar.Erase();
  if (!verification.ok()) return verification.error();
  if (!verification->passed()) context->exit_status = verification->ended ? 3 : 1;
  if (context->json) return DumpJson(verification->ToJson()) + "\n";
  return ReplayView(arguments.run, *verification, terminal);
}

}  // namespace

void AddReplay(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ReplayArguments>();
  VerifyOptions& options = arguments->options;
  Command replay = program.AddCommand(
      "replay", "Derive a run again and compare it, bit by bit, with what it stored");
  replay.AddOption("run", &arguments->run, "its folder: runs/NAME").Required();
  replay.AddFlag("--verify", &arguments->verify, "do it; else say what would be derived");
  replay.AddOption("--from", &options.from,
                   "begin at the newest checkpoint not behind this step; else at the beginning");
  replay.AddOption("--to", &options.to, "end before this step");
  replay.AddFlag("--fresh", &options.fresh,
                 "make imitation and simulators again, too: take nothing from the cache");
  replay.AddFlag("--keep-going", &options.keep_going, "look on behind the first difference");
  AddDeviceOption(replay, &options.device);
  replay.AddOption("--threads", &options.threads, "else as the recipe says").Between(0, 1024);
  replay.AddOption("--scratch", &arguments->scratch,
                   "an empty folder to work in; else a temporary one");
  replay.Footer(
      "Nothing in the run's folder is changed, and no tool outside this program is asked.\n"
      "Exit status: 0 the same, 3 a difference, 1 it could not be told.\n"
      "Examples:\n"
      "  hone replay runs/quickstart                      what is stored\n"
      "  hone replay runs/quickstart --verify             every step of it\n"
      "  hone replay runs/quickstart --verify --from 940  from the checkpoint at step 940 on\n");
  replay.Action([=] { Finish(context.get(), ReplayRun(*arguments, context.get())); });
}

}  // namespace hone
