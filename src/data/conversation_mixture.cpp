#include "data/conversation_mixture.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "data/conversation_file.h"

namespace hone {
namespace {

Result<std::vector<ConversationMixture::Placed>> ReadPlaced(const std::string& file) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ConversationFile read = ReadConversations(text);
  HONE_RETURN_IF_ERROR(NoProblems(read, file));
  std::vector<ConversationMixture::Placed> placed;
  const std::string kind = std::filesystem::path(file).stem();
  for (size_t i = 0; i < read.rows.size(); ++i) {
    placed.push_back({std::move(read.rows[i]), fmt::format("{}:{}", file, read.lines[i]), kind});
  }
  return placed;
}

// The first `count` numbers of an endless row of permutations of 0…size-1, from `begin` on.
std::vector<size_t> EndlessPermutations(size_t size, uint64_t begin, size_t count, const Rng& rng) {
  std::vector<size_t> taken, permutation;
  uint64_t pass = UINT64_MAX;
  for (uint64_t i = begin; i < begin + count; ++i) {
    if (i / size != pass) {
      pass = i / size;
      permutation = Shuffled(size, rng.Split(pass));
    }
    taken.push_back(permutation[i % size]);
  }
  return taken;
}

}  // namespace

std::string NameOf(const ConversationRow& row) {
  if (!row.text.empty()) return ContentHash(Json(row.text));
  Json::Array said;
  for (const Message& message : row.conversation.messages) {
    Json::Array calls;
    for (const MessageCall& call : message.calls) {
      calls.push_back(Json::Of({{"name", call.name}, {"arguments", call.arguments}}));
    }
    said.push_back(Json::Of({{"role", static_cast<int64_t>(message.role)},
                             {"content", message.content},
                             {"calls", std::move(calls)}}));
  }
  return ContentHash(Json(std::move(said)));
}

bool IsHeldOut(const ConversationRow& row, double share) {
  // A name is a number of chance: what is below the share is held out, wherever the row stands.
  constexpr int kDigits = 13;  // as many as a double holds
  uint64_t number = 0;
  const std::string name = NameOf(row);
  std::from_chars(name.data(), name.data() + kDigits, number, 16);
  return static_cast<double>(number) < share * static_cast<double>(uint64_t{1} << (4 * kDigits));
}

Result<ConversationMixture> ConversationMixture::Load(const MixtureOptions& options) {
  ConversationMixture mixture;
  std::string problems;
  const auto read = [&](const std::string& file) {
    Result<std::vector<Placed>> placed = ReadPlaced(file);
    if (placed.ok()) return *std::move(placed);
    problems += (problems.empty() ? "" : "\n") + placed.error().message();
    return std::vector<Placed>();
  };
  for (const std::string& file : options.files) mixture.files_.push_back(read(file));
  for (const std::string& file : options.held_out_files) {
    for (Placed& placed : read(file)) mixture.held_out_.push_back(std::move(placed));
  }
  if (!problems.empty()) return Error(ErrorCode::kInvalidArgument, std::move(problems));
  for (size_t f = 0; f < mixture.files_.size(); ++f) {
    std::vector<Placed>& rows = mixture.files_[f];
    if (options.held_out_files.empty() && options.held_out > 0) {
      std::vector<Placed> kept;
      for (Placed& placed : rows) {
        const bool held = IsHeldOut(placed.row, options.held_out);
        (held ? mixture.held_out_ : kept).push_back(std::move(placed));
      }
      rows = std::move(kept);
    }
    const double weight = options.weights.empty() ? 1 : options.weights[f];
    mixture.per_epoch_.push_back(
        static_cast<size_t>(std::lround(weight * static_cast<double>(rows.size()))));
    mixture.epoch_ += mixture.per_epoch_.back();
  }
  if (mixture.epoch_ == 0) {
    return Error(ErrorCode::kInvalidArgument, "no conversation is left to be imitated");
  }
  return mixture;
}

std::pair<size_t, size_t> ConversationOrder::At(uint64_t position) {
  const uint64_t epoch = position / mixture_->epoch();
  if (epoch != epoch_) {
    std::vector<std::pair<size_t, size_t>> rows;
    for (size_t f = 0; f < mixture_->files().size(); ++f) {
      const size_t count = mixture_->per_epoch()[f];
      for (const size_t row : EndlessPermutations(mixture_->files()[f].size(), epoch * count, count,
                                                  rng_.Split("file").Split(f))) {
        rows.emplace_back(f, row);
      }
    }
    order_.clear();
    for (const size_t i : Shuffled(rows.size(), rng_.Split("epoch").Split(epoch))) {
      order_.push_back(rows[i]);
    }
    epoch_ = epoch;
  }
  return order_[position % mixture_->epoch()];
}

}  // namespace hone
