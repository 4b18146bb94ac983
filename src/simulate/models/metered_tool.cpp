#include "simulate/models/metered_tool.h"

#include "base/check.h"
#include "tools/modes.h"

namespace hone {
namespace {

constexpr int32_t kMostRecordedFailures = 1000;

}  // namespace

MeteredTool::MeteredTool(std::string_view tool, std::string_view run, LanguageModelOptions options,
                         std::shared_ptr<const Toolbox> toolbox, std::unique_ptr<Timeline> timeline)
    : tool_(tool),
      run_(run),
      options_(std::move(options)),
      budget_(options_),
      sessions_(std::make_shared<Sessions>(std::move(toolbox), 0)),
      timeline_(std::move(timeline)) {}

Result<std::unique_ptr<MeteredTool>> MeteredTool::New(std::shared_ptr<Toolkit> toolkit,
                                                      std::string_view tool, std::string_view run,
                                                      LanguageModelOptions options,
                                                      std::unique_ptr<Timeline> timeline) {
  HONE_ASSIGN_OR_RETURN(Toolbox made, Toolbox::Of({{std::move(toolkit), options.limits}}));
  auto toolbox = std::make_shared<const Toolbox>(std::move(made));
  CHECK(toolbox->Find(tool) != nullptr, "the toolkit of a language model has its tool");
  const RoutingOptions routing{.mode = options.offline              ? ToolMode::kReplay
                                       : options.journal == nullptr ? ToolMode::kLive
                                                                    : ToolMode::kRecord,
                               .journal = options.journal,
                               .seed = options.seed};
  HONE_ASSIGN_OR_RETURN(ExecutorOptions executor, OptionsFor(routing, *toolbox, timeline.get()));
  std::unique_ptr<MeteredTool> metered(
      new MeteredTool(tool, run, std::move(options), std::move(toolbox), std::move(timeline)));
  metered->executor_ = std::make_unique<Executor>(std::move(executor), metered->timeline_.get());
  metered->caller_ = std::make_unique<Caller>(metered->executor_.get());
  return metered;
}

MeteredTool::Asked MeteredTool::Ask(const std::string& key, const Json& arguments,
                                    const TokenUsage& most) {
  // What is recorded costs nothing, and so needs no budget.
  Asked asked{.set_aside = IsRecorded(key) ? TokenUsage{} : most};
  asked.refused = budget_.SetAside(asked.set_aside);
  if (asked.refused) return asked;
  CallOutcome outcome;
  // A failure that an earlier run recorded stands for that run; this one tries again.
  for (int32_t turn = 0; turn < kMostRecordedFailures; ++turn) {
    outcome = caller_->Call({IdentityOf(key, turn), tool_, arguments, sessions_});
    if (outcome.source != CallSource::kJournal || outcome.result.status == CallStatus::kOk) break;
  }
  asked.recorded = outcome.source == CallSource::kJournal;
  asked.result = std::move(outcome.result);
  return asked;
}

void MeteredTool::Charge(const Asked& asked, CompletionStatus status, const TokenUsage& used) {
  budget_.Charge(
      status, asked.recorded,
      status == CompletionStatus::kOk ? used : PerhapsUsed(asked.result, asked.set_aside),
      asked.set_aside);
}

CallIdentity MeteredTool::IdentityOf(const std::string& key, int32_t turn) const {
  return {.run = run_, .task = key, .path = "0", .turn = turn};
}

bool MeteredTool::IsRecorded(const std::string& key) const {
  if (options_.journal == nullptr) return false;
  const Result<Journal::Found> found = options_.journal->Find(IdentityOf(key, 0));
  return found.ok() && found->entry && found->entry->result.status == CallStatus::kOk;
}

}  // namespace hone
