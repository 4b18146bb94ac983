#include "engine/device/device_runner.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace hone {
namespace {

constexpr int64_t kStagingBytes = int64_t{8} << 20;  // of recorded steps
constexpr int64_t kMostRecordedRows = 1024;
constexpr size_t kMostRecordings = 64;

// Steps of drawing are recorded for some numbers of rows, and filled up to the next.
int64_t RecordedRows(int64_t rows) {
  const int64_t unit = rows <= 8 ? 1 : rows <= 64 ? 8 : rows <= 256 ? 32 : 128;
  return (rows + unit - 1) / unit * unit;
}

// The rows of some chunks, for a pass.
struct RowTables {
  std::vector<int32_t> tokens;
  std::vector<RowPlace> places;
  std::vector<AttentionTile> tiles;
  std::vector<int32_t> tables;

  RowTables(std::span<const Chunk> chunks, const ModelConfig& config, int64_t padded_rows) {
    const int64_t positions =
        std::max<int64_t>(1, kDeviceTileRows * config.kv_heads / config.heads);
    for (const Chunk& chunk : chunks) {
      const int32_t table = Narrow(static_cast<int64_t>(tables.size()));
      tables.insert(tables.end(), chunk.table.begin(), chunk.table.end());
      const auto length = static_cast<int64_t>(chunk.tokens.size());
      for (int64_t from = 0; from < length; from += positions) {
        tiles.push_back({Narrow(static_cast<int64_t>(tokens.size()) + from),
                         Narrow(chunk.position + from), Narrow(std::min(positions, length - from)),
                         table});
      }
      for (int64_t i = 0; i < length; ++i) {
        const TokenId token = chunk.tokens[static_cast<size_t>(i)];
        CHECK(token >= 0 && token < config.vocab, "a token outside the model's vocabulary");
        const int64_t at = chunk.position + i;
        const PageId page = chunk.table[static_cast<size_t>(at / kDevicePage)];
        tokens.push_back(token);
        places.push_back({Narrow(at), Narrow(page * int64_t{kDevicePage} + at % kDevicePage)});
      }
    }
    while (static_cast<int64_t>(tokens.size()) < padded_rows) {
      tokens.push_back(0);
      places.push_back({0, -1});
      tiles.push_back({0, 0, 0, 0});
    }
  }
};

// What of a model's shape only the processor computes; empty: nothing.
std::string WhatDevicesLack(const ModelConfig& c) {
  if (c.experts > 0) return "a choice of experts";
  if (c.sinks) return "sinks of attention";
  if (c.attention_cap > 0 || c.logit_cap > 0) return "capped scores and logits";
  if (c.output_norms || c.norm_adds_one || c.scaled_embedding) return "Gemma's norms";
  if (c.activation != ModelConfig::Activation::kSilu) return "gates other than silu";
  if (c.attention_scale > 0) return "scores with a scale of their own";
  if (c.rotary_dim > 0) return "heads that are rotated in part";
  return "";
}

}  // namespace

// The buffers of a draw, for so many rows.
struct DeviceRunner::Drawing {
  Staging staging;
  DeviceBuffer states, logits, kept, drawn, likely, likely_logprob;
  HostBuffer seen;  // `drawn`, here
  int64_t rows = 0;

  explicit Drawing(const std::shared_ptr<Device>& device)
      : staging(device),
        states(device),
        logits(device),
        kept(device),
        drawn(device),
        likely(device),
        likely_logprob(device),
        seen(device) {
    staging.Reserve(kStagingBytes);
  }
};

struct DeviceRunner::Recording {
  const void* pages;
  int64_t rows;
  bool plain, adapters;
  void* steps = nullptr;  // null: seen once, recorded when it comes again
};

