import type { Group } from "./api";
import { s } from "./dom";
import { signed } from "./format";

const ROW = 26;
const BOX = 118;
const GAP = 26;
const TALL = 19;

/**
 * The group as it grew: turns from left to right, one row per trajectory, shared turns once.
 * `chosen` is the leaf whose path is lit.
 */
export function drawTree(group: Group, chosen: number, choose: (leaf: number) => void): SVGElement {
  const children = new Map<number, number[]>();
  const depth: number[] = [];
  group.nodes.forEach((node, i) => {
    const parent = node.parent ?? node.folded_from ?? null;
    depth[i] = parent === null ? 0 : (depth[parent] ?? 0) + 1;
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), i]);
  });
  // Rows in the order in which a walk meets the leaves, so that branches do not cross.
  const leafAt = new Map<number, number[]>();
  group.leaves.forEach((leaf, i) => leafAt.set(leaf.node, [...(leafAt.get(leaf.node) ?? []), i]));
  const rowOfLeaf: number[] = [];
  const y: number[] = [];
  let rows = 0;
  const walk = (node: number): void => {
    const own = leafAt.get(node) ?? [];
    const below = children.get(node) ?? [];
    const first = rows;
    for (const leaf of own) rowOfLeaf[leaf] = rows++;
    for (const child of below) walk(child);
    if (rows === first) rows++; // nobody went on from here
    y[node] = below.length > 0 && own.length === 0 ? below.reduce((sum, child) => sum + (y[child] ?? 0), 0) / below.length : first;
  };
  group.nodes.forEach((node, i) => {
    if (node.parent === null && node.folded_from === undefined) walk(i);
  });

  const lit = new Set(group.leaves[chosen]?.path ?? []);
  const x = (node: number) => 4 + (depth[node] ?? 0) * (BOX + GAP);
  const middle = (row: number) => 6 + row * ROW + TALL / 2;
  const width = 4 + (depth.reduce((most, one) => Math.max(most, one), 0) + 1) * (BOX + GAP) + 76;
  const height = rows * ROW + 8;
  const picture = s("svg", { class: "tree", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "the group as a tree" });

  group.nodes.forEach((node, i) => {
    const parent = node.parent ?? node.folded_from ?? null;
    if (parent === null) return;
    const from = x(parent) + BOX;
    const to = x(i);
    const a = middle(y[parent] ?? 0);
    const b = middle(y[i] ?? 0);
    picture.append(s("path", { d: `M${from} ${a} C${from + GAP / 2} ${a} ${to - GAP / 2} ${b} ${to} ${b}`, class: lit.has(i) ? "edge lit" : "edge" }));
  });
  group.nodes.forEach((node, i) => {
    const label = labelOf(group, i);
    const failed = (node.faults?.length ?? 0) > 0 || (node.results ?? []).some((result) => result.status !== "ok");
    picture.append(
      s("g", { class: `node ${node.author}${lit.has(i) ? " lit" : ""}${failed ? " failed" : ""}`, transform: `translate(${x(i)} ${middle(y[i] ?? 0) - TALL / 2})` },
        s("title", {}, node.tokens.join("").slice(0, 400)),
        s("rect", { width: BOX, height: TALL, rx: 5 }),
        s("text", { x: 8, y: 13.5 }, label.length > 17 ? `${label.slice(0, 16)}…` : label)),
    );
  });
  group.leaves.forEach((leaf, i) => {
    const row = rowOfLeaf[i] ?? 0;
    const text = leaf.reward === null ? "not scored" : signed(leaf.reward);
    const verdict = leaf.success === true ? "✓ " : leaf.success === false ? "✗ " : "";
    const end = s("g",
      { class: `leaf${i === chosen ? " chosen" : ""}${leaf.success === true ? " good" : leaf.success === false ? " bad" : ""}`,
        transform: `translate(${x(leaf.node) + BOX + 8} ${middle(row) - TALL / 2})`, tabindex: 0, role: "button", "aria-pressed": String(i === chosen), "aria-label": `trajectory ${i + 1}, reward ${text}`,
        onclick: () => choose(i),
        onkeydown: (event: KeyboardEvent) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          choose(i);
        } },
      s("rect", { width: 72, height: TALL, rx: 9 }),
      s("text", { x: 36, y: 13.5, "text-anchor": "middle" }, verdict + text));
    picture.append(end);
  });
  return picture;
}

function labelOf(group: Group, i: number): string {
  const node = group.nodes[i]!;
  if (node.author === "policy") {
    const names = (node.calls ?? []).map((call) => call.name);
    if (names.length > 0) return names.join(", ");
    if ((node.faults?.length ?? 0) > 0) return "unreadable";
    return "answer";
  }
  if (node.author === "tool") {
    const status = node.results?.find((result) => result.status !== "ok")?.status;
    return status ? status.replace(/_/g, " ") : "result";
  }
  return node.author === "user" ? "request" : node.author;
}
