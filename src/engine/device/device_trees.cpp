// Trees on a device: every node once. What is shared is found on the host, which describes the rows
// in a few tables; the device never sees a tree.

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "engine/device/device_runner.h"

namespace hone {
namespace {

constexpr int64_t kTokensAtOnce = 16384;               // of scoring, in whole trees
constexpr int64_t kKeptLogitBytes = int64_t{8} << 30;  // kept from forward to backward

// Rows that are added up: which go to each place, in order (DeviceApi::add_rows).
struct RowLists {
  std::vector<int32_t> place, first = {0}, list;

  // `place_of[i]` is where item i goes; items keep their order.
  explicit RowLists(std::span<const int32_t> place_of) {
    list.resize(place_of.size());
    std::iota(list.begin(), list.end(), 0);
    std::stable_sort(list.begin(), list.end(), [&](int32_t a, int32_t b) {
      return place_of[static_cast<size_t>(a)] < place_of[static_cast<size_t>(b)];
    });
    for (size_t i = 0; i < list.size(); ++i) {
      const int32_t to = place_of[static_cast<size_t>(list[i])];
      if (i == 0 || to != place.back()) {
        if (i > 0) first.push_back(Narrow(static_cast<int64_t>(i)));
        place.push_back(to);
      }
    }
    if (!list.empty()) first.push_back(Narrow(static_cast<int64_t>(list.size())));
  }
};

// What a page begins with where a node does not begin with a page: rows of its ancestors, each to a
// slot of the node's own page.
void FindCopies(const TreeBatch& batch, std::vector<int32_t>* rows, std::vector<int32_t>* slots) {
  for (size_t i = 0; i < batch.chunks.size(); ++i) {
    const Chunk& chunk = batch.chunks[i];
    if (chunk.copy.to < 0) continue;
    const std::vector<int64_t> path = batch.PathRows(i);
    const int64_t begin = chunk.position / kDevicePage * kDevicePage;
    for (int64_t at = begin; at < chunk.position; ++at) {
      rows->push_back(Narrow(path[static_cast<size_t>(at)]));
      slots->push_back(Narrow(chunk.copy.to * int64_t{kDevicePage} + at - begin));
    }
  }
}

// The keys of each node, and who looks at them: the node and everything below it.
void FindKeys(const TreeBatch& batch, std::vector<KeyTile>* tiles, std::vector<QuerySpan>* spans) {
  std::vector<std::vector<size_t>> seen_by(batch.chunks.size());
  for (size_t i = 0; i < batch.chunks.size(); ++i) {
    if (batch.chunks[i].tokens.empty()) continue;
    for (size_t at = i;; at = batch.parent[at]) {
      seen_by[at].push_back(i);
      if (batch.parent[at] == at) break;
    }
  }
  for (size_t i = 0; i < batch.chunks.size(); ++i) {
    const Chunk& chunk = batch.chunks[i];
    const int32_t first = Narrow(static_cast<int64_t>(spans->size()));
    for (const size_t below : seen_by[i]) {
      const Chunk& other = batch.chunks[below];
      spans->push_back({Narrow(batch.first_row[below]), Narrow(other.position),
                        Narrow(static_cast<int64_t>(other.tokens.size()))});
    }
    const int32_t last = Narrow(static_cast<int64_t>(spans->size()));
    const auto length = static_cast<int64_t>(chunk.tokens.size());
    for (int64_t from = 0; from < length; from += kDevicePage) {
      tiles->push_back({Narrow(batch.first_row[i] + from), Narrow(chunk.position + from),
                        Narrow(std::min<int64_t>(kDevicePage, length - from)), first, last});
    }
  }
  // Those that most queries look at come first: the device is then busy to the end.
  std::vector<int64_t> work;
  for (const KeyTile& tile : *tiles) {
    int64_t queries = 0;
    for (int32_t i = tile.first; i < tile.last; ++i) {
      const QuerySpan& span = (*spans)[static_cast<size_t>(i)];
      queries += std::clamp<int64_t>(span.position + span.count - tile.position, 0, span.count);
    }
    work.push_back(queries);
  }
  std::vector<size_t> order(tiles->size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return work[a] > work[b]; });
  std::vector<KeyTile> sorted;
  for (const size_t i : order) sorted.push_back((*tiles)[i]);
  *tiles = std::move(sorted);
}

}  // namespace

