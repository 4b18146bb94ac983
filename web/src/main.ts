import "uplot/dist/uPlot.min.css";
import "./style.css";
import { api, type RunLine } from "./api";
import { CompareView } from "./compare_view";
import { CurvesView } from "./curves_view";
import { h, put } from "./dom";
import { empty } from "./parts";
import { RunsView } from "./runs_view";
import { TrajectoryView } from "./trajectory_view";
import type { Page, Params, View, ViewName } from "./view";

// The page around the views: where one is (in the address), the theme, keys, and the clock.

const TICK_MS = 2000;
const SYSTEM_DARK = matchMedia("(prefers-color-scheme: dark)");
const VIEWS: { name: ViewName; title: string; key: string }[] = [
  { name: "runs", title: "Runs", key: "r" },
  { name: "curves", title: "Curves", key: "c" },
  { name: "trajectories", title: "Trajectories", key: "t" },
  { name: "compare", title: "Compare", key: "x" },
];

const KEYS: [string, string][] = [
  ["r  c  t  x", "runs, curves, trajectories, compare"],
  ["/", "filter"],
  ["j  k", "next, previous run or group"],
  ["[  ]", "previous, next trajectory of a group"],
  ["1 … 9", "channel of credit"],
  ["o", "open or fold the thoughts of a trajectory"],
  ["s", "smoothing"],
  ["d", "light, dark, or as the system wants it"],
  ["?", "this list"],
];

class Dash implements Page {
  runs: RunLine[] = [];
  private view: View | null = null;
  private viewName: ViewName = "runs";
  private params: Params = {};
  private readonly nav = h("nav", { "aria-label": "views" });
  private readonly picker = h("select", { class: "run-picker", "aria-label": "run", onchange: () => this.pickRun() });
  private readonly alert = h("div", { class: "trouble", role: "alert" });
  private readonly main = h("main", {});
  private readonly help = h("dialog", { "aria-label": "keys" });
  private readonly themeButton = h("button", { type: "button", class: "quiet", title: "light or dark ( d )", onclick: () => this.nextTheme() });
  private at = ""; // the address of what is shown
  private ticking = false;
  private again = false;

