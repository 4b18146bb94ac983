#pragma once

// Random problems for the kernels whose arguments take some building: products, queries and keys,
// attention over trees, distributions and draws.

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/device/device_trial.h"

namespace hone {

inline std::vector<float> Slice(const std::vector<float>& from, int64_t first, int64_t count) {
  return {from.begin() + first, from.begin() + first + count};
}

// Rows are a few elements further apart than they are wide.
struct ProductProblem {
  using Form = DeviceProduct::Form;
  Form form;
  int64_t m, n, k;
  Element input, output;
  bool addend;
  float scale = 1;
  int64_t apart = 8;
  std::vector<float> a, b, addends;

  ProductProblem& Fill(Rng rng) {
    a = RandomFloats(rng.Split("a"), ARows() * ARow(), 1, input);
    b = RandomFloats(rng.Split("b"), BRows() * BRow(), 1, input);
    if (addend) addends = RandomFloats(rng.Split("addend"), m * OutRow(), 1, output);
    return *this;
  }
  int64_t ARows() const { return form == Form::kWeight ? k : m; }
  int64_t ARow() const { return (form == Form::kWeight ? m : k) + apart; }
  int64_t BRows() const { return form == Form::kForward ? n : k; }
  int64_t BRow() const { return (form == Form::kForward ? k : n) + apart; }
  int64_t OutRow() const { return n + apart; }
  int64_t AAt(int64_t row, int64_t i) const {
    return form == Form::kWeight ? i * ARow() + row : row * ARow() + i;
  }
  int64_t BAt(int64_t column, int64_t i) const {
    return form == Form::kForward ? column * BRow() + i : i * BRow() + column;
  }

  // Some rows of the result; all of them for the forms whose rows are not by themselves.
  Outputs Run(DeviceTrial* trial, int64_t first, int64_t rows) const {
    const int64_t size = rows * OutRow();
    DeviceProduct p{.form = form, .m = rows, .n = n, .k = k};
    p.a = trial->Put(form == Form::kForward ? Slice(a, first * ARow(), rows * ARow()) : a, input);
    p.b = trial->Put(b, input);
    // The addend is where the result goes.
    p.out = addend ? trial->Put(Slice(addends, first * OutRow(), size), output)
                   : trial->Poisoned(size, output);
    p.addend = addend ? p.out : nullptr;
    p.a_row = ARow(), p.b_row = BRow(), p.out_row = OutRow();
    p.input = input, p.output = output, p.scale = scale;
    if (form == Form::kForward) {
      char chosen[512];
      const DeviceProductShape shape{n, k, input, output, addend, 512};
      EXPECT_TRUE(trial->api().prepare_product(trial->context(), shape, chosen, sizeof chosen))
          << trial->api().error(trial->context());
    }
    trial->Run([&](auto& api, auto* context) { api.product(context, p); });
    const std::vector<float> all = trial->Get(p.out, size, output);
    Output out{"out", {}, input == Element::kBf16 || output == Element::kBf16};
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < OutRow(); ++c) {
        const float value = all[r * OutRow() + c];
        if (c < n) {
          out.values.push_back(value);
        } else if (addend) {
          EXPECT_EQ(value, addends[(first + r) * OutRow() + c]) << "written between rows";
        } else {
          EXPECT_TRUE(std::isnan(value)) << "written between rows";
        }
      }
    }
    return {out};
  }
  Outputs Run(DeviceTrial* trial) const { return Run(trial, 0, m); }
};

// Rows of queries, keys and values. Every fifth row fills up: it has no slot.
struct QkvProblem {
  static constexpr int64_t kPositions = 200, kLayers = 3, kLayer = 1;
  int64_t rows;
  int32_t heads, kv_heads, dim;
  Element element;
  bool biases, norms;
  std::vector<float> raw, q_bias, k_bias, v_bias, q_norm, k_norm, cosines, sines;
  std::vector<RowPlace> places;
  std::vector<int32_t> copied_row, copied_slot;
  int64_t pages = 0;

