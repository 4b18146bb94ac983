#include "app/cli.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/failure.h"
#include "app/installed/version.h"
#include "app/report.h"
#include "engine/kernels/asked.h"

namespace hone {
namespace {

void AddCommands(Command program, const std::shared_ptr<CommandContext>& context) {
  AddDoctor(program, context);
  AddTokenize(program, context);
  AddTokenizer(program, context);
  AddRender(program, context);
  AddParse(program, context);
  AddShow(program, context);
  AddModel(program, context);
  AddGenerate(program, context);
  AddLogprobs(program, context);
  AddEmbed(program, context);
  AddBench(program, context);
  AddJournal(program, context);
  AddTools(program, context);
  AddRewards(program, context);
  AddCredit(program, context);
  AddLab(program, context);
  AddScale(program, context);
  AddSimulate(program, context);
  AddEnv(program, context);
  AddData(program, context);
  AddInit(program, context);
  AddTrain(program, context);
  AddLearn(program, context);
  AddExport(program, context);
  AddServe(program, context);
  AddChat(program, context);
  AddEval(program, context);
  AddReplay(program, context);
  AddProve(program, context);
  AddRunReport(program, context);
  AddCompare(program, context);
  AddSweep(program, context);
  AddDash(program, context);
  AddPipe(program, context);
  AddRecipes(program, context);
  AddHelp(program, context);
  AddVersion(program, context);
  AddMan(program, context);
  AddCompletion(program, context);
}

}  // namespace

int RunCli(int argc, char** argv) {
  CommandLine line("hone", "Hone trains language-model agents to use tools.", VersionLine());
  Command program = line.program();
  auto context = std::make_shared<CommandContext>();
  program.AddFlag("--json", &context->json, "output for programs");
  program.NeedsCommand();
  program.Footer(
      "Every command has --help with an example; hone help lists them all.\n"
      "Example:\n  hone doctor\n");
  AddCommands(program, context);
  EndInOrder();
  if (const Result<void> asked = CheckAskedKernels(); !asked.ok()) {
    Report(context.get(), asked.error());
    return 2;
  }
  try {
    const Result<void> run =
        line.Run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
    if (!run.ok()) {
      Report(context.get(), run.error());
      return 2;
    }
  } catch (const std::exception& error) {
    // The one place where foreign exceptions end: out of memory and the like.
    Report(context.get(), FailureOf(error));
    return 1;
  }
  return context->exit_status;
}

}  // namespace hone