// What the device is told of a batch of trees; the addresses are its.
struct DeviceRunner::TreeRows {
  DevicePass pass;
  DeviceKeys keys;
  const PredictionRule* rules = nullptr;
  const int32_t *kept = nullptr, *row_of = nullptr;
  int64_t predictions = 0;
  bool kept_logits = false;
};

// Of the predictions from `first` on, without their logits.
DeviceDistribution DeviceRunner::DistributionOf(int64_t first, int64_t count,
                                                const TreeRows& rows) const {
  DeviceDistribution d;
  d.rows = count;
  d.vocab = config().vocab;
  d.forbidden = forbidden_.as<int32_t>();
  d.forbidden_count = static_cast<int64_t>(options_.forbidden.size());
  d.rules = rows.rules + first;
  d.kept = rows.kept;
  d.logprob = scores_.as<float>() + first;
  d.entropy = d.logprob + rows.predictions;
  d.log_sum = d.entropy + rows.predictions;
  return d;
}

void DeviceRunner::Score(int64_t first, int64_t count, const TreeRows& rows, float* logits) {
  states_.Grow(count * config().width * BytesOf(weights_.element()));
  decoder_.FinalNorm(rows.row_of + first, count, states_.data(), nullptr);
  decoder_.head().Forward(*device_, {states_.data(), count, nullptr, logits}, decoder_.adapters());
  DeviceDistribution d = DistributionOf(first, count, rows);
  d.logits = logits;
  api_.score(context_, d);
}

// Log-probabilities and entropies of all predictions, and the values of all rows, to the batch.
void DeviceRunner::ScoreRows(TreeBatch* batch, TreeRows* rows, bool keep) {
  const int64_t vocab = config().vocab, total = rows->predictions;
  const int64_t slice = LogitRowsOf(vocab);
  rows->kept_logits = keep && total * vocab * int64_t{sizeof(float)} <= kKeptLogitBytes;
  scores_.Grow(3 * std::max<int64_t>(total, 1) * int64_t{sizeof(float)});
  logits_.Grow((rows->kept_logits ? total : std::min(slice, total)) * vocab *
               int64_t{sizeof(float)});
  for (int64_t first = 0; first < total; first += slice) {
    float* logits = logits_.as<float>() + (rows->kept_logits ? first * vocab : 0);
    Score(first, std::min(slice, total - first), *rows, logits);
  }
  std::vector<float> scores(static_cast<size_t>(2 * total));
  if (total > 0) {
    device_->Download(scores_.data(), 2 * total * int64_t{sizeof(float)}, scores.data());
  }
  for (int64_t i = 0; i < total; ++i) {
    const auto& p = batch->predictions[static_cast<size_t>(i)];
    NodeLogprobs& node = batch->logprobs[p.tree][static_cast<size_t>(p.node)];
    node.logprobs[p.token] = scores[static_cast<size_t>(i)];
    node.entropies[p.token] = scores[static_cast<size_t>(total + i)];
  }
  if (model_->scalar_head >= 0) ScoreValues(batch);
}

void DeviceRunner::ScoreValues(TreeBatch* batch) {
  const int64_t all = batch->total_rows, width = config().width;
  hidden_.Grow(all * width * BytesOf(weights_.element()));
  values_.Grow(all * int64_t{sizeof(float)});
  decoder_.FinalNorm(nullptr, all, hidden_.data(), nullptr);
  api_.row_dots(context_, {all, width, weights_.element(), hidden_.data(),
                           weights_.Value(model_->scalar_head), values_.as<float>()});
  std::vector<float> values(static_cast<size_t>(all));
  device_->Download(values_.data(), all * int64_t{sizeof(float)}, values.data());
  for (size_t t = 0; t < batch->trees.size(); ++t) {
    for (size_t n = 0; n < batch->trees[t].nodes.size(); ++n) {
      const int64_t row = batch->first_row[batch->first_chunk[t] + n];
      const auto count = static_cast<int64_t>(batch->trees[t].nodes[n].tokens.size());
      batch->logprobs[t][n].values.assign(values.begin() + row, values.begin() + row + count);
    }
  }
}

