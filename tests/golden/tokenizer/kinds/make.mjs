// Small vocabularies of every kind that Hone reads, and what Hugging Face's tokenizers make of some
// texts with them.
//
//   npm install tokenizers@0.23.2 && node make.mjs .
//
// Writes NAME.json (a tokenizer.json), NAME.jsonl ({"text", "ids", "decoded"}) and patterns.jsonl
// ({"pattern", "behavior", "invert", "text", "pieces"}); and bert_characters.json: what BertNormalizer takes for a
// control character ("removed") and for a mark ("nonspacing"), and BertPreTokenizer for punctuation, as ranges.

import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const { Tokenizer } = createRequire(path.join(process.cwd(), "x.js"))("tokenizers");
const folder = process.argv[2];

const prose = `The rain in Spain stays mainly in the plain. There is a tool that is called with arguments, and it
returns a result: {"city": "Bern", "days": 3}. The agent reads the result and answers. The answer is right if the tool was
called with the right arguments, and wrong if it was not. A token is a piece of text. This is the text of a token.`;
const texts = [
  "", " ", "  ", "a", " a", "a ", "The rain", "the rain in Spain", "  two  spaces ", "\n", "a\nb", "\t", "a\r\nb", " \n ",
  "it's the answer.", "{\"city\": \"Bern\"}", "unknown: ß 語 语言 🙂 é e\u0301", "日本", "🙂🙂", "a🙂b", "▁", "▁▁a", "a▁b", "<s>", "</s>",
  "a<s>b", "a <s> b", "<s> the", "</s></s>", "the</s> rain", "[tool] x", "x [tool]  y", "x[tool]y", "[tool]", "  [tool]  ",
  "call", "recall calls a call.", "call,call", "<unk>", "a <unk>", "<0x41>", "<0x0A>", "ABC Straße ÀÉ İ", "ﬁne ① Ａｂ ㎏", "½ x² Ⅷ",
  "a\u00a0b\u3000c\u2028d", "\u200b\ufeff", "\u0001\u007f\u0085", "k\u0327\u0301", "क्षि", "각 가", "12 3456 ٣", "a,b;c!?«d»", "x=1&&y|z",
  "the the the the", "tttthhheee", "argumentsresult", "text of a token".repeat(6), "\r\nx\r\n", "e\u0301\u0301", "👩‍👩‍👧 👍🏽",
];

// Merges by counting pairs, as BPE is trained.
function train(words, count) {
  const vocabulary = new Set(), merges = [];
  let split = words.map((word) => [...word]);
  split.flat().forEach((c) => vocabulary.add(c));
  while (merges.length < count) {
    const pairs = new Map();
    for (const word of split) for (let i = 0; i + 1 < word.length; ++i) {
      const key = word[i] + "\u0000" + word[i + 1];
      pairs.set(key, (pairs.get(key) ?? 0) + 1);
    }
    const best = [...pairs].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0];
    if (!best || best[1] < 2) break;
    const [left, right] = best[0].split("\u0000");
    merges.push([left, right]);
    vocabulary.add(left + right);
    split = split.map((word) => {
      const out = [];
      for (let i = 0; i < word.length; ++i) {
        if (i + 1 < word.length && word[i] === left && word[i + 1] === right) out.push(left + right), ++i;
        else out.push(word[i]);
      }
      return out;
    });
  }
  return { vocabulary: [...vocabulary], merges };
}

const trained = train(("▁" + prose.replaceAll("\n", " ").replaceAll(" ", "▁")).split(/(?=▁)/), 260);
const bytes = Array.from({ length: 256 }, (_, b) => `<0x${b.toString(16).toUpperCase().padStart(2, "0")}>`);
const added = (id, content, more = {}) =>
  ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...more });
const replaced = { type: "Replace", pattern: { String: " " }, content: "▁" };
const back = { type: "Replace", pattern: { String: "▁" }, content: " " };
const fused = [back, { type: "ByteFallback" }, { type: "Fuse" }];
const strip = { type: "Strip", content: " ", start: 1, stop: 0 };

// Those that are not in the vocabulary follow it.
const numbered = (list, size) => list.map((token) => ({ ...token, id: token.id ?? size++ }));