  QkvProblem& Fill(Rng rng) {
    auto random = [&](const char* label, int64_t count) {
      return RandomFloats(rng.Split(label), count);
    };
    raw = random("raw", rows * Wide());
    q_bias = random("q_bias", heads * dim);
    k_bias = random("k_bias", kv_heads * dim);
    v_bias = random("v_bias", kv_heads * dim);
    q_norm = random("q_norm", dim);
    k_norm = random("k_norm", dim);
    for (const float angle : random("angle", kPositions * dim / 2)) {
      cosines.push_back(std::cos(angle));
      sines.push_back(std::sin(angle));
    }
    pages = (rows + kDevicePage - 1) / kDevicePage + 1;
    const std::vector<size_t> slots =
        Shuffled(static_cast<size_t>(pages * kDevicePage), rng.Split("slots"));
    for (int64_t r = 0; r < rows; ++r) {
      places.push_back({static_cast<int32_t>(rng.Below(kPositions)),
                        r % 5 == 4 ? -1 : static_cast<int32_t>(slots[r])});
    }
    for (int64_t copy = 0; copy < 3; ++copy) {
      copied_row.push_back(static_cast<int32_t>(rng.Below(rows)));
      copied_slot.push_back(static_cast<int32_t>(slots[rows + copy]));
    }
    return *this;
  }
  int64_t Vectors() const { return heads + 2 * kv_heads; }
  int64_t Wide() const { return Vectors() * dim; }
  // Without what is copied: that may be of other rows.
  QkvProblem Rows(int64_t first, int64_t count) const {
    QkvProblem part = *this;
    part.rows = count;
    part.copied_row.clear(), part.copied_slot.clear();
    part.raw = Slice(raw, first * Wide(), count * Wide());
    part.places = {places.begin() + first, places.begin() + first + count};
    return part;
  }

  DeviceQkv Call(DeviceTrial* t) const {
    DeviceQkv q{.rows = rows, .heads = heads, .kv_heads = kv_heads, .head_dim = dim};
    q.layer = kLayer;
    q.element = element;
    q.raw = t->Put(raw);
    if (biases) q.q_bias = t->Put(q_bias), q.k_bias = t->Put(k_bias), q.v_bias = t->Put(v_bias);
    if (norms) q.q_norm = t->Put(q_norm), q.k_norm = t->Put(k_norm);
    q.norm_eps = 1e-5f;
    q.cosines = t->Put(cosines), q.sines = t->Put(sines);
    q.places = t->Put(places);
    q.copied_row = t->Put(copied_row), q.copied_slot = t->Put(copied_slot);
    q.copies = std::ssize(copied_row);
    q.pages = {nullptr, kLayers, kv_heads, dim, element};
    q.pages.base = t->Poisoned(pages * q.pages.PageElements(), element);
    q.qkv = t->Poisoned(rows * Wide(), element);
    if (norms) q.head_scale = t->Poisoned<float>(rows * (heads + kv_heads));
    return q;
  }
  Outputs Run(DeviceTrial* t) const {
    const DeviceQkv q = Call(t);
    t->Run([&](auto& api, auto* context) { api.finish_qkv(context, q); });
    const bool loose = element == Element::kBf16;
    Outputs outputs = {{"qkv", t->Get(q.qkv, rows * Wide(), element), loose}, PagesOf(q, t)};
    if (norms) outputs.push_back({"head_scale", t->Get(q.head_scale, rows * (heads + kv_heads))});
    return outputs;
  }
  // The keys and values of rows with a slot, from their pages. Nothing else was written there.
  Output PagesOf(const DeviceQkv& q, DeviceTrial* t) const {
    std::vector<float> all = t->Get(q.pages.base, pages * q.pages.PageElements(), element);
    Output output{"pages", {}, element == Element::kBf16};
    std::vector<int32_t> slots = copied_slot;
    for (const RowPlace& place : places) slots.push_back(place.slot);
    for (const int32_t slot : slots) {
      for (int64_t h = 0; h < 2 * kv_heads && slot >= 0; ++h) {
        const int64_t at = slot / kDevicePage * q.pages.PageElements() +
                           (kLayer * kv_heads + h / 2) * q.pages.HeadElements() +
                           (h % 2 * kDevicePage + slot % kDevicePage) * dim;
        for (int64_t d = 0; d < dim; ++d) {
          output.values.push_back(
              std::exchange(all[at + d], std::numeric_limits<float>::quiet_NaN()));
        }
      }
    }
    EXPECT_TRUE(std::all_of(all.begin(), all.end(), [](float x) { return std::isnan(x); }))
        << "written beside the slots";
    return output;
  }
  Outputs RunBackward(DeviceTrial* t, const std::vector<float>& dqkv) const {
    DeviceQkvBackward b{.forward = Call(t)};
    t->api().finish_qkv(t->context(), b.forward);
    b.dqkv = t->Put(dqkv);
    b.draw = t->Poisoned(rows * Wide(), element);
    const int64_t partial = SlicesOf(rows) * dim;
    if (norms) b.q_partial = t->Poisoned<float>(partial), b.k_partial = t->Poisoned<float>(partial);
    t->Run([&](auto& api, auto* context) { api.finish_qkv_backward(context, b); });
    const bool loose = element == Element::kBf16;
    Outputs outputs = {{"draw", t->Get(b.draw, rows * Wide(), element), loose}};
    if (norms) {
      outputs.push_back({"q_partial", t->Get(b.q_partial, partial)});
      outputs.push_back({"k_partial", t->Get(b.k_partial, partial)});
    }
    return outputs;
  }
};

