import { api, type GroupLine, type Place } from "./api";
import { h, put } from "./dom";
import { count, signed } from "./format";
import { empty } from "./parts";
import type { Page, Params } from "./view";

const PAGE = 40;
const PATIENCE = 12; // pages that are asked for before it asks whether to go on

/** The groups of a run, a page at a time, with filters. */
export class GroupList {
  readonly element = h("aside", { class: "groups", "aria-label": "groups" });
  private readonly form: HTMLFormElement;
  private readonly list = h("div", { class: "group-list", role: "listbox", "aria-label": "groups of trajectories" });
  private readonly foot = h("div", { class: "foot" });
  private groups: GroupLine[] = [];
  private next: Place | null = null;
  private total = 0;
  private looked = 0;
  private asking: AbortController | null = null;

  constructor(
    private readonly page: Page,
    private readonly runId: string,
    params: Params,
    private chosen: number | null,
    private readonly choose: (id: number) => void,
  ) {
    const field = (name: string, props: Record<string, unknown>) => h("input", { name, value: params[name] ?? "", ...props });
    const flag = (name: string, text: string, about: string) => {
      const box = h("input", { type: "checkbox", name, value: "1" });
      box.checked = params[name] === "1";
      return h("label", { class: "flag", title: about }, box, text);
    };
    this.form = h(
      "form",
      { class: "filters", onsubmit: (event: Event) => event.preventDefault() },
      field("text", { type: "search", placeholder: "Request, task or tool  ( / )", "aria-label": "Filter by text", class: "wide" }),
      h("span", { class: "pairs" }, "steps", field("first_step", { type: "number", min: 1, placeholder: "≥", "aria-label": "from step" }), field("last_step", { type: "number", min: 1, placeholder: "≤", "aria-label": "to step" })),
      h("span", { class: "pairs" }, "reward", field("least_reward", { type: "number", step: "any", placeholder: "≥", "aria-label": "least mean reward" }), field("most_reward", { type: "number", step: "any", placeholder: "≤", "aria-label": "most mean reward" })),
      flag("differing", "differing", "groups whose trajectories earned different rewards: what there is to learn from"),
      flag("faults", "faults", "something could not be read, failed, or was somebody's fault"),
      this.order(params["order"] ?? "newest"),
    );
    let waiting = 0;
    this.form.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => void this.reload(), 250);
    });
    this.element.append(this.form, this.list, this.foot);
    this.list.addEventListener("scroll", () => {
      if (this.list.scrollTop + this.list.clientHeight > this.list.scrollHeight - 200) void this.more();
    });
  }

  /** What its filters say, for the address and for the program. */
  params(): Params {
    const params: Params = {};
    for (const [name, value] of new FormData(this.form)) if (typeof value === "string" && value !== "" && value !== "newest") params[name] = value;
    return params;
  }

  focus(): void {
    this.form.querySelector<HTMLInputElement>("input[name=text]")?.focus();
  }

  /** From the beginning. Without `keep` the first group is chosen where the one that was is not among them. */
  async reload(keep = false): Promise<void> {
    this.groups = [];
    this.next = null;
    this.looked = 0;
    this.asking?.abort();
    this.asking = null;
    this.page.remember({ run: this.runId, ...this.params(), ...(this.chosen === null ? {} : { id: String(this.chosen) }) });
    await this.more(true);
    const first = this.groups[0];
    if (!keep && first && !this.groups.some((group) => group.id === this.chosen)) this.pick(first.id);
  }

  /** Groups that came since; only where the newest stand on top and nobody has scrolled on. */
  async refresh(): Promise<void> {
    if (this.params()["order"] === "oldest" || this.list.scrollTop > 40 || this.asking) return;
    const asked = this.params();
    const page = await api.groups(this.runId, { ...asked, limit: PAGE });
    // Who has set another filter meanwhile wants other groups.
    if (this.asking || JSON.stringify(asked) !== JSON.stringify(this.params())) return;
    this.total = page.count;
    const known = new Set(this.groups.map((group) => group.id));
    const fresh = page.groups.filter((group) => !known.has(group.id));
    if (fresh.length === 0) return this.drawFoot();
    const wasEmpty = this.groups.length === 0;
    this.groups = fresh.length === page.groups.length ? page.groups : [...fresh, ...this.groups];
    if (fresh.length === page.groups.length) this.next = page.next;
    this.draw();
    if (wasEmpty && this.chosen === null && this.groups[0]) this.pick(this.groups[0].id);
  }

  step(by: number): void {
    const at = this.groups.findIndex((group) => group.id === this.chosen);
    const group = this.groups[Math.min(Math.max(at + by, 0), this.groups.length - 1)];
    if (group) this.pick(group.id);
    if (at + by > this.groups.length - 5) void this.more();
  }

  pick(id: number): void {
    this.chosen = id;
    for (const line of this.list.querySelectorAll<HTMLElement>("[data-group]")) {
      const on = line.dataset["group"] === String(id);
      line.setAttribute("aria-selected", String(on));
      if (on) line.scrollIntoView({ block: "nearest" });
    }
    this.choose(id);
  }

  destroy(): void {
    this.asking?.abort();
  }

  private order(chosen: string): HTMLElement {
    const select = h("select", { name: "order", "aria-label": "order" }, h("option", { value: "newest" }, "newest first"), h("option", { value: "oldest" }, "oldest first"));
    select.value = chosen;
    return select;
  }

  // A page may be empty where few groups fit; it asks on for a while, then leaves it to the reader.
  private async more(begin = false): Promise<void> {
    if (this.asking || (!begin && this.next === null)) return;
    const asking = (this.asking = new AbortController());
    this.drawFoot();
    try {
      const enough = this.groups.length + 1;
      for (let i = 0; i < PATIENCE; ++i) {
        const page = await api.groups(this.runId, { ...this.params(), limit: PAGE, after_step: this.next?.step ?? null, after_id: this.next?.id ?? null }, asking.signal);
        this.groups.push(...page.groups);
        this.next = page.next;
        this.total = page.count;
        this.looked += page.looked_at;
        this.drawFoot();
        if (!page.next || this.groups.length >= enough) break;
      }
      this.page.trouble(null);
    } catch (error) {
      if (asking.signal.aborted) return;
      this.page.trouble((error as Error).message);
    }
    if (this.asking === asking) this.asking = null;
    this.draw();
  }

  private drawFoot(): void {
    const busy = this.asking !== null;
    put(
      this.foot,
      h("span", {}, `${count(this.groups.length)} shown of ${count(this.total)} stored`),
      busy ? h("span", { class: "dim" }, ` · looking${this.looked > 0 ? `, ${count(this.looked)} read` : ""}…`) : null,
      !busy && this.next ? h("button", { type: "button", onclick: () => void this.more() }, "more") : null,
    );
  }

  private draw(): void {
    const top = this.list.scrollTop;
    if (this.groups.length === 0 && !this.asking && !this.next) {
      put(this.list, this.total === 0 ? empty("No trajectory is stored yet", "They come with the first step of trial and error (rl).") : empty("No group fits", "Loosen the filters."));
    } else {
      put(this.list, ...this.groups.map((group) => this.line(group)));
    }
    this.list.scrollTop = top;
    this.drawFoot();
  }

  private line(group: GroupLine): HTMLElement {
    const mean = group.mean_reward;
    return h(
      "button",
      { type: "button", class: "group-line", role: "option", "data-group": group.id, "aria-selected": String(group.id === this.chosen), onclick: () => this.pick(group.id) },
      h("span", { class: "top" }, h("b", {}, `step ${count(group.step)}`), h("span", { class: "dim" }, group.task), group.faults ? h("span", { class: "pill warning", title: "faults, failed calls" }, group.faults) : null,
        h("span", { class: "grow" }), mean === null ? null : h("b", { class: mean > 0 ? "up" : mean < 0 ? "down" : "dim" }, signed(mean))),
      group.problem ? h("span", { class: "broken" }, group.problem) : h("span", { class: "request" }, group.request || "–"),
      h("span", { class: "bars", "aria-hidden": "true" }, ...this.bars(group.rewards ?? [])),
    );
  }

  // One bar per trajectory, as high as its reward among those of the group.
  private bars(rewards: (number | null)[]): Node[] {
    const known = rewards.filter((reward): reward is number => reward !== null);
    const most = Math.max(0.01, ...known.map(Math.abs));
    return rewards.slice(0, 64).map((reward) =>
      h("i", { class: reward === null ? "none" : reward > 0 ? "up" : reward < 0 ? "down" : "zero", style: { height: `${3 + 11 * (Math.abs(reward ?? 0) / most)}px` }, title: reward === null ? "not scored" : signed(reward) }));
  }
}
