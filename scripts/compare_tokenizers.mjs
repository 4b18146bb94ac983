// Texts, and what Hugging Face's tokenizers make of them.
//
//   node compare_tokenizers.mjs FOLDER NAME=tokenizer.json ...
//
// Writes FOLDER/NAME.jsonl, one {"text", "ids", "decoded"} per line. `tokenizers` (the library
// itself, bound to Node) must be importable from the working directory.

import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const { Tokenizer } = createRequire(path.join(process.cwd(), "x.js"))("tokenizers");

const written = [
  "", " ", "  ", "a", " a", "a ", "  a  b   c    d ", "\n", "\n\n", " \n \n", "\t\tx\ty", "\r\n\r\n", "a\r\nb\rc\n",
  "Hello, world!", "The quick brown fox jumps over the lazy dog.", "I'm sure they've said we'll, he'd and SHE'S.",
  "don't DON'T Don’t", "snake_case camelCase PascalCase SCREAMING_CASE kebab-case", "x=1;y+=2//z", "1234567890",
  "3.14159 1,000,000 0x1F 1e-9 ½ ² ③ Ⅷ ١٢٣ १२३", "2024-05-31T12:34:56.789Z", "foo@bar.example https://x.example/a?b=c&d=%20#e",
  "def f(x):\n    if x > 0:\n        return x\n    return -x\n", "#include <vector>\nint main() { return 0; }\n",
  "for (let i = 0; i < 10; ++i) {\n\tconsole.log(`${i}`);\n}\n", "SELECT * FROM t WHERE a = 'b''c';",
  '{"name": "get_weather", "arguments": {"city": "Zürich", "days": 3, "units": null}}',
  '<tool_call>\n{"name":"search","arguments":{"query":"a \\"b\\" \\u00e9"}}\n</tool_call>',
  "[INST] Hi [/INST] Hello </s><s>[INST] Bye [/INST]", "<s>", "</s>", "<s> a </s> b", "a<s>b", " <s>", "<s> ", "x </s>y",
  "<unk>", "a <unk> b", "<pad>", "<bos>text<eos>", "<start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\n",
  "<|im_start|>user\nhi<|im_end|>\n", "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>",
  "<|user|>\nhi<|end|>\n<|assistant|>\n", "<|endoftext|>", " <|endoftext|> ", "<extra_id_0> and <extra_id_99> .",
  "<｜begin▁of▁sentence｜>User: a<｜end▁of▁sentence｜>", "<mask> [MASK] [UNK]", "<0x0A> <0xFF>", "<unused0><unused99>",
  "<BOS_TOKEN><|START_OF_TURN_TOKEN|>", "[PAD] [control_1]", "[TOOL_CALLS] [AVAILABLE_TOOLS]",
  "你好，世界！", "我爱北京天安门。今天天气怎么样？", "日本語のテキストとカタカナ、ひらがな。", "한국어 텍스트입니다.", "中文English混合文本123数字",
  "مرحبا بالعالم", "שלום עולם", "नमस्ते दुनिया", "ภาษาไทยไม่มีช่องว่าง", "Привет, мир! Ёлка.", "Γειά σου Κόσμε", "Tiếng Việt có dấu",
  "Ａｂｃ１２３ full width", "ﬁ ﬂ ﬃ ligatures", "café cafe\u0301 nai\u0308ve", "a\u0301\u0327b\u0308\u0323", "\u1E9B\u0323", "\u0344\u0958",
  "😀", "👩‍👩‍👧‍👦 👍🏽 🇨🇭🇯🇵", "☺️☺︎ ❤️‍🔥 1️⃣", "🤷🏻‍♀️🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u200b zero\u200bwidth\u200c\u200d\ufeff", "\u00a0nbsp\u2003em\u3000ideographic\u2028line\u2029par",
  "\u0000\u0001\u0002\u001f\u007f\u0080\u009f", "a\u0000b", "\ufffd\ufffe\uffff", "\u{10ffff}\u{1f000}\u{e0001}", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒮𝒸𝓇𝒾𝓅𝓉", "𓀀𓁐 𒀀 🀄",
  "ſ K Å İ ı ß ẞ ﬀ", "ǅ ǆ Ǆ", "▁ ▁▁ a▁b ▁a", "Ġ Ċ ĠHello", "…—–“”‘’«»¿¡§¶†‡•", "$100 €50 £20 ¥30 ₿1 100% 5° ±3 √2 ∞ ≠ ≤", "a+b=c; d*e/f^g~h`i",
  "\\n \\t \\\\ \\x00", "<<<>>>(((())))[[[]]]{{{}}}", "!!!???...,,,;;;:::", "----====____****####", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  " ".repeat(37) + "x", "\n".repeat(9), "\t".repeat(7), " \t \n \r \v \f ", "ab".repeat(200), "12".repeat(60), "漢字".repeat(50), "e\u0301".repeat(40),
  "̈ lone mark", "\u0e33\u0e4d\u0e32", "क्षत्रिय", "ㅎㅏㄴ 한", "\r", "\r\r\n", "x\u0085y", "\u180e x", "\u2581lower one eighth block",
  "Donaudampfschifffahrtsgesellschaftskapitän", "supercalifragilisticexpialidocious", "ÀÉÎÕÜ àéîõü ŁØÞ łøþ", "Ünïcödé TEXT with MiXeD cAsE",
];

