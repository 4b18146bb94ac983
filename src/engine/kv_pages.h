#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/buffer.h"
#include "engine/kernels/kernels.h"
#include "engine/model_config.h"

namespace hone {

using PageId = int32_t;

// Memory for keys and values, in pages of kKeyBlock positions of all layers. Pages are counted, so
// that sequences share the pages of their common beginning. Within a page, rows that were not
// written are zero.
class KvPages {
 public:
  // At most `max_pages` at a time; 0: no limit.
  KvPages(const ModelConfig& config, Precision precision, int64_t max_pages = 0);

  // A cleared page with one owner; none when the limit is reached.
  std::optional<PageId> Allocate();
  void Share(PageId page) { ++pages_[static_cast<size_t>(page)].owners; }
  void Release(PageId page);
  int64_t Owners(PageId page) const { return pages_[static_cast<size_t>(page)].owners; }

  int64_t in_use() const { return in_use_; }
  int64_t max_pages() const { return max_pages_; }
  int64_t bytes() const { return static_cast<int64_t>(pages_.size()) * page_bytes(); }  // held
  int64_t page_bytes() const { return page_floats_ * static_cast<int64_t>(sizeof(float)); }

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
  void CopyPage(PageId from, PageId to);
  // Clears the positions from `slot` on.
  void ClearFrom(PageId page, int64_t slot);

 private:
  struct Page {
    Floats memory;  // [layers][kv_heads][keys, values]
    int64_t owners = 0;
  };
  const float* At(PageId page, int64_t layer, int64_t kv_head) const;
  float* At(PageId page, int64_t layer, int64_t kv_head) {
    return const_cast<float*>(std::as_const(*this).At(page, layer, kv_head));
  }

  int64_t layers_, kv_heads_, head_dim_;
  Precision precision_;
  int64_t max_pages_;
  int64_t key_floats_, value_floats_, page_floats_;  // sizes in units of four bytes
  int64_t in_use_ = 0;
  std::vector<Page> pages_;
  std::vector<PageId> free_;
};

// The pages of one sequence, in the order of positions. Moves; a copy is made by Fork.
class KvSequence {
 public:
  explicit KvSequence(KvPages* pages) : pages_(pages) {}
  ~KvSequence() { Clear(); }
  KvSequence(KvSequence&& other) noexcept
      : pages_(other.pages_), table_(std::move(other.table_)), length_(other.length_) {
    other.table_.clear();
    other.length_ = 0;
  }
  KvSequence& operator=(KvSequence&& other) noexcept;

  int64_t length() const { return length_; }
  const std::vector<PageId>& table() const { return table_; }
  // Pages that growing by `count` positions takes.
  int64_t PagesFor(int64_t count) const;
  // Makes room for `count` more positions; false, and nothing changed, when pages run out.
  bool Extend(int64_t count);
  void Clear();

  // A sequence that begins with the first `length` positions of this one: whole pages are shared, a
  // page that is not whole is copied. None when no page is left for that.
  std::optional<KvSequence> Fork(int64_t length) const;
  // The same at its end, for a parent whose keys are yet to be computed: `from` and `to` are the
  // page that has to be copied layer by layer, or -1.
  struct PendingCopy {
    PageId from = -1, to = -1;
  };
  std::optional<KvSequence> ForkLater(PendingCopy* copy) const;

 private:
  KvPages* pages_;
  std::vector<PageId> table_;
  int64_t length_ = 0;
};

}  // namespace hone
