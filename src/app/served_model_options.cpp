#include "app/served_model_options.h"

#include "app/device_option.h"

namespace hone {

void AddServedModelOptions(Command command, ServedModelChoice* choice) {
  command.AddOption("--checkpoint", &choice->checkpoint, "of a run: last, best or a step")
      .ShowDefault();
  command.AddOption("--dialect", &choice->dialect,
                    "how the model spells calls; else as its run did, or hermes");
  command.AddOption("--tokenizer,-t", &choice->tokenizer, "when it is not in the folder");
  command.AddOption("--precision", &choice->precision, "f32 or bf16; else as its run, or bf16")
      .OneOf({"f32", "bf16"});
  AddDeviceOption(command, &choice->device);
  command.AddOption("--threads", &choice->threads, "0: as many as the machine has")
      .Between(0, 1024)
      .ShowDefault();
}

}  // namespace hone
