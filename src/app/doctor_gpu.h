#pragma once

#include <vector>

#include "app/doctor.h"
#include "engine/device/device_api.h"

namespace hone {

// What `hone doctor` says of the GPU: what there is, or why it is not used, which is no fault; and
// where models compute unless somebody says otherwise.
std::vector<Finding> ExamineGpu();

// Of a GPU that answers. `module` is the version of the driver's kernel module; empty: not known.
std::vector<Finding> GpuFindings(const DeviceInfo& info, std::string_view module);

}  // namespace hone
