import uPlot from "uplot";
import { h, put } from "./dom";
import { short } from "./format";
import { smoothed } from "./series";

/** One line of a picture. */
export interface Line {
  name: string;
  values: (number | null)[];
  colour: number; // of the palette
  dots?: boolean; // single measurements
  dashed?: boolean;
  band?: { low: (number | null)[]; high: (number | null)[] };
}

export interface Mark {
  x: number;
  text: string;
  severe: boolean;
}

/** Shares are shown as percentages: on an axis from 0 to 1, or as far as they go. */
export type Share = "whole" | "some" | undefined;

export interface Picture {
  title: string;
  about: string;
  x: number[];
  lines: Line[];
  marks?: Mark[];
  share?: Share;
  xLabel?: string;
}

const HEIGHT = 196;
const MANY = 8; // marks beyond which the curves must stay readable behind them

function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function colour(index: number): string {
  return token(`--series-${index % 8}`);
}

/** A picture on a card, with a legend that says the values under the pointer. */
export class Chart {
  readonly element: HTMLElement;
  private readonly plotAt = h("div", { class: "plot" });
  private readonly legend = h("div", { class: "legend" });
  private readonly hidden = new Set<string>();
  private plot: uPlot | null = null;
  private picture: Picture | null = null;
  private shape = "";
  private readonly watcher: ResizeObserver;

  constructor(
    title: string,
    about: string,
    private readonly syncKey: string,
    private smoothing: number,
  ) {
    this.element = h(
      "section",
      { class: "card chart", "aria-label": title },
      h("header", {}, h("h3", {}, title), h("p", { class: "about" }, about)),
      this.plotAt,
      this.legend,
    );
    this.watcher = new ResizeObserver(() => this.fit());
    this.watcher.observe(this.plotAt);
  }

  show(picture: Picture, smoothing = this.smoothing): void {
    const lines = picture.lines;
    const shape = JSON.stringify([lines.map((line) => [line.name, line.colour, !!line.band]), smoothing > 1]);
    this.picture = picture;
    this.smoothing = smoothing;
    if (this.plot && shape === this.shape) {
      this.plot.setData(this.data(), this.zoomed() === null);
      this.showValues(null);
      return;
    }
    this.shape = shape;
    this.rebuild();
  }

  /** After another theme was chosen. */
  repaint(): void {
    if (this.picture) this.rebuild();
  }

  destroy(): void {
    this.watcher.disconnect();
    this.plot?.destroy();
  }

  private zoomed(): [number, number] | null {
    const x = this.plot?.scales["x"];
    const data = this.plot?.data[0];
    if (!x || !data || data.length === 0) return null;
    const whole = x.min === data[0] && x.max === data[data.length - 1];
    return whole || x.min === undefined || x.max === undefined ? null : [x.min, x.max];
  }

  // x, then for each line: what is drawn, and where there is smoothing the raw values (faint), and
  // the edges of its band.
  private data(): uPlot.AlignedData {
    const picture = this.picture!;
    const rows: (number | null)[][] = [picture.x];
    for (const line of picture.lines) {
      rows.push(line.dots ? line.values : smoothed(line.values, this.smoothing));
      if (this.smoothing > 1 && !line.dots) rows.push(line.values);
      if (line.band) {
        rows.push(smoothed(line.band.high, this.smoothing), smoothed(line.band.low, this.smoothing));
      }
    }
    return rows as uPlot.AlignedData;
  }

