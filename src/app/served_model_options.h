#pragma once

#include "app/command_line.h"
#include "serve/served_model.h"

namespace hone {

// The options of a command that say how a model is opened: --checkpoint, --dialect, --tokenizer,
// --precision, --device, --threads.
void AddServedModelOptions(Command command, ServedModelChoice* choice);

}  // namespace hone
