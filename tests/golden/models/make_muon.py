"""Three steps of torch.optim.Muon (matrices of layers) and AdamW (the rest) on the qwen3 fixture:
writes qwen3/muon.safetensors with the losses, the gradients' norms and the weights of layer 1.
Needs PyTorch >= 2.10, transformers and safetensors:  python3 make_muon.py OUTPUT"""

import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

folder = pathlib.Path(__file__).parent / "qwen3"
expected = load_file(folder / "expected.safetensors")
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
named = dict(model.named_parameters())
matrices = {n: p for n, p in named.items() if ".layers." in n and p.ndim == 2}
rest = [p for n, p in named.items() if n not in matrices]
muon = torch.optim.Muon(matrices.values(), lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                        adjust_lr_fn="match_rms_adamw")
adamw = torch.optim.AdamW(rest, lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
record = []
for step in range(3):
    model.zero_grad()
    total = torch.zeros(())
    for i in range(3):
        ids, weights = expected[f"seq{i}.ids"].long(), expected[f"seq{i}.weights"]
        logprobs = model(ids[None]).logits[0].log_softmax(-1)
        picked = logprobs[:-1].gather(1, ids[1:, None])[:, 0]
        total = total - (weights[1:] * picked).sum()
    total.backward()
    record += [total.item(), torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()]
    muon.step()
    adamw.step()
out = {f"after3.{n}": p.detach().contiguous() for n, p in named.items() if ".layers.1." in n}
out["losses_gradnorms"] = torch.tensor(record)
save_file(out, sys.argv[1])
print(torch.__version__, record, expected["adamw.losses_gradnorms"].tolist())
