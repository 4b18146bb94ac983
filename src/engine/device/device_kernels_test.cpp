// Every kernel of a device against the reference, twice, and through a recording.

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "engine/device/device_draws.h"
#include "engine/device/device_problems.h"
#include "engine/device/device_trial.h"
#include "engine/device/device_updates.h"

namespace hone {
namespace {

// A call, or several, on a random problem.
struct KernelCase {
  std::string name;
  std::function<Outputs(DeviceTrial*)> run;
};
using KernelCases = std::vector<KernelCase>;

template <typename... Sizes>
std::string CaseName(const std::string& kernel, Element element, Sizes... sizes) {
  std::string name = kernel + " " + NameOf(element);
  ((name += " " + std::to_string(sizes)), ...);
  return name;
}

void AddProducts(KernelCases* cases) {
  using Form = DeviceProduct::Form;
  struct Shape {
    int64_t m, n, k, apart;
  };
  for (const Form form : {Form::kForward, Form::kInput, Form::kWeight}) {
    for (const Element input : kElements) {
      for (const Element output : kElements) {
        for (const bool addend : {false, true}) {
          for (const Shape& s : {Shape{1, 64, 32, 0},
                                 {13, 40, 72, 8},
                                 {70, 129, 200, 8},
                                 {33, 4, 16, 0},
                                 {65, 301, 8, 0}}) {
            if (input == Element::kF32 && output == Element::kBf16) continue;  // nobody asks for it
            const ProductProblem problem =
                ProductProblem{form,   s.m, s.n, s.k, input, output, addend, addend ? 0.5f : 1.0f,
                               s.apart}
                    .Fill(Rng(static_cast<uint64_t>(s.m)));
            cases->push_back({CaseName("product", input, static_cast<int>(form), s.m, s.n, s.k,
                                       static_cast<int>(output), addend),
                              [=](DeviceTrial* t) { return problem.Run(t); }});
          }
        }
      }
    }
  }
}

Outputs RunNorm(DeviceTrial* t, Element element, int64_t rows, int64_t width, bool listed) {
  Rng rng(5);
  const float* x = t->Put(RandomFloats(rng.Split("x"), rows * width));
  const float* weight = t->Put(RandomFloats(rng.Split("w"), width));
  std::vector<int32_t> row_of;
  for (int64_t r = 0; r < rows; ++r) row_of.push_back(static_cast<int32_t>(rng.Below(rows)));
  const int32_t* list = listed ? t->Put(row_of) : nullptr;
  void* out = t->Poisoned(rows * width, element);
  float* scale = listed ? nullptr : t->Poisoned<float>(rows);
  t->Run([&](auto& api, auto* context) {
    api.rms_norm(context, {.rows = rows,
                           .width = width,
                           .x = x,
                           .row_of = list,
                           .weight = weight,
                           .eps = 1e-5f,
                           .element = element,
                           .out = out,
                           .scale = scale});
  });
  Outputs outputs = {{"out", t->Get(out, rows * width, element), element == Element::kBf16}};
  if (scale != nullptr) outputs.push_back({"scale", t->Get(scale, rows)});
  return outputs;
}

Outputs RunNormBackward(DeviceTrial* t, Element element, int64_t rows, int64_t width) {
  const Rng rng(6);
  DeviceNormBackward n{.rows = rows, .width = width};
  n.x = t->Put(RandomFloats(rng.Split("x"), rows * width));
  n.dy = t->Put(RandomFloats(rng.Split("dy"), rows * width));
  n.scale = t->Put(RandomFloats(rng.Split("scale"), rows));
  n.weight = t->Put(RandomFloats(rng.Split("w"), width));
  n.partial = t->Poisoned<float>(SlicesOf(rows) * width);
  const std::vector<float> before = RandomFloats(rng.Split("dx"), rows * width);
  n.dx = t->Put(before);
  t->Run([&](auto& api, auto* context) { api.rms_norm_backward(context, n); });
  const std::vector<float> dx = t->Get(n.dx, rows * width);
  // The same, and rounded as well.
  n.dx = t->Put(before);
  n.rounded = t->Poisoned(rows * width, element);
  n.normed = t->Poisoned(rows * width, element);
  n.element = element;
  t->Run([&](auto& api, auto* context) { api.rms_norm_backward(context, n); });
  EXPECT_TRUE(SameBits(t->Get(n.dx, rows * width), dx));
  std::vector<float> expected;
  for (const float value : dx) expected.push_back(RoundedTo(element, value));
  EXPECT_TRUE(SameBits(t->Get(n.rounded, rows * width, element), expected)) << "rounded";
  return {{"dx", dx},
          {"partial", t->Get(n.partial, SlicesOf(rows) * width)},
          {"normed", t->Get(n.normed, rows * width, element), true}};
}

Outputs RunEmbed(DeviceTrial* t, Element element, int64_t rows, int64_t width) {
  Rng rng(7);
  const void* embedding = t->Put(RandomFloats(rng.Split("e"), 50 * width), element);
  std::vector<int32_t> tokens;
  for (int64_t r = 0; r < rows; ++r) tokens.push_back(static_cast<int32_t>(rng.Below(50)));
  const int32_t* list = t->Put(tokens);
  float* x = t->Poisoned<float>(rows * width);
  t->Run([&](auto& api, auto* context) {
    api.embed(context, {rows, width, list, element, embedding, x});
  });
  return {{"x", t->Get(x, rows * width)}};
}

Outputs RunSwiGlu(DeviceTrial* t, Element element, int64_t rows, int64_t ffn) {
  const Rng rng(8);
  const int64_t size = rows * ffn;
  const bool loose = element == Element::kBf16;
  const void* gate_up = t->Put(RandomFloats(rng.Split("x"), 2 * size, 3), element);
  const void* d = t->Put(RandomFloats(rng.Split("d"), size), element);
  void* activated = t->Poisoned(size, element);
  void* again = t->Poisoned(size, element);
  void* dgate_up = t->Poisoned(2 * size, element);
  t->Run([&](auto& api, auto* context) {
    api.swiglu(context, {rows, ffn, element, gate_up, activated});
    api.swiglu_backward(context, {{rows, ffn, element, gate_up, again}, d, dgate_up});
  });
  Outputs outputs = {{"activated", t->Get(activated, size, element), loose},
                     {"again", t->Get(again, size, element), loose},
                     {"dgate_up", t->Get(dgate_up, 2 * size, element), loose}};
  EXPECT_TRUE(SameBits(outputs[0].values, outputs[1].values)) << "computed again";
  return outputs;
}

Outputs RunRowDots(DeviceTrial* t, Element element, int64_t rows, int64_t width) {
  const Rng rng(9);
  const void* hidden = t->Put(RandomFloats(rng.Split("h"), rows * width), element);
  const float* weight = t->Put(RandomFloats(rng.Split("w"), width));
  const float* dvalues = t->Put(RandomFloats(rng.Split("d"), rows));
  float* dhidden = t->Put(RandomFloats(rng.Split("dh"), rows * width));
  float* values = t->Poisoned<float>(rows);
  float* partial = t->Poisoned<float>(SlicesOf(rows) * width);
  t->Run([&](auto& api, auto* context) {
    const DeviceDots dots{rows, width, element, hidden, weight, values};
    api.row_dots(context, dots);
    api.row_dots_backward(context, {dots, dvalues, dhidden, partial});
  });
  return {{"values", t->Get(values, rows)},
          {"dhidden", t->Get(dhidden, rows * width)},
          {"partial", t->Get(partial, SlicesOf(rows) * width)}};
}

Outputs RunAddRows(DeviceTrial* t, int64_t rows, int64_t width) {
  Rng rng(10);
  const std::vector<size_t> order = Shuffled(static_cast<size_t>(rows), rng.Split("order"));
  std::vector<int32_t> place, first = {0}, list;
  for (int64_t i = 0; i < rows / 2; ++i) {
    place.push_back(static_cast<int32_t>(order[i]));
    for (uint64_t j = rng.Below(5); j > 0; --j)
      list.push_back(static_cast<int32_t>(rng.Below(rows)));
    first.push_back(static_cast<int32_t>(list.size()));
  }
  const float* from = t->Put(RandomFloats(rng.Split("from"), rows * width));
  float* to = t->Put(RandomFloats(rng.Split("to"), rows * width));
  const int32_t *places = t->Put(place), *firsts = t->Put(first), *lists = t->Put(list);
  t->Run([&](auto& api, auto* context) {
    api.add_rows(context, {std::ssize(place), width, from, places, firsts, lists, to});
  });
  return {{"to", t->Get(to, rows * width)}};
}

// Sums of rows, added up; a bias added to rows; numbers converted.
Outputs RunSums(DeviceTrial* t, Element element, int64_t rows, int64_t n) {
  const Rng rng(11);
  const int64_t y_row = n + 5;
  const void* y = t->Put(RandomFloats(rng.Split("y"), rows * y_row), element);
  const float* bias = t->Put(RandomFloats(rng.Split("bias"), n));
  float* x = t->Put(RandomFloats(rng.Split("x"), rows * n));
  float* to = t->Put(RandomFloats(rng.Split("to"), n));
  float* partial = t->Poisoned<float>(SlicesOf(rows) * n);
  void* converted = t->Poisoned(rows * n, element);
  t->Run([&](auto& api, auto* context) {
    api.sum_rows(context, {rows, n, y_row, element, y, partial});
    api.add_partials(context, {partial, SlicesOf(rows), n, to});
    api.add_bias(context, bias, rows, n, x);
    api.convert(context, x, rows * n, element, converted);
  });
  return {{"partial", t->Get(partial, SlicesOf(rows) * n)},
          {"to", t->Get(to, n)},
          {"x", t->Get(x, rows * n)},
          {"converted", t->Get(converted, rows * n, element), element == Element::kBf16}};
}

void AddRowKernels(KernelCases* cases) {
  for (const Element element : kElements) {
    for (const int64_t rows : {1, 64, 150}) {
      for (const int64_t width : {7, 64, 1030}) {
        auto add = [&](const char* name, std::function<Outputs(DeviceTrial*)> run) {
          cases->push_back({CaseName(name, element, rows, width), std::move(run)});
        };
        add("rms_norm", [=](auto* t) { return RunNorm(t, element, rows, width, false); });
        add("rms_norm of listed rows",
            [=](auto* t) { return RunNorm(t, element, rows, width, true); });
        add("rms_norm_backward", [=](auto* t) { return RunNormBackward(t, element, rows, width); });
        add("embed", [=](auto* t) { return RunEmbed(t, element, rows, width); });
        add("swiglu", [=](auto* t) { return RunSwiGlu(t, element, rows, width); });
        add("row_dots", [=](auto* t) { return RunRowDots(t, element, rows, width); });
        add("add_rows", [=](auto* t) { return RunAddRows(t, rows, width); });
        add("sums", [=](auto* t) { return RunSums(t, element, rows, width); });
      }
    }
  }
  // Multiples of 128 have a kernel of their own, up to 2048.
  for (const int64_t rows : {1, 7, 64, 150}) {
    for (const int64_t width : {128, 384, 640, 896, 1024, 2048, 2176}) {
      for (const Element element : kElements) {
        cases->push_back({CaseName("rms_norm_backward", element, rows, width),
                          [=](auto* t) { return RunNormBackward(t, element, rows, width); }});
      }
    }
  }
  auto add = [&](const std::string& name, int64_t n, double setting, auto run) {
    cases->push_back({CaseName(name, Element::kF32, n, setting), run});
  };
  for (const int64_t n : {1, 255, 1000, 300001}) {
    for (const double most : {0.0, 1.0, 1e6}) {
      add("norm_scale", n, most, [=](auto* t) { return RunNormScale(t, n, most, true); });
    }
    add("norm_scale of infinity", n, 1, [=](auto* t) { return RunNormScale(t, n, 1, false); });
  }
  for (const int64_t n : {1, 255, 256, 9001}) {
    for (const bool codes : {false, true}) {
      add("adamw", n, codes, [=](auto* t) { return RunAdamW(t, n, codes); });
    }
    for (const double share : {0.25, 1.0}) {
      add("mix", n, share, [=](auto* t) { return RunMix(t, n, share); });
    }
  }
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{24, 64}, {96, 40}, {33, 70}}) {
    cases->push_back({CaseName("orthogonal_step", Element::kF32, rows, columns),
                      [=](auto* t) { return RunOrthogonal(t, rows, columns); }});
  }
}

