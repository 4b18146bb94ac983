#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Values as bytes, and back, between processes of the same program on the same kind of machine: the
// bits of every number stay. Nothing that is kept: files have formats of their own.
//
// A type of one's own takes part by a function beside it that names its fields once, for both ways:
//
//   template <typename Wire>
//   void Fields(Wire& wire, Place& place) { wire(place.path, place.position); }

namespace hone {

template <typename T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <typename T>
concept NumberList = requires(T list) {
  typename T::allocator_type;
  requires PlainNumber<typename T::value_type>;
  requires !std::same_as<typename T::value_type, bool>;
  { list.data() } -> std::convertible_to<const typename T::value_type*>;
  list.resize(size_t{1});
};

class WireWriter {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (Put(values), ...);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  void Append(const void* from, size_t size) {
    bytes_.append(static_cast<const char*>(from), size);
  }
  template <PlainNumber T>
  void Put(const T& number) {
    Append(&number, sizeof(T));
  }
  template <NumberList T>
  void Put(const T& list) {
    Put(list.size());
    Append(list.data(), list.size() * sizeof(typename T::value_type));
  }
  template <typename T>
  requires(!NumberList<std::vector<T>>) void Put(const std::vector<T>& list) {
    Put(list.size());
    for (const T& item : list) Put(item);
  }
  template <typename K, typename V>
  void Put(const std::map<K, V>& map) {
    Put(map.size());
    for (const auto& [key, value] : map) (*this)(key, value);
  }
  template <typename T>
  void Put(const std::optional<T>& value) {
    Put(value.has_value());
    if (value) Put(*value);
  }
  template <typename T>
  requires(!PlainNumber<T> && !NumberList<T>) void Put(const T& value) {
    Fields(*this, const_cast<T&>(value));  // which only reads it
  }

  std::string bytes_;
};

// Bytes that are not what is read leave the values as they are from there on, and whole() false.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (Get(&values), ...);
  }
  // Whether everything was there, and nothing is left.
  bool whole() const { return !failed_ && rest_.empty(); }

 private:
  bool Take(void* to, size_t size) {
    if (failed_ || size > rest_.size()) {
      failed_ = true;
      return false;
    }
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }
  // Of something whose items take a byte at least.
  size_t TakeCount() {
    size_t count = 0;
    if (!Take(&count, sizeof(count)) || count > rest_.size()) {
      failed_ = true;
      return 0;
    }
    return count;
  }
  template <PlainNumber T>
  void Get(T* number) {
    Take(number, sizeof(T));
  }
  template <NumberList T>
  void Get(T* list) {
    const size_t count = TakeCount();
    if (count > rest_.size() / sizeof(typename T::value_type)) failed_ = true;
    if (failed_) return;
    list->resize(count);
    Take(list->data(), count * sizeof(typename T::value_type));
  }
  template <typename T>
  requires(!NumberList<std::vector<T>>) void Get(std::vector<T>* list) {
    list->clear();
    for (size_t count = TakeCount(); count > 0 && !failed_; --count) Get(&list->emplace_back());
  }
  template <typename K, typename V>
  void Get(std::map<K, V>* map) {
    map->clear();
    for (size_t count = TakeCount(); count > 0 && !failed_; --count) {
      K key{};
      Get(&key);
      Get(&(*map)[std::move(key)]);
    }
  }
  template <typename T>
  void Get(std::optional<T>* value) {
    bool there = false;
    Get(&there);
    value->reset();
    if (there && !failed_) Get(&value->emplace());
  }
  template <typename T>
  requires(!PlainNumber<T> && !NumberList<T>) void Get(T* value) { Fields(*this, *value); }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace hone
