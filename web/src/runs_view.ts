import { api, type RunLine } from "./api";
import { h, put } from "./dom";
import { ago, count, duration, percent } from "./format";
import { cellText, empty, interval, progressBar, spark, statePill } from "./parts";
import type { Page, Params, View } from "./view";

interface Column {
  title: string;
  about: string;
  number?: boolean;
  /** What runs are ordered by; absent: they cannot be. */
  by?: (run: RunLine) => string | number | null;
  /** The smallest first, or the largest: what one looks for. */
  large?: boolean;
}

const COLUMNS: Column[] = [
  { title: "", about: "" },
  { title: "run", about: "its folder", by: (run) => run.id },
  { title: "model", about: "what it began with", by: (run) => run.model },
  { title: "credit", about: "the method that says which token earned what", by: (run) => run.method },
  { title: "seed", about: "of the run", number: true, by: (run) => run.seed },
  { title: "progress", about: "by time; steps are those of the stage that it is in", by: (run) => run.progress.share, large: true },
  { title: "success", about: "share of training tasks done, over the run; last 10 steps", by: (run) => run.success, large: true },
  { title: "dev", about: "share of held-out tasks done on the real tools, last time", number: true, by: (run) => run.dev, large: true },
  { title: "test: before → after", about: "success on the test tasks, real tools, sampled", by: (run) => run.after?.value ?? null, large: true },
  { title: "trajectories", about: "drawn so far", number: true, by: (run) => run.trajectories, large: true },
  { title: "time", about: "", number: true, by: (run) => run.seconds, large: true },
  { title: "alarms", about: "", number: true, by: (run) => run.alarms, large: true },
  { title: "written", about: "", by: (run) => run.written, large: true },
];

/** The runs in the order of a column; what has no value comes last, whichever way it goes. */
function ordered(runs: RunLine[], column: Column, backwards: boolean): RunLine[] {
  const by = column.by!;
  return [...runs].sort((one, other) => {
    const [a, b] = [by(one), by(other)];
    if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    const order = typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b), undefined, { numeric: true }) : a - b;
    return backwards !== !!column.large ? -order : order;
  });
}

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
  private sort: string;
  private backwards: boolean;

  constructor(
    private readonly page: Page,
    params: Params,
  ) {
    this.sort = params["sort"] ?? "run";
    this.backwards = params["backwards"] === "1";
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter runs  ( / )",
      "aria-label": "Filter runs",
      value: params["text"] ?? "",
      oninput: () => {
        this.changed();
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

  private changed(): void {
    this.page.remember({ text: this.filter.value, sort: this.sort === "run" ? "" : this.sort, backwards: this.backwards ? "1" : "" });
    this.draw();
  }

  private sortBy(title: string): void {
    this.backwards = this.sort === title && !this.backwards;
    this.sort = title;
    this.changed();
    this.list.querySelector<HTMLElement>(`th[data-column="${CSS.escape(title)}"] button`)?.focus();
  }

  private goCompare(): void {
    this.page.go("compare", { runs: [...this.chosen].join(",") });
  }

  private draw(): void {
    const wanted = this.filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const runs = this.page.runs.filter((run) => {
      const text = `${run.id} ${run.state} ${run.method} ${run.environment} ${run.model} seed ${run.seed}`.toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    this.compare.disabled = this.chosen.size < 2;
    this.compare.textContent = this.chosen.size > 0 ? `Compare ${this.chosen.size}` : "Compare";
    this.compare.title = this.chosen.size < 2 ? "Tick two runs or more" : "";
    const shown = JSON.stringify([runs, [...this.chosen], this.sort, this.backwards]);
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
    const active = document.activeElement as HTMLElement | null;
    const focused = active?.closest<HTMLElement>("tr[data-run]")?.dataset["run"];
    const what = active?.matches("input") ? "input" : "a"; // a box that was ticked keeps the focus
    put(this.list, this.table(runs));
    if (focused) this.list.querySelector<HTMLElement>(`tr[data-run="${CSS.escape(focused)}"] ${what}`)?.focus();
  }

  private head(column: Column): HTMLElement {
    const kind = column.number ? "number" : "";
    if (!column.by) return h("th", { title: column.about, class: kind }, column.title);
    const here = column.title === this.sort;
    const down = this.backwards !== !!column.large;
    return h("th", { title: column.about, class: kind, "data-column": column.title, "aria-sort": here ? (down ? "descending" : "ascending") : "none" },
      h("button", { type: "button", class: "sort", onclick: () => this.sortBy(column.title) }, column.title, h("i", { "aria-hidden": "true" }, here ? (down ? "▾" : "▴") : "")));
  }

  private table(runs: RunLine[]): HTMLElement {
    const column = COLUMNS.find((one) => one.by && one.title === this.sort) ?? COLUMNS[1]!;
    const body = h("tbody", {});
    let group: string | null = null;
    for (const run of ordered(runs, column, this.backwards)) {
      // Folders hold together only in the order of their names.
      if (column.title === "run" && run.group !== group) {
        group = run.group;
        if (group) body.append(h("tr", { class: "group" }, h("td", { colspan: COLUMNS.length }, group)));
      }
      body.append(this.row(run, column.title !== "run"));
    }
    return h("div", { class: "card scroll" }, h("table", { class: "list" }, h("thead", {}, h("tr", {}, ...COLUMNS.map((one) => this.head(one)))), body));
  }

  private row(run: RunLine, whole: boolean): HTMLElement {
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
      h("td", { class: "name" }, h("a", { href: `#/curves?run=${encodeURIComponent(run.id)}` }, whole ? run.id : run.name), " ", statePill(run)),
      h("td", { class: "dim" }, run.model || "–"),
      h("td", {}, h("code", {}, run.method || "–")),
      h("td", { class: "number" }, run.seed),
      h("td", {}, ...progressBar(run)),
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
