#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewards/component_pays.h"
#include "rewards/opinion.h"
#include "rewards/rewarder.h"

namespace hone {

// What presets need from outside; all borrowed, all may be absent.
struct PresetOptions {
  ProgramRunner* runner = nullptr;      // answers that are programs
  std::map<std::string, Panel> panels;  // of the default preset: who decides, by component
  ComponentPays pays;                   // of the default preset
};

// A whole reward by name.
struct Preset {
  std::string name;
  std::string about;
  std::vector<std::string> terms;   // that it can give; `preference` only where a panel judges
  std::vector<std::string> labels;  // that it needs
  std::function<std::unique_ptr<Rewarder>(const PresetOptions&)> make;
};

std::vector<Preset> BuiltInPresets();

// The error lists the presets.
Result<std::unique_ptr<Rewarder>> NewPreset(std::string_view name,
                                            const PresetOptions& options = {});

}  // namespace hone
