#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "data/conversation_row.h"

namespace hone {

struct MixtureOptions {
  std::vector<std::string> files;           // to be imitated
  std::vector<double> weights;              // how often a file's rows come per epoch; empty: once
  std::vector<std::string> held_out_files;  // measured only
  double held_out = 0.05;                   // of the rows of `files`, where there are no such files
};

// A name for what a row says: rows of one name say the same.
std::string NameOf(const ConversationRow& row);

// Whether a row is among those that are held out: about so large a share. It goes by what the row
// says alone, so that rows that say the same are held out together, in whatever files they stand,
// and none moves when others are added.
bool IsHeldOut(const ConversationRow& row, double share);

// Conversations of several files.
class ConversationMixture {
 public:
  struct Placed {
    ConversationRow row;
    std::string place;  // "chats.jsonl:17"
    std::string kind;   // "chats": the file's name without folder and ending
  };

  // The error has every problem of every file, a line each.
  static Result<ConversationMixture> Load(const MixtureOptions& options);

  // By file, without those that are held out.
  const std::vector<std::vector<Placed>>& files() const { return files_; }
  const std::vector<Placed>& held_out() const { return held_out_; }
  // Rows of each file that come in one epoch, and of all: as often as the weights say.
  const std::vector<size_t>& per_epoch() const { return per_epoch_; }
  size_t epoch() const { return epoch_; }

 private:
  std::vector<std::vector<Placed>> files_;
  std::vector<size_t> per_epoch_;
  std::vector<Placed> held_out_;
  size_t epoch_ = 0;
};

// The order in which they come: an endless row of epochs, each with an order of its own. A file of
// weight 0.5 gives half of its rows in one epoch and the other half in the next.
class ConversationOrder {
 public:
  // The mixture must outlive it.
  ConversationOrder(const ConversationMixture* mixture, const Rng& rng)
      : mixture_(mixture), rng_(rng) {}

  // File and row of the n-th conversation: a function of the mixture, the stream and n.
  std::pair<size_t, size_t> At(uint64_t position);

 private:
  const ConversationMixture* mixture_;
  Rng rng_;
  uint64_t epoch_ = UINT64_MAX;  // that order_ is of
  std::vector<std::pair<size_t, size_t>> order_;
};

}  // namespace hone
