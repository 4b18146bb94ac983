#include "serve/conversation_recorder.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "record/final_state.h"

namespace hone {
namespace {

// Samples of a task in one tree. A tree is read and written with every turn, so that one without an
// end would cost ever more; a further one begins instead.
constexpr size_t kGroup = 64;

// Turns that can still be gone on from, and completions that can still be rewarded.
constexpr size_t kRemembered = 200'000;
// Of turns that said the same.
constexpr size_t kAlike = 1024;

// A name for a conversation with one more message, such that equal conversations have equal names.
// Thoughts are left out: most clients do not send them back.
std::string Said(const std::string& before, const Message& message,
                 const std::vector<std::string>& ids) {
  Json::Array calls;
  for (const MessageCall& call : message.calls) {
    calls.push_back(Json::Of({{"name", call.name}, {"arguments", call.arguments}}));
  }
  return ContentHash(Json::Of({{"before", before},
                               {"role", static_cast<int>(message.role)},
                               {"content", message.content},
                               {"name", message.role == Role::kTool ? message.name : ""},
                               {"calls", std::move(calls)},
                               {"ids", Json::ArrayOf(ids)}}));
}

std::string Beginning(const ServedChat& request) {
  Json beginning = Json::Of({{"tools", request.tools},
                             {"thinking", request.conversation.enable_thinking
                                              ? Json(*request.conversation.enable_thinking)
                                              : Json()}});
  const Json::Object& arguments = request.conversation.template_arguments;
  if (!arguments.empty()) beginning.Set("arguments", Json(arguments));
  return ContentHash(beginning);
}

Node NodeOf(const Tokenizer& tokenizer, const Piece& piece, std::span<const TokenId> before) {
  Node node;
  node.author = piece.author == Author::kPolicy ? Author::kSystem : piece.author;
  node.tokens = EncodePiece(tokenizer, piece, before);
  return node;
}

void AppendTokens(const std::vector<Node>& nodes, std::vector<TokenId>* tokens) {
  for (const Node& node : nodes) {
    tokens->insert(tokens->end(), node.tokens.begin(), node.tokens.end());
  }
}

// The node ends no trajectory any more: its leaf goes, with what was said of it.
void DropLeaf(NodeId node, ScoredTree* record) {
  const auto leaf = std::find_if(record->tree.leaves.begin(), record->tree.leaves.end(),
                                 [&](const Leaf& one) { return one.node == node; });
  if (leaf == record->tree.leaves.end()) return;
  const auto index = static_cast<int32_t>(leaf - record->tree.leaves.begin());
  record->tree.leaves.erase(leaf);
  const auto shift = [index](auto* entries) {
    std::erase_if(*entries, [&](const auto& entry) { return entry.leaf == index; });
    for (auto& entry : *entries) entry.leaf -= entry.leaf > index ? 1 : 0;
  };
  shift(&record->scores);
  shift(&record->advantages);
}

// The results among the messages from `first` on, by the call of the turn before that each answers.
Result<std::vector<ToolResult>> ResultsOf(const ServedChat& request, size_t first) {
  const std::vector<std::string>& calls = request.call_ids[first - 1];
  std::vector<ToolResult> results;
  std::set<int32_t> answered;
  for (size_t i = first; i < request.conversation.messages.size(); ++i) {
    const Message& message = request.conversation.messages[i];
    if (message.role != Role::kTool) continue;
    ToolResult result;
    result.call = static_cast<int32_t>(results.size());
    if (!request.call_ids[i].empty()) {
      result.call = static_cast<int32_t>(
          std::find(calls.begin(), calls.end(), request.call_ids[i][0]) - calls.begin());
    }
    if (result.call >= static_cast<int32_t>(calls.size()) || !answered.insert(result.call).second) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("messages[{}]: answers no call of the turn before it, or one that "
                               "is answered already",
                               i));
    }
    result.content = message.content;
    results.push_back(std::move(result));
  }
  return results;
}

