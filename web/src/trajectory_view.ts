import { api, type Group, type Leaf, type MethodLine, type Term, type ToolResult, type TreeNode } from "./api";
import { h, put } from "./dom";
import { count, short, signed } from "./format";
import { empty } from "./parts";
import { factsLine, heat, type Channel, type TokenFacts } from "./tokens";
import { GroupList } from "./trajectory_list";
import { drawTree } from "./tree_drawing";
import type { Page, Params, View } from "./view";

const AUTHORS = { system: "system", user: "user", policy: "agent", tool: "tool" };

/** One group of trajectories: the tree, and one of them token by token. */
export class TrajectoryView implements View {
  readonly element = h("div", { class: "trajectories" });
  private readonly list: GroupList;
  private readonly detail = h("div", { class: "detail", tabindex: -1 });
  private readonly facts = h("div", { class: "facts", "aria-live": "off" });
  private readonly stop = new AbortController();
  private readonly runId: string;
  private readonly live: boolean;
  private methods: MethodLine[] = [];
  private group: Group | null = null;
  private wanted: number | null;
  private leaf = 0;
  private channel: string;
  private method: string;
  private begun = false;
  private thoughtsOpen = false;

  constructor(
    private readonly page: Page,
    params: Params,
  ) {
    this.runId = params["run"] ?? "";
    this.live = page.runs.find((run) => run.id === this.runId)?.state === "running";
    this.wanted = params["id"] ? Number(params["id"]) : null;
    this.leaf = Number(params["leaf"] ?? 0) || 0;
    this.channel = params["channel"] ?? "trained";
    this.method = params["method"] ?? "";
    this.list = new GroupList(page, this.runId, params, this.wanted, (id) => void this.open(id, 0));
    this.element.append(this.list.element, this.detail);
    put(this.detail, empty("Choose a group", "A group is several trajectories of the same task; they are compared with each other."));
  }

  async tick(): Promise<void> {
    if (this.begun) {
      if (this.live) await this.list.refresh();
      return;
    }
    this.begun = true;
    const wanted = this.wanted;
    const [methods] = await Promise.all([
      api.methods(this.stop.signal),
      this.list.reload(wanted !== null),
      wanted === null ? undefined : this.open(wanted, this.leaf),
    ]);
    this.methods = methods.methods;
    if (this.group) this.draw();
  }

  key(key: string): boolean {
    if (key === "/") this.list.focus();
    else if (key === "j" || key === "k") this.list.step(key === "j" ? 1 : -1);
    else if (key === "o") this.openThoughts();
    else if (key === "]" || key === "[") this.chooseLeaf(this.leaf + (key === "]" ? 1 : -1));
    else if (/^[1-9]$/.test(key)) {
      const channel = this.channels()[Number(key) - 1];
      if (channel) this.chooseChannel(channel.key);
    } else return false;
    return true;
  }

  destroy(): void {
    this.stop.abort();
    this.list.destroy();
  }

  private async open(id: number, leaf: number): Promise<void> {
    if (this.group?.id === id && this.wanted === id) return;
    this.wanted = id;
    try {
      const group = await api.group(this.runId, id, this.method, this.stop.signal);
      if (this.wanted !== id || this.stop.signal.aborted) return; // another one was chosen meanwhile
      this.group = group;
      this.leaf = Math.min(leaf, Math.max(group.leaves.length - 1, 0));
      this.page.trouble(null);
      this.draw();
    } catch (error) {
      if (this.stop.signal.aborted) return;
      put(this.detail, empty("This group cannot be read", (error as Error).message));
    }
    this.remember();
  }

  private remember(): void {
    this.page.remember({
      run: this.runId,
      ...this.list.params(),
      ...(this.wanted === null ? {} : { id: String(this.wanted) }),
      ...(this.leaf > 0 ? { leaf: String(this.leaf) } : {}),
      ...(this.channel === "trained" ? {} : { channel: this.channel }),
      ...(this.method ? { method: this.method } : {}),
    });
  }