DeviceRunner::DeviceRunner(Model* model, DeviceRunnerOptions options,
                           std::shared_ptr<Device> device)
    : model_(model),
      options_(std::move(options)),
      device_(std::move(device)),
      api_(device_->api()),
      context_(device_->context()),
      weights_(model, device_, options_.precision),
      decoder_(&weights_, device_, options_.recompute_activations),
      forbidden_(device_,
                 static_cast<int64_t>(options_.forbidden.size()) * int64_t{sizeof(TokenId)}),
      staging_(device_),
      tree_tables_(device_),
      loss_tables_(device_),
      embedding_tables_(device_),
      drawing_(std::make_unique<Drawing>(device_)),
      tree_pages_(model->config, device_, weights_.element(), 0),
      states_(device_),
      logits_(device_),
      dlogits_(device_),
      dstates_(device_),
      hidden_(device_),
      dhidden_(device_),
      scale_(device_),
      scores_(device_),
      values_(device_) {
  for (const TokenId token : options_.forbidden) {
    CHECK(token >= 0 && token < config().vocab, "a forbidden token outside the vocabulary");
  }
  if (!options_.forbidden.empty()) {
    api_.upload(context_, options_.forbidden.data(), forbidden_.bytes(), forbidden_.data());
  }
}

int64_t DeviceRunner::PositionsOf(const ModelConfig& config) {
  int64_t positions = config.max_positions;
  for (const LayerTraits& traits : config.traits) {
    if (traits.window > 0) positions = std::min(positions, traits.window);
  }
  return positions;
}

Result<void> DeviceRunner::Supports(const ModelConfig& config) {
  constexpr int64_t kHeadSizes[] = {16, 32, 64, 96, 128, 256};
  const bool size = std::find(std::begin(kHeadSizes), std::end(kHeadSizes), config.head_dim) !=
                    std::end(kHeadSizes);
  if (const std::string lacks = WhatDevicesLack(config); !lacks.empty()) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("a GPU does not compute {} yet: use --device cpu", lacks));
  }
  if (size && config.heads / config.kv_heads <= kDeviceTileRows) return {};
  return Error(
      ErrorCode::kUnsupported,
      fmt::format("a GPU computes heads of 16, 32, 64, 96, 128 or 256 numbers, and at most "
                  "{} that share a key; this model has heads of {}, and {} of them share "
                  "one: use --device cpu",
                  kDeviceTileRows, config.head_dim, config.heads / config.kv_heads));
}

DeviceRunner::~DeviceRunner() { ForgetRecordings(); }

void DeviceRunner::ForgetRecordings() {
  for (const auto& recording : recordings_) {
    if (recording->steps != nullptr) api_.forget(context_, recording->steps);
  }
  recordings_.clear();
}

std::unique_ptr<PagePool> DeviceRunner::NewPages(int64_t bytes) {
  const int64_t page = DevicePages::PageBytes(config(), weights_.element());
  return std::make_unique<DevicePages>(config(), device_, weights_.element(),
                                       std::max<int64_t>(1, bytes / page));
}

DevicePass DeviceRunner::PassOf(std::span<const Chunk> chunks, DevicePages* pages,
                                int64_t padded_rows, Staging* staging) {
  const RowTables tables(chunks, config(), padded_rows);
  const size_t tokens = staging->Add(tables.tokens), places = staging->Add(tables.places);
  const size_t tiles = staging->Add(tables.tiles), pages_at = staging->Add(tables.tables);
  staging->Send();
  DevicePass pass;
  pass.rows = static_cast<int64_t>(tables.tokens.size());
  pass.tiles = static_cast<int64_t>(tables.tiles.size());
  pass.tokens = staging->At<int32_t>(tokens);
  pass.places = staging->At<RowPlace>(places);
  pass.tile = staging->At<AttentionTile>(tiles);
  pass.tables = staging->At<int32_t>(pages_at);
  pass.one_position = std::all_of(tables.tiles.begin(), tables.tiles.end(),
                                  [](const AttentionTile& tile) { return tile.count <= 1; });
  pass.pages = pages->memory();
  return pass;
}

// What is drawn in a step: of which orders, from which rows, by which rules.
struct DeviceRunner::StepTables {
  std::vector<size_t> drawing;  // orders
  std::vector<int32_t> row_of;
  std::vector<DrawRule> rules;
  std::vector<int32_t> allowed;
  int64_t rows = 0, positions = 0;  // of the whole step; those of the longest sequence
  bool single = true;               // every chunk is one token after which one is drawn
  bool plain = true;                // DeviceDraw's

  StepTables(std::span<const Chunk> chunks, std::span<const DrawOrder> orders) {
    for (size_t i = 0; i < chunks.size(); ++i) {
      const auto length = static_cast<int64_t>(chunks[i].tokens.size());
      rows += length;
      positions = std::max(positions, chunks[i].position + length);
      single = single && length == 1 && orders[i].request != nullptr;
      if (orders[i].request == nullptr) continue;
      drawing.push_back(i);
      row_of.push_back(Narrow(rows - 1));
      AddRule(orders[i]);
    }
  }