  private rebuild(): void {
    const picture = this.picture!;
    const before = this.zoomed();
    this.plot?.destroy();
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    for (const line of picture.lines) {
      const stroke = colour(line.colour);
      const show = !this.hidden.has(line.name);
      series.push({
        label: line.name,
        stroke,
        width: line.dots ? 1.2 : 1.8,
        spanGaps: true,
        show,
        ...(line.dashed ? { dash: [5, 4] } : {}),
        points: line.dots ? { show: true, size: 6, fill: stroke } : { show: picture.x.length < 3 },
      });
      if (this.smoothing > 1 && !line.dots) {
        series.push({ label: `${line.name} raw`, stroke: `${stroke}44`, width: 1, spanGaps: true, show, points: { show: false } });
      }
      if (line.band) {
        const at = series.length;
        for (const edge of ["high", "low"]) {
          series.push({ label: `${line.name} ${edge}`, stroke: `${stroke}00`, width: 0, spanGaps: true, show, points: { show: false } });
        }
        bands.push({ series: [at, at + 1], fill: `${stroke}26` });
      }
    }
    const axis = { stroke: token("--dim"), grid: { stroke: token("--grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const options: uPlot.Options = {
      width: Math.max(this.plotAt.clientWidth, 200),
      height: HEIGHT,
      legend: { show: false },
      cursor: { sync: { key: this.syncKey, scales: ["x", null] }, y: false, points: { size: 6 }, drag: { x: true, y: false } },
      scales: {
        x: { time: false },
        y: picture.share === "whole" ? { range: [0, 1.02] } : {},
      },
      axes: [
        { ...axis, size: 28, gap: 4 },
        { ...axis, size: 52, gap: 4, values: (_plot, ticks) => ticks.map((tick) => (picture.share ? `${short(100 * tick)} %` : short(tick))) },
      ],
      series,
      bands,
      hooks: {
        setCursor: [(plot) => this.showValues(plot.cursor.idx ?? null)],
        draw: [(plot) => this.drawMarks(plot)],
      },
    };
    this.plot = new uPlot(options, this.data(), this.plotAt);
    if (before) this.plot.setScale("x", { min: before[0], max: before[1] });
    this.drawLegend();
    this.showValues(null);
  }

  private drawLegend(): void {
    put(
      this.legend,
      ...this.picture!.lines.map((line) =>
        h(
          "button",
          {
            class: "key",
            type: "button",
            "aria-pressed": String(!this.hidden.has(line.name)),
            title: "show or hide",
            onclick: () => {
              if (!this.hidden.delete(line.name)) this.hidden.add(line.name);
              this.rebuild();
            },
          },
          h("i", { class: line.dots ? "dot" : line.dashed ? "dash" : "stroke", style: { "--colour": colour(line.colour) } }),
          line.name,
          h("b", {}),
        ),
      ),
      h("span", { class: "at" }),
    );
  }

  // The values under the pointer; without one, the last.
  private showValues(row: number | null): void {
    const picture = this.picture!;
    const keys = this.legend.querySelectorAll(".key b");
    picture.lines.forEach((line, i) => {
      let value: number | null = null;
      for (let at = row ?? line.values.length - 1; at >= 0; --at) {
        value = line.values[at] ?? null;
        if (value !== null) break;
        if (row !== null && !line.dots && !line.band) break;
      }
      const key = keys[i];
      if (key) key.textContent = value === null ? "" : picture.share ? `${(100 * value).toFixed(1)} %` : short(value);
    });
    const at = this.legend.querySelector(".at");
    const x = row === null ? undefined : picture.x[row];
    if (at) at.textContent = x === undefined ? "" : `${picture.xLabel ?? "step"} ${short(x)}`;
  }

  private drawMarks(plot: uPlot): void {
    for (const old of plot.over.querySelectorAll(".mark")) old.remove();
    const marks = this.picture!.marks ?? [];
    for (const mark of marks) {
      const left = plot.valToPos(mark.x, "x");
      if (left < 0 || left > plot.over.clientWidth) continue;
      plot.over.append(
        h("div", {
          class: `mark${mark.severe ? " severe" : ""}${marks.length > MANY ? " many" : ""}`,
          style: { left: `${left}px` },
          title: mark.text,
          role: "img",
          "aria-label": `alarm: ${mark.text}`,
        }),
      );
    }
  }

  private fit(): void {
    const width = this.plotAt.clientWidth;
    if (this.plot && width > 0 && Math.abs(width - this.plot.width) > 1) this.plot.setSize({ width, height: HEIGHT });
  }
}