struct HeadShape {
  int32_t heads, kv_heads, dim;
};
constexpr HeadShape kHeadShapes[] = {{1, 1, 16}, {6, 2, 32},  {4, 2, 64}, {7, 1, 64},
                                     {2, 2, 96}, {8, 2, 128}, {2, 1, 256}};

void AddAttention(KernelCases* cases) {
  for (const Element element : kElements) {
    for (const auto& [heads, kv_heads, dim] : kHeadShapes) {
      for (const int64_t rows : {1, 70}) {
        for (const bool more : {false, true}) {  // biases and norms
          const QkvProblem p =
              QkvProblem{rows, heads, kv_heads, dim, element, more, more}.Fill(Rng(20));
          const std::vector<float> dqkv = RandomFloats(Rng(21), rows * p.Wide());
          cases->push_back({CaseName("finish_qkv", element, rows, heads, dim, more),
                            [=](auto* t) { return p.Run(t); }});
          cases->push_back({CaseName("finish_qkv_backward", element, rows, heads, dim, more),
                            [=](auto* t) { return p.RunBackward(t, dqkv); }});
        }
      }
      const AttentionProblem p =
          AttentionProblem{heads, kv_heads, dim, element, Forest()}.Fill(Rng(22));
      const std::vector<float> dout = RandomFloats(Rng(23), p.rows * heads * dim);
      for (const int64_t cut : {1, 5, static_cast<int>(kDeviceTileRows / p.group())}) {
        cases->push_back({CaseName("attend", element, heads, kv_heads, dim, cut),
                          [=](auto* t) { return p.Run(t, p.Tiles(cut)); }});
      }
      cases->push_back({CaseName("attend_backward", element, heads, kv_heads, dim),
                        [=](auto* t) { return p.RunBackward(t, dout); }});
    }
  }
}