  void AddRule(const DrawOrder& order) {
    const TurnRequest& request = *order.request;
    const Sampling& s = request.sampling;
    DrawRule rule{.u = s.temperature == 0 ? 0 : order.Uniform(),
                  .temperature = s.temperature,
                  .top_p = s.top_p,
                  .min_p = s.min_p,
                  .top_k = s.top_k,
                  .forbidden = s.forbidden_set != 0 ? 1 : 0,
                  .allowed_first = Narrow(static_cast<int64_t>(allowed.size())),
                  .allowed_count = 0,
                  .likeliest = std::min(request.likeliest, int32_t{kMostLikely}),
                  .skip = 0};
    if (request.allow) {
      const std::vector<TokenId> may_follow = request.allow(order.drawn);
      allowed.insert(allowed.end(), may_follow.begin(), may_follow.end());
      rule.allowed_count = Narrow(static_cast<int64_t>(may_follow.size()));
    }
    plain = plain && s.temperature > 0 && s.top_k == 0 && s.top_p >= 1 && s.min_p <= 0 &&
            rule.allowed_count == 0 && rule.likeliest == 0;
    rules.push_back(rule);
  }

  // Draws that only fill up, until there are so many.
  void FillUp(int64_t draws) {
    DrawRule filler{};
    filler.skip = 1;
    filler.temperature = filler.top_p = 1;
    rules.resize(static_cast<size_t>(draws), filler);
    row_of.resize(static_cast<size_t>(draws), 0);
  }
};

// Room for so many draws; true when buffers moved.
bool DeviceRunner::ReserveDraws(int64_t draws) {
  Drawing& d = *drawing_;
  if (draws <= d.rows) return false;
  const int64_t vocab = config().vocab;
  d.states.Grow(draws * config().width * BytesOf(weights_.element()));
  d.logits.Grow(draws * vocab * int64_t{sizeof(float)});
  d.kept.Grow(draws * vocab * int64_t{sizeof(int32_t)});
  d.drawn.Grow(draws * int64_t{sizeof(DrawnRow)});
  d.likely.Grow(draws * kMostLikely * int64_t{sizeof(int32_t)});
  d.likely_logprob.Grow(draws * kMostLikely * int64_t{sizeof(float)});
  d.seen.Grow(draws * int64_t{sizeof(DrawnRow)});
  d.rows = draws;
  return true;
}

// Without its rules.
DeviceDraw DeviceRunner::DrawOf(int64_t draws, bool plain) const {
  const Drawing& d = *drawing_;
  DeviceDraw draw;
  draw.rows = draws;
  draw.vocab = config().vocab;
  draw.logits = d.logits.as<float>();
  draw.forbidden = forbidden_.as<int32_t>();
  draw.forbidden_count = static_cast<int64_t>(options_.forbidden.size());
  draw.drawn = d.drawn.as<DrawnRow>();
  draw.kept = d.kept.as<int32_t>();
  draw.likely = d.likely.as<int32_t>();
  draw.likely_logprob = d.likely_logprob.as<float>();
  draw.plain = plain;
  return draw;
}