// Up to LogitRowsOf predictions of the loss; the addresses are the device's.
struct DeviceRunner::LossSlice {
  int64_t count = 0;
  // The predictions whose logits are looked at: those that were kept, or so many from `base` on,
  // computed again.
  int64_t base = 0, computed = 0;
  const int32_t* prediction = nullptr;  // of each, among these
  const int32_t* row = nullptr;         // of each: what predicts it
  const float *dlogprob = nullptr, *dentropy = nullptr;
  DeviceRowList rows;  // to which rows the gradients of the states go; without both ends
};

// The predictions that the loss is interested in, in slices, and the gradients of values.
class DeviceRunner::LossTables {
 public:
  // Sends them. `slice` is how many predictions a slice may have.
  LossTables(const TreeBatch& batch, const TreeRows& rows, int64_t slice, Staging* staging) {
    for (size_t i = 0; i < batch.predictions.size(); ++i) {
      const auto& p = batch.predictions[i];
      if (p.dlogprob == 0 && p.dentropy == 0) continue;
      active_.push_back(Narrow(static_cast<int64_t>(i)));
      row_.push_back(Narrow(p.row));
      dlogprob_.push_back(p.dlogprob);
      dentropy_.push_back(p.dentropy);
    }
    staging->Begin();
    std::vector<Tables> tables;
    for (size_t first = 0; first < active_.size(); first += tables.back().count) {
      tables.push_back(AddSlice(first, rows, slice, staging));
    }
    const size_t dlogprob = staging->Add(dlogprob_), dentropy = staging->Add(dentropy_);
    const size_t dvalues = staging->Add(batch.dvalues);
    staging->Send();
    for (const Tables& t : tables) {
      LossSlice s{static_cast<int64_t>(t.count), t.base, t.computed};
      s.prediction = staging->At<int32_t>(t.prediction);
      s.row = staging->At<int32_t>(t.row);
      s.dlogprob = staging->At<float>(dlogprob) + t.first;
      s.dentropy = staging->At<float>(dentropy) + t.first;
      s.rows.places = t.places;
      s.rows.place = staging->At<int32_t>(t.place);
      s.rows.first = staging->At<int32_t>(t.list_first);
      s.rows.list = staging->At<int32_t>(t.list);
      slices_.push_back(s);
    }
    dvalues_ = staging->At<float>(dvalues);
  }

  const std::vector<LossSlice>& slices() const { return slices_; }
  const float* dvalues() const { return dvalues_; }

 private:
  // Of a slice: where its tables will lie.
  struct Tables {
    size_t first, count;
    int64_t base, computed;
    size_t prediction, row, place, list_first, list;
    int64_t places;
  };

  // Logits that were not kept are computed again, of all predictions from a multiple of `slice` on:
  // a slice ends where its predictions leave these.
  Tables AddSlice(size_t first, const TreeRows& rows, int64_t slice, Staging* staging) const {
    Tables t{};
    t.first = first;
    t.base = rows.kept_logits ? 0 : active_[first] / slice * slice;
    t.computed = rows.kept_logits ? rows.predictions : std::min(slice, rows.predictions - t.base);
    std::vector<int32_t> prediction;
    for (size_t i = first; i < active_.size() && std::ssize(prediction) < slice; ++i) {
      if (active_[i] >= t.base + t.computed) break;
      prediction.push_back(Narrow(active_[i] - t.base));
    }
    t.count = prediction.size();
    const auto row = std::span<const int32_t>(row_).subspan(first, t.count);
    const RowLists lists(row);
    t.prediction = staging->Add(prediction);
    t.row = staging->Add(row);
    t.place = staging->Add(lists.place);
    t.list_first = staging->Add(lists.first);
    t.list = staging->Add(lists.list);
    t.places = static_cast<int64_t>(lists.place.size());
    return t;
  }

  std::vector<int32_t> active_, row_;  // predictions, and the rows that predict them
  std::vector<float> dlogprob_, dentropy_;
  std::vector<LossSlice> slices_;
  const float* dvalues_ = nullptr;
};

