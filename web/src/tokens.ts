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

/** Tokens of the policy, each with its colour; pointing at one tells all about it. */
export function heat(tokens: string[], first: number, channel: Channel, facts: (token: number) => TokenFacts, tell: (facts: TokenFacts | null) => void): HTMLElement {
  const line = h("div", { class: "tokens" });
  tokens.forEach((text, i) => {
    const value = channel.values[first + i] ?? 0;
    const span = h("span", { "data-token": first + i }, visible(text));
    paint(span, channel, value);
    line.append(span);
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
