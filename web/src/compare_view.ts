import uPlot from "uplot";
import { api, type Difference, type RunLine } from "./api";
import { Chart, colour, type Line, type Share } from "./chart";
import { h, put } from "./dom";
import { count, percent } from "./format";
import { cellText, empty, interval, statePill } from "./parts";
import { Series } from "./series";
import type { Page, Params, View } from "./view";

const METRICS: { metric: string; title: string; about: string; share?: Share; dots?: boolean }[] = [
  { metric: "success", title: "Success in training", about: "Share of tasks that are done.", share: "whole" },
  { metric: "dev/sampled", title: "Success on dev", about: "Held-out tasks, real tools, sampled.", share: "whole", dots: true },
  { metric: "reward/mean", title: "Reward", about: "Mean over trajectories." },
  { metric: "when", title: "When", about: "Calls a tool when one is needed.", share: "whole" },
  { metric: "which", title: "Which", about: "Calls the right one.", share: "whole" },
  { metric: "how", title: "How", about: "With the right arguments.", share: "whole" },
  { metric: "tool_calls", title: "Calls", about: "Per trajectory." },
  { metric: "entropy", title: "Entropy", about: "Nats per token." },
  { metric: "approx_kl", title: "KL", about: "How far each update moved the policy." },
  { metric: "response_length", title: "Length", about: "Tokens per trajectory." },
  { metric: "zero_advantage_groups", title: "Groups that say nothing", about: "Share of groups.", share: "whole" },
  { metric: "tokens_per_second", title: "Speed", about: "Tokens per second." },
];
const NEEDED = [...METRICS.map((one) => one.metric), "trajectories", "time/step"];
const GOAL = 0.8;

type Along = "steps" | "trajectories" | "minutes";

/** Two runs or more, over each other. */
export class CompareView implements View {
  readonly element = h("div", { class: "compare" });
  private readonly picker = h("div", { class: "card picker" });
  private readonly pictures = h("div", {});
  private readonly charts = new Map<string, Chart>();
  private readonly series = new Map<string, Series>();
  private readonly stop = new AbortController();
  private chosen: string[];
  private along: Along;
  private together: boolean;
  private window: number;
  private layout = "";
  private differing: { runs: string; list: Difference[] } = { runs: "", list: [] };

  constructor(
    private readonly page: Page,
    params: Params,
  ) {
    this.chosen = (params["runs"] ?? "").split(",").filter(Boolean);
    this.along = (["steps", "trajectories", "minutes"].find((one) => one === params["along"]) ?? "steps") as Along;
    this.together = params["together"] === "1";
    this.window = Number(params["smooth"] ?? 5) || 1;
    this.element.append(h("div", { class: "bar" }, h("h1", {}, "Compare"), h("span", { class: "grow" }), ...this.switches()), this.picker, this.pictures);
    this.drawPicker();
    this.drawPictures();
  }

  async tick(): Promise<void> {
    const known = new Map(this.page.runs.map((run) => [run.id, run]));
    this.chosen = this.chosen.filter((id) => known.has(id));
    let more = false;
    await Promise.all(
      this.chosen.map(async (id) => {
        let series = this.series.get(id);
        if (series && known.get(id)?.state !== "running") return;
        if (!series) this.series.set(id, (series = new Series(id, NEEDED)));
        more = (await series.refresh(this.stop.signal)) || more;
      }),
    );
    // A recipe does not change while a run goes on.
    const wanted = this.chosen.join(",");
    if (wanted !== this.differing.runs) {
      const list = this.chosen.length < 2 ? [] : (await api.differences(this.chosen, this.stop.signal)).differences;
      if (wanted === this.chosen.join(",")) this.differing = { runs: wanted, list };
      more = true;
    }
    this.drawPicker();
    if (more) this.drawPictures();
  }

  key(key: string): boolean {
    if (key !== "s") return false;
    this.window = this.window > 1 ? 1 : 5;
    this.changed();
    return true;
  }

  repaint(): void {
    this.picker.dataset["key"] = "";
    this.drawPicker();
    for (const chart of this.charts.values()) chart.repaint();
  }

  destroy(): void {
    this.stop.abort();
    for (const chart of this.charts.values()) chart.destroy();
  }

  private changed(): void {
    this.page.remember({ runs: this.chosen.join(","), along: this.along, together: this.together ? "1" : "", smooth: String(this.window) });
    this.drawPicker();
    this.drawPictures();
    void this.tick().catch((error: Error) => this.page.trouble(error.message));
  }

  private switches(): HTMLElement[] {
    const along = h("select", { "aria-label": "along", onchange: () => {
      this.along = along.value as Along;
      this.changed();
    } }, ...["steps", "trajectories", "minutes"].map((one) => h("option", { value: one }, `along ${one} of rl`)));
    along.value = this.along;
    const box = h("input", { type: "checkbox", onchange: () => {
      this.together = box.checked;
      this.changed();
    } });
    box.checked = this.together;
    return [h("label", { class: "flag", title: "runs of the same folder as their mean, with a band from the least to the most" }, box, "folders as one"), along];
  }