void DeviceRunner::BeginAdvance(std::span<const Chunk> chunks, PagePool* pool,
                                std::span<const DrawOrder> orders) {
  CHECK(!under_way_, "one step at a time");
  auto* pages = static_cast<DevicePages*>(pool);
  Drawing& d = *drawing_;
  StepTables step(chunks, orders);
  for (const DrawRule& rule : step.rules) {
    CHECK(rule.forbidden == 0 || !options_.forbidden.empty(),
          "a turn names a forbidden set that the engine was not given");
  }
  CHECK(step.positions <= config().max_positions, "a sequence longer than the model's positions");
  rows_computed_ += step.rows;
  const bool recorded = step.single && step.rows <= kMostRecordedRows;
  const int64_t rows = recorded ? RecordedRows(step.rows) : step.rows;
  const int64_t draws = recorded ? rows : static_cast<int64_t>(step.drawing.size());
  step.FillUp(draws);
  bool moved = decoder_.Reserve(rows, step.positions, false);
  moved |= ReserveDraws(draws);

  // Tables whose size is the same for the same number of rows come first: a recording finds them,
  // and the beginning of the others, where they were.
  Staging& staging = recorded ? d.staging : staging_;
  const void* before = staging.data();
  staging.Begin();
  const size_t rules_at = staging.Add(step.rules), row_at = staging.Add(step.row_of);
  const size_t allowed_at = recorded && step.plain ? 0 : staging.Add(step.allowed);
  DevicePass pass = PassOf(chunks, pages, recorded ? rows : 0, &staging);
  pass.earlier_keys = pass.one_position && step.single;
  moved |= recorded && staging.data() != before;
  if (moved) ForgetRecordings();

  DeviceDraw draw = DrawOf(draws, step.plain);
  draw.rules = staging.At<DrawRule>(rules_at);
  draw.allowed = staging.At<int32_t>(allowed_at);
  auto run = [&] {
    decoder_.Forward(pass, false);
    if (draws == 0) return;
    decoder_.FinalNorm(staging.At<int32_t>(row_at), draws, d.states.data(), nullptr);
    decoder_.head().Forward(*device_, {d.states.data(), draws, nullptr, draw.logits},
                            decoder_.adapters());
    api_.draw(context_, draw);
  };
  // Lists of what may follow move the tables behind them: such steps are not recorded.
  if (recorded && step.allowed.empty()) {
    RunRecorded({pages->memory().base, rows, step.plain, decoder_.use_adapters()}, run);
  } else {
    run();
  }
  if (!step.drawing.empty()) {
    api_.download_later(context_, d.drawn.data(),
                        std::ssize(step.drawing) * int64_t{sizeof(DrawnRow)},
                        d.seen.as<DrawnRow>());
  }
  api_.end_work(context_);
  under_way_ = UnderWay{orders, std::move(step.drawing), step.plain};
}

// The first time a kind of step is run as it is, which makes everything that it needs; the second
// time it is recorded.
void DeviceRunner::RunRecorded(const Recording& kind, const std::function<void()>& run) {
  for (const auto& recording : recordings_) {
    if (recording->pages != kind.pages || recording->rows != kind.rows ||
        recording->plain != kind.plain || recording->adapters != kind.adapters) {
      continue;
    }
    if (recording->steps == nullptr) {
      api_.begin_recording(context_);
      run();
      recording->steps = api_.end_recording(context_);
    }
    if (recording->steps == nullptr) return run();
    api_.launch(context_, recording->steps);
    return;
  }
  // Pages move as they become more, and leave recordings behind that nobody asks for again.
  if (recordings_.size() >= kMostRecordings) ForgetRecordings();
  recordings_.push_back(std::make_unique<Recording>(kind));
  run();
}

std::vector<DrawnToken> DeviceRunner::EndAdvance() {
  CHECK(under_way_.has_value(), "a step that was not begun");
  const UnderWay step = *std::exchange(under_way_, std::nullopt);
  device_->Synchronize();
  const DrawnRow* seen = drawing_->seen.as<DrawnRow>();
  std::vector<DrawnToken> drawn(step.orders.size());
  for (size_t i = 0; i < step.drawing.size(); ++i) {
    DrawnToken& token = drawn[step.drawing[i]];
    token.token = seen[i].token;
    token.logprob = seen[i].logprob;
    token.entropy = seen[i].entropy;
  }
  if (!step.plain && !step.drawing.empty()) AddLists(step, &drawn);
  return drawn;
}