  private chooseLeaf(leaf: number): void {
    if (!this.group) return;
    this.leaf = Math.min(Math.max(leaf, 0), this.group.leaves.length - 1);
    this.remember();
    this.draw();
  }

  private chooseChannel(key: string): void {
    this.channel = key;
    this.remember();
    this.draw();
  }

  private openThoughts(): void {
    this.thoughtsOpen = !this.thoughtsOpen;
    if (this.group) this.draw();
  }

  private async chooseMethod(method: string): Promise<void> {
    this.method = method;
    const id = this.wanted;
    if (id === null) return;
    this.group = null;
    await this.open(id, this.leaf);
  }

  // Ways to colour the chosen trajectory: credit as trained, the method's channels, and what the
  // policy itself thought of its tokens.
  private channels(): Channel[] {
    const group = this.group;
    const leaf = group?.leaves[this.leaf];
    if (!group || !leaf) return [];
    const most = (all: (number[] | undefined)[]) => {
      let largest = 0;
      for (const values of all) for (const value of values ?? []) largest = Math.max(largest, Math.abs(value));
      return largest;
    };
    const channels: Channel[] = [];
    const trained = leaf.credit;
    const credit = group.credit;
    const other = this.method !== "" && this.method !== group.trained_with;
    const largest = Math.max(other ? 0 : most(group.leaves.map((one) => one.credit)), most(credit.leaves ?? []));
    if (trained && !other) {
      channels.push({ key: "trained", name: "credit", about: `as it was trained with (${group.trained_with})`, kind: "credit", values: trained, largest });
    } else if (credit.leaves) {
      channels.push({ key: "trained", name: "credit", about: `by ${credit.method}, for this group alone`, kind: "credit", values: credit.leaves[this.leaf] ?? [], largest });
    }
    if ((credit.layers?.length ?? 0) > 1) {
      for (const layer of credit.layers ?? []) {
        channels.push({ key: `layer:${layer.name}`, name: layer.name, about: `what the channel ${layer.name} adds to the credit`, kind: "credit", values: layer.leaves[this.leaf] ?? [], largest });
      }
    }
    const along = (of: (node: TreeNode) => number[]) => leaf.path.flatMap((id) => (group.nodes[id]!.author === "policy" ? of(group.nodes[id]!) : []));
    const surprise = along((node) => (node.logprobs ?? []).map((value) => -value));
    const entropy = along((node) => node.entropies ?? []);
    channels.push(
      { key: "surprise", name: "surprise", about: "minus the log-probability of each token that was drawn", kind: "quantity", values: surprise, largest: Math.max(most([surprise]), 0.5) },
      { key: "entropy", name: "entropy", about: "how undecided the policy was, in nats", kind: "quantity", values: entropy, largest: Math.max(most([entropy]), 0.5) },
    );
    return channels;
  }

  private draw(): void {
    const group = this.group!;
    const leaf = group.leaves[this.leaf];
    if (!leaf) {
      put(this.detail, empty("No trajectory", "All of this group were left out."));
      return;
    }
    const channels = this.channels();
    const channel = channels.find((one) => one.key === this.channel) ?? channels[0]!;
    const top = this.detail.scrollTop;
    put(
      this.detail,
      this.header(group),
      h("section", { class: "card scroll treebox" }, drawTree(group, this.leaf, (chosen) => this.chooseLeaf(chosen))),
      this.controls(group, channels, channel),
      this.conversation(group, leaf, channel, channels),
      this.end(group, leaf),
      this.notes(group),
    );
    this.tell(null);
    this.detail.scrollTop = top;
  }

