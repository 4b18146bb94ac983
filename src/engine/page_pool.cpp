#include "engine/page_pool.h"

#include "base/check.h"

namespace hone {

std::optional<PageId> PagePool::Allocate() {
  if (max_pages_ > 0 && in_use_ >= max_pages_) return std::nullopt;
  if (free_.empty()) {
    free_.push_back(static_cast<PageId>(owners_.size()));
    owners_.push_back(0);
  }
  const PageId id = free_.back();
  free_.pop_back();
  Prepare(id);
  owners_[static_cast<size_t>(id)] = 1;
  ++in_use_;
  return id;
}

void PagePool::Release(PageId id) {
  int64_t& owners = owners_[static_cast<size_t>(id)];
  DCHECK(owners > 0);
  if (--owners > 0) return;
  free_.push_back(id);
  --in_use_;
}

KvSequence& KvSequence::operator=(KvSequence&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(table_, other.table_);
  std::swap(length_, other.length_);
  return *this;
}

void KvSequence::Clear() {
  for (const PageId page : table_) pages_->Release(page);
  table_.clear();
  length_ = 0;
}

int64_t KvSequence::PagesFor(int64_t count) const {
  return (length_ + count + pages_->positions() - 1) / pages_->positions() -
         static_cast<int64_t>(table_.size());
}

bool KvSequence::Extend(int64_t count) {
  const size_t before = table_.size();
  for (int64_t missing = PagesFor(count); missing > 0; --missing) {
    const std::optional<PageId> page = pages_->Allocate();
    if (!page) {
      for (; table_.size() > before; table_.pop_back()) pages_->Release(table_.back());
      return false;
    }
    table_.push_back(*page);
  }
  length_ += count;
  return true;
}

std::optional<KvSequence> KvSequence::Fork(int64_t length) const {
  CHECK(length >= 0 && length <= length_);
  KvSequence fork(pages_);
  const int64_t whole = length / pages_->positions(), rest = length % pages_->positions();
  if (rest > 0) {
    const std::optional<PageId> page = pages_->Allocate();
    if (!page) return std::nullopt;
    pages_->CopyPage(table_[static_cast<size_t>(whole)], *page);
    if (length < length_) pages_->ClearFrom(*page, rest);
    fork.table_.push_back(*page);
  }
  for (int64_t i = 0; i < whole; ++i) pages_->Share(table_[static_cast<size_t>(i)]);
  fork.table_.insert(fork.table_.begin(), table_.begin(), table_.begin() + whole);
  fork.length_ = length;
  return fork;
}

std::optional<KvSequence> KvSequence::ForkLater(PendingCopy* copy) const {
  KvSequence fork(pages_);
  const int64_t whole = length_ / pages_->positions();
  *copy = {};
  if (length_ % pages_->positions() > 0) {
    const std::optional<PageId> page = pages_->Allocate();
    if (!page) return std::nullopt;
    *copy = {table_[static_cast<size_t>(whole)], *page};
    fork.table_.push_back(*page);
  }
  for (int64_t i = 0; i < whole; ++i) pages_->Share(table_[static_cast<size_t>(i)]);
  fork.table_.insert(fork.table_.begin(), table_.begin(), table_.begin() + whole);
  fork.length_ = length_;
  return fork;
}

}  // namespace hone
