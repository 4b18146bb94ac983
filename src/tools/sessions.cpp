#include "tools/sessions.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/rng.h"

namespace hone {
namespace {

// What the effects of a tool are about. A session's belong to its toolkit alone.
std::string ScopeOf(const Toolbox::Tool& tool) {
  return tool.spec.resource == kSessionResource ? fmt::format("session {}", tool.kit)
                                                : tool.spec.resource;
}

bool Writes(const ToolSpec& spec) {
  return spec.effect == Effect::kWrites || spec.effect == Effect::kIrreversible;
}

}  // namespace

Sessions::Sessions(std::shared_ptr<const Toolbox> toolbox, uint64_t seed)
    : toolbox_(std::move(toolbox)), seed_(seed), kits_(toolbox_->kits().size()) {}

Result<std::shared_ptr<Sessions>> Sessions::Fork() const {
  auto fork = std::make_shared<Sessions>(toolbox_, seed_);
  MutexLock fresh(fork->mutex_);  // nobody else knows it yet
  MutexLock lock(mutex_);
  fork->ordinals_ = ordinals_;
  fork->writes_ = writes_;
  fork->answers_ = answers_;
  for (size_t k = 0; k < kits_.size(); ++k) {
    const KitState& from = kits_[k];
    if (from.history.empty()) continue;
    for (const HistoryCall& call : from.history) {
      CHECK(call.settled, "a trajectory with calls under way cannot fork");
    }
    if (SharingOf(k) == Sharing::kOnce) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("a branch needs a second session of the toolkit of \"{}\", which "
                               "cannot be had twice; use a strategy that does not branch",
                               toolbox_->tools()[from.history[0].tool].spec.name));
    }
    KitState& to = fork->kits_[k];
    to.history = from.history;
    if (SharingOf(k) == Sharing::kClone && from.session != nullptr) {
      HONE_ASSIGN_OR_RETURN(to.session, from.session->Clone());
      to.applied = from.applied;
    }
  }
  return fork;
}

Sessions::Place Sessions::Enter(const Toolbox::Tool& tool, const Json& arguments) {
  MutexLock lock(mutex_);
  Place place{.kit = tool.kit, .ordinal = ordinals_[tool.spec.name]++};
  const std::string scope = ScopeOf(tool);
  if (tool.spec.effect != Effect::kPure) {
    // A write to the world may have changed anything, and what reads the world depends on all.
    std::string seen;
    for (size_t i = 0; i < writes_.size(); ++i) {
      const Write& write = writes_[i];
      if (!scope.empty() && !write.scope.empty() && write.scope != scope) continue;
      seen += write.what;
      place.writes_before.push_back(i);
    }
    if (!seen.empty()) place.state_hash = Sha256Hex(seen);
  }
  if (Writes(tool.spec)) {
    place.write = writes_.size();
    writes_.push_back(
        {.scope = scope,
         .what = Sha256Hex(tool.spec.name + "\n" + DumpJson(arguments, JsonStyle::kCanonical)),
         .call = {.tool = tool.spec.name, .arguments = arguments}});
  }
  if (SharingOf(tool.kit) != Sharing::kNothing) {
    std::vector<HistoryCall>& history = kits_[tool.kit].history;
    place.index = history.size();
    history.push_back(
        {.tool = static_cast<size_t>(&tool - toolbox_->tools().data()), .arguments = arguments});
  }
  return place;
}

void Sessions::WhenTurn(const Place& place, std::function<void()> then) {
  if (SharingOf(place.kit) != Sharing::kNothing) {
    MutexLock lock(mutex_);
    KitState& state = kits_[place.kit];
    if (state.history[place.index].settled) return;  // too late: nobody waits for it
    for (size_t i = 0; i < place.index; ++i) {
      if (state.history[i].settled) continue;
      state.waiting[place.index] = std::move(then);
      return;
    }
  }
  then();
}

std::shared_ptr<Session> Sessions::LeaveBehind(KitState* state) {
  std::shared_ptr<Session> left = std::move(state->session);
  state->session = nullptr;
  state->applied = 0;
  state->busy = std::nullopt;
  ++state->generation;
  return left;
}

