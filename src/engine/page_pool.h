#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "record/sampling.h"

namespace hone {

using PageId = int32_t;

// Pages for keys and values, each of some consecutive positions of all layers: who owns which. They
// are counted, so that sequences share the pages of their common beginning. Where the numbers lie
// is for those who compute (KvPages, DevicePages).
class PagePool {
 public:
  // Pages of `positions` each, at most `max_pages` at a time; 0: no limit.
  PagePool(int64_t positions, int64_t max_pages) : positions_(positions), max_pages_(max_pages) {}
  virtual ~PagePool() = default;

  // A fresh page with one owner; none when the limit is reached.
  std::optional<PageId> Allocate();
  void Share(PageId page) { ++owners_[static_cast<size_t>(page)]; }
  void Release(PageId page);
  int64_t Owners(PageId page) const { return owners_[static_cast<size_t>(page)]; }

  int64_t positions() const { return positions_; }  // of a page
  int64_t in_use() const { return in_use_; }
  int64_t max_pages() const { return max_pages_; }
  int64_t count() const { return static_cast<int64_t>(owners_.size()); }  // in use or not
  virtual int64_t page_bytes() const = 0;

  virtual void CopyPage(PageId from, PageId to) = 0;
  // What lies from `slot` on does not count any more.
  virtual void ClearFrom(PageId page, int64_t slot) = 0;

 protected:
  // Makes room for a page that was never used, or was given back.
  virtual void Prepare(PageId page) = 0;

 private:
  int64_t positions_, max_pages_;
  int64_t in_use_ = 0;
  std::vector<int64_t> owners_;
  std::vector<PageId> free_;
};

// The pages of one sequence, in the order of positions. Moves; a copy is made by Fork.
class KvSequence {
 public:
  explicit KvSequence(PagePool* pages) : pages_(pages) {}
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
  PagePool* pages_;
  std::vector<PageId> table_;
  int64_t length_ = 0;
};

// Some more tokens of a sequence, whose pages already reach to their end. A chunk may begin where
// an earlier chunk of the same call ends: `copy` is then what KvSequence::ForkLater said.
struct Chunk {
  std::span<const PageId> table;
  int64_t position = 0;  // of the first token
  std::span<const TokenId> tokens;
  KvSequence::PendingCopy copy;
};

}  // namespace hone
