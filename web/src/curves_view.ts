import { api, type Run } from "./api";
import { Chart, type Mark } from "./chart";
import { h, put } from "./dom";
import { count, duration, percent, short } from "./format";
import { cellText, empty, interval, progressText, statePill } from "./parts";
import { pictureOf, sections, type PictureSpec } from "./pictures";
import { Series } from "./series";
import type { Page, Params, View } from "./view";

const WINDOWS = [1, 5, 15, 50];

/** One run: its numbers over the steps, what it changed, and what went wrong. */
export class CurvesView implements View {
  readonly element = h("div", { class: "curves" });
  private readonly head = h("div", {});
  private readonly pictures = h("div", {});
  private readonly below = h("div", {});
  private readonly charts = new Map<string, Chart>();
  private readonly series: Series;
  private readonly stop = new AbortController();
  private readonly runId: string;
  private run: Run | null = null;
  private window: number;
  private extra: string[];
  private layout = "";
  private told = "";

  constructor(
    private readonly page: Page,
    params: Params,
  ) {
    this.runId = params["run"] ?? "";
    this.series = new Series(this.runId);
    this.window = Number(params["smooth"] ?? 5) || 1;
    this.extra = (params["more"] ?? "").split(",").filter(Boolean);
    this.element.append(this.head, this.pictures, this.below);
  }

  async tick(): Promise<void> {
    const [run, more] = await Promise.all([api.run(this.runId, this.stop.signal), this.series.refresh(this.stop.signal)]);
    const first = this.run === null;
    this.run = run;
    this.drawHead();
    if (more || first) this.drawPictures();
    this.drawBelow();
  }

  key(key: string): boolean {
    if (key !== "s") return false;
    const next = WINDOWS[(WINDOWS.indexOf(this.window) + 1) % WINDOWS.length] ?? 1;
    this.smooth(next);
    return true;
  }

  repaint(): void {
    for (const chart of this.charts.values()) chart.repaint();
  }

  destroy(): void {
    this.stop.abort();
    for (const chart of this.charts.values()) chart.destroy();
  }

  private smooth(window: number): void {
    this.window = window;
    this.remember();
    this.drawHead();
    this.drawPictures();
  }

  private remember(): void {
    this.page.remember({ run: this.runId, smooth: String(this.window), more: this.extra.join(",") });
  }

  private drawHead(): void {
    const run = this.run!;
    const told = JSON.stringify([run.state, run.step, run.after, run.alarms.length, run.problem, this.window]);
    if (told === this.told) return;
    this.told = told;
    const cards: Node[] = [];
    const card = (label: string, value: string | Node, about = "", note = "") =>
      cards.push(h("div", { class: "figure", title: about }, h("span", {}, label), h("b", {}, value), note ? h("small", {}, note) : null));
    for (const row of run.tables[0]?.rows ?? []) {
      if (!row.main || (!row.after && !row.before)) continue;
      const text = row.after ? `${row.before ? `${cellText(row.before)} → ` : ""}${cellText(row.after)}` : cellText(row.before);
      card(`${row.label}, test`, text, row.about, row.after ? interval(row.after) : "before training");
    }
    if (cards.length === 0) card("success in training", percent(run.success), "mean of the last 10 steps");
    card("dev, last", percent(run.dev), "success on held-out tasks, real tools", run.best ? `best ${percent(run.best.value)} at step ${run.best.step}` : "");
    card("trajectories", count(run.trajectories), "drawn so far; speed of the last 10 steps", `${duration(run.seconds)}${run.tokens_per_second === null ? "" : ` · ${count(run.tokens_per_second)} tokens / s`}`);
    card("alarms", String(run.alarms.length), "what went off while training", run.alarms[0] ? run.alarms.map((alarm) => alarm.name).slice(0, 2).join(", ") : "none went off");
    put(
      this.head,
      h(
        "div",
        { class: "bar" },
        h("h1", {}, run.id),
        statePill(run),
        h("span", { class: "dim" }, `step ${count(run.step)} of ${count(run.steps)}${run.state === "finished" ? "" : ` · ${progressText(run)}`}`),
        h("code", { title: "method of credit" }, run.method),
        h("span", { class: "grow" }),
        h("span", { class: "dim", id: "smooth-label" }, "smooth"),
        h(
          "div",
          { class: "segmented", role: "group", "aria-labelledby": "smooth-label" },
          ...WINDOWS.map((window) =>
            h("button", { type: "button", "aria-pressed": String(window === this.window), title: window === 1 ? "as measured" : `mean of the last ${window} steps`, onclick: () => this.smooth(window) }, window === 1 ? "off" : window),
          ),
        ),
        h("a", { class: "button", href: `#/trajectories?run=${encodeURIComponent(run.id)}` }, `Trajectories (${count(run.groups)} groups)`),
      ),
      run.problem ? h("p", { class: "notice broken" }, run.problem) : null,
      h("div", { class: "figures" }, ...cards),
    );
  }

