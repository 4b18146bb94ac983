#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "record/store.h"
#include "serve/request.h"
#include "serve/served_model.h"
#include "text/dialect.h"
#include "text/tokenizer.h"
#include "train/folder/run_folder.h"

namespace hone {

// The prompt of a conversation, one node after the other, up to where the policy begins; turns of
// an assistant that stand in it are part of the prompt. Fails for what the dialect cannot spell,
// and for what is beyond the limit.
Result<std::vector<Node>> PromptNodes(const Dialect& dialect, const Tokenizer& tokenizer,
                                      const Conversation& conversation,
                                      const PromptLimit& limit = {});

// Where a request stands: what is known of its conversation, and what it adds.
struct RecordedPlace {
  int64_t tree = 0;              // of the store; 0: a new one
  NodeId parent = kNoNode;       // the turn that it goes on from
  NodeId folded_from = kNoNode;  // or the turn whose history `fresh` replaces
  std::vector<Node> fresh;       // what others said since then, in order
  std::vector<TokenId> context;  // everything before the policy's turn
  int64_t rewrote = 0;           // the tree of which the client changed the history; 0: none
  std::string said;              // a name for everything said up to here
  std::string known;             // the same up to the turn that it goes on from; empty: from none
  // While this is held nobody else goes on from that turn, if there is another that said the same.
  std::shared_ptr<const void> hold;
};

// A turn that was drawn there.
struct RecordedTurn {
  Node node;  // tokens, log-probabilities, what it says; the parent is not set
  Ending ending = Ending::kAnswered;  // if nothing follows
  Json answer;                        // text, or null
  Message message;                    // as the client was told of it and will send it back
  std::vector<std::string> call_ids;
};

// Every conversation of the clients as a tree in a run store (docs/serving.md).
//
// A request whose messages are those of a known conversation, with more behind them, goes on in its
// tree, on the very tokens that were drawn. Where the dialect cannot go on by appending, a new
// segment of the tree begins (Node::folded_from). A request that changed what had been said is a
// new tree, which says so. After every turn the store holds all of it. Thread-safe.
class ConversationRecorder {
 public:
  // In folder/store.sqlite, behind what is there, with the tokenizer beside it. It has the run's
  // lock: kUnavailable when somebody trains or records there. The dialect and the tokenizer must
  // outlive it.
  static Result<std::unique_ptr<ConversationRecorder>> Open(const std::filesystem::path& folder,
                                                            const Dialect* dialect,
                                                            const Tokenizer* tokenizer,
                                                            const PromptLimit& limit = {});

  // The error is the request's, except for kCorrupt and the like, which are the store's.
  Result<RecordedPlace> Enter(const ServedChat& request);
  // The completions of a request, under the id that the client knows them by.
  Result<void> Add(const ServedChat& request, uint64_t seed, const RecordedPlace& place,
                   const std::string& completion, std::vector<RecordedTurn> turns);

  // Puts a reward on the trajectory that ends with a completion. kNotFound when there is none, or
  // when the conversation has gone on since.
  Result<void> Reward(const std::string& completion, int64_t choice, const std::string& name,
                      double value);

 private:
  struct Mark {  // a turn
    int64_t tree = 0;
    NodeId node = kNoNode;
    bool continued = false;            // in the tree
    std::weak_ptr<const void> holder;  // who is about to

    bool IsOpen() const { return !continued && holder.expired(); }
  };
  struct Completion {
    int64_t tree = 0;
    std::vector<NodeId> nodes;
  };

  struct Group {  // the tree that takes a task's next samples
    int64_t tree = 0;
    size_t samples = 0;
  };

  ConversationRecorder(std::unique_ptr<RunFolder> run, std::unique_ptr<RunStore> store,
                       int64_t conversations, const Dialect* dialect, const Tokenizer* tokenizer)
      : run_(std::move(run)),
        store_(std::move(store)),
        dialect_(dialect),
        tokenizer_(tokenizer),
        conversations_(conversations) {}
  Mark* Find(const std::string& said) HONE_REQUIRES(mutex_);
  Result<void> Continue(const ServedChat& request, size_t known, const Mark& mark,
                        RecordedPlace* place) const;
  Task TaskOf(const ServedChat& request, const RecordedPlace& place) HONE_REQUIRES(mutex_);
  void Remember(const std::string& said, const Mark& mark) HONE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unique_ptr<RunFolder> run_;  // its lock
  std::unique_ptr<RunStore> store_;
  const Dialect* dialect_;
  const Tokenizer* tokenizer_;
  PromptLimit limit_;
  int64_t conversations_ HONE_GUARDED_BY(mutex_);
  std::map<std::string, Group> groups_ HONE_GUARDED_BY(mutex_);  // of named tasks
  std::deque<std::string> grouped_ HONE_GUARDED_BY(mutex_);  // the keys of groups_, oldest first
  std::map<std::string, std::vector<Mark>> marks_ HONE_GUARDED_BY(mutex_);  // by what was said
  std::deque<std::string> marked_ HONE_GUARDED_BY(mutex_);  // the keys of marks_, oldest first
  std::map<std::string, Completion> completions_ HONE_GUARDED_BY(mutex_);
  std::deque<std::string> completed_
      HONE_GUARDED_BY(mutex_);  // the keys of completions_, oldest first
};

}  // namespace hone
