// A decoder of one layer as an ONNX graph, written by npm's onnx-proto (protobuf.js with ONNX's own schema):
//   npm install onnx-proto && node make.mjs
// Weights of products have numbers for names, as PyTorch's exporter gives them; tied.onnx has them as whole numbers of
// 8 bits with scale and zero point, as onnxruntime quantises, and plain.onnx as float32 in lists instead of raw bytes.
import onnxProto from 'onnx-proto'
import { writeFileSync } from 'node:fs'

const { onnx } = onnxProto
const width = 8, heads = 2, kv = 4, ffn = 12, vocab = 10
const float = 1, uint8 = 2, int8 = 3
let state = 12345
const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648

const expected = {}
function number (type, name, value) {
  const field = type === float ? { floatData: [value] } : { int32Data: [value] }
  return { name, dims: [], dataType: type, ...field }
}
function build (quantised) {
  const initializer = [], node = []
  const norm = name => {
    const values = Array.from({ length: width }, () => Math.fround(random()))
    expected[name] = values
    initializer.push({ name, dims: [width], dataType: float, rawData: new Uint8Array(new Float32Array(values).buffer) })
  }
  // [rows][columns] as it lies in the file; what it stands for.
  const matrix = (name, rows, columns, type) => {
    const count = rows * columns
    if (!quantised) {
      const values = Array.from({ length: count }, () => Math.fround(random() - 0.5))
      initializer.push({ name, dims: [rows, columns], dataType: float, floatData: values })
      return { input: [name], values }
    }
    const codes = Array.from({ length: count }, () => Math.floor(random() * 256) - (type === int8 ? 128 : 0))
    const scale = Math.fround(0.001 + random() / 100), zero = type === int8 ? 0 : 128
    initializer.push(number(float, name + '_scale', scale), number(type, name + '_zero_point', zero),
      { name: name + '_quantized', dims: [rows, columns], dataType: type, rawData: new Uint8Array(codes.map(c => c & 255)) })
    return { input: [name + '_quantized', 'activation_zero_point', name + '_zero_point'], values: codes.map(c => Math.fround(scale * (c - zero))) }
  }
  const transposed = (values, rows, columns) =>
    Array.from({ length: values.length }, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)])
  let next = 2454
  const product = (scope, inputs, outputs) => {
    const weight = matrix(`onnx::MatMul_${next++}`, inputs, outputs, int8)
    const name = '/' + scope + (quantised ? '/MatMul_quant' : '/MatMul')
    node.push({ name, opType: quantised ? 'MatMulInteger' : 'MatMul', input: [`${scope}_in`, ...weight.input], output: [`${scope}_out`] })
    return transposed(weight.values, inputs, outputs)
  }
  const embedding = matrix('model.embed_tokens.weight', vocab, width, uint8).values
  const layer = 'model/layers.0/', own = 'model.layers.0.'
  for (const [part, inputs, outputs] of [['self_attn/q_proj', width, width], ['self_attn/k_proj', width, kv],
    ['self_attn/v_proj', width, kv], ['self_attn/o_proj', width, width], ['mlp/gate_proj', width, ffn],
    ['mlp/up_proj', width, ffn], ['mlp/down_proj', ffn, width]]) {
    expected[own + part.replace('/', '.') + '.weight'] = product(layer + part, inputs, outputs)
  }
  for (const name of ['input_layernorm', 'post_attention_layernorm']) norm(own + name + '.weight')
  norm('model.norm.weight')
  const head = product('lm_head', width, vocab)
  expected['model.embed_tokens.weight'] = quantised ? embedding.map((x, i) => Math.fround(Math.fround(x + head[i]) / 2)) : embedding
  if (!quantised) expected['lm_head.weight'] = head
  return onnx.ModelProto.encode(onnx.ModelProto.create({ irVersion: 8, graph: { name: 'decoder', node, initializer } })).finish()
}

for (const [name, quantised] of [['tied', true], ['plain', false]]) {
  for (const key of Object.keys(expected)) delete expected[key]
  writeFileSync(`${name}.onnx`, build(quantised))
  writeFileSync(`${name}.json`, JSON.stringify({ config: { model_type: 'llama', hidden_size: width, num_attention_heads: heads,
    num_key_value_heads: kv / (width / heads), intermediate_size: ffn, num_hidden_layers: 1, vocab_size: vocab, rms_norm_eps: 1e-5,
    rope_theta: 10000, max_position_embeddings: 64, hidden_act: 'silu', tie_word_embeddings: quantised }, tensors: expected }) + '\n')
}