// Beside the store, so that whoever reads it can say what its tokens are.
Result<void> KeepTokenizer(const Tokenizer& tokenizer, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "tokenizer.json";
  const std::string text = tokenizer.ToJson();
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return WriteFileAtomic(file, text);
  HONE_ASSIGN_OR_RETURN(const std::string there, ReadFile(file));
  if (there == text) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} is the tokenizer of another model; record into a folder of its own",
                           file.string()));
}

// What others said since the turn that the place goes on from; returns the last of it.
NodeId AddPrompt(const RecordedPlace& place, ScoredTree* record) {
  NodeId parent = place.parent;
  for (size_t i = 0; i < place.fresh.size(); ++i) {
    Node node = place.fresh[i];
    node.parent = parent;
    if (i == 0) {
      node.folded_from = place.folded_from;
      node.rewritten = place.folded_from != kNoNode;
    }
    parent = static_cast<NodeId>(record->tree.nodes.size());
    record->tree.nodes.push_back(std::move(node));
  }
  DropLeaf(place.parent, record);
  DropLeaf(place.folded_from, record);
  return parent;
}

// Each a leaf behind `parent`; moves their nodes and answers away.
std::vector<NodeId> AddTurns(NodeId parent, std::vector<RecordedTurn>* turns, Tree* tree) {
  std::vector<NodeId> nodes;
  for (RecordedTurn& turn : *turns) {
    turn.node.parent = parent;
    nodes.push_back(static_cast<NodeId>(tree->nodes.size()));
    tree->nodes.push_back(std::move(turn.node));
    tree->leaves.push_back(
        {.node = nodes.back(),
         .ending = turn.ending,
         .final_state = FinalStateWriter().Answer(std::move(turn.answer)).Take()});
  }
  return nodes;
}

template <typename Map>
void Forget(Map* map, std::deque<std::string>* keys) {
  while (keys->size() > kRemembered) {
    map->erase(keys->front());
    keys->pop_front();
  }
}

}  // namespace

Result<std::vector<Node>> PromptNodes(const Dialect& dialect, const Tokenizer& tokenizer,
                                      const Conversation& conversation, const PromptLimit& limit) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, dialect.Render(conversation));
  size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.text.size();
  HONE_RETURN_IF_ERROR(limit.Check("messages", bytes));
  std::vector<Node> nodes;
  for (const Piece& piece : pieces) {
    const auto before = nodes.empty() ? std::span<const TokenId>() : nodes.back().tokens;
    Node node = NodeOf(tokenizer, piece, before);
    if (!node.tokens.empty()) nodes.push_back(std::move(node));
  }
  if (nodes.empty()) {
    return Error(ErrorCode::kInvalidArgument, "messages: there is nothing in them to read");
  }
  return nodes;
}

Result<std::unique_ptr<ConversationRecorder>> ConversationRecorder::Open(
    const std::filesystem::path& folder, const Dialect* dialect, const Tokenizer* tokenizer,
    const PromptLimit& limit) {
  Result<std::unique_ptr<RunFolder>> run = RunFolder::Open(folder);
  if (!run.ok()) {
    if (run.error().code() != ErrorCode::kUnavailable) return run.error();
    return Error(ErrorCode::kUnavailable,
                 fmt::format("another process trains or records in {}; wait for it, or record into "
                             "another folder",
                             folder.string()));
  }
  HONE_ASSIGN_OR_RETURN(auto store, RunStore::Open(folder / "store.sqlite"));
  HONE_RETURN_IF_ERROR(KeepTokenizer(*tokenizer, folder));
  HONE_ASSIGN_OR_RETURN(const int64_t trees, store->CountTrees());
  std::unique_ptr<ConversationRecorder> recorder(
      new ConversationRecorder(*std::move(run), std::move(store), trees, dialect, tokenizer));
  recorder->limit_ = limit;
  return recorder;
}