uint64_t Sessions::SeedOf(uint64_t seed, size_t kit) {
  return Rng(seed).Split("session").Split(kit).NextU64();
}

Result<std::shared_ptr<Session>> Sessions::OpenSession(size_t kit, uint64_t generation) {
  // Every session of a trajectory has randomness of its own, the same each time it is built.
  const uint64_t seed = SeedOf(seed_, kit);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Session> opened, toolbox_->kits()[kit].toolkit->Open(seed));
  std::shared_ptr<Session> session = std::move(opened);
  MutexLock lock(mutex_);
  if (kits_[kit].generation == generation) kits_[kit].session = session;
  return session;
}

// Carries out the calls that the session has not seen. Ok when it is where the history is.
ToolReply Sessions::CatchUp(size_t kit, size_t end, Session* session, uint64_t generation,
                            const CallLimits& limits) {
  while (true) {
    HistoryCall call;
    {
      MutexLock lock(mutex_);
      KitState& state = kits_[kit];
      if (state.generation != generation) return TimedOut("left behind");
      while (state.applied < end && !state.history[state.applied].counts) ++state.applied;
      if (state.applied >= end) return Answered("");
      call = state.history[state.applied];
    }
    const ToolSpec& spec = toolbox_->tools()[call.tool].spec;
    if (!toolbox_->tools()[call.tool].may_repeat) {
      return Unavailable(
          fmt::format("the session could not be built again: that would repeat {}, which {}",
                      spec.name, EffectName(spec.effect)),
          Blame::kInfrastructure);
    }
    if (limits.stop.stop_requested()) return TimedOut("left behind");
    const ToolReply reply =
        toolbox_->kits()[kit].toolkit->Call(spec.name, call.arguments, session, limits);
    MutexLock lock(mutex_);
    KitState& state = kits_[kit];
    if (state.generation != generation) return TimedOut("left behind");
    if (reply.session_lost ||
        (reply.status != CallStatus::kOk && reply.status != CallStatus::kToolError)) {
      return Unavailable(
          "the session could not be built again: its earlier calls failed this time: " +
              reply.content,
          Blame::kInfrastructure);
    }
    if (call.status && *call.status != reply.status) ++rebuild_mismatches_;
    ++state.applied;
  }
}

ToolReply Sessions::Perform(const Place& place, const Toolbox::Tool& tool, const Json& arguments,
                            const CallLimits& limits) {
  Toolkit& toolkit = *toolbox_->kits()[place.kit].toolkit;
  const Sharing sharing = toolkit.sharing();
  if (sharing == Sharing::kNothing) return toolkit.Call(tool.spec.name, arguments, nullptr, limits);

  std::shared_ptr<Session> session, left;  // what is left behind goes when no lock is held
  uint64_t generation = 0;
  {
    MutexLock lock(mutex_);
    KitState& state = kits_[place.kit];
    // Settled while this thread was on its way: it would act on a session that goes on without it.
    if (state.history[place.index].settled || limits.stop.stop_requested()) {
      return TimedOut("left behind");
    }
    // An earlier attempt still runs, or ran and was not heard of: as if it had not been.
    const bool acted = state.applied > place.index && sharing != Sharing::kOnce;
    if (state.busy || acted) left = LeaveBehind(&state);
    state.busy = place.index;
    session = state.session;
    generation = state.generation;
  }
  ToolReply reply;
  if (session == nullptr) {
    Result<std::shared_ptr<Session>> opened = OpenSession(place.kit, generation);
    if (opened.ok()) {
      session = *opened;
    } else {
      reply = FromError(opened.error());
    }
  }
  if (session != nullptr && sharing != Sharing::kOnce) {
    reply = CatchUp(place.kit, place.index, session.get(), generation, limits);
  }
  if (session != nullptr && reply.status == CallStatus::kOk) {
    reply = toolkit.Call(tool.spec.name, arguments, session.get(), limits);
  }

  MutexLock lock(mutex_);
  KitState& state = kits_[place.kit];
  if (state.generation != generation) return reply;
  state.busy = std::nullopt;
  const bool ended = reply.status == CallStatus::kOk || reply.status == CallStatus::kToolError;
  if (reply.session_lost || (!ended && sharing != Sharing::kOnce)) {
    left = LeaveBehind(&state);  // who knows what it has done
  } else {
    state.applied = place.index + 1;
    state.history[place.index].status = reply.status;
  }
  return reply;
}

