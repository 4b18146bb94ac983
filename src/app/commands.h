#pragma once

#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace hone {

// What every command knows.
struct CommandContext {
  bool json = false;    // --json: for programs
  int exit_status = 0;  // set by the command that ran
};

// Each adds one command to the program. The command's callback prints its result and sets
// exit_status; an Error goes through Report.
void AddDoctor(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddTokenize(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddTokenizer(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddRender(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddParse(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddShow(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddGenerate(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddLogprobs(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddModel(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddBench(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddJournal(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddTools(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddRewards(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddCredit(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddLab(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddSimulate(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddEnv(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddTrain(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddServe(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddChat(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddEval(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddRunReport(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddCompare(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddDash(CLI::App& app, std::shared_ptr<CommandContext> context);
void AddPipe(CLI::App& app, std::shared_ptr<CommandContext> context);

}  // namespace hone