  private drawPicker(): void {
    const key = JSON.stringify([this.chosen, this.together, this.page.runs.map((run) => [run.id, run.state])]);
    if (this.picker.dataset["key"] === key) return;
    this.picker.dataset["key"] = key;
    const folders = new Map<string, RunLine[]>();
    for (const run of this.page.runs) folders.set(run.group, [...(folders.get(run.group) ?? []), run]);
    put(
      this.picker,
      ...[...folders].map(([folder, runs]) =>
        h("div", { class: "folder" },
          folder && runs.length > 1 ? h("button", { type: "button", class: "quiet", title: "all of them, or none", onclick: () => this.toggleAll(runs) }, `${folder}/`) : folder ? h("span", { class: "dim" }, `${folder}/`) : null,
          ...runs.map((run) => {
            const on = this.chosen.includes(run.id);
            return h("button", { type: "button", class: "key", "data-run": run.id, "aria-pressed": String(on), onclick: () => this.toggle(run.id) },
              h("i", { class: "stroke", style: { "--colour": on ? colour(this.colourOf(run)) : "transparent" } }), run.name);
          })),
      ),
    );
  }

  private toggle(id: string): void {
    this.chosen = this.chosen.includes(id) ? this.chosen.filter((one) => one !== id) : [...this.chosen, id];
    this.changed();
  }

  private toggleAll(runs: RunLine[]): void {
    const ids = runs.map((run) => run.id);
    const all = ids.every((id) => this.chosen.includes(id));
    this.chosen = all ? this.chosen.filter((id) => !ids.includes(id)) : [...new Set([...this.chosen, ...ids])];
    this.changed();
  }

  private lineOf(id: string): RunLine | undefined {
    return this.page.runs.find((run) => run.id === id);
  }

  private colourOf(run: RunLine): number {
    if (!this.together) return this.chosen.indexOf(run.id);
    return [...new Set(this.chosen.map((id) => this.lineOf(id)?.group ?? ""))].indexOf(run.group);
  }

  // Where each row of a run stands along the axis; null for rows before trial and error.
  private placesOf(series: Series): (number | null)[] {
    const success = series.column("success") ?? [];
    const trajectories = series.running("trajectories");
    const seconds = success.map((value, i) => (value === null ? 0 : (series.column("time/step")?.[i] ?? 0)));
    let row = 0;
    let minutes = 0;
    return series.steps.map((_step, i) => {
      if (success[i] === null || success[i] === undefined) return null;
      ++row;
      minutes += (seconds[i] ?? 0) / 60;
      return this.along === "steps" ? row : this.along === "trajectories" ? trajectories[i]! : Number(minutes.toFixed(3));
    });
  }

  private tableOf(series: Series, metric: string): [number[], (number | null)[]] | null {
    const values = series.column(metric);
    if (!values) return null;
    const places = this.placesOf(series);
    const x: number[] = [];
    const y: (number | null)[] = [];
    places.forEach((place, i) => {
      if (place === null) return;
      x.push(place);
      y.push(values[i] ?? null);
    });
    return x.length > 0 ? [x, y] : null;
  }

  private drawPictures(): void {
    const runs = this.chosen.flatMap((id) => {
      const run = this.lineOf(id);
      const series = this.series.get(id);
      return run && series ? [{ run, series }] : [];
    });
    if (this.chosen.length === 0) {
      this.layout = "";
      put(this.pictures, empty("Choose two runs or more", "Each gets a colour; all pictures have the same axis, so that what differs can be seen at once."));
      return;
    }
    const pictures = METRICS.flatMap((spec) => {
      const there = runs.flatMap(({ run, series }) => {
        const table = this.tableOf(series, spec.metric);
        return table && table[1].some((value) => value !== null) ? [{ run, table }] : [];
      });
      if (there.length === 0) return [];
      const joined = uPlot.join(there.map((one) => one.table as uPlot.AlignedData));
      const columns = joined.slice(1) as (number | null)[][];
      const x = joined[0] as number[];
      return [{ spec, x, lines: this.together ? this.folderLines(there.map((one) => one.run), columns, !!spec.dots) : this.runLines(there.map((one) => one.run), columns, !!spec.dots) }];
    });
    const layout = JSON.stringify(pictures.map((one) => one.spec.title));
    if (layout !== this.layout) {
      this.layout = layout;
      put(this.pictures, h("div", { class: "pictures" }, ...pictures.map((one) => this.chart(one.spec.title, one.spec.about).element)), h("div", { class: "section", id: "table" }), h("div", { class: "section", id: "differences" }));
    }
    for (const { spec, x, lines } of pictures) {
      this.chart(spec.title, spec.about).show({ title: spec.title, about: spec.about, x, lines, share: spec.share, xLabel: this.along.replace(/s$/, "") }, this.window);
    }
    const table = this.pictures.querySelector("#table");
    if (table) put(table, this.table(runs));
    const differences = this.pictures.querySelector("#differences");
    if (differences) put(differences, this.differences());
  }

