// Products of matrices, and what is computed row by row around them.

#include <cmath>

#include "engine/device/reference_kernels.h"

namespace hone::reference {
namespace {

// scale * sum (+ addend), rounded once.
void FinishProductRow(const DeviceProduct& p, int64_t row, const std::vector<float>& sums) {
  for (int64_t c = 0; c < p.n; ++c) {
    const int64_t at = row * p.out_row + c;
    float value = p.scale * sums[static_cast<size_t>(c)];
    if (p.addend != nullptr) value += Get(p.addend, p.output, at);
    Set(value, p.output, p.out, at);
  }
}

// y = x W^T: one chain of fused multiply-adds in the order of k for each output.
void MultiplyForward(const DeviceProduct& p) {
  std::vector<std::vector<float>> weight;
  for (int64_t c = 0; c < p.n; ++c) weight.push_back(GetRow(p.b, p.input, c * p.b_row, p.k));
  std::vector<float> sums(static_cast<size_t>(p.n));
  for (int64_t r = 0; r < p.m; ++r) {
    const std::vector<float> x = GetRow(p.a, p.input, r * p.a_row, p.k);
    for (size_t c = 0; c < sums.size(); ++c) {
      sums[c] = 0;
      for (size_t k = 0; k < x.size(); ++k) sums[c] = std::fma(x[k], weight[c][k], sums[c]);
    }
    FinishProductRow(p, r, sums);
  }
}

// The two gradients differ in where a's rows lie.
void MultiplyBackward(const DeviceProduct& p) {
  const bool weight = p.form == DeviceProduct::Form::kWeight;
  std::vector<std::vector<float>> right;
  for (int64_t k = 0; k < p.k; ++k) right.push_back(GetRow(p.b, p.input, k * p.b_row, p.n));
  std::vector<double> sums(static_cast<size_t>(p.n));
  for (int64_t r = 0; r < p.m; ++r) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t k = 0; k < p.k; ++k) {
      const double left = Get(p.a, p.input, weight ? k * p.a_row + r : r * p.a_row + k);
      const std::vector<float>& row = right[static_cast<size_t>(k)];
      for (size_t c = 0; c < sums.size(); ++c) sums[c] += left * row[c];
    }
    FinishProductRow(p, r, std::vector<float>(sums.begin(), sums.end()));
  }
}

// The vector h of a row of queries, keys and values: which bias and which norm it has.
struct QkvVector {
  const float* bias;  // null: none
  const float* norm;  // null: none
  int64_t at;         // its first element in the row
  int64_t scale_at;   // of its scale in the row of head_scale
  bool rotated;
  int64_t kv_head;  // -1: a query
  bool value;
};

QkvVector QkvVectorAt(const DeviceQkv& q, int64_t h) {
  const int64_t dim = q.head_dim;
  const bool query = h < q.heads, value = h >= q.heads + q.kv_heads;
  const int64_t head = query ? h : value ? h - q.heads - q.kv_heads : h - q.heads;
  const float* bias = query ? q.q_bias : value ? q.v_bias : q.k_bias;
  return {.bias = bias == nullptr ? nullptr : bias + head * dim,
          .norm = query   ? q.q_norm
                  : value ? nullptr
                          : q.k_norm,
          .at = h * dim,
          .scale_at = h,
          .rotated = !value,
          .kv_head = query ? -1 : head,
          .value = value};
}

std::vector<float> RawWithBias(const DeviceQkv& q, int64_t row, const QkvVector& of) {
  const int64_t wide = (q.heads + 2 * q.kv_heads) * q.head_dim;
  std::vector<float> x = GetRow(q.raw, Element::kF32, row * wide + of.at, q.head_dim);
  if (of.bias != nullptr) Plain().add(of.bias, q.head_dim, x.data());
  return x;
}

void Rotate(const DeviceQkv& q, int64_t row, float sign, std::vector<float>* x) {
  const int64_t half = q.head_dim / 2, at = q.places[row].position * half;
  Plain().rotate(q.cosines + at, q.sines + at, sign, half, x->data());
}

void WriteToPage(const DeviceQkv& q, int64_t slot, const QkvVector& of,
                 const std::vector<float>& x) {
  const DevicePageMemory& pages = q.pages;
  const int64_t page = slot / kDevicePage, place = slot % kDevicePage;
  const int64_t head =
      page * pages.PageElements() + (q.layer * pages.kv_heads + of.kv_head) * pages.HeadElements();
  SetRow(x, pages.element, pages.base,
         head + ((of.value ? kDevicePage : 0) + place) * pages.head_dim);
}

}  // namespace