void AddScores(KernelCases* cases) {
  for (const int64_t vocab : {3, 40, 1001, 40003}) {
    const int64_t rows = vocab > 1001 ? 4 : 19;
    const ScoreProblem p = ScoreProblem{rows, vocab}.Fill(Rng(24));
    std::vector<float> dlogprob = RandomFloats(Rng(25), rows),
                       dentropy = RandomFloats(Rng(26), rows);
    dlogprob[0] = dentropy[0] = 0;  // nobody asks for it: zeros
    cases->push_back({CaseName("score", Element::kF32, vocab), [=](auto* t) { return p.Run(t); }});
    for (const Element element : kElements) {
      for (const bool listed : {false, true}) {
        const std::vector<int32_t> row_of = listed ? std::vector{3, 0, 2} : std::vector<int32_t>();
        const int64_t count = listed ? 3 : rows;
        cases->push_back({CaseName("score_backward", element, vocab, listed), [=](auto* t) {
                            return p.RunBackward(t, element, Slice(dlogprob, 0, count),
                                                 Slice(dentropy, 0, count), row_of);
                          }});
      }
    }
  }
}

const KernelCases& AllCases() {
  static const KernelCases cases = [] {
    KernelCases all;
    AddProducts(&all);
    AddRowKernels(&all);
    AddAttention(&all);
    AddScores(&all);
    return all;
  }();
  return cases;
}