// Of several that said the same, the newest that nobody went on from.
ConversationRecorder::Mark* ConversationRecorder::Find(const std::string& said) {
  const auto found = marks_.find(said);
  if (found == marks_.end()) return nullptr;
  std::vector<Mark>& marks = found->second;
  const auto open =
      std::find_if(marks.rbegin(), marks.rend(), [](const Mark& mark) { return mark.IsOpen(); });
  return open != marks.rend() ? &*open : &marks.back();
}

void ConversationRecorder::Remember(const std::string& said, const Mark& mark) {
  std::vector<Mark>& marks = marks_[said];
  if (marks.empty()) marked_.push_back(said);
  marks.push_back(mark);
  if (marks.size() > kAlike) marks.erase(marks.begin());
  Forget(&marks_, &marked_);
}

Result<RecordedPlace> ConversationRecorder::Enter(const ServedChat& request) {
  MutexLock lock(mutex_);
  const std::vector<Message>& messages = request.conversation.messages;
  RecordedPlace place;
  place.said = Beginning(request);
  Mark* last = nullptr;  // the last turn of the assistant, if it is one of ours
  size_t known = 0;
  for (size_t i = 0; i < messages.size(); ++i) {
    place.said = Said(place.said, messages[i], request.call_ids[i]);
    if (messages[i].role == Role::kAssistant) {
      last = Find(place.said);
      known = i + 1;
      place.known = last == nullptr ? "" : place.said;
      if (last != nullptr) place.rewrote = last->tree;
    } else if (messages[i].role == Role::kSystem && known > 0) {
      last = nullptr;  // nobody can speak as the system in the middle of what was drawn
      place.known.clear();
    }
  }
  if (last != nullptr) {
    place.rewrote = 0;
    // Refused or given up, the place goes, and the turn can be gone on from as before.
    place.hold = std::make_shared<int>();
    if (last->IsOpen()) last->holder = place.hold;
    HONE_RETURN_IF_ERROR(Continue(request, known, *last, &place));
    return place;
  }
  HONE_ASSIGN_OR_RETURN(place.fresh,
                        PromptNodes(*dialect_, *tokenizer_, request.conversation, limit_));
  AppendTokens(place.fresh, &place.context);
  return place;
}

Result<void> ConversationRecorder::Continue(const ServedChat& request, size_t known,
                                            const Mark& mark, RecordedPlace* place) const {
  HONE_ASSIGN_OR_RETURN(std::vector<ToolResult> results, ResultsOf(request, known));
  HONE_ASSIGN_OR_RETURN(const ScoredTree record, store_->ReadTree(mark.tree));
  const std::vector<TokenId>& turn = record.tree.nodes[static_cast<size_t>(mark.node)].tokens;
  const std::string bytes = tokenizer_->BytesOf(turn);
  Conversation next;
  next.enable_thinking = request.conversation.enable_thinking;
  next.template_arguments = request.conversation.template_arguments;
  next.messages.assign(request.conversation.messages.begin() + static_cast<std::ptrdiff_t>(known),
                       request.conversation.messages.end());
  place->tree = mark.tree;
  if (const Result<Piece> piece = dialect_->Continue(bytes, next); piece.ok()) {
    HONE_RETURN_IF_ERROR(limit_.Check("messages", piece->text.size()));
    Node node = NodeOf(*tokenizer_, *piece, turn);
    node.author = results.empty() ? Author::kUser : Author::kTool;
    node.results = std::move(results);
    place->parent = mark.node;
    place->context = TokensOf(record.tree, PathTo(record.tree, mark.node));
    place->fresh = {std::move(node)};
  } else {
    // The dialect writes the past anew: a segment of its own, which says what it took the place of.
    HONE_ASSIGN_OR_RETURN(place->fresh,
                          PromptNodes(*dialect_, *tokenizer_, request.conversation, limit_));
    place->folded_from = mark.node;
  }
  AppendTokens(place->fresh, &place->context);
  return {};
}

Task ConversationRecorder::TaskOf(const ServedChat& request, const RecordedPlace& place) {
  Task task;
  ++conversations_;
  task.id = request.task.empty() ? fmt::format("conversation-{}", conversations_) : request.task;
  task.messages = request.messages;
  task.tools = request.tools;
  task.metadata = Json::Of({{"source", "serve"}});
  if (place.rewrote != 0) task.metadata.Set("rewrote_tree", place.rewrote);
  return task;
}