void Sessions::Settle(const Place& place, bool counts, const ToolResult& result) {
  if (place.write) EndWrite(*place.write, result);
  if (SharingOf(place.kit) == Sharing::kNothing) return;
  std::function<void()> next;
  std::shared_ptr<Session> left;
  {
    MutexLock lock(mutex_);
    KitState& state = kits_[place.kit];
    HistoryCall& call = state.history[place.index];
    CHECK(!call.settled, "a call is settled once");
    call.settled = true;
    call.counts = counts;
    const bool seen = state.applied > place.index;
    if (state.busy == place.index || (!counts && seen && SharingOf(place.kit) != Sharing::kOnce)) {
      left = LeaveBehind(&state);
    }
    state.waiting.erase(place.index);
    size_t first = 0;
    while (first < state.history.size() && state.history[first].settled) ++first;
    if (const auto waiting = state.waiting.find(first); waiting != state.waiting.end()) {
      next = std::move(waiting->second);
      state.waiting.erase(waiting);
    }
  }
  if (next) next();
}

// Nothing while one of them is under way.
std::optional<std::vector<Sessions::EarlierWrite>> Sessions::EndedWrites(
    const std::vector<size_t>& writes) const {
  std::vector<EarlierWrite> ended;
  for (const size_t i : writes) {
    if (!writes_[i].ended) return std::nullopt;
    ended.push_back(writes_[i].call);
  }
  return ended;
}

void Sessions::WhenWritesEnded(const Place& place,
                               std::function<void(std::vector<EarlierWrite>)> then) {
  std::optional<std::vector<EarlierWrite>> ended;
  {
    MutexLock lock(mutex_);
    ended = EndedWrites(place.writes_before);
    if (!ended) waiting_for_writes_.push_back({place.writes_before, std::move(then)});
  }
  if (ended) then(*std::move(ended));
}

void Sessions::EndWrite(size_t write, const ToolResult& result) {
  std::vector<std::function<void()>> ready;
  {
    MutexLock lock(mutex_);
    writes_[write].ended = true;
    writes_[write].call.status = result.status;
    writes_[write].call.content = result.content;
    std::erase_if(waiting_for_writes_, [&](WaitingForWrites& waiting) HONE_REQUIRES(mutex_) {
      std::optional<std::vector<EarlierWrite>> ended = EndedWrites(waiting.writes);
      if (!ended) return false;
      ready.push_back([then = std::move(waiting.then), ended = *std::move(ended)] { then(ended); });
      return true;
    });
  }
  for (const std::function<void()>& then : ready) then();
}

void Sessions::Remember(const std::string& tool, const Json& arguments, int32_t turn, int32_t call,
                        const std::string& answer) {
  const std::string key = tool + "\n" + DumpJson(arguments, JsonStyle::kCanonical);
  MutexLock lock(mutex_);
  answers_[key][{turn, call}] = answer;
}

std::optional<std::string> Sessions::EarlierAnswer(const std::string& tool, const Json& arguments,
                                                   int32_t turn) const {
  const std::string key = tool + "\n" + DumpJson(arguments, JsonStyle::kCanonical);
  MutexLock lock(mutex_);
  const auto found = answers_.find(key);
  if (found == answers_.end()) return std::nullopt;
  const auto after = found->second.lower_bound({turn, 0});
  if (after == found->second.begin()) return std::nullopt;
  return std::prev(after)->second;
}

int64_t Sessions::rebuild_mismatches() const {
  MutexLock lock(mutex_);
  return rebuild_mismatches_;
}

}  // namespace hone
