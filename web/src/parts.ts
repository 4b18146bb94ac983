import { h, s } from "./dom";
import { count, duration, percent } from "./format";
import type { Cell, RunLine } from "./api";

// Small things that several views show.

const STATES = {
  running: "A process is training in this run's folder.",
  finished: "It has come to its end.",
  stopped: "Not finished, and nobody is training it: hone train goes on with it.",
};

export function statePill(run: Pick<RunLine, "state" | "problem">): HTMLElement {
  if (run.problem) return h("span", { class: "pill broken", title: run.problem }, "damaged");
  return h("span", { class: `pill ${run.state}`, title: STATES[run.state] }, run.state);
}

/** How far a run is, by time where that can be told, else by the steps of the stage that it is in. */
export function progressBar(run: Pick<RunLine, "state" | "step" | "steps" | "progress">): HTMLElement[] {
  const at = run.progress;
  const done = run.state === "finished" ? 1 : (at.share ?? (at.steps > 0 ? at.step / at.steps : 0));
  return [
    h("div", { class: "progress", role: "progressbar", "aria-valuenow": Math.round(100 * done), "aria-valuemin": 0, "aria-valuemax": 100, title: `step ${run.step} of ${run.steps}; ${progressText(run)}` },
      h("i", { class: run.state, style: { width: `${100 * done}%` } })),
    h("small", {}, progressText(run)),
  ];
}

/** "rl 3 / 15, 2 min left" */
export function progressText(run: Pick<RunLine, "state" | "step" | "progress">): string {
  const at = run.progress;
  if (run.state === "finished" || at.stage === "") return `${count(run.step)} steps`;
  const rest = run.state === "running" && at.left !== null ? `, ${duration(at.left)} left` : "";
  return `${at.stage} ${count(at.step)} / ${count(at.steps)}${rest}${at.later > 0 ? `, then ${at.later} more` : ""}`;
}

export function cellText(cell: Cell | null, digits = 1): string {
  if (!cell) return "–";
  return cell.share ? percent(cell.value, digits) : cell.value.toFixed(2);
}

export function interval(cell: Cell | null): string {
  if (!cell || cell.low === undefined || cell.high === undefined) return "";
  const scale = cell.share ? 100 : 1;
  const digits = cell.share ? 1 : 2;
  return `[${(scale * cell.low).toFixed(digits)}, ${(scale * cell.high).toFixed(digits)}]`;
}

/** A small curve without axes, of values from 0 to 1. */
export function spark(values: number[], width = 120, height = 26): SVGElement {
  const picture = s("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  if (values.length < 2) return picture;
  const points = values.map((value, i) => {
    const x = (i / (values.length - 1)) * (width - 6) + 2;
    const y = height - 3 - Math.min(Math.max(value, 0), 1) * (height - 6);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const last = points[points.length - 1]!.split(",");
  picture.append(
    s("polyline", { points: points.join(" "), fill: "none" }),
    s("circle", { cx: last[0], cy: last[1], r: 2.4 }),
  );
  return picture;
}

export function empty(title: string, ...lines: (string | Node)[]): HTMLElement {
  return h("div", { class: "empty" }, h("h2", {}, title), ...lines.map((line) => h("p", {}, line)));
}
