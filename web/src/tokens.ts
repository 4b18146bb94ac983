import { h } from "./dom";
import { signed, short } from "./format";

/** One way to colour the tokens of a trajectory. */
export interface Channel {
  key: string;
  name: string;
  about: string;
  /** Credit has two signs; a quantity has one. */
  kind: "credit" | "quantity";
  /** One per token of the policy, along the path. */
  values: number[];
  /** What has the strongest colour. */
  largest: number;
}

export interface TokenFacts {
  text: string;
  id: number | undefined;
  logprob: number | undefined;
  entropy: number | undefined;
  credits: { name: string; value: number }[];
}

function paint(element: HTMLElement, channel: Channel, value: number): void {
  if (value === 0 || channel.largest === 0 || Number.isNaN(value)) return;
  const strength = Math.min(Math.abs(value) / channel.largest, 1);
  element.classList.add(channel.kind === "quantity" ? "amount" : value > 0 ? "earned" : "charged");
  element.style.setProperty("--heat", (0.1 + 0.62 * strength).toFixed(3));
}

/** Where a turn thinks, and whether that is open. */
export interface Thoughts {
  spans: [number, number][];
  open: boolean;
}

/** A thought, folded into one line that has its length and the channel's mean. */
function fold(span: [number, number], first: number, channel: Channel, open: boolean): HTMLElement {
  const [begin, end] = span;
  const values = channel.values.slice(first + begin, first + end);
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
  const told = channel.kind === "credit" ? signed(mean) : short(mean);
  const length = `${end - begin} token${end - begin === 1 ? "" : "s"}`;
  const summary = h("summary", { title: "what it thought; o opens and folds all" }, `thought, ${length}`, h("small", {}, ` ${channel.name} ${told}`));
  const details = h("details", { class: "thought" }, summary) as HTMLDetailsElement;
  details.open = open;
  return details;
}

/** Tokens of the policy, each with its colour; pointing at one tells all about it. */
export function heat(tokens: string[], first: number, channel: Channel, thoughts: Thoughts, facts: (token: number) => TokenFacts, tell: (facts: TokenFacts | null) => void): HTMLElement {
  const line = h("div", { class: "tokens" });
  let place: HTMLElement = line; // where the next token goes
  tokens.forEach((text, i) => {
    const begun = thoughts.spans.find(([begin]) => begin === i);
    if (begun) line.append((place = fold(begun, first, channel, thoughts.open)));
    const value = channel.values[first + i] ?? 0;
    const span = h("span", { "data-token": first + i }, visible(text));
    paint(span, channel, value);
    place.append(span);
    if (thoughts.spans.some(([, end]) => end === i + 1)) place = line;
  });
  const over = (event: Event): void => {
    const at = (event.target as HTMLElement).closest<HTMLElement>("[data-token]")?.dataset["token"];
    tell(at === undefined ? null : facts(Number(at)));
  };
  line.addEventListener("mouseover", over);
  line.addEventListener("mouseleave", () => tell(null));
  return line;
}

/** Line ends are shown, and still end the line. */
function visible(text: string): string {
  return text.replace(/\n/g, "↵\n");
}

export function factsLine(facts: TokenFacts | null): Node {
  if (!facts) return h("span", { class: "dim" }, "Point at a token to see its numbers.");
  return h(
    "span",
    {},
    h("code", { class: "tok" }, JSON.stringify(facts.text)),
    facts.id === undefined ? null : h("span", { class: "dim" }, `id ${facts.id}`),
    facts.logprob === undefined ? null : h("span", {}, `log-prob ${short(facts.logprob)} (p ${short(Math.exp(facts.logprob))})`),
    facts.entropy === undefined ? null : h("span", {}, `entropy ${short(facts.entropy)}`),
    ...facts.credits.map((credit) => h("span", { class: credit.value > 0 ? "up" : credit.value < 0 ? "down" : "dim" }, `${credit.name} ${signed(credit.value, 4)}`)),
  );
}