// Adds a slice's share to dhidden_ and to the gradients of the head.
void DeviceRunner::SliceBackward(const LossSlice& s, const TreeRows& rows) {
  const int64_t width = config().width, vocab = config().vocab;
  const Element element = weights_.element();
  if (!rows.kept_logits) Score(s.base, s.computed, rows, logits_.as<float>());
  states_.Grow(s.count * width * BytesOf(element));
  dlogits_.Grow(s.count * vocab * BytesOf(element));
  dstates_.Grow(s.count * width * int64_t{sizeof(float)});
  DeviceDistributionBackward b;
  b.forward = DistributionOf(s.base, s.computed, rows);
  b.forward.logits = logits_.as<float>();
  b.row_of = s.prediction;
  b.count = s.count;
  b.dlogprob = s.dlogprob;
  b.dentropy = s.dentropy;
  b.dlogits = dlogits_.data();
  b.element = element;
  api_.score_backward(context_, b);
  decoder_.FinalNorm(s.row, s.count, states_.data(), nullptr);
  decoder_.head().BackwardInput(
      *device_, {dlogits_.data(), s.count, Element::kF32, dstates_.data()}, decoder_.adapters());
  decoder_.head().AddGradients(*device_, {states_.data(), dlogits_.data(), s.count},
                               decoder_.adapters());
  DeviceRowList to_rows = s.rows;
  to_rows.width = width;
  to_rows.from = dstates_.as<float>();
  to_rows.to = dhidden_.as<float>();
  api_.add_rows(context_, to_rows);
}

// The gradient of the final norm's output, in dhidden_, and of the heads.
void DeviceRunner::OutputBackward(const TreeBatch& batch, const TreeRows& rows) {
  const int64_t width = config().width, all = batch.total_rows;
  const LossTables tables(batch, rows, LogitRowsOf(config().vocab), &loss_tables_);
  dhidden_.Grow(all * width * int64_t{sizeof(float)});
  api_.fill(context_, dhidden_.data(), 0, all * width * int64_t{sizeof(float)});
  for (const LossSlice& slice : tables.slices()) SliceBackward(slice, rows);
  if (model_->scalar_head < 0) return;
  DeviceDotsBackward dots;
  dots.forward = {all, width, weights_.element(), hidden_.data(),
                  weights_.Value(model_->scalar_head)};
  dots.dvalues = tables.dvalues();
  dots.dhidden = dhidden_.as<float>();
  dots.partial = decoder_.Partials(all, width);
  api_.row_dots_backward(context_, dots);
  decoder_.AddPartials(all, width, model_->scalar_head, dots.partial);
}

namespace {

// The rules of all predictions, and the tokens that they are over.
std::vector<PredictionRule> RulesOf(const TreeBatch& batch, int64_t vocab,
                                    std::vector<int32_t>* kept) {
  std::vector<PredictionRule> rules;
  for (const TreeBatch::Prediction& p : batch.predictions) {
    const Node& node = batch.NodeOf(p);
    const std::span<const TokenId> support = KeptOf(node, p.token, vocab);
    rules.push_back(
        {node.tokens[p.token], 1.0f / TemperatureOf(node), node.sampling.forbidden_set != 0 ? 1 : 0,
         Narrow(static_cast<int64_t>(kept->size())), Narrow(static_cast<int64_t>(support.size()))});
    kept->insert(kept->end(), support.begin(), support.end());
  }
  return rules;
}

}  // namespace

std::vector<TreeLogprobs> DeviceRunner::LogProbs(std::span<const Tree> trees) {
  std::vector<TreeLogprobs> all;
  for (size_t begin = 0; begin < trees.size();) {
    size_t end = begin;
    for (int64_t tokens = 0; end < trees.size() && (end == begin || tokens < kTokensAtOnce);
         ++end) {
      tokens += CountTokens(trees[end]);
    }
    TreeBatch batch(trees.subspan(begin, end - begin), &tree_pages_);
    if (batch.total_rows > 0) {
      TreeRows rows;
      Describe(batch, false, &rows);
      decoder_.Forward(rows.pass, false);
      ScoreRows(&batch, &rows, false);
    }
    for (TreeLogprobs& logprobs : batch.logprobs) all.push_back(std::move(logprobs));
    begin = end;
  }
  return all;
}

