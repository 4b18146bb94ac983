#include "record/final_state.h"

namespace hone {

std::optional<bool> FinalState::is_right() const {
  const Json* given = verdict();
  if (given == nullptr || !given->is_bool()) return std::nullopt;
  return given->AsBool();
}

FinalStateWriter& FinalStateWriter::Own(std::string_view key, Json value) {
  state_.Set(key, std::move(value));
  return *this;
}

}  // namespace hone