  /** What the recipes say differently, key by key. */
  private differences(): HTMLElement | null {
    const ids = this.differing.runs.split(",").filter(Boolean);
    if (ids.length < 2 || this.differing.runs !== this.chosen.join(",")) return null;
    if (this.differing.list.length === 0) return h("p", { class: "dim" }, "Their recipes say the same.");
    return h("div", { class: "card scroll" },
      h("h2", {}, "What their recipes say differently"),
      h("table", { class: "list differences" },
        h("thead", {}, h("tr", {}, h("th", {}, "key"), ...ids.map((id) => {
          const run = this.lineOf(id);
          return h("th", {}, run ? h("i", { class: "stroke swatch", style: { "--colour": colour(this.colourOf(run)) } }) : null, id);
        }))),
        h("tbody", {}, ...this.differing.list.map((one) =>
          h("tr", {}, h("td", {}, h("code", {}, one.key)), ...one.values.map((value) => h("td", {}, value === "" ? h("span", { class: "dim" }, "–") : h("code", {}, value))))))));
  }

  private chart(title: string, about: string): Chart {
    const known = this.charts.get(title);
    if (known) return known;
    const chart = new Chart(title, about, "compare", this.window);
    this.charts.set(title, chart);
    return chart;
  }

  private runLines(runs: RunLine[], columns: (number | null)[][], dots: boolean): Line[] {
    return runs.map((run, i) => ({ name: run.id, values: columns[i] ?? [], colour: this.colourOf(run), dots }));
  }

  private folderLines(runs: RunLine[], columns: (number | null)[][], dots: boolean): Line[] {
    const folders = new Map<string, number[]>();
    runs.forEach((run, i) => folders.set(run.group, [...(folders.get(run.group) ?? []), i]));
    return [...folders].map(([folder, members]) => {
      const rows = (columns[0] ?? []).map((_value, row) => members.map((i) => columns[i]?.[row] ?? null).filter((value): value is number => value !== null));
      const over = (of: (values: number[]) => number) => rows.map((values) => (values.length === 0 ? null : of(values)));
      return {
        name: `${folder || "runs"} (${members.length})`,
        values: over((values) => values.reduce((sum, value) => sum + value, 0) / values.length),
        colour: this.colourOf(runs[members[0]!]!),
        dots,
        ...(members.length > 1 ? { band: { low: over((values) => Math.min(...values)), high: over((values) => Math.max(...values)) } } : {}),
      };
    });
  }

  private table(runs: { run: RunLine; series: Series }[]): HTMLElement {
    // On dev, as hone compare has it: success in training is not held out.
    const reached = (series: Series): string => {
      const row = (series.column("dev/sampled") ?? []).findIndex((value) => value !== null && value >= GOAL);
      if (row >= 0) return count(series.running("trajectories")[row] ?? 0);
      const drawn = series.running("trajectories").at(-1) ?? 0;
      return drawn > 0 ? `later than ${count(drawn)}` : "not yet";
    };
    return h(
      "div",
      { class: "card scroll" },
      h("table", { class: "list" },
        h("thead", {}, h("tr", {}, h("th", {}, "run"), h("th", {}, "credit"), h("th", { class: "number" }, "seed"), h("th", { class: "number" }, "test before"), h("th", { class: "number" }, "test after"), h("th", { class: "number" }, "dev, last"), h("th", { class: "number", title: "until dev, sampled, is there" }, `trajectories to ${100 * GOAL} %`), h("th", { class: "number" }, "trajectories"), h("th", {}, ""))),
        h("tbody", {}, ...runs.map(({ run, series }) =>
          h("tr", {}, h("td", { class: "name" }, h("i", { class: "stroke swatch", style: { "--colour": colour(this.colourOf(run)) } }), h("a", { href: `#/curves?run=${encodeURIComponent(run.id)}` }, run.id)),
            h("td", {}, h("code", {}, run.method)), h("td", { class: "number" }, run.seed),
            h("td", { class: "number" }, cellText(run.before)), h("td", { class: "number" }, h("b", {}, cellText(run.after)), " ", h("small", {}, interval(run.after))),
            h("td", { class: "number" }, percent(run.dev)), h("td", { class: "number" }, reached(series)), h("td", { class: "number" }, count(run.trajectories)), h("td", {}, statePill(run)))))),
    );
  }
}