class DeviceKernels : public DeviceTest {};
HONE_FOR_EVERY_DEVICE(DeviceKernels);

TEST_P(DeviceKernels, GiveWhatTheReferenceGives) {
  for (const KernelCase& one : AllCases()) {
    SCOPED_TRACE(one.name);
    DeviceTrial reference(ReferenceDevice()), device(api_);
    const Outputs expected = one.run(&reference);
    // The reference is not computed twice: this only tells whether all is written.
    ExpectClose(expected, api_ == ReferenceDevice() ? expected : one.run(&device));
  }
}

TEST_P(DeviceKernels, GiveTheSameBitsTwiceAndWhenRecorded) {
  for (const KernelCase& one : AllCases()) {
    SCOPED_TRACE(one.name);
    DeviceTrial once(api_), twice(api_), recorded(api_, true);
    const Outputs outputs = one.run(&once);
    ExpectSameBits(outputs, one.run(&twice));
    ExpectSameBits(outputs, one.run(&recorded));
  }
}

TEST_P(DeviceKernels, DrawWhatTheReferenceDraws) {
  for (const int64_t vocab : {40, 1001, 40003}) {
    for (const bool plain : {false, true}) {
      const int64_t rows = vocab > 1001 ? 14 : 56;
      const DrawProblem p = DrawProblem{rows, vocab, plain}.Fill(Rng(30));
      DeviceTrial reference(ReferenceDevice()), device(api_), recorded(api_, true);
      const auto expected = p.Run(&reference), drawn = p.Run(&device), again = p.Run(&recorded);
      for (int64_t r = 0; r < rows; ++r) {
        SCOPED_TRACE("vocab " + std::to_string(vocab) + " row " + std::to_string(r));
        EXPECT_EQ(drawn[r].row.token, again[r].row.token) << "recorded";
        EXPECT_EQ(drawn[r].row.logprob, again[r].row.logprob) << "recorded";
        EXPECT_EQ(drawn[r].kept, again[r].kept) << "recorded";
        // Where rounding decides about a token that top_p keeps, DrawCheck has the last word.
        if (drawn[r].kept != expected[r].kept && p.rules[r].top_p < 1) continue;
        EXPECT_EQ(drawn[r].kept, expected[r].kept);
        EXPECT_NEAR(drawn[r].row.entropy, expected[r].row.entropy, 1e-4);
        EXPECT_EQ(drawn[r].likely, expected[r].likely);
      }
    }
  }
}

