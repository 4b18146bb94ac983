#pragma once

#include "engine/device/device_api.h"

namespace hone {

// The table of a device that computes nothing and holds nothing, and has room for everything: what
// is downloaded from it is zero. Whoever runs on it takes the memory that he would take on a GPU,
// which Device counts. Its addresses are not to be read or written.
const DeviceApi* CountingDevice();

// The most that its context would have taken while products were tried, what was allocated
// included.
int64_t MostWhileProductsWereTried(DeviceContext* context);

}  // namespace hone