// Attention over trees. A node has a page of its own from the first position that is its own on;
// whole pages of its ancestors are shared, part of one is copied.
struct AttentionProblem {
  static constexpr int64_t kLayers = 2, kLayer = 1;
  struct Node {
    int parent;  // -1: a root
    int64_t count;
    int64_t row = 0, position = 0;
    std::vector<int32_t> table;
  };
  int32_t heads, kv_heads, dim;
  Element element;
  std::vector<Node> nodes;
  std::vector<float> qkv;       // [rows][heads + 2 kv_heads][dim]
  float unwritten = 3;          // what is in slots that have no key, and in the other layer
  int64_t rows = 0, pages = 0;  // set by Fill, as what follows
  std::vector<int32_t> tables;
  std::vector<int32_t> first_table;  // of each node, in `tables`

  AttentionProblem& Fill(Rng rng) {
    int64_t room = 0;
    for (const Node& node : nodes) room += node.count / kDevicePage + 3;
    const std::vector<size_t> ids = Shuffled(static_cast<size_t>(room), rng.Split("pages"));
    for (Node& node : nodes) {
      node.row = rows;
      rows += node.count;
      if (node.parent >= 0) {
        node.position = nodes[node.parent].position + nodes[node.parent].count;
      }
      const int64_t length = node.position + node.count;
      for (int64_t at = 0; at < length; at += kDevicePage) {
        const bool shared = at + kDevicePage <= node.position;
        node.table.push_back(shared ? nodes[node.parent].table[at / kDevicePage]
                                    : static_cast<int32_t>(ids[pages++]));
      }
      first_table.push_back(static_cast<int32_t>(tables.size()));
      tables.insert(tables.end(), node.table.begin(), node.table.end());
    }
    pages = room;
    qkv = RandomFloats(rng.Split("qkv"), rows * Wide(), 1, element);
    return *this;
  }
  int64_t Wide() const { return int64_t{heads + 2 * kv_heads} * dim; }
  int64_t group() const { return heads / kv_heads; }
  // The row of a position on the path of a node.
  int64_t PathRow(size_t n, int64_t position) const {
    while (position < nodes[n].position) n = static_cast<size_t>(nodes[n].parent);
    return nodes[n].row + position - nodes[n].position;
  }
  bool IsBelow(int node, int above) const {
    while (node >= 0 && node != above) node = nodes[node].parent;
    return node == above;
  }
  DevicePageMemory Layout() const { return {nullptr, kLayers, kv_heads, dim, element}; }
  std::vector<float> PageValues() const {
    const DevicePageMemory layout = Layout();
    std::vector<float> values(static_cast<size_t>(pages * layout.PageElements()), unwritten);
    for (size_t n = 0; n < nodes.size(); ++n) {
      for (int64_t at = 0; at < nodes[n].position + nodes[n].count; ++at) {
        for (int64_t h = 0; h < 2 * kv_heads; ++h) {  // keys, then values
          const int64_t kv_head = h % kv_heads, value = h / kv_heads;
          const float* from = qkv.data() + PathRow(n, at) * Wide() + (heads + h) * dim;
          std::copy_n(from, dim,
                      values.begin() + nodes[n].table[at / kDevicePage] * layout.PageElements() +
                          (kLayer * kv_heads + kv_head) * layout.HeadElements() +
                          (value * kDevicePage + at % kDevicePage) * dim);
        }
      }
    }
    return values;
  }