// Of each draw: the tokens that it could have given, and the likeliest, where that was asked for.
void DeviceRunner::AddLists(const UnderWay& step, std::vector<DrawnToken>* result) const {
  const Drawing& d = *drawing_;
  const std::span<const DrawOrder> orders = step.orders;
  const std::vector<size_t>& drawing = step.drawing;
  const DrawnRow* drawn = d.seen.as<DrawnRow>();
  const auto count = std::ssize(drawing);
  int64_t most_kept = 0, most_likely = 0;
  for (size_t i = 0; i < drawing.size(); ++i) {
    if (orders[drawing[i]].request->supports) {
      most_kept = std::max<int64_t>(most_kept, drawn[i].kept);
    }
    most_likely = std::max<int64_t>(most_likely, drawn[i].likeliest);
  }
  const int64_t vocab = config().vocab;
  std::vector<int32_t> kept(static_cast<size_t>(count * most_kept));
  std::vector<int32_t> likely(static_cast<size_t>(count * most_likely));
  std::vector<float> logprobs(likely.size());
  auto fetch = [&](const DeviceBuffer& from, int64_t row, int64_t some, auto* to) {
    if (some == 0) return;
    device_->DownloadRows({from.data(), row * 4, count, some * 4}, to->data());
  };
  fetch(d.kept, vocab, most_kept, &kept);
  fetch(d.likely, kMostLikely, most_likely, &likely);
  fetch(d.likely_logprob, kMostLikely, most_likely, &logprobs);
  for (size_t i = 0; i < drawing.size(); ++i) {
    DrawnToken& token = (*result)[drawing[i]];
    if (orders[drawing[i]].request->supports) {
      const auto first = kept.begin() + static_cast<std::ptrdiff_t>(i) * most_kept;
      token.support.kept.assign(first, first + drawn[i].kept);
    }
    for (int32_t j = 0; j < drawn[i].likeliest; ++j) {
      const size_t at = i * static_cast<size_t>(most_likely) + static_cast<size_t>(j);
      token.likeliest.push_back({likely[at], logprobs[at]});
    }
  }
}

void DeviceRunner::PrepareTraining() {
  if (optimizer_ != nullptr) return;
  weights_.MakeGradients();
  optimizer_ = std::make_unique<DeviceOptimizer>(&weights_, device_, options_.small_moments);
}

double DeviceRunner::Step(const OptimizerOptions& options) {
  PrepareTraining();
  ahead_ = true;
  return optimizer_->Step(options);
}

void DeviceRunner::PutGradients(Gradients gradients) {
  PrepareTraining();
  weights_.PutGradients(gradients);
}

std::vector<float> DeviceRunner::GradientOf(size_t parameter) const {
  const float* gradient = weights_.Gradient(static_cast<int>(parameter));
  if (gradient == nullptr || weights_.gradient_bytes() == 0) return {};
  std::vector<float> values(model_->parameters[parameter].value.size());
  device_->Download(gradient, static_cast<int64_t>(values.size() * sizeof(float)), values.data());
  return values;
}

void DeviceRunner::TakeWeights() {
  weights_.Upload();
  ahead_ = false;
}

void DeviceRunner::TakeAdapters() {
  if (!model_->lora.empty()) weights_.Upload(static_cast<size_t>(model_->lora.front().a));
  ahead_ = false;
}

void DeviceRunner::BringWeights(Model* model) {
  if (!ahead_) return;
  weights_.Download(model);
  ahead_ = false;
}

void DeviceRunner::TakeMoments(Optimizer optimizer) {
  PrepareTraining();
  optimizer_->Upload(optimizer);
}

std::vector<std::pair<std::string, int64_t>> DeviceRunner::Memory() const {
  const Drawing& d = *drawing_;
  auto sum = [](std::initializer_list<const DeviceBuffer*> buffers) {
    int64_t bytes = 0;
    for (const DeviceBuffer* buffer : buffers) bytes += buffer->bytes();
    return bytes;
  };
  return {{"device weights", weights_.value_bytes() + weights_.operand_bytes()},
          {"gradients", weights_.gradient_bytes()},
          {"moments", optimizer_ == nullptr ? 0 : optimizer_->bytes()},
          {"activations", decoder_.kept_bytes() + tree_pages_.bytes()},
          {"buffers", decoder_.buffer_bytes() + sum({&states_, &dstates_, &hidden_, &dhidden_,
                                                     &scale_, &scores_, &values_})},
          {"logits", sum({&logits_, &dlogits_})},
          {"drawing", sum({&d.states, &d.logits, &d.kept, &d.drawn, &d.likely, &d.likely_logprob})},
          {"tables", d.staging.bytes() + staging_.bytes() + tree_tables_.bytes() +
                         loss_tables_.bytes() + embedding_tables_.bytes() + forbidden_.bytes()}};
}

std::optional<DeviceUse> DeviceRunner::Use() const {
  device_->Synchronize();  // what is under way is part of it
  const DeviceInfo info = device_->info();
  return DeviceUse{device_->taken_bytes(), device_->peak_bytes(), info.memory, info.free_memory,
                   device_->busy_seconds()};
}

std::string DeviceRunner::Description() const {
  return fmt::format("{}; products {}", device_->Description(),
                     fmt::join(decoder_.products(), "; "));
}

}  // namespace hone