void Multiply(const DeviceProduct& p) {
  if (p.form == DeviceProduct::Form::kForward) {
    MultiplyForward(p);
  } else {
    MultiplyBackward(p);
  }
}

void Embed(const DeviceEmbedding& c) {
  for (int64_t r = 0; r < c.rows; ++r) {
    SetRow(GetRow(c.embedding, c.element, c.tokens[r] * c.width, c.width), Element::kF32, c.x,
           r * c.width);
  }
}

void RmsNorm(const DeviceNorm& c) {
  std::vector<float> y(static_cast<size_t>(c.width));
  for (int64_t r = 0; r < c.rows; ++r) {
    const int64_t row = c.row_of == nullptr ? r : c.row_of[r];
    const float scale = Plain().rms_norm(c.x + row * c.width, c.weight, c.width, c.eps, y.data());
    SetRow(y, c.element, c.out, r * c.width);
    if (c.scale != nullptr) c.scale[r] = scale;
  }
}

void RmsNormBackward(const DeviceNormBackward& c) {
  std::fill_n(c.partial, SlicesOf(c.rows) * c.width, 0.0f);
  for (int64_t r = 0; r < c.rows; ++r) {
    const int64_t at = r * c.width;
    Plain().rms_norm_backward(c.x + at, c.weight, c.scale[r], c.dy + at, c.width, c.dx + at,
                              c.partial + r / kSliceRows * c.width);
    if (c.rounded != nullptr) {
      SetRow(GetRow(c.dx, Element::kF32, at, c.width), c.element, c.rounded, at);
    }
    for (int64_t i = 0; i < c.width && c.normed != nullptr; ++i) {
      Set(c.weight[i] * (c.x[at + i] * c.scale[r]), c.element, c.normed, at + i);
    }
  }
}

void FinishQkv(const DeviceQkv& q) {
  const int64_t vectors = q.heads + 2 * q.kv_heads, wide = vectors * q.head_dim;
  for (int64_t r = 0; r < q.rows; ++r) {
    for (int64_t h = 0; h < vectors; ++h) {
      const QkvVector of = QkvVectorAt(q, h);
      std::vector<float> x = RawWithBias(q, r, of);
      if (of.norm != nullptr) {
        std::vector<float> y(x.size());
        const float scale = Plain().rms_norm(x.data(), of.norm, q.head_dim, q.norm_eps, y.data());
        if (q.head_scale != nullptr) {
          q.head_scale[r * (q.heads + q.kv_heads) + of.scale_at] = scale;
        }
        x = y;
      }
      if (of.rotated) Rotate(q, r, 1, &x);
      SetRow(x, q.element, q.qkv, r * wide + of.at);
      const int64_t slot = q.places[r].slot;
      if (of.kv_head >= 0 && slot >= 0) WriteToPage(q, slot, of, x);
    }
  }
  for (int64_t i = 0; i < q.copies; ++i) {
    for (int64_t h = q.heads; h < vectors; ++h) {
      const QkvVector of = QkvVectorAt(q, h);
      WriteToPage(q, q.copied_slot[i], of,
                  GetRow(q.qkv, q.element, q.copied_row[i] * wide + of.at, q.head_dim));
    }
  }
}

void FinishQkvBackward(const DeviceQkvBackward& b) {
  const DeviceQkv& q = b.forward;
  const int64_t vectors = q.heads + 2 * q.kv_heads, wide = vectors * q.head_dim;
  for (float* partial : {b.q_partial, b.k_partial}) {
    if (partial != nullptr) std::fill_n(partial, SlicesOf(q.rows) * q.head_dim, 0.0f);
  }
  for (int64_t r = 0; r < q.rows; ++r) {
    for (int64_t h = 0; h < vectors; ++h) {
      const QkvVector of = QkvVectorAt(q, h);
      std::vector<float> d = GetRow(b.dqkv, Element::kF32, r * wide + of.at, q.head_dim);
      if (of.rotated) Rotate(q, r, -1, &d);
      if (of.norm != nullptr) {
        const std::vector<float> x = RawWithBias(q, r, of);
        std::vector<float> dx(x.size(), 0.0f), dweight(x.size(), 0.0f);
        Plain().rms_norm_backward(x.data(), of.norm,
                                  q.head_scale[r * (q.heads + q.kv_heads) + of.scale_at], d.data(),
                                  q.head_dim, dx.data(), dweight.data());
        float* partial = of.kv_head < 0 ? b.q_partial : b.k_partial;
        if (partial != nullptr) {
          Plain().add(dweight.data(), q.head_dim, partial + r / kSliceRows * q.head_dim);
        }
        d = dx;
      }
      SetRow(d, q.element, b.draw, r * wide + of.at);
    }
  }
}