  // Tiles of at most `cut` positions, and one that fills up after each node's.
  std::vector<AttentionTile> Tiles(int64_t cut) const {
    std::vector<AttentionTile> tiles;
    for (size_t n = 0; n < nodes.size(); ++n) {
      for (int64_t at = 0; at < nodes[n].count; at += cut) {
        tiles.push_back({static_cast<int32_t>(nodes[n].row + at),
                         static_cast<int32_t>(nodes[n].position + at),
                         static_cast<int32_t>(std::min(cut, nodes[n].count - at)), first_table[n]});
      }
      tiles.push_back({0, 0, 0, 0});
    }
    return tiles;
  }
  std::vector<AttentionTile> Tiles() const { return Tiles(kDeviceTileRows / group()); }
  // Of each node's keys, with the queries of the node from there on and of all nodes below.
  std::pair<std::vector<KeyTile>, std::vector<QuerySpan>> KeyTiles() const {
    std::vector<KeyTile> tiles;
    std::vector<QuerySpan> spans;
    for (size_t n = 0; n < nodes.size(); ++n) {
      for (int64_t at = 0; at < nodes[n].count; at += kDevicePage) {
        const auto first = static_cast<int32_t>(spans.size());
        for (size_t below = n; below < nodes.size(); ++below) {
          const Node& node = nodes[below];
          if (!IsBelow(static_cast<int>(below), static_cast<int>(n))) continue;
          const int64_t skip = below == n ? at : 0;
          spans.push_back({static_cast<int32_t>(node.row + skip),
                           static_cast<int32_t>(node.position + skip),
                           static_cast<int32_t>(node.count - skip)});
        }
        tiles.push_back({static_cast<int32_t>(nodes[n].row + at),
                         static_cast<int32_t>(nodes[n].position + at),
                         static_cast<int32_t>(std::min<int64_t>(kDevicePage, nodes[n].count - at)),
                         first, static_cast<int32_t>(spans.size())});
      }
    }
    return {tiles, spans};
  }

  DeviceAttention Call(DeviceTrial* t, const std::vector<AttentionTile>& tiles) const {
    DeviceAttention a{.tiles = static_cast<int64_t>(tiles.size()), .tile = t->Put(tiles)};
    a.tables = t->Put(tables);
    a.heads = heads, a.kv_heads = kv_heads, a.head_dim = dim, a.layer = kLayer;
    a.element = element;
    a.pages = Layout();
    a.pages.base = t->Put(PageValues(), element);
    a.qkv = t->Put(qkv, element);
    a.out = t->Poisoned(rows * heads * dim, element);
    a.lse = t->Poisoned<float>(rows * heads);
    a.one_position = std::all_of(tiles.begin(), tiles.end(), [](auto& x) { return x.count <= 1; });
    return a;
  }
  // Rows that no tile has stay poisoned.
  Outputs Run(DeviceTrial* t, const std::vector<AttentionTile>& tiles) const {
    const DeviceAttention a = Call(t, tiles);
    t->Run([&](auto& api, auto* context) { api.attend(context, a); });
    const bool loose = element == Element::kBf16;
    return {{"out", t->Get(a.out, rows * heads * dim, element), loose},
            {"lse", t->Get(a.lse, rows * heads), loose}};
  }
  Outputs RunBackward(DeviceTrial* t, const std::vector<float>& dout) const {
    DeviceAttentionBackward b{.forward = Call(t, Tiles()), .rows = rows};
    t->api().attend(t->context(), b.forward);
    b.dout = t->Put(dout, element);
    b.dqkv = t->Poisoned<float>(rows * Wide());
    b.inner = t->Poisoned<float>(rows * heads);
    const auto [tiles, spans] = KeyTiles();
    b.key_tiles = static_cast<int64_t>(tiles.size());
    b.key_tile = t->Put(tiles);
    b.spans = t->Put(spans);
    t->Run([&](auto& api, auto* context) { api.attend_backward(context, b); });
    return {{"dqkv", t->Get(b.dqkv, rows * Wide()), element == Element::kBf16}};
  }
};