// Sends what the device has to know of a batch, and makes room for it.
void DeviceRunner::Describe(const TreeBatch& batch, bool keep, TreeRows* rows) {
  std::vector<int32_t> copied_row, copied_slot, kept, row_of;
  std::vector<KeyTile> key_tiles;
  std::vector<QuerySpan> spans;
  FindCopies(batch, &copied_row, &copied_slot);
  if (keep) FindKeys(batch, &key_tiles, &spans);
  const std::vector<PredictionRule> rules = RulesOf(batch, config().vocab, &kept);
  for (const TreeBatch::Prediction& p : batch.predictions) row_of.push_back(Narrow(p.row));
  tree_pages_.Reserve();
  Staging& staging = tree_tables_;
  staging.Begin();
  const size_t row_at = staging.Add(copied_row), slot_at = staging.Add(copied_slot);
  const size_t tile_at = staging.Add(key_tiles), span_at = staging.Add(spans);
  const size_t rule_at = staging.Add(rules), kept_at = staging.Add(kept);
  const size_t of_at = staging.Add(row_of);
  rows->pass = PassOf(batch.chunks, &tree_pages_, 0, &staging);
  rows->pass.copies = static_cast<int64_t>(copied_row.size());
  rows->pass.copied_row = staging.At<int32_t>(row_at);
  rows->pass.copied_slot = staging.At<int32_t>(slot_at);
  rows->keys = {static_cast<int64_t>(key_tiles.size()), staging.At<KeyTile>(tile_at),
                staging.At<QuerySpan>(span_at)};
  rows->rules = staging.At<PredictionRule>(rule_at);
  rows->kept = staging.At<int32_t>(kept_at);
  rows->row_of = staging.At<int32_t>(of_at);
  rows->predictions = static_cast<int64_t>(rules.size());
  int64_t positions = 0;
  for (const Chunk& chunk : batch.chunks) {
    positions = std::max(positions, chunk.position + static_cast<int64_t>(chunk.tokens.size()));
  }
  CHECK(positions <= config().max_positions, "a sequence longer than the model's positions");
  if (decoder_.Reserve(rows->pass.rows, positions, keep)) ForgetRecordings();
  rows_computed_ += rows->pass.rows;
}

void DeviceRunner::Accumulate(std::span<const Tree> trees, const Loss& loss, SharedTokens shared) {
  PrepareTraining();
  TreeBatch batch(trees, &tree_pages_);
  if (batch.total_rows == 0) return;
  TreeRows rows;
  Describe(batch, true, &rows);
  decoder_.Forward(rows.pass, true);
  // While the device computes: which rows each token's embedding was read by.
  std::vector<int32_t> tokens;
  for (const Chunk& chunk : batch.chunks) {
    tokens.insert(tokens.end(), chunk.tokens.begin(), chunk.tokens.end());
  }
  const RowLists lists(tokens);
  embedding_tables_.Begin();
  const size_t place = embedding_tables_.Add(lists.place);
  const size_t first = embedding_tables_.Add(lists.first);
  const size_t list = embedding_tables_.Add(lists.list);
  embedding_tables_.Send();

  ScoreRows(&batch, &rows, true);
  batch.AskLoss(loss, shared);
  OutputBackward(batch, rows);
  const int64_t width = config().width;
  scale_.Grow(batch.total_rows * int64_t{sizeof(float)});
  states_.Grow(batch.total_rows * width * BytesOf(weights_.element()));
  decoder_.FinalNorm(nullptr, batch.total_rows, states_.data(), scale_.as<float>());
  const float* dx =
      decoder_.Backward(rows.pass, rows.keys, dhidden_.as<float>(), scale_.as<float>());
  float* dembedding = weights_.Gradient(model_->embedding);
  if (dembedding != nullptr) {
    DeviceRowList read;
    read.places = static_cast<int64_t>(lists.place.size());
    read.width = width;
    read.from = dx;
    read.place = embedding_tables_.At<int32_t>(place);
    read.first = embedding_tables_.At<int32_t>(first);
    read.list = embedding_tables_.At<int32_t>(list);
    read.to = dembedding;
    api_.add_rows(context_, read);
  }
  // Nobody waits: the host prepares the next call meanwhile. Whatever failed is told by that one, or
  // by the step.
  api_.end_work(context_);
}

}  // namespace hone
