#pragma once

#include <memory>
#include <string>

namespace hone {

class Command;

// What every command knows.
struct CommandContext {
  bool json = false;    // --json: for programs
  int exit_status = 0;  // set by the command that ran
};

// Each adds one command to the program. The command's callback prints its result and sets
// exit_status; an Error goes through Report.
void AddDoctor(Command program, std::shared_ptr<CommandContext> context);
void AddTokenize(Command program, std::shared_ptr<CommandContext> context);
void AddTokenizer(Command program, std::shared_ptr<CommandContext> context);
void AddRender(Command program, std::shared_ptr<CommandContext> context);
void AddParse(Command program, std::shared_ptr<CommandContext> context);
void AddShow(Command program, std::shared_ptr<CommandContext> context);
void AddGenerate(Command program, std::shared_ptr<CommandContext> context);
void AddLogprobs(Command program, std::shared_ptr<CommandContext> context);
void AddModel(Command program, std::shared_ptr<CommandContext> context);
// Below `hone model`.
void AddModelGet(Command model, std::shared_ptr<CommandContext> context);
void AddModelTable(Command model, std::shared_ptr<CommandContext> context);
void AddEmbed(Command program, std::shared_ptr<CommandContext> context);
void AddBench(Command program, std::shared_ptr<CommandContext> context);
void AddJournal(Command program, std::shared_ptr<CommandContext> context);
void AddTools(Command program, std::shared_ptr<CommandContext> context);
void AddRewards(Command program, std::shared_ptr<CommandContext> context);
void AddCredit(Command program, std::shared_ptr<CommandContext> context);
// Below `hone credit`.
void AddCreditAudit(Command credit, std::shared_ptr<CommandContext> context);
void AddLab(Command program, std::shared_ptr<CommandContext> context);
void AddScale(Command program, std::shared_ptr<CommandContext> context);
void AddSimulate(Command program, std::shared_ptr<CommandContext> context);
void AddEnv(Command program, std::shared_ptr<CommandContext> context);
void AddData(Command program, std::shared_ptr<CommandContext> context);
// Below `hone data`.
void AddDistill(Command data, std::shared_ptr<CommandContext> context);
void AddNeeds(Command data, std::shared_ptr<CommandContext> context);
void AddInit(Command program, std::shared_ptr<CommandContext> context);
void AddTrain(Command program, std::shared_ptr<CommandContext> context);
void AddLearn(Command program, std::shared_ptr<CommandContext> context);
void AddExport(Command program, std::shared_ptr<CommandContext> context);
void AddServe(Command program, std::shared_ptr<CommandContext> context);
void AddChat(Command program, std::shared_ptr<CommandContext> context);
void AddEval(Command program, std::shared_ptr<CommandContext> context);
void AddRunReport(Command program, std::shared_ptr<CommandContext> context);
void AddCompare(Command program, std::shared_ptr<CommandContext> context);
void AddSweep(Command program, std::shared_ptr<CommandContext> context);
// What lets others check a claim: the founding question answered, a run derived again.
void AddProve(Command program, std::shared_ptr<CommandContext> context);
void AddReplay(Command program, std::shared_ptr<CommandContext> context);
void AddDash(Command program, std::shared_ptr<CommandContext> context);
void AddPipe(Command program, std::shared_ptr<CommandContext> context);
// The recipes and examples that come with Hone.
void AddRecipes(Command program, std::shared_ptr<CommandContext> context);
// What the program says of itself.
void AddHelp(Command program, std::shared_ptr<CommandContext> context);
void AddVersion(Command program, std::shared_ptr<CommandContext> context);
void AddMan(Command program, std::shared_ptr<CommandContext> context);
void AddCompletion(Command program, std::shared_ptr<CommandContext> context);

}  // namespace hone
