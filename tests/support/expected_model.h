#pragma once

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/safetensors.h"
#include "record/sampling.h"
#include "support/golden_models.h"

namespace hone {

// expected.safetensors of a model: what Hugging Face transformers computed.
class Expected {
 public:
  explicit Expected(const std::string& model)
      : file_(SafetensorsFile::Open(GoldenModels() / model / "expected.safetensors").value()) {}

  std::vector<float> Numbers(const std::string& name) const {
    const TensorView* view = file_.Find(name);
    EXPECT_NE(view, nullptr) << name;
    std::vector<float> values(static_cast<size_t>(view->count()));
    CopyAsF32(*view, values);
    return values;
  }
  std::vector<TokenId> Ids(const std::string& name) const {
    const TensorView* view = file_.Find(name);
    std::vector<TokenId> ids;
    for (int64_t i = 0; i < view->count(); ++i) {
      int64_t id = 0;
      const size_t size = DTypeSize(view->dtype);
      std::memcpy(&id, view->bytes.data() + static_cast<size_t>(i) * size, size);
      ids.push_back(static_cast<TokenId>(id));
    }
    return ids;
  }
  bool Has(const std::string& name) const { return file_.Find(name) != nullptr; }

 private:
  SafetensorsFile file_;
};

// To `tolerance` of the largest of theirs.
inline void ExpectNear(std::span<const float> ours, std::span<const float> theirs, double tolerance,
                       const std::string& what) {
  ASSERT_GE(ours.size(), theirs.size()) << what;
  double largest = 1e-12, worst = 0;
  for (const float x : theirs) largest = std::max<double>(largest, std::abs(x));
  for (size_t i = 0; i < theirs.size(); ++i) {
    worst = std::max<double>(worst, std::abs(static_cast<double>(ours[i]) - theirs[i]));
  }
  EXPECT_LE(worst / largest, tolerance) << what;
}

}  // namespace hone