  private header(group: Group): HTMLElement {
    const rewards = group.leaves.flatMap((leaf) => (leaf.reward === null ? [] : [leaf.reward]));
    const won = group.leaves.filter((leaf) => leaf.success === true).length;
    const judged = group.leaves.filter((leaf) => leaf.success !== null && leaf.success !== undefined).length;
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(rewards.length, 1);
    return h(
      "header",
      { class: "task" },
      h("p", { class: "dim" }, `step ${count(group.step)} · task ${group.task.id} · ${group.leaves.length} trajectories · ${judged > 0 ? `${won} of ${judged} right` : "no verdict"} · mean reward ${rewards.length > 0 ? signed(mean) : "–"}`),
      h("h1", {}, group.task.request ? `“${group.task.request}”` : group.task.id),
      group.task.answer === null ? null : h("details", {}, h("summary", {}, "what is right"), h("pre", {}, JSON.stringify(group.task.answer, null, 2))),
    );
  }

  private controls(group: Group, channels: Channel[], channel: Channel): HTMLElement {
    const method = h(
      "select",
      { "aria-label": "method of credit", title: "What another method would have given this group", onchange: () => void this.chooseMethod(method.value) },
      h("option", { value: "" }, group.trained_with ? `${group.trained_with} (trained with)` : `${group.credit.method} (nobody was trained)`),
      ...this.methods.map((one) => h("option", { value: one.name, title: one.about }, one.name)),
    );
    method.value = this.method;
    const unequal = group.credit.same === false && this.method === "" && channels.some((one) => one.key.startsWith("layer:"));
    return h(
      "div",
      { class: "controls" },
      h(
        "div",
        { class: "bar" },
        h("b", {}, `trajectory ${this.leaf + 1} of ${group.leaves.length}`),
        h("button", { type: "button", title: "previous ( [ )", "aria-label": "previous trajectory", onclick: () => this.chooseLeaf(this.leaf - 1) }, "‹"),
        h("button", { type: "button", title: "next ( ] )", "aria-label": "next trajectory", onclick: () => this.chooseLeaf(this.leaf + 1) }, "›"),
        h("span", { class: "grow" }),
        h("div", { class: "segmented", role: "group", "aria-label": "channel" },
          ...channels.map((one, i) => h("button", { type: "button", "data-channel": one.key, "aria-pressed": String(one.key === channel.key), title: `${one.about}  ( ${i + 1} )`, onclick: () => this.chooseChannel(one.key) }, one.name))),
        method,
      ),
      h(
        "div",
        { class: "bar small" },
        h("span", { class: "dim" }, `${channel.name}: ${channel.about}`),
        group.nodes.some((node) => (node.thoughts ?? []).length > 0)
          ? h("button", { type: "button", class: "quiet", "aria-pressed": String(this.thoughtsOpen), title: "( o )", onclick: () => this.openThoughts() }, this.thoughtsOpen ? "fold thoughts" : "open thoughts")
          : null,
        channel.kind === "credit"
          ? h("span", { class: "scale" }, signed(-channel.largest), h("i", { class: "ramp" }), signed(channel.largest), h("span", { class: "dim" }, " charged ← → earned"))
          : h("span", { class: "scale" }, "0", h("i", { class: "ramp one" }), short(channel.largest)),
      ),
      this.facts,
      group.credit.problem ? h("p", { class: "notice" }, `Channels cannot be shown: ${group.credit.problem}.`) : null,
      unequal ? h("p", { class: "notice" }, `The channels are of this group alone. ${group.credit.method} also looks at other groups of its batch or at a critic, so they do not add up to the credit it was trained with.`) : null,
    );
  }

  private tell(facts: TokenFacts | null): void {
    put(this.facts, factsLine(facts));
  }

