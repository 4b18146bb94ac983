import type { RunLine } from "./api";

// What the page's parts have in common.

export type ViewName = "runs" | "curves" | "trajectories" | "compare";

export type Params = Record<string, string>;

/** What a view knows of the page around it. */
export interface Page {
  runs: RunLine[];
  /** Shows another view, or the same with other parameters. */
  go(view: ViewName, params: Params): void;
  /** Remembers parameters of the view that is shown, so that its address leads back here. */
  remember(params: Params): void;
  /** Says that something went wrong; null: no longer. */
  trouble(message: string | null): void;
}

export interface View {
  readonly element: HTMLElement;
  /** About every two seconds while somebody looks. */
  tick(): Promise<void>;
  /** A key that the page did not take. True: it was meant for this view. */
  key?(key: string): boolean;
  /** Another theme was chosen. */
  repaint?(): void;
  destroy(): void;
}
