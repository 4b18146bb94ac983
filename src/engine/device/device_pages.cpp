#include "engine/device/device_pages.h"

#include <algorithm>

namespace hone {

int64_t DevicePages::PageBytes(const ModelConfig& config, Element element) {
  return config.layers * config.kv_heads * 2 * kDevicePage * config.head_dim * BytesOf(element);
}

DevicePages::DevicePages(const ModelConfig& config, std::shared_ptr<Device> device, Element element,
                         int64_t max_pages)
    : PagePool(kDevicePage, max_pages),
      device_(device),
      shape_{nullptr, config.layers, config.kv_heads, config.head_dim, element},
      page_bytes_(PageBytes(config, element)),
      memory_(std::move(device)) {}

// Twice as much as before, up to the limit; what the pages hold moves along.
void DevicePages::Prepare(PageId page) {
  constexpr int64_t kFewestPages = 64;
  if (max_pages() == 0 || (page + 1) * page_bytes_ <= memory_.bytes()) return;
  const int64_t pages = std::clamp(2 * memory_.bytes() / page_bytes_,
                                   std::min(kFewestPages, max_pages()), max_pages());
  DeviceBuffer more(device_, pages * page_bytes_);
  device_->api().copy(device_->context(), memory_.data(), memory_.bytes(), more.data());
  memory_ = std::move(more);
}

void DevicePages::CopyPage(PageId from, PageId to) {
  char* base = memory_.as<char>();
  device_->api().copy(device_->context(), base + from * page_bytes_, page_bytes_,
                      base + to * page_bytes_);
}

DevicePageMemory DevicePages::memory() const {
  DevicePageMemory memory = shape_;
  memory.base = memory_.data();
  return memory;
}

}  // namespace hone