  private conversation(group: Group, leaf: Leaf, channel: Channel, channels: Channel[]): HTMLElement {
    const place: { node: TreeNode; at: number }[] = [];
    for (const id of leaf.path) {
      const node = group.nodes[id]!;
      if (node.author === "policy") node.tokens.forEach((_text, at) => place.push({ node, at }));
    }
    const factsOf = (token: number): TokenFacts => {
      const { node, at } = place[token]!;
      return {
        text: node.tokens[at] ?? "",
        id: node.ids?.[at],
        logprob: node.logprobs?.[at],
        entropy: node.entropies?.[at],
        credits: channels.filter((one) => one.kind === "credit").map((one) => ({ name: one.name, value: one.values[token] ?? 0 })),
      };
    };
    let first = 0;
    const blocks: Node[] = [];
    leaf.path.forEach((id, i) => {
      const node = group.nodes[id]!;
      const terms = leaf.terms.filter((term) => term.node === id);
      if (node.author !== "policy") {
        blocks.push(this.others(node, i > 0 && group.nodes[leaf.path[i - 1]!]?.author === "policy"));
        return;
      }
      const after = group.nodes[leaf.path[i + 1] ?? -1];
      blocks.push(this.turn(node, first, channel, channels, terms, after?.author === "tool" ? (after.results ?? []) : [], factsOf));
      first += node.tokens.length;
    });
    return h("section", { class: "conversation", "aria-label": "the trajectory" }, ...blocks);
  }

  private turn(node: TreeNode, first: number, channel: Channel, channels: Channel[], terms: Term[], results: ToolResult[], factsOf: (token: number) => TokenFacts): HTMLElement {
    const mean = (one: Channel) => {
      const values = one.values.slice(first, first + node.tokens.length);
      return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
    };
    return h(
      "article",
      { class: "block policy" },
      h(
        "header",
        {},
        h("b", {}, AUTHORS.policy),
        h("span", { class: "dim" }, `${node.tokens.length} tokens`),
        (node.closed_thoughts ?? 0) > 0 ? h("span", { class: "chip dim", title: "rollout.thought_tokens or thought_repeats closed it, not the agent" }, "thought closed by a limit") : null,
        ...channels.filter((one) => one.kind === "credit").map((one) => {
          const value = mean(one);
          return h("span", { class: `chip ${value > 0 ? "up" : value < 0 ? "down" : "dim"}`, title: "mean over the turn's tokens" }, `${one.name} ${signed(value)}`);
        }),
        ...terms.map((term) => termChip(term)),
      ),
      heat(node.tokens, first, channel, { spans: node.thoughts ?? [], open: this.thoughtsOpen }, factsOf, (facts) => this.tell(facts)),
      ...(node.faults ?? []).map((fault) => h("p", { class: "fault" }, h("span", { class: "pill broken" }, fault.kind.replace(/_/g, " ")), ` ${fault.message}`)),
      ...(node.calls ?? []).map((call, i) => callCard(call.name, call.arguments, results.find((result) => result.call === i))),
    );
  }

  // The text of others is folded where it only repeats what the calls' cards say.
  private others(node: TreeNode, folded: boolean): HTMLElement {
    const text = node.tokens.join("");
    const body = h("div", { class: "tokens other" }, text);
    if (node.author === "tool" || folded || text.length > 700) {
      return h("details", { class: `block ${node.author}` }, h("summary", {}, h("b", {}, AUTHORS[node.author]), h("span", { class: "dim" }, `${node.tokens.length} tokens, as the agent saw them`)), body);
    }
    return h("article", { class: `block ${node.author}` }, h("header", {}, h("b", {}, AUTHORS[node.author]), h("span", { class: "dim" }, `${node.tokens.length} tokens`)), body);
  }