  start(): void {
    this.theme(this.savedTheme());
    put(
      this.help,
      h("h2", {}, "Keys"),
      h("table", {}, ...KEYS.map(([key, text]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, text)))),
      h("form", { method: "dialog" }, h("button", { class: "primary" }, "Close")),
    );
    put(
      document.getElementById("app")!,
      h("header", { class: "top" }, h("a", { class: "brand", href: "#/runs" }, "Hone"), this.nav, h("span", { class: "grow" }), this.picker, this.themeButton,
        h("button", { type: "button", class: "quiet", title: "keys ( ? )", "aria-label": "keys", onclick: () => this.help.showModal() }, "?")),
      this.alert,
      this.main,
      this.help,
    );
    SYSTEM_DARK.addEventListener("change", () => {
      this.theme(this.savedTheme());
      this.view?.repaint?.();
    });
    window.addEventListener("hashchange", () => this.route());
    window.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("visibilitychange", () => void this.tick());
    window.setInterval(() => void this.tick(), TICK_MS);
    void this.load();
  }

  go(view: ViewName, params: Params): void {
    location.hash = address(view, params);
  }

  remember(params: Params): void {
    if (location.hash !== this.at) return; // on the way to another view, which is not to be undone
    this.params = params;
    history.replaceState(null, "", address(this.viewName, params));
    this.at = location.hash;
    this.drawNav();
  }

  trouble(message: string | null): void {
    if (this.alert.textContent === (message ?? "")) return;
    this.alert.textContent = message ?? "";
  }

  private async load(): Promise<void> {
    try {
      this.runs = (await api.runs()).runs;
    } catch (error) {
      this.trouble((error as Error).message);
    }
    this.route();
  }

  // The view that the address says.
  private route(): void {
    this.at = location.hash;
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
    this.viewName = VIEWS.find((view) => view.name === path)?.name ?? "runs";
    this.params = Object.fromEntries(new URLSearchParams(query ?? ""));
    const needsRun = this.viewName === "curves" || this.viewName === "trajectories";
    if (needsRun && !this.params["run"]) {
      const run = this.lastRun();
      if (run) this.params["run"] = run;
    }
    this.view?.destroy();
    this.trouble(null);
    if (needsRun && !this.params["run"]) {
      this.view = null;
      put(this.main, empty("No run yet", "Start one with hone train; it appears under Runs."));
    } else {
      if (this.params["run"]) sessionStorage.setItem("run", this.params["run"]);
      this.view = this.make();
      put(this.main, this.view.element);
    }
    this.drawNav();
    this.again = true;
    void this.tick();
  }

  private make(): View {
    switch (this.viewName) {
      case "runs": return new RunsView(this, this.params);
      case "curves": return new CurvesView(this, this.params);
      case "trajectories": return new TrajectoryView(this, this.params);
      case "compare": return new CompareView(this, this.params);
    }
  }

  // The one that was looked at last; else the one that is being trained, or the first.
  private lastRun(): string | undefined {
    const last = sessionStorage.getItem("run");
    if (last && this.runs.some((run) => run.id === last)) return last;
    return (this.runs.find((run) => run.state === "running") ?? this.runs[0])?.id;
  }

  private async tick(): Promise<void> {
    if (document.hidden || !this.view) return;
    if (this.ticking) return; // the answer before is not here yet
    this.ticking = true;
    do {
      this.again = false;
      const view: View = this.view;
      try {
        if (this.viewName !== "runs") this.runs = (await api.runs()).runs;
        if (view === this.view) await view.tick();
        this.trouble(null);
      } catch (error) {
        if (view === this.view) this.trouble((error as Error).message);
      }
    } while (this.again);
    this.ticking = false;
    this.drawNav();
  }

  private drawNav(): void {
    const run = this.params["run"] ?? this.lastRun();
    // The links stay: one of them may have the focus.
    if (this.nav.children.length === 0) put(this.nav, ...VIEWS.map((view) => h("a", { title: `( ${view.key} )` }, view.title)));
    VIEWS.forEach((view, i) => {
      const link = this.nav.children[i] as HTMLAnchorElement;
      const params: Params = (view.name === "curves" || view.name === "trajectories") && run ? { run } : {};
      link.href = address(view.name, params);
      if (view.name === this.viewName) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    const shown = this.viewName === "curves" || this.viewName === "trajectories";
    this.picker.hidden = !shown;
    const key = JSON.stringify([run, this.runs.map((one) => [one.id, one.state])]);
    if (!shown || this.picker.dataset["key"] === key) return;
    this.picker.dataset["key"] = key;
    put(this.picker, ...this.runs.map((one) => h("option", { value: one.id }, one.state === "running" ? `● ${one.id}` : one.id)));
    this.picker.value = run ?? "";
  }

  private pickRun(): void {
    this.go(this.viewName, { run: this.picker.value });
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    const target = event.target as HTMLElement;
    if (target.closest("input:not([type=checkbox]), select, textarea")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    const view = VIEWS.find((one) => one.key === event.key);
    if (event.key === "?") this.help.showModal();
    else if (event.key === "d") this.nextTheme();
    else if (view) {
      const run = this.params["run"] ?? this.lastRun();
      this.go(view.name, (view.name === "curves" || view.name === "trajectories") && run ? { run } : {});
    } else if (!this.view?.key?.(event.key)) return;
    event.preventDefault();
  }

  private savedTheme(): string {
    return localStorage.getItem("theme") ?? "auto";
  }

  private nextTheme(): void {
    const order = ["auto", "light", "dark"];
    this.theme(order[(order.indexOf(this.savedTheme()) + 1) % order.length]!);
    this.view?.repaint?.();
  }

  private theme(name: string): void {
    localStorage.setItem("theme", name);
    const dark = name === "dark" || (name === "auto" && SYSTEM_DARK.matches);
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    this.themeButton.textContent = { auto: "◐", light: "☀", dark: "☾" }[name] ?? "◐";
    this.themeButton.setAttribute("aria-label", `theme: ${name}`);
  }
}

function address(view: ViewName, params: Params): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== "")).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

new Dash().start();