void AddBias(const AddBiasCall& c) {
  for (int64_t r = 0; r < c.rows; ++r) Plain().add(c.bias, c.n, c.x + r * c.n);
}

void SwiGlu(const DeviceSwiGlu& c) {
  std::vector<float> y(static_cast<size_t>(c.ffn));
  for (int64_t r = 0; r < c.rows; ++r) {
    const std::vector<float> both = GetRow(c.gate_up, c.element, r * 2 * c.ffn, 2 * c.ffn);
    Plain().swiglu(both.data(), both.data() + c.ffn, c.ffn, y.data());
    SetRow(y, c.element, c.activated, r * c.ffn);
  }
}

void SwiGluBackward(const DeviceSwiGluBackward& b) {
  const DeviceSwiGlu& c = b.forward;
  SwiGlu(c);
  std::vector<float> dboth(static_cast<size_t>(2 * c.ffn));
  for (int64_t r = 0; r < c.rows; ++r) {
    const std::vector<float> both = GetRow(c.gate_up, c.element, r * 2 * c.ffn, 2 * c.ffn);
    const std::vector<float> d = GetRow(b.d, c.element, r * c.ffn, c.ffn);
    Plain().swiglu_backward(both.data(), both.data() + c.ffn, d.data(), c.ffn,
                            {dboth.data(), dboth.data() + c.ffn});
    SetRow(dboth, c.element, b.dgate_up, r * 2 * c.ffn);
  }
}

void RowDots(const DeviceDots& c) {
  for (int64_t r = 0; r < c.rows; ++r) {
    const std::vector<float> row = GetRow(c.hidden, c.element, r * c.width, c.width);
    c.values[r] = Plain().dot(row.data(), c.weight, c.width);
  }
}

void RowDotsBackward(const DeviceDotsBackward& b) {
  const DeviceDots& c = b.forward;
  std::fill_n(b.partial, SlicesOf(c.rows) * c.width, 0.0f);
  for (int64_t r = 0; r < c.rows; ++r) {
    const std::vector<float> row = GetRow(c.hidden, c.element, r * c.width, c.width);
    Plain().add_scaled(c.weight, b.dvalues[r], c.width, b.dhidden + r * c.width);
    Plain().add_scaled(row.data(), b.dvalues[r], c.width, b.partial + r / kSliceRows * c.width);
  }
}

void AddRows(const DeviceRowList& c) {
  for (int64_t i = 0; i < c.places; ++i) {
    std::vector<float> sum(static_cast<size_t>(c.width), 0.0f);
    for (int32_t j = c.first[i]; j < c.first[i + 1]; ++j) {
      Plain().add(c.from + c.list[j] * c.width, c.width, sum.data());
    }
    Plain().add(sum.data(), c.width, c.to + c.place[i] * c.width);
  }
}

void SumRows(const DeviceRowSums& c) {
  std::fill_n(c.partial, SlicesOf(c.rows) * c.n, 0.0f);
  for (int64_t r = 0; r < c.rows; ++r) {
    const std::vector<float> row = GetRow(c.y, c.element, r * c.y_row, c.n);
    Plain().add(row.data(), c.n, c.partial + r / kSliceRows * c.n);
  }
}

void AddPartials(const DevicePartials& c) {
  if (!c.add) std::fill_n(c.to, c.n, 0.0f);
  const int64_t row = c.row == 0 ? c.n : c.row;
  for (int64_t i = 0; i < c.count; ++i) Plain().add(c.partial + i * row, c.n, c.to);
}

void Convert(const ConvertCall& c) {
  for (int64_t i = 0; i < c.n; ++i) Set(c.from[i], c.element, c.to, i);
}

}  // namespace hone::reference