  private marks(): Mark[] {
    return this.run!.alarms.map((alarm) => ({
      x: alarm.step,
      text: `step ${alarm.step}: ${alarm.name}. ${alarm.message}${alarm.remedy ? ` Remedy: ${alarm.remedy}` : ""}`,
      severe: alarm.severity !== "warning",
    }));
  }

  // Charts stay where they are while numbers come in; only another set of them is laid out anew.
  private drawPictures(): void {
    const all = [...sections];
    if (this.extra.length > 0) {
      all.push({
        title: "Chosen",
        pictures: this.extra.map((name): PictureSpec => ({ title: name, about: this.run?.meanings?.[name] ?? "", lines: [{ metric: name, name }] })),
      });
    }
    const there = all
      .map((section) => ({
        title: section.title,
        pictures: section.pictures.flatMap((spec) => {
          const picture = pictureOf(spec, this.series);
          return picture ? [picture] : [];
        }),
      }))
      .filter((section) => section.pictures.length > 0);
    if (there.length === 0) {
      put(this.pictures, empty("Nothing is logged yet", "The first numbers come with the first step that is logged; this page looks again by itself."));
      this.layout = "";
      return;
    }
    const layout = JSON.stringify(there.map((section) => [section.title, section.pictures.map((one) => one.title)]));
    const marks = this.marks();
    if (layout !== this.layout) {
      this.layout = layout;
      put(
        this.pictures,
        ...there.map((section) =>
          h("section", { class: "section" }, h("h2", {}, section.title),
            h("div", { class: "pictures" }, ...section.pictures.map((picture) => this.chart(picture.title, picture.about).element))),
        ),
        this.adder(),
      );
    }
    for (const section of there) {
      for (const picture of section.pictures) this.chart(picture.title, picture.about).show({ ...picture, marks }, this.window);
    }
  }

  private chart(title: string, about: string): Chart {
    const known = this.charts.get(title);
    if (known) return known;
    const chart = new Chart(title, about, `curves:${this.runId}`, this.window);
    this.charts.set(title, chart);
    return chart;
  }

  private adder(): HTMLElement {
    const select = h(
      "select",
      { "aria-label": "Add a picture of any metric", onchange: () => {
        if (!select.value) return;
        this.extra.push(select.value);
        this.remember();
        this.drawPictures();
      } },
      h("option", { value: "" }, "Any other metric…"),
      ...[...this.series.columns.keys()].sort().filter((name) => !this.extra.includes(name)).map((name) => h("option", { value: name }, name)),
    );
    return h("p", { class: "adder" }, select, h("span", { class: "dim" }, " Drag over a picture to look closer; double-click to go back."));
  }

  private drawBelow(): void {
    const run = this.run!;
    const key = JSON.stringify([run.alarms, run.tables, run.result]);
    if (this.below.dataset["key"] === key) return;
    this.below.dataset["key"] = key;
    put(
      this.below,
      run.alarms.length > 0
        ? h("section", { class: "section", id: "alarms" }, h("h2", {}, "Alarms"),
            h("div", { class: "card scroll" }, h("table", { class: "list" },
              h("thead", {}, h("tr", {}, h("th", { class: "number" }, "step"), h("th", {}, "alarm"), h("th", {}, "what it saw"), h("th", {}, "remedy"))),
              h("tbody", {}, ...run.alarms.map((alarm) => h("tr", {}, h("td", { class: "number" }, alarm.step), h("td", {}, h("span", { class: alarm.severity === "warning" ? "pill warning" : "pill broken" }, alarm.name)), h("td", { class: "wrap" }, alarm.message), h("td", {}, alarm.remedy || "–")))))))
        : null,
      ...run.tables.map((table) =>
        h("section", { class: "section" }, h("h2", {}, `Before and after, on the real tools: ${table.split}, ${table.tasks} tasks`),
          h("div", { class: "card scroll" }, h("table", { class: "list" },
            h("thead", {}, h("tr", {}, h("th", {}, "figure"), h("th", { class: "number" }, "before"), h("th", { class: "number" }, "after"), h("th", {}, ""))),
            h("tbody", {}, ...table.rows.map((row) =>
              h("tr", { class: row.main ? "main" : "" }, h("td", { class: row.indent > 0 ? "part" : "" }, row.label),
                h("td", { class: "number" }, cellText(row.before), " ", h("small", {}, interval(row.before))),
                h("td", { class: "number" }, cellText(row.after), " ", h("small", {}, interval(row.after))),
                h("td", { class: "dim" }, row.about))))))),
      ),
      h("section", { class: "section" }, h("h2", {}, "Recipe"), h("details", { class: "card" }, h("summary", {}, "every key with the value it had"), h("pre", {}, run.recipe))),
      run.result?.weights ? h("p", { class: "dim" }, "SHA-256 of the weights: ", h("code", {}, run.result.weights)) : null,
      h("p", { class: "dim" }, `${run.folder} · ${count(run.groups)} groups stored · ${short(run.totals["ratio_tokens"] ?? 0)} tokens checked: ratio exactly 1`),
    );
  }
}