// A tree that branches inside a page, on its border and at once, beside one of a single node.
inline std::vector<AttentionProblem::Node> Forest() {
  return {{-1, 70}, {0, 58}, {1, 20}, {1, 5}, {0, 1}, {4, 66}, {-1, 9}};
}

// Predictions of tokens: every third over some kept tokens, every other with forbidden ones.
struct ScoreProblem {
  int64_t rows, vocab;
  std::vector<float> logits;
  std::vector<int32_t> forbidden, kept;
  std::vector<PredictionRule> rules;

  ScoreProblem& Fill(Rng rng) {
    logits = RandomFloats(rng.Split("logits"), rows * vocab, 2);
    for (int64_t v = 1; v < vocab; v += 7) forbidden.push_back(static_cast<int32_t>(v));
    for (int64_t r = 0; r < rows; ++r) {
      PredictionRule rule{};
      rule.inverse_temperature = 1.0f / (0.5f + static_cast<float>(rng.NextDouble()));
      rule.forbidden = static_cast<int32_t>(r % 2);
      rule.kept_first = static_cast<int32_t>(kept.size());
      for (int32_t v = 0; r % 3 == 1 && v < vocab; ++v) {
        const bool allowed = rule.forbidden == 0 || v % 7 != 1;
        if (allowed && (v == 0 || rng.Below(4) == 0)) kept.push_back(v);
      }
      rule.kept_count = static_cast<int32_t>(kept.size()) - rule.kept_first;
      rule.token = rule.kept_count == 0
                       ? static_cast<int32_t>(rng.Below(static_cast<uint64_t>(vocab)) / 7 * 7)
                       : kept[rule.kept_first + rng.Below(rule.kept_count)];
      rules.push_back(rule);
    }
    return *this;
  }
  ScoreProblem Rows(int64_t first, int64_t count) const {
    ScoreProblem part = *this;
    part.rows = count;
    part.logits = Slice(logits, first * vocab, count * vocab);
    part.rules = {rules.begin() + first, rules.begin() + first + count};
    return part;
  }
  DeviceDistribution Call(DeviceTrial* t) const {
    DeviceDistribution d{.rows = rows, .vocab = vocab, .logits = t->Put(logits)};
    d.forbidden = t->Put(forbidden);
    d.forbidden_count = static_cast<int64_t>(forbidden.size());
    d.rules = t->Put(rules);
    d.kept = t->Put(kept);
    d.logprob = t->Poisoned<float>(rows);
    d.entropy = t->Poisoned<float>(rows);
    d.log_sum = t->Poisoned<float>(rows);
    return d;
  }
  Outputs Run(DeviceTrial* t) const {
    const DeviceDistribution d = Call(t);
    t->Run([&](auto& api, auto* context) { api.score(context, d); });
    return {{"logprob", t->Get(d.logprob, rows)},
            {"entropy", t->Get(d.entropy, rows)},
            {"log_sum", t->Get(d.log_sum, rows)},
            {"logits", Masked(t->Get(d.logits, rows * vocab))}};
  }
  // What is masked has no probability, however low it is.
  static std::vector<float> Masked(std::vector<float> logits) {
    for (float& logit : logits) logit = logit <= -1e29f ? -1.0f : logit;
    return logits;
  }
  // Of all rows, or of those that are listed.
  Outputs RunBackward(DeviceTrial* t, Element element, const std::vector<float>& dlogprob,
                      const std::vector<float>& dentropy,
                      const std::vector<int32_t>& row_of = {}) const {
    DeviceDistributionBackward b{.forward = Call(t)};
    t->api().score(t->context(), b.forward);
    b.dlogprob = t->Put(dlogprob), b.dentropy = t->Put(dentropy);
    b.count = std::ssize(dlogprob);
    if (!row_of.empty()) b.row_of = t->Put(row_of);
    b.dlogits = t->Poisoned(b.count * vocab, element);
    b.element = element;
    t->Run([&](auto& api, auto* context) { api.score_backward(context, b); });
    return {{"dlogits", t->Get(b.dlogits, b.count * vocab, element), element == Element::kBf16}};
  }
};

}  // namespace hone
