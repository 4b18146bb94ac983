#pragma once

#include <memory>

#include "engine/device/device_buffer.h"
#include "engine/model_config.h"
#include "engine/page_pool.h"

namespace hone {

// The pages of a pool in a device's memory, of kDevicePage positions each. What was not written is
// never read: attention looks at no key beyond the last query.
class DevicePages : public PagePool {
 public:
  // With a limit, memory is taken as pages are; without one (0), by Reserve.
  DevicePages(const ModelConfig& config, std::shared_ptr<Device> device, Element element,
              int64_t max_pages);

  static int64_t PageBytes(const ModelConfig& config, Element element);
  int64_t page_bytes() const override { return page_bytes_; }
  int64_t bytes() const { return memory_.bytes(); }
  // Makes room for all pages that were handed out; what they held is lost.
  void Reserve() { memory_.Grow(count() * page_bytes_); }

  void CopyPage(PageId from, PageId to) override;
  void ClearFrom(PageId, int64_t) override {}

  DevicePageMemory memory() const;

 protected:
  void Prepare(PageId page) override;

 private:
  std::shared_ptr<Device> device_;
  DevicePageMemory shape_;
  int64_t page_bytes_;
  DeviceBuffer memory_;
};

}  // namespace hone
