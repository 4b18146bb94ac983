// The two responders that answer from a journal.

#include <fmt/format.h>

#include "tools/responder.h"

namespace hone {
namespace {

RoutedReply FromJournal(ToolReply reply) {
  return {.reply = std::move(reply), .source = CallSource::kJournal};
}

std::string Described(const CallContent& content) {
  const std::string state = content.state_hash.substr(0, 8);
  return fmt::format("{}({}){}", content.tool, DumpJson(content.arguments),
                     state.empty() ? "" : " in state " + state);
}

RoutedReply Broken(const Error& error) {
  return FromJournal(Unavailable(error.message(), Blame::kInfrastructure));
}

class RecordedResponder final : public Responder {
 public:
  explicit RecordedResponder(std::shared_ptr<Journal> journal) : journal_(std::move(journal)) {}

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    // Later attempts are ours: the journal has outcomes, not the way to them.
    if (attempt->attempt > 1) return reply(std::nullopt);
    Result<Journal::Found> found = journal_->Find(attempt->identity);
    if (!found.ok()) return reply(Broken(found.error()));
    if (found->entry && !(found->entry->content == attempt->content)) {
      return reply(FromJournal(Unavailable(
          fmt::format("the journal has another call at {}: {} where this run makes {}; the run has "
                      "changed, give it another name or another journal",
                      attempt->identity.Text(), Described(found->entry->content),
                      Described(attempt->content)),
          Blame::kInfrastructure)));
    }
    if (found->entry) {
      RoutedReply answer = FromJournal({});
      answer.recorded = std::move(found->entry);
      return reply(std::move(answer));
    }
    if (found->begun && !attempt->tool->may_repeat) {
      return reply(FromJournal(
          {.status = CallStatus::kInterrupted,
           .blame = Blame::kInfrastructure,
           .content = "interrupted: the run was stopped while this call was being carried out; "
                      "it is not repeated"}));
    }
    reply(std::nullopt);
  }

 private:
  const std::shared_ptr<Journal> journal_;
};

class LookupResponder final : public Responder {
 public:
  explicit LookupResponder(std::shared_ptr<Journal> journal) : journal_(std::move(journal)) {}

  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    const Effect effect = attempt->tool->spec.effect;
    if (effect == Effect::kWrites || effect == Effect::kIrreversible) {
      if (attempt->tool->spec.resource != kSessionResource) return reply(std::nullopt);
    }
    Result<std::optional<JournalEntry>> found = journal_->FindByContent(attempt->content);
    if (!found.ok()) return reply(Broken(found.error()));
    if (!found->has_value()) return reply(std::nullopt);
    const ToolResult& result = (*found)->result;
    RoutedReply answer =
        FromJournal({.status = result.status, .blame = result.blame, .content = result.content});
    answer.cut_bytes = result.cut_bytes;
    reply(std::move(answer));
  }

 private:
  const std::shared_ptr<Journal> journal_;
};

}  // namespace

std::unique_ptr<Responder> NewRecordedResponder(std::shared_ptr<Journal> journal) {
  return std::make_unique<RecordedResponder>(std::move(journal));
}

std::unique_ptr<Responder> NewLookupResponder(std::shared_ptr<Journal> journal) {
  return std::make_unique<LookupResponder>(std::move(journal));
}

}  // namespace hone
