#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace hone {

// Aligned to a cache line; large ones in huge pages, which cost a fraction of the page faults.
// Throws std::bad_alloc, as operator new does.
void* AllocateBuffer(size_t bytes);
void FreeBuffer(void* memory, size_t bytes);

// Memory for numbers that are about to be written: aligned to a cache line, not cleared first.
template <typename T>
struct UninitializedAllocator {
  using value_type = T;

  UninitializedAllocator() = default;
  template <typename U>
  UninitializedAllocator(const UninitializedAllocator<U>&) {}
  T* allocate(size_t count) { return static_cast<T*>(AllocateBuffer(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) { FreeBuffer(memory, count * sizeof(T)); }
  template <typename U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;  // default-initialised: numbers stay as they are
  }
  template <typename U, typename... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(static_cast<Arguments&&>(arguments)...);
  }
  bool operator==(const UninitializedAllocator&) const { return true; }
};

inline int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// resize() leaves what is new unwritten; assign(n, 0) clears.
using Floats = std::vector<float, UninitializedAllocator<float>>;
// One gradient buffer per parameter of a model; empty for those that are not trained.
using Gradients = std::vector<Floats>;

// Grows to at least `count` and keeps its memory for the next call.
inline float* Room(Floats* buffer, int64_t count) {
  if (buffer->size() < static_cast<size_t>(count)) buffer->resize(static_cast<size_t>(count));
  return buffer->data();
}

inline float* ZeroRoom(Floats* buffer, int64_t count) {
  float* values = Room(buffer, count);
  for (int64_t i = 0; i < count; ++i) values[i] = 0;
  return values;
}

}  // namespace hone
