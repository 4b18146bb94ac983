#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/buffer.h"
#include "engine/kernels/kernels.h"
#include "engine/model_config.h"
#include "engine/page_pool.h"

namespace hone {

// The pages of a pool in this machine's memory, of kKeyBlock positions each. Within a page, rows
// that were not written are zero.
class KvPages : public PagePool {
 public:
  // At most `max_pages` at a time; 0: no limit.
  KvPages(const ModelConfig& config, Precision precision, int64_t max_pages = 0);

  int64_t bytes() const { return count() * page_bytes(); }  // held
  int64_t page_bytes() const override { return page_floats_ * static_cast<int64_t>(sizeof(float)); }

  // Of one layer and key/value head. Keys: the right operand of a product over head_dim with
  // kKeyBlock columns. Values: the right operand of a product over kKeyBlock with head_dim columns.
  Product Keys(PageId page, int64_t layer, int64_t kv_head) const;
  Product Values(PageId page, int64_t layer, int64_t kv_head) const;

  // Writes the key and value of one position; they must hold bfloat16 values in that precision.
  struct Place {
    PageId page;
    int64_t slot;  // in the page
    int64_t layer, kv_head;
  };
  void Write(const Place& place, const float* key, const float* value);
  // Reads them back as [kKeyBlock][head_dim].
  void Read(PageId page, int64_t layer, int64_t kv_head, float* keys, float* values) const;
  void CopyHead(PageId from, PageId to, int64_t layer, int64_t kv_head);
  void CopyPage(PageId from, PageId to) override;
  // Clears the positions from `slot` on.
  void ClearFrom(PageId page, int64_t slot) override;

 protected:
  void Prepare(PageId page) override;

 private:
  const float* At(PageId page, int64_t layer, int64_t kv_head) const;
  float* At(PageId page, int64_t layer, int64_t kv_head) {
    return const_cast<float*>(std::as_const(*this).At(page, layer, kv_head));
  }

  int64_t layers_, kv_heads_, head_dim_;
  Precision precision_;
  int64_t key_floats_, value_floats_, page_floats_;  // sizes in units of four bytes
  std::vector<Floats> memory_;                       // per page: [layers][kv_heads][keys, values]
};

}  // namespace hone