function bpe(parts, { withBytes = true, ...model } = {}) {
  const tokens = ["<unk>", "<s>", "</s>", ...(withBytes ? bytes : []), ...trained.vocabulary];
  return {
    version: "1.0", truncation: null, padding: null, added_tokens: [],
    normalizer: null, pre_tokenizer: null, post_processor: null, decoder: { type: "Sequence", decoders: [...fused, strip] },
    model: { type: "BPE", dropout: null, unk_token: "<unk>", continuing_subword_prefix: null, end_of_word_suffix: null,
      fuse_unk: true, byte_fallback: withBytes, ignore_merges: false, ...model,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges: trained.merges },
    ...parts, added_tokens: numbered(parts.added_tokens ?? [added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")], tokens.length),
  };
}

// A double array for SentencePiece's table of characters.
function charsmap(entries) {
  const root = { children: new Map() };
  let texts = Buffer.alloc(0);
  for (const [from, to] of entries) {
    let node = root;
    for (const byte of Buffer.from(from)) {
      if (!node.children.has(byte)) node.children.set(byte, { children: new Map() });
      node = node.children.get(byte);
    }
    node.value = texts.length;
    texts = Buffer.concat([texts, Buffer.from(to), Buffer.from([0])]);
  }
  const units = new Map([[0, 0]]);
  const place = (node, at) => {
    const labels = [...(node.value === undefined ? [] : [0]), ...node.children.keys()];
    let offset = 1;
    while (labels.some((label) => units.has(at ^ offset ^ label) || (at ^ offset ^ label) === 0)) ++offset;
    units.set(at, ((units.get(at) ?? 0) | (offset << 10) | (node.value === undefined ? 0 : 1 << 8)) >>> 0);
    if (node.value !== undefined) units.set(at ^ offset, (0x80000000 | node.value) >>> 0);
    for (const label of node.children.keys()) units.set(at ^ offset ^ label, label);
    for (const [label, child] of node.children) place(child, at ^ offset ^ label);
  };
  place(root, 0);
  const size = (Math.max(...units.keys()) | 0xff) + 1;  // whole blocks: a look-up stays inside its own
  const array = Buffer.alloc(size * 4);
  for (const [at, unit] of units) array.writeUInt32LE(unit, at * 4);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(array.length);
  return Buffer.concat([head, array, texts]).toString("base64");
}

function unigram(parts, { withBytes = false } = {}) {
  const tokens = [["<pad>", 0], ["</s>", 0], ["<unk>", 0]];
  if (withBytes) bytes.forEach((byte) => tokens.push([byte, 0]));
  trained.vocabulary.forEach((token, i) => tokens.push([token, -(2 + Math.log(1 + i) + (i % 7) / 3 - [...token].length / 4)]));
  return {
    version: "1.0", truncation: null, padding: null, added_tokens: [added(0, "<pad>"), added(1, "</s>"), added(2, "<unk>")],
    normalizer: null, pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
    post_processor: null, decoder: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
    model: { type: "Unigram", unk_id: 2, vocab: tokens, byte_fallback: withBytes }, ...parts,
  };
}

const table = charsmap([["\r", " "], ["\n", " "], ["\t", " "], ["\u00a0", " "], ["\u3000", " "], ["\u2028", " "], ["\u200b", " "],
  ["ﬁ", "fi"], ["①", "1"], ["Ａ", "A"], ["ｂ", "b"], ["½", "1/2"], ["e\u0301", "é"], ["é", "é"], ["\u0001", ""], ["Ⅷ", "VIII"]]);
const kinds = {
  llama2: bpe({ normalizer: { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }, replaced] } }),
  llama2_normalized: bpe({ normalizer: { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }, replaced] },
    added_tokens: [added(0, "<unk>", { normalized: true }), added(1, "<s>", { normalized: true }), added(2, "</s>", { normalized: true })] }),
  mistral3: bpe({ pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "first", split: false },
    added_tokens: [added(0, "<unk>"), added(1, "<s>"), added(2, "</s>"), added(undefined, "[tool]")] }),
  gemma: bpe({ normalizer: replaced, pre_tokenizer: { type: "Split", pattern: { String: " " }, behavior: "MergedWithPrevious", invert: false },
    decoder: { type: "Sequence", decoders: fused }, added_tokens: [added(0, "<unk>"), added(1, "<s>"), added(undefined, "  ", { special: false })] },
    { ignore_merges: true }),
  phi3: bpe({ normalizer: { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }, replaced] },
    added_tokens: [added(0, "<unk>"), added(1, "<s>"), added(2, "</s>", { rstrip: true }), added(undefined, "[tool]", { lstrip: true, rstrip: true }),
      added(undefined, "call", { single_word: true, special: false }), added(undefined, "calls", { special: false, single_word: true, normalized: true })] }),
  unknowns: bpe({ pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "Whitespace" }, { type: "Punctuation" }, { type: "Digits", individual_digits: true },
    { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true }] }, decoder: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true } },
    { withBytes: false, fuse_unk: false }),
  t5: unigram({ normalizer: { type: "Precompiled", precompiled_charsmap: table },
    pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "WhitespaceSplit" }, { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true }] } }),
  unigram_bytes: unigram({ normalizer: { type: "Sequence", normalizers: [{ type: "Nmt" }, { type: "NFKD" }, { type: "StripAccents" }, { type: "Lowercase" },
    { type: "Strip", strip_left: true, strip_right: true }, { type: "Replace", pattern: { Regex: " {2,}" }, content: " " }] },
    decoder: { type: "Sequence", decoders: [back, { type: "ByteFallback" }, { type: "Fuse" }, strip] } }, { withBytes: true }),
};