  private end(group: Group, leaf: Leaf): HTMLElement {
    const turnOf = (node: number) => leaf.path.filter((id) => id <= node && group.nodes[id]!.author === "policy").length;
    return h(
      "section",
      { class: "card ending" },
      h(
        "div",
        { class: "bar" },
        leaf.success === true ? h("span", { class: "pill finished" }, "✓ task done") : leaf.success === false ? h("span", { class: "pill broken" }, "✗ not done") : null,
        h("span", { class: "pill" }, leaf.ending.replace(/_/g, " ")),
        leaf.blame !== "none" ? h("span", { class: "pill warning" }, `blame: ${leaf.blame.replace(/_/g, " ")}`) : null,
        leaf.gold_calls !== null && leaf.gold_calls !== undefined
          ? h("span", { class: "dim" }, `${leaf.calls} calls, ${leaf.gold_calls} needed; ${leaf.right_tools} right tool, ${leaf.right_arguments} right arguments`)
          : null,
        h("span", { class: "grow" }),
        h("b", { class: "total" }, leaf.reward === null ? "not scored" : `reward ${signed(leaf.reward)}`),
      ),
      leaf.terms.length > 0
        ? h("table", { class: "list terms" }, h("thead", {}, h("tr", {}, h("th", {}, "term"), h("th", {}, "where"), h("th", { class: "number" }, "value"), h("th", { class: "number" }, "weight"), h("th", { class: "number" }, "counts"))),
            h("tbody", {}, ...leaf.terms.map((term) =>
              h("tr", {}, h("td", {}, term.name), h("td", { class: "dim" }, term.node === null ? "whole trajectory" : `turn ${turnOf(term.node)}`),
                h("td", { class: "number" }, term.value === null ? `not scored${term.message ? `: ${term.message}` : ""}` : short(term.value)),
                h("td", { class: "number" }, short(term.weight)),
                h("td", { class: "number" }, term.value === null ? "–" : h("b", { class: term.value * term.weight > 0 ? "up" : term.value * term.weight < 0 ? "down" : "" }, signed(term.value * term.weight)))))))
        : null,
      leaf.final_state === null ? null : h("details", {}, h("summary", {}, "what the environment says of the end"), h("pre", {}, JSON.stringify(leaf.final_state, null, 2))),
    );
  }

  private notes(group: Group): HTMLElement | null {
    const notes = (group.credit.notes ?? []).filter((note) => note.leaf === null || note.leaf === this.leaf);
    if (notes.length === 0) return null;
    return h("section", { class: "card" }, h("b", {}, "Notes on the credit"), h("ul", { class: "notes" }, ...notes.map((note) => h("li", {}, note.channel ? h("code", {}, note.channel) : null, ` ${note.text}`))));
  }
}

function termChip(term: Term): HTMLElement {
  if (term.value === null) return h("span", { class: "chip dim" }, `${term.name}: not scored`);
  const counts = term.value * term.weight;
  return h("span", { class: `chip term ${counts > 0 ? "up" : counts < 0 ? "down" : "dim"}`, title: "reward earned in this turn" }, `reward ${term.name} ${signed(counts)}`);
}

function callCard(name: string, given: Record<string, unknown>, result: ToolResult | undefined): HTMLElement {
  const entries = Object.entries(given);
  return h(
    "div",
    { class: "call" },
    h("div", { class: "line" }, h("span", { class: "arrow" }, "→"), h("code", { class: "tool" }, name),
      entries.length === 0 ? h("span", { class: "dim" }, "no arguments") : h("dl", {}, ...entries.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, typeof value === "string" ? value : JSON.stringify(value))]))),
    result
      ? h("div", { class: "line" }, h("span", { class: "arrow" }, "←"),
          h("span", { class: `pill ${result.status === "ok" ? "finished" : "broken"}` }, result.status.replace(/_/g, " ")),
          h("pre", { class: "content" }, result.content + (result.cut_bytes > 0 ? `\n… ${count(result.cut_bytes)} bytes more` : "")),
          result.blame !== "none" ? h("span", { class: "pill warning" }, `blame: ${result.blame.replace(/_/g, " ")}`) : null,
          result.injected ? h("span", { class: "pill warning" }, `put in on purpose: ${result.injected}`) : null,
          h("span", { class: "dim" }, `${short(result.latency_ms)} ms${result.attempts > 1 ? `, ${result.attempts} attempts` : ""}`))
      : h("div", { class: "line dim" }, h("span", { class: "arrow" }, "←"), "no answer"),
  );
}
