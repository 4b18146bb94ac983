#include "text/vocabulary/unigram.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {
namespace {

// How much worse than the worst token a character without one is.
constexpr double kUnknownPenalty = 10.0;

uint64_t EdgeOf(int32_t node, uint8_t byte) { return static_cast<uint64_t>(node) << 8 | byte; }

}  // namespace

Result<Unigram> Unigram::Create(std::vector<std::string> token_texts, std::vector<double> scores,
                                Options options) {
  if (token_texts.size() != scores.size() || token_texts.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a Unigram model without a score for each token");
  }
  if (options.unknown < 0 || options.unknown >= static_cast<TokenId>(token_texts.size())) {
    return Error(ErrorCode::kUnsupported,
                 "a Unigram model without unk_id: some texts could not be encoded");
  }
  Unigram model;
  model.token_texts_ = std::move(token_texts);
  model.scores_ = std::move(scores);
  model.options_ = options;
  model.ending_.push_back(-1);
  double worst = std::numeric_limits<double>::infinity();
  for (size_t id = 0; id < model.token_texts_.size(); ++id) {
    model.by_text_[model.token_texts_[id]] = static_cast<TokenId>(id);  // the last of equals
    worst = std::min(worst, model.scores_[id]);
  }
  for (const auto& [text, id] : model.by_text_) model.AddToTrie(text, id);
  model.unknown_score_ = worst - kUnknownPenalty;
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = model.by_text_.find(fmt::format("<0x{:02X}>", byte));
    model.byte_ids_[byte] = found == model.by_text_.end() ? -1 : found->second;
  }
  return model;
}

void Unigram::AddToTrie(std::string_view text, TokenId id) {
  if (text.empty()) return;
  int32_t node = 0;
  for (const char c : text) {
    const auto [edge, is_new] = children_.emplace(EdgeOf(node, static_cast<uint8_t>(c)),
                                                  static_cast<int32_t>(ending_.size()));
    if (is_new) ending_.push_back(-1);
    node = edge->second;
  }
  ending_[node] = id;
}

int32_t Unigram::Child(int32_t node, uint8_t byte) const {
  const auto found = children_.find(EdgeOf(node, byte));
  return found == children_.end() ? -1 : found->second;
}

std::vector<Unigram::Arrival> Unigram::BestArrivals(std::string_view piece) const {
  std::vector<Arrival> best(piece.size() + 1);
  const auto arrive = [&](size_t from, size_t to, TokenId id, double score) {
    const double sum = score + best[from].score;
    if (best[to].from == Arrival::kNowhere || sum > best[to].score) best[to] = {sum, from, id};
  };
  for (size_t begin = 0, next = 0; begin < piece.size(); begin = next) {
    NextCodePoint(piece, &next);
    bool has_character = false;
    int32_t node = 0;
    for (size_t at = begin; at < piece.size(); ++at) {
      node = Child(node, static_cast<uint8_t>(piece[at]));
      if (node < 0) break;
      const TokenId id = ending_[node];
      if (id < 0) continue;
      arrive(begin, at + 1, id, scores_[id]);
      has_character = has_character || at + 1 == next;
    }
    if (!has_character) arrive(begin, next, options_.unknown, unknown_score_);
  }
  return best;
}

void Unigram::Encode(std::string_view piece, std::vector<TokenId>* ids) const {
  const std::vector<Arrival> best = BestArrivals(piece);
  std::vector<std::string_view> tokens;  // last first
  bool unknown_before = false;
  for (size_t end = piece.size(); end > 0;) {
    const Arrival& arrival = best[end];
    const bool unknown = arrival.id == options_.unknown;
    if (unknown && unknown_before) {
      const size_t length = end - arrival.from + tokens.back().size();
      tokens.back() = piece.substr(arrival.from, length);
    } else {
      tokens.push_back(piece.substr(arrival.from, end - arrival.from));
    }
    unknown_before = unknown;
    end = arrival.from;
  }
  for (size_t i = tokens.size(); i-- > 0;) AppendToken(tokens[i], ids);
}

void Unigram::AppendToken(std::string_view text, std::vector<TokenId>* ids) const {
  if (const auto found = by_text_.find(std::string(text)); found != by_text_.end()) {
    return ids->push_back(found->second);
  }
  const bool bytes = options_.byte_fallback && std::all_of(text.begin(), text.end(), [&](char c) {
                       return byte_ids_[static_cast<uint8_t>(c)] >= 0;
                     });
  if (!bytes) return ids->push_back(options_.unknown);
  for (const char c : text) ids->push_back(byte_ids_[static_cast<uint8_t>(c)]);
}

}  // namespace hone