// WordPiece: words, and pieces of words, of the prose; letters alone and inside words, so that few words are unknown.
const wordTexts = [
  "Hello, WORLD! It's the agent's tool, isn't it?", "résumé naïve Ångström Ǖ ĳ ﬃ", "e\u0301e\u0301 a\u0327\u0301", "东京タワー東京都 the 日本 rain", "𠀀𠀁a㐀b豈", "\u2b820\u{2b820}\u{2b920}x",
  "한국어 각", "क्षि नमस्ते", "ТОКЕН Ёлка ёлка й", "ΑΒΓ Σίσυφος ΣΊΣΥΦΟΣ", "İstanbul ISPARTA ıspanak ẞß", "a\u0000b\u0001c\u007fd\u009fe", "a\u200bb\u200dc\ufeffd\u00ade\u2060f",
  "soft\u00adhyphen", "tab\there\r\nand\u00a0there\u2028x\u3000y\u0085z\u000bq\u000cw", "\ufffd a\ufffdb", "\ue000\u{f0000}a", "x".repeat(100), "x".repeat(101), "é".repeat(100), "tool".repeat(25), "tool".repeat(26),
  "tool,".repeat(40), "$9.99 + 3% = #1 @you ~home^2 `a` |b| <c> {d} [e] \\f/ \"g\"", "«quoted» „low“ ‚x‘ – — … ‹y› ¿que? ¡si!", "、。「」・ー！？（）［］", "§1 ¶2 †3 ‡4 •5 ※6 ′7 ″8", "€ £ ¥ © ® ™ ° ± × ÷", "👍🏽🙂👩‍👩‍👧🇨🇭", "😀text😀",
  "[CLS]a[SEP] [MASK] [PAD][UNK] [cls] [ MASK ]", "##tool tool## # ## ###", "don't do not can't I'm we've they're 's . , ? ! ' x", "a . b , c ! d ? e ' f n't", "1234567890 12.5e-3 0xFF ٣٤ ½ ² Ⅷ ①", "snake_case kebab-case camelCase SCREAMING_CASE",
  "\u0301a", "a\u0301\u0301\u0301", "\u1e9b\u0323", "ﬁ ﷺ ㎏ Ａｂ", "\u166d\u{111c9}\u061d\u{1e95e}", "\u1885\u{11c30}\u07fd\u1734", "\u0378\u{e0001}\u{10fffd}", "a" + "\u0300".repeat(40), "the".toUpperCase() + "\u0130",
];
const wordPieces = (() => {
  const words = [...new Set(prose.toLowerCase().match(/[a-z]+/g))], letters = [..."abcdefghijklmnopqrstuvwxyzéüñßαβσςёй日本京東東0123456789'.,!?-[]()\"$#_:/"];
  const tails = [...new Set(words.flatMap((word) => [word.slice(-3), word.slice(-2)]))];
  return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ...letters, ...letters.map((c) => "##" + c), ...words.filter((word) => word.length > 1), ...tails.filter((tail) => tail.length > 1).map((tail) => "##" + tail),
    "The", "##LL", "HE", "É", "Ё", "n't", "do not", "##é́"];
})();
function wordPiece(normalizer, model = {}, decoder = {}) {
  const tokens = [...new Set(wordPieces)];
  const special = tokens.slice(0, 5).map((content, id) => added(id, content));
  return {
    version: "1.0", truncation: { max_length: 16, strategy: "LongestFirst", stride: 0, direction: "Right" }, padding: null, added_tokens: special,
    normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true, ...normalizer },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: { type: "TemplateProcessing", single: [{ SpecialToken: { id: "[CLS]", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }, { SpecialToken: { id: "[SEP]", type_id: 0 } }], pair: [{ SpecialToken: { id: "[CLS]", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }, { SpecialToken: { id: "[SEP]", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }, { SpecialToken: { id: "[SEP]", type_id: 1 } }],
      special_tokens: Object.fromEntries([2, 3].map((id) => [tokens[id], { id: tokens[id], ids: [id], tokens: [tokens[id]] }])) },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true, ...decoder },
    model: { type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 100, ...model, vocab: Object.fromEntries(tokens.map((token, id) => [token, id])) },
  };
}
kinds.bert = wordPiece({});
kinds.bert_cased = wordPiece({ lowercase: false, handle_chinese_chars: false }, { max_input_chars_per_word: 12 }, { cleanup: false });
kinds.bert_accents = wordPiece({ clean_text: false, strip_accents: false });

for (const [name, tokenizer] of Object.entries(kinds)) {
  fs.writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(tokenizer) + "\n");
  const library = Tokenizer.fromFile(path.join(folder, `${name}.json`));
  if (tokenizer.truncation) library.disableTruncation();
  const lines = [];
  for (const text of name.startsWith("bert") ? [...texts, ...wordTexts] : texts) {
    const ids = Array.from((await library.encode(text, null, { addSpecialTokens: false })).getIds());
    lines.push(JSON.stringify({ text, ids, decoded: await library.decode(ids, false) }));
  }
  for (const ids of [[60, 200, 300], [259 - 60, 259 - 50], [3 + 0xe2, 3 + 0x82, 3 + 0xac, 270], [3 + 0x20, 290], [3 + 0x41, 3 + 0xff], [280, 3 + 0xc3, 280]]
    .filter((list) => list.every((id) => id < library.getVocabSize(true))))
    lines.push(JSON.stringify({ ids, decoded: await library.decode(ids, false) }));
  fs.writeFileSync(path.join(folder, `${name}.jsonl`), lines.join("\n") + "\n");
}