TEST_P(DeviceKernels, AProductThatWasNotPreparedIsAFailure) {
  const auto device = Device::Open(api_);
  ASSERT_TRUE(device.ok());
  DeviceContext* context = (*device)->context();
  DeviceProduct p{.m = 1, .n = 8, .k = 8};
  p.a = p.b = p.out = (*device)->Allocate(1024);
  p.a_row = p.b_row = p.out_row = 8;
  EXPECT_TRUE(api_->synchronize(context));
  api_->product(context, p);
  EXPECT_FALSE(api_->synchronize(context));
  EXPECT_NE(std::string(api_->error(context)).find("was not prepared"), std::string::npos);
}

TEST_P(DeviceKernels, TransfersBringWhatWasSent) {
  const auto device = Device::Open(api_);
  ASSERT_TRUE(device.ok());
  DeviceContext* context = (*device)->context();
  DeviceInfo info{};
  api_->info(context, &info);
  EXPECT_NE(std::string(info.name), "");
  EXPECT_GT(info.free_memory, 1 << 20);
  auto* sent = static_cast<int32_t*>(api_->allocate_host(context, 4000));
  auto* got = static_cast<int32_t*>(api_->allocate_host(context, 4000));
  std::iota(sent, sent + 1000, 5);
  void *from = (*device)->Allocate(4000), *to = (*device)->Allocate(4000);
  api_->upload(context, sent, 4000, from);
  api_->fill(context, to, 0, 4000);
  api_->copy(context, from, 2000, to);
  api_->download_later(context, to, 4000, got);
  ASSERT_TRUE(api_->synchronize(context)) << api_->error(context);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(got[i], i < 500 ? i + 5 : 0);
  std::vector<int32_t> last(10);
  EXPECT_TRUE(api_->download(context, static_cast<int32_t*>(from) + 990, 40, last.data()));
  EXPECT_EQ(last[9], 1004);
  EXPECT_TRUE(api_->download_rows(context, {from, 400, 5, 8}, last.data()));
  EXPECT_EQ(last, (std::vector<int32_t>{5, 6, 105, 106, 205, 206, 305, 306, 405, 406}));
  // A recording reads what is there when it is launched.
  api_->begin_recording(context);
  api_->upload(context, sent, 4000, from);
  api_->download_later(context, from, 4000, got);
  void* recording = api_->end_recording(context);
  ASSERT_NE(recording, nullptr) << api_->error(context);
  for (const int value : {17, 18}) {
    sent[0] = value;
    api_->launch(context, recording);
    ASSERT_TRUE(api_->synchronize(context)) << api_->error(context);
    EXPECT_EQ(got[0], value);
  }
  api_->forget(context, recording);
  api_->release_host(context, sent), api_->release_host(context, got);
  api_->release(context, from), api_->release(context, to);
  EXPECT_TRUE(api_->synchronize(context)) << api_->error(context);
}

}  // namespace
}  // namespace hone
