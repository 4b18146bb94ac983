#include "engine/buffer.h"

#include <sys/mman.h>

namespace hone {
namespace {

constexpr size_t kCacheLine = 64, kHugePage = size_t{2} << 20;

size_t AlignmentOf(size_t bytes) { return bytes >= 2 * kHugePage ? kHugePage : kCacheLine; }

}  // namespace

void* AllocateBuffer(size_t bytes) {
  const size_t alignment = AlignmentOf(bytes);
  void* memory = ::operator new(bytes, std::align_val_t(alignment));
  // Only advice: where the system has no huge pages, nothing changes.
  if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void FreeBuffer(void* memory, size_t bytes) {
  ::operator delete(memory, std::align_val_t(AlignmentOf(bytes)));
}

}  // namespace hone