// Split patterns, on a vocabulary of bytes without merges, whose tokens know their pieces.
const spelled = (() => {
  const spelling = [];
  let next = 256;
  for (let b = 0; b < 256; ++b) spelling.push(String.fromCodePoint((b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174 ? b : next++));
  return spelling;
})();
const ofBytes = (parts) => Tokenizer.fromString(JSON.stringify({
  version: "1.0", truncation: null, padding: null, added_tokens: [], normalizer: null, post_processor: null, decoder: null, pre_tokenizer: null,
  model: { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false,
    byte_fallback: false, vocab: Object.fromEntries(spelled.map((c, b) => [c, b])), merges: [] }, ...parts }));
const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false };
async function piecesOf(library, text) {
  const encoding = await library.encode(text, null, { addSpecialTokens: false });
  const pieces = [], words = encoding.getWordIds();
  Array.from(encoding.getIds()).forEach((byte, i) => {
    if (i === 0 || words[i] !== words[i - 1]) pieces.push([]);
    pieces.at(-1).push(byte);
  });
  return pieces.map((piece) => Buffer.from(piece).toString());
}
const steps = { clean_text: false, handle_chinese_chars: false, strip_accents: false, lowercase: false };
const characters = {};
for (const [name, parts, isOne] of [
  ["removed", { normalizer: { type: "BertNormalizer", ...steps, clean_text: true }, pre_tokenizer: byteLevel }, (pieces) => pieces.join("|") === "ab"],
  ["nonspacing", { normalizer: { type: "BertNormalizer", ...steps, strip_accents: true }, pre_tokenizer: byteLevel }, (pieces) => pieces.join("|") === "ab"],
  ["punctuation", { pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "BertPreTokenizer" }, byteLevel] } }, (pieces) => pieces.length === 3],
]) {
  const library = ofBytes(parts), ranges = [];
  for (let c = 0; c < 0x110000; ++c) {
    if ((c >= 0xd800 && c < 0xe000) || !isOne(await piecesOf(library, "a" + String.fromCodePoint(c) + "b"))) continue;
    if (ranges.length && ranges.at(-1)[1] === c - 1) ranges.at(-1)[1] = c;
    else ranges.push([c, c]);
  }
  characters[name] = ranges;
}
fs.writeFileSync(path.join(folder, "bert_characters.json"), JSON.stringify(characters) + "\n");
const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
const patterns = [
  ["[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+" + contractions +
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*" + contractions +
    "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"],
  ["[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+" + contractions + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*" +
    contractions + "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"],
  ["\\p{N}{1,3}+"], ["a{2}?b"], ["a{,2}b"], ["\\p{N}{2,3}?"], ["x++y"], ["[a-z&&[^aeiou]]+"], ["[^a-z&&[aeiou]]"], ["[[a-c][x-z]0-9]+"],
  ["[a-z&&[a-m]&&[^c]]+"], ["[^[a-c]x]+"], ["\\h+"], ["\\H+"], ["[\\h&&[^a-f]]+"], ["\\w+"], ["\\W+"], ["[\\W\\d]+"], ["\\bt\\w*"], ["\\Be\\B"],
  ["\\s+$"], ["^\\s*\\S"], ["(?m:a.b)"], ["a.b"], ["\\p{Han}+"], ["\\P{Han}+"], ["\\p{^Han}+"], ["[^\\p{Han}\\s]+"], ["[\\p{Hiragana}\\p{Katakana}]+"], ["\\p{Cyrillic}+"],
  ["\\p{Letter}+"], ["\\p{Uppercase_Letter}"], ["\\p{lowercase letter}+"], ["\\p{Punctuation}+"], ["[[:alpha:]]+"], ["[[:punct:]]+"], ["[[:^space:]]+"], ["\\p{Alpha}+"], ["\\p{Space}+"],
  ["[]a]+"], ["[a\\]b-]+"], ["[+\\--/]+"], ["{"], ["\\{|\\}"], ["(?<=a)b"], ["(?<!a)b"], ["(?>a+)b"], ["(a|b)+c"], ["\\x41|\\x{8a9e}"], ["(?i)THE"], ["(?i:ß|k)"], ["[\\s\\S]"],
  ["\\S+"], ["[^\\S\\n]+"], ["\\d+"], ["\\D+"], ["\\R"], [" ", "MergedWithPrevious"], ["\\s", "MergedWithNext"], ["\\s", "Removed"], ["\\w", "Contiguous"],
  ["\\w+", "Removed", true], ["\\s", "MergedWithPrevious", true], ["\\p{P}", "MergedWithNext", true], ["\\p{Emoji}+"], ["\\p{Extended_Pictographic}+"], ["\\p{Latin}+"], ["\\p{Common}+"],
];
const subjects = ["The RAIN isn't in Spain's 1234567 plain…", "他说：「你好」。abcXYZ、カタカナ ひらがな々〇 12", "aab aaab b ab xxy 0x1F deadbeef", "a\nb a.b\r\n \n\n  end \n", "é e\u0301 ß K ſ ǅ Привет ёж १२",
  "snake_case–dash—«q» [x]{y}-+,/ \u00a0\u180e\u200d\u2028z", "👩‍👩‍👧 🇨🇭 ½ Ⅷ ٣ 한국", "$€+<=>^`|~§©®°±´¨ ①²³¹¼¾ªºµ×÷∑→₿⁰₁〇_‿\u0085\u00ad"];
const rows = [];
for (const [pattern, behavior = "Isolated", invert = false] of patterns) {
  const tokenizer = {
    version: "1.0", truncation: null, padding: null, added_tokens: [], normalizer: null, post_processor: null, decoder: null,
    pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "Split", pattern: { Regex: pattern }, behavior, invert },
      { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false }] },
    model: { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false,
      byte_fallback: false, vocab: Object.fromEntries(spelled.map((c, b) => [c, b])), merges: [] },
  };
  const library = Tokenizer.fromString(JSON.stringify(tokenizer));
  for (const text of subjects) {
    const encoding = await library.encode(text, null, { addSpecialTokens: false });
    const pieces = [], words = encoding.getWordIds();
    Array.from(encoding.getIds()).forEach((byte, i) => {
      if (i === 0 || words[i] !== words[i - 1]) pieces.push([]);
      pieces.at(-1).push(byte);
    });
    rows.push(JSON.stringify({ pattern, behavior, invert, text, pieces: pieces.map((piece) => Buffer.from(piece).toString()) }));
  }
}
fs.writeFileSync(path.join(folder, "patterns.jsonl"), rows.join("\n") + "\n");
