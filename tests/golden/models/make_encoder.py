"""A small random encoder of texts (BERT) and what transformers computes with it: writes bert/config.json,
bert/model.safetensors and bert/expected.safetensors, with the vectors of the last layer and the mean of them, of length
1, for several sequences, each alone. Fails where a padded batch of the same sequences gives others.
Needs PyTorch, transformers and safetensors:  python3 make_encoder.py [FOLDER]"""

import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file

folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "bert"
torch.manual_seed(27)
config = transformers.BertConfig(
    vocab_size=211, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=88, hidden_act="gelu",
    max_position_embeddings=70, type_vocab_size=2, layer_norm_eps=1e-12, pad_token_id=0)
config._attn_implementation = "eager"
model = transformers.BertModel(config, add_pooling_layer=False).eval()
with torch.no_grad():
    for name, parameter in model.named_parameters():
        size = 0.2 if parameter.ndim == 1 else 1.0 if "embeddings" in name else 1.6 / parameter.shape[1] ** 0.5
        base = 1.0 if name.endswith("LayerNorm.weight") else 0.0
        parameter.copy_((base + size * torch.randn_like(parameter)).bfloat16().float())

# Stored as bfloat16, which holds every weight.
model.to(torch.bfloat16).save_pretrained(folder, safe_serialization=True)
model = model.to(torch.float32)

lengths = [1, 2, 7, 32, 33, 70]
sequences = [torch.randint(1, config.vocab_size, (length,)) for length in lengths]
out = {}


def pooled(hidden, mask):
    mean = (hidden * mask[..., None]).sum(1) / mask.sum(1)[:, None]
    return torch.nn.functional.normalize(mean, dim=-1)


with torch.no_grad():
    for i, ids in enumerate(sequences):
        mask = torch.ones(1, len(ids))
        hidden = model(input_ids=ids[None], attention_mask=mask).last_hidden_state
        out[f"seq{i}.ids"] = ids.to(torch.int32)
        out[f"seq{i}.hidden"] = hidden[0].contiguous()
        out[f"seq{i}.embedding"] = pooled(hidden, mask)[0].contiguous()
    ids = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    mask = torch.zeros(len(lengths), max(lengths))
    for i, sequence in enumerate(sequences):
        ids[i, : len(sequence)] = sequence
        mask[i, : len(sequence)] = 1
    embeddings = pooled(model(input_ids=ids, attention_mask=mask).last_hidden_state, mask)
    worst = max((embeddings[i] - out[f"seq{i}.embedding"]).abs().max().item() for i in range(len(lengths)))
    assert worst < 1e-5, worst
save_file(out, folder / "expected.safetensors")
print(torch.__version__, transformers.__version__, "padded against alone:", worst)
