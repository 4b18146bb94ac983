// Attention over paged keys, a query at a time.

#include <cmath>
#include <limits>

#include "base/exact_math.h"
#include "engine/device/reference_kernels.h"
#include "engine/kernels/reduce.h"

namespace hone::reference {
namespace {

float ScoreScale(int64_t head_dim) { return 1.0f / std::sqrt(static_cast<float>(head_dim)); }

int64_t QkvWidth(const DeviceAttention& a) {
  return int64_t{a.heads + 2 * a.kv_heads} * a.head_dim;
}

// The keys and the values of a page, [kDevicePage][head_dim] each.
struct PageKeys {
  std::vector<float> keys, values;

  PageKeys(const DeviceAttention& a, int32_t page, int64_t kv_head) {
    const DevicePageMemory& p = a.pages;
    const int64_t at =
                      page * p.PageElements() + (a.layer * p.kv_heads + kv_head) * p.HeadElements(),
                  size = kDevicePage * p.head_dim;
    keys = GetRow(p.base, p.element, at, size);
    values = GetRow(p.base, p.element, at + size, size);
  }
};

// One query head of one position.
struct Query {
  std::vector<float> q;
  int64_t row, head;
  int64_t position;

  // How many keys of the block at `block` it sees; a position sees itself.
  int64_t Visible(int64_t block) const {
    return std::clamp<int64_t>(position + 1 - block, 0, kDevicePage);
  }
};

Query QueryAt(const DeviceAttention& a, int64_t row, int64_t head, int64_t position) {
  return {GetRow(a.qkv, a.element, row * QkvWidth(a) + head * a.head_dim, a.head_dim), row, head,
          position};
}

// Calls f(query, the pages of its path) for every query of every tile.
template <typename F>
void ForQueries(const DeviceAttention& a, F f) {
  const int64_t group = a.heads / a.kv_heads;
  for (int64_t i = 0; i < a.tiles; ++i) {
    const auto& tile = a.tile[i];
    for (int64_t kv_head = 0; kv_head < a.kv_heads && tile.count > 0; ++kv_head) {
      std::vector<PageKeys> pages;
      for (int64_t block = 0; block < tile.position + tile.count; block += kDevicePage) {
        pages.emplace_back(a, a.tables[tile.table + block / kDevicePage], kv_head);
      }
      for (int64_t t = 0; t < tile.count; ++t) {
        for (int64_t h = 0; h < group; ++h) {
          f(QueryAt(a, tile.row + t, kv_head * group + h, tile.position + t), pages);
        }
      }
    }
  }
}

void AttendOne(const DeviceAttention& a, const Query& query, const std::vector<PageKeys>& pages) {
  const int64_t dim = a.head_dim;
  const float scale = ScoreScale(dim);
  float top = -std::numeric_limits<float>::infinity(), sum = 0;
  std::vector<float> out(static_cast<size_t>(dim), 0.0f);
  for (int64_t block = 0; block <= query.position; block += kDevicePage) {
    const PageKeys& page = pages[static_cast<size_t>(block / kDevicePage)];
    const int64_t visible = query.Visible(block);
    std::vector<float> weights;
    float now = top;
    for (int64_t j = 0; j < visible; ++j) {
      weights.push_back(Plain().dot(query.q.data(), page.keys.data() + j * dim, dim) * scale);
      now = std::max(now, weights.back());
    }
    // What was summed so far belongs to the largest score so far.
    const float shrink = ExpF32(top - now);
    top = now;
    float block_sum = 0;
    std::vector<float> more(out.size(), 0.0f);
    for (int64_t j = 0; j < visible; ++j) {
      const float weight = ExpF32(weights[static_cast<size_t>(j)] - now);
      block_sum += weight;
      Plain().add_scaled(page.values.data() + j * dim, Rounded(weight, a.element), dim,
                         more.data());
    }
    sum = sum * shrink + block_sum;
    for (size_t d = 0; d < out.size(); ++d) out[d] = out[d] * shrink + more[d];
  }
  for (float& value : out) value /= sum;
  SetRow(out, a.element, a.out, (query.row * a.heads + query.head) * dim);
  a.lse[query.row * a.heads + query.head] = top + static_cast<float>(NaturalLog(sum));
}

// Of a query and a key: the weight, and the gradient of their score before it was scaled.
struct PairGradient {
  float weight, dscore;
};

PairGradient GradientOf(const DeviceAttentionBackward& b, const Query& query,
                        const std::vector<float>& dout, const float* key, const float* value) {
  const int64_t dim = b.forward.head_dim, at = query.row * b.forward.heads + query.head;
  const float scale = ScoreScale(dim);
  const float score = Plain().dot(query.q.data(), key, dim) * scale;
  const float weight = ExpF32(score - b.forward.lse[at]);
  // The weights of a row sum to one, so its gradient loses their mean, which is dout out.
  return {weight, weight * (Plain().dot(dout.data(), value, dim) - b.inner[at]) * scale};
}

std::vector<float> DoutOf(const DeviceAttentionBackward& b, const Query& query) {
  const DeviceAttention& a = b.forward;
  return GetRow(b.dout, a.element, (query.row * a.heads + query.head) * a.head_dim, a.head_dim);
}

void QueryBackward(const DeviceAttentionBackward& b, const Query& query,
                   const std::vector<PageKeys>& pages) {
  const int64_t dim = b.forward.head_dim;
  const std::vector<float> dout = DoutOf(b, query);
  std::vector<float> dq(static_cast<size_t>(dim), 0.0f);
  for (int64_t position = 0; position <= query.position; ++position) {
    const PageKeys& page = pages[static_cast<size_t>(position / kDevicePage)];
    const float* key = page.keys.data() + position % kDevicePage * dim;
    const float* value = page.values.data() + position % kDevicePage * dim;
    Plain().add_scaled(key, GradientOf(b, query, dout, key, value).dscore, dim, dq.data());
  }
  std::copy(dq.begin(), dq.end(), b.dqkv + query.row * QkvWidth(b.forward) + query.head * dim);
}

// One key and its value, from the queries of its tile's spans in their order.
void KeyBackward(const DeviceAttentionBackward& b, const KeyTile& tile, int64_t offset,
                 int64_t kv_head) {
  const DeviceAttention& a = b.forward;
  const int64_t dim = a.head_dim, group = a.heads / a.kv_heads;
  const int64_t key_at = (tile.row + offset) * QkvWidth(a) + (a.heads + kv_head) * dim;
  const int64_t value_at = key_at + a.kv_heads * dim;
  const std::vector<float> key = GetRow(a.qkv, a.element, key_at, dim),
                           value = GetRow(a.qkv, a.element, value_at, dim);
  std::vector<float> dk(static_cast<size_t>(dim), 0.0f), dv = dk;
  for (int32_t s = tile.first; s < tile.last; ++s) {
    const QuerySpan& span = b.spans[s];
    for (int64_t t = 0; t < span.count; ++t) {
      if (span.position + t < tile.position + offset) continue;  // before the key
      for (int64_t h = 0; h < group; ++h) {
        const Query query = QueryAt(a, span.row + t, kv_head * group + h, span.position + t);
        const std::vector<float> dout = DoutOf(b, query);
        const PairGradient g = GradientOf(b, query, dout, key.data(), value.data());
        Plain().add_scaled(query.q.data(), g.dscore, dim, dk.data());
        Plain().add_scaled(dout.data(), g.weight, dim, dv.data());
      }
    }
  }
  std::copy(dk.begin(), dk.end(), b.dqkv + key_at);
  std::copy(dv.begin(), dv.end(), b.dqkv + value_at);
}

}  // namespace

void Attend(const DeviceAttention& a) {
  ForQueries(a, [&](const Query& query, const std::vector<PageKeys>& pages) {
    AttendOne(a, query, pages);
  });
}

void AttendBackward(const DeviceAttentionBackward& b) {
  const DeviceAttention& a = b.forward;
  for (int64_t i = 0; i < b.rows * a.heads; ++i) {
    b.inner[i] =
        Plain().dot(GetRow(b.dout, a.element, i * a.head_dim, a.head_dim).data(),
                    GetRow(a.out, a.element, i * a.head_dim, a.head_dim).data(), a.head_dim);
  }
  ForQueries(a, [&](const Query& query, const std::vector<PageKeys>& pages) {
    QueryBackward(b, query, pages);
  });
  for (int64_t i = 0; i < b.key_tiles; ++i) {
    for (int64_t offset = 0; offset < b.key_tile[i].count; ++offset) {
      for (int64_t kv_head = 0; kv_head < a.kv_heads; ++kv_head) {
        KeyBackward(b, b.key_tile[i], offset, kv_head);
      }
    }
  }
}

}  // namespace hone::reference
