import { api, type RunLine } from "./api";
import { h, put } from "./dom";
import { ago, count, duration, percent } from "./format";
import { cellText, empty, interval, spark, statePill } from "./parts";
import type { Page, Params, View } from "./view";

/** All runs, one line each. */
export class RunsView implements View {
  readonly element = h("div", { class: "runs" });
  private readonly chosen = new Set<string>();
  private readonly filter: HTMLInputElement;
  private readonly list = h("div", {});
  private readonly compare: HTMLButtonElement;
  private folders: string[] = [];
  private shown = "";
  private at = -1;

  constructor(
    private readonly page: Page,
    params: Params,
  ) {
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter runs  ( / )",
      "aria-label": "Filter runs",
      value: params["text"] ?? "",
      oninput: () => {
        this.page.remember({ text: this.filter.value });
        this.draw();
      },
    });
    this.compare = h("button", { class: "primary", type: "button", onclick: () => this.goCompare() }, "Compare");
    this.element.append(h("div", { class: "bar" }, h("h1", {}, "Runs"), h("span", { class: "grow" }), this.filter, this.compare), this.list);
    this.draw();
  }

  async tick(): Promise<void> {
    const { runs, folders } = await api.runs();
    this.page.runs = runs;
    this.folders = folders;
    this.draw();
  }

  key(key: string): boolean {
    const rows = [...this.list.querySelectorAll<HTMLElement>("tr[data-run]")];
    if (key === "/") this.filter.focus();
    else if (key === "j" || key === "k") {
      this.at = Math.min(Math.max(this.at + (key === "j" ? 1 : -1), 0), rows.length - 1);
      rows[this.at]?.querySelector("a")?.focus();
    } else return false;
    return true;
  }

  destroy(): void {}

  private goCompare(): void {
    this.page.go("compare", { runs: [...this.chosen].join(",") });
  }

  private draw(): void {
    const wanted = this.filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const runs = this.page.runs.filter((run) => {
      const text = `${run.id} ${run.state} ${run.method} ${run.environment}`.toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    this.compare.disabled = this.chosen.size < 2;
    this.compare.textContent = this.chosen.size > 0 ? `Compare ${this.chosen.size}` : "Compare";
    this.compare.title = this.chosen.size < 2 ? "Tick two runs or more" : "";
    const shown = JSON.stringify([runs, [...this.chosen]]);
    if (shown === this.shown) return; // so that a click or a focus is not lost to a refresh
    this.shown = shown;
    if (this.page.runs.length === 0) {
      put(
        this.list,
        empty(
          "No run yet",
          h("span", {}, "Start one, and it appears here: ", h("code", {}, "hone train recipes/quickstart.toml")),
          this.folders.length > 0 ? `Looking in: ${this.folders.join(", ")}` : "",
        ),
      );
      return;
    }
    if (runs.length === 0) {
      put(this.list, empty("No run fits", "Clear the filter to see all of them."));
      return;
    }
    const focused = (document.activeElement as HTMLElement | null)?.closest<HTMLElement>("tr[data-run]")?.dataset["run"];
    put(this.list, this.table(runs));
    if (focused) this.list.querySelector<HTMLElement>(`tr[data-run="${CSS.escape(focused)}"] a`)?.focus();
  }

  private table(runs: RunLine[]): HTMLElement {
    const heads: [string, string, string?][] = [
      ["", ""],
      ["run", "its folder"],
      ["credit", "the method that says which token earned what"],
      ["progress", "steps done, of all stages"],
      ["success", "share of training tasks done, over the run; last 10 steps"],
      ["dev", "share of held-out tasks done on the real tools, last time", "number"],
      ["test: before → after", "success on the test tasks, real tools, sampled"],
      ["trajectories", "drawn so far", "number"],
      ["time", "", "number"],
      ["alarms", "", "number"],
      ["written", ""],
    ];
    const body = h("tbody", {});
    let group: string | null = null;
    for (const run of runs) {
      if (run.group !== group) {
        group = run.group;
        if (group) body.append(h("tr", { class: "group" }, h("td", { colspan: heads.length }, group)));
      }
      body.append(this.row(run));
    }
    return h(
      "div",
      { class: "card scroll" },
      h("table", { class: "list" }, h("thead", {}, h("tr", {}, ...heads.map(([text, about, kind]) => h("th", { title: about, class: kind ?? "" }, text)))), body),
    );
  }

  private row(run: RunLine): HTMLElement {
    const done = run.steps > 0 ? Math.min(run.step / run.steps, 1) : 0;
    const box = h("input", {
      type: "checkbox",
      "aria-label": `compare ${run.id}`,
      onchange: () => {
        if (box.checked) this.chosen.add(run.id);
        else this.chosen.delete(run.id);
        this.draw();
      },
    });
    box.checked = this.chosen.has(run.id);
    return h(
      "tr",
      { "data-run": run.id },
      h("td", {}, box),
      h("td", { class: "name" }, h("a", { href: `#/curves?run=${encodeURIComponent(run.id)}` }, run.name), " ", statePill(run)),
      h("td", {}, h("code", {}, run.method || "–")),
      h(
        "td",
        {},
        h("div", { class: "progress", role: "progressbar", "aria-valuenow": Math.round(100 * done), "aria-valuemin": 0, "aria-valuemax": 100, title: `${run.step} of ${run.steps} steps` },
          h("i", { class: run.state, style: { width: `${100 * done}%` } })),
        h("small", {}, `${count(run.step)} / ${count(run.steps)}`),
      ),
      h("td", { class: "success" }, spark(run.spark), h("b", {}, percent(run.success))),
      h("td", { class: "number" }, percent(run.dev)),
      h(
        "td",
        {},
        run.after || run.before
          ? h("span", { class: "pair" }, cellText(run.before), " → ", h("b", {}, cellText(run.after)), h("small", {}, interval(run.after)))
          : "–",
      ),
      h("td", { class: "number" }, count(run.trajectories)),
      h("td", { class: "number" }, duration(run.seconds)),
      h("td", { class: "number" }, run.alarms > 0 ? h("span", { class: "pill warning" }, run.alarms) : "0"),
      h("td", { class: "dim" }, ago(run.written)),
    );
  }
}