Result<void> ConversationRecorder::Add(const ServedChat& request, uint64_t seed,
                                       const RecordedPlace& place, const std::string& completion,
                                       std::vector<RecordedTurn> turns) {
  MutexLock lock(mutex_);
  int64_t id = place.tree;
  bool has_prompt = false;
  std::string group;
  if (id == 0 && !request.task.empty()) {
    group =
        ContentHash(Json::Of({{"task", request.task}, {"prompt", Json::ArrayOf(place.context)}}));
    if (const auto found = groups_.find(group);
        found != groups_.end() && found->second.samples + turns.size() <= kGroup) {
      id = found->second.tree;
      has_prompt = true;
    }
  }
  ScoredTree record;
  if (id != 0) {
    HONE_ASSIGN_OR_RETURN(record, store_->ReadTree(id));
  } else {
    record.tree.task = TaskOf(request, place);
    record.tree.seed = seed;
  }
  // The prompt is what a tree begins with.
  const NodeId parent =
      has_prompt ? static_cast<NodeId>(place.fresh.size()) - 1 : AddPrompt(place, &record);
  Completion added;
  added.nodes = AddTurns(parent, &turns, &record.tree);
  if (id != 0) {
    HONE_RETURN_IF_ERROR(store_->ReplaceTree(id, record));
  } else {
    HONE_ASSIGN_OR_RETURN(id, store_->AddTree(0, record));
    if (!group.empty()) {
      if (!groups_.contains(group)) grouped_.push_back(group);
      groups_[group] = {id, 0};
      Forget(&groups_, &grouped_);
    }
  }
  if (!group.empty()) groups_[group].samples += turns.size();
  if (const auto before = marks_.find(place.known); before != marks_.end()) {
    const NodeId from = place.parent != kNoNode ? place.parent : place.folded_from;
    for (Mark& mark : before->second) {
      if (mark.tree == place.tree && mark.node == from) mark.continued = true;
    }
  }
  added.tree = id;
  for (size_t i = 0; i < turns.size(); ++i) {
    Remember(Said(place.said, turns[i].message, turns[i].call_ids), {id, added.nodes[i]});
  }
  completions_[completion] = std::move(added);
  completed_.push_back(completion);
  Forget(&completions_, &completed_);
  return {};
}

Result<void> ConversationRecorder::Reward(const std::string& completion, int64_t choice,
                                          const std::string& name, double value) {
  MutexLock lock(mutex_);
  const auto found = completions_.find(completion);
  if (found == completions_.end() || choice < 0 ||
      choice >= static_cast<int64_t>(found->second.nodes.size())) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("completion: there is none called \"{}\" with a choice {}", completion,
                             choice));
  }
  HONE_ASSIGN_OR_RETURN(ScoredTree record, store_->ReadTree(found->second.tree));
  const NodeId node = found->second.nodes[static_cast<size_t>(choice)];
  const auto leaf = std::find_if(record.tree.leaves.begin(), record.tree.leaves.end(),
                                 [&](const Leaf& one) { return one.node == node; });
  if (leaf == record.tree.leaves.end()) {
    return Error(ErrorCode::kNotFound,
                 "completion: the conversation went on behind it; reward its last completion");
  }
  const auto index = static_cast<int32_t>(leaf - record.tree.leaves.begin());
  auto score = std::find_if(record.scores.begin(), record.scores.end(),
                            [&](const Score& one) { return one.leaf == index; });
  if (score == record.scores.end()) {
    score = record.scores.insert(score, Score{.leaf = index, .terms = {}});
  }
  std::erase_if(score->terms, [&](const RewardTerm& term) { return term.name == name; });
  score->terms.push_back({.name = name, .value = value});
  return store_->SetScores(found->second.tree, record.scores);
}

}  // namespace hone