// Deterministic mixtures of the texts and of single characters.
function mixtures(count) {
  let state = 20240531;
  const next = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * limit);
  };
  const blocks = [[0x20, 0x7f], [0x20, 0x7f], [0xa0, 0x180], [0x300, 0x370], [0x370, 0x500], [0x5d0, 0x6ff], [0x900, 0x97f],
    [0xe00, 0xe7f], [0x1100, 0x11ff], [0x1e00, 0x1fff], [0x2000, 0x206f], [0x2070, 0x2bff], [0x3000, 0x30ff], [0x4e00, 0x9fff],
    [0xac00, 0xd7a3], [0xf900, 0xfaff], [0xfb00, 0xfdff], [0xfe00, 0xffef], [0x1d400, 0x1d7ff], [0x1f300, 0x1faff], [0x0, 0x20]];
  const words = written.filter((text) => text.length < 60);
  const texts = [];
  for (let i = 0; i < count; ++i) {
    let text = "";
    const parts = 1 + next(8);
    for (let part = 0; part < parts; ++part) {
      const kind = next(5);
      if (kind < 2) text += words[next(words.length)];
      else if (kind === 2) text += [" ", "  ", "\n", "\t", " \n", "\r\n", "   "][next(7)];
      else {
        const [low, high] = blocks[next(blocks.length)];
        for (let c = 1 + next(4); c > 0; --c) text += String.fromCodePoint(low + next(high - low));
      }
    }
    texts.push(text);
  }
  return texts;
}

// Every character below U+20000, 256 to a text, a word after every third.
function codePoints() {
  const texts = [];
  for (let block = 0; block < 0x20000; block += 0x100) {
    if (block >= 0xd800 && block < 0xe000) continue;
    let text = "";
    for (let c = block; c < block + 0x100; ++c) text += String.fromCodePoint(c) + (c % 3 ? "" : " a");
    texts.push(text);
  }
  return texts;
}

const [folder, ...pairs] = process.argv.slice(2);
fs.mkdirSync(folder, { recursive: true });
const texts = [...written, ...mixtures(600), ...codePoints()];
for (const pair of pairs) {
  const at = pair.indexOf("=");
  const name = pair.slice(0, at), file = pair.slice(at + 1);
  const tokenizer = Tokenizer.fromFile(file);
  tokenizer.disableTruncation();
  tokenizer.disablePadding();
  // The added tokens of this very vocabulary, between texts.
  const added = JSON.parse(fs.readFileSync(file, "utf8")).added_tokens.map((token) => token.content);
  const step = Math.max(1, Math.floor(added.length / 40));
  const around = [];
  for (let i = 0; i < added.length; i += step) around.push(added[i], `a ${added[i]} b`, `x${added[i]}${added[0]}  y`);
  const lines = [];
  for (const text of [...texts, ...around]) {
    const ids = Array.from((await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds());
    lines.push(JSON.stringify({ text, ids, decoded: await tokenizer.decode(ids, false) }));
  }
  // Tokens in an order that no text has: decoding alone.
  for (let i = 0; i < 60; ++i) {
    const ids = Array.from({ length: 12 }, (_, k) => ((i * 7919 + k * 104729 * (k % 3 ? 1 : 0) + (k % 3 ? 0 : 3 + ((i * 31 + k * 17) % 256)))) % (tokenizer.getVocabSize(true)));
    lines.push(JSON.stringify({ ids, decoded: await tokenizer.decode(ids, false) }));
  }
  fs.writeFileSync(path.join(folder, `${name}.jsonl`), lines.join("\n") + "\n");
  console.log(`${name}: ${lines.length} lines`);
}
