import type { Series } from "./series";
import type { Line, Picture, Share } from "./chart";

// What is drawn of a run, in which order, and what it means.

interface Wanted {
  metric: string;
  name: string;
  dots?: boolean;
  dashed?: boolean;
}

export interface PictureSpec {
  title: string;
  about: string;
  share?: Share;
  always?: boolean; // 0 all the time says something, too
  lines: Wanted[] | ((names: string[]) => Wanted[]);
}

export interface Section {
  title: string;
  pictures: PictureSpec[];
}

const withPrefix = (prefix: string, dashed: boolean, except: string[] = []) => (names: string[]): Wanted[] =>
  names
    .filter((name) => name.startsWith(prefix) && !except.includes(name))
    .map((name) => ({ metric: name, name: name.slice(prefix.length), dashed }));

export const sections: Section[] = [
  {
    title: "Outcome",
    pictures: [
      {
        title: "Success",
        about: "Share of tasks that are done. Dots are measured on the real tools.",
        always: true,
        share: "whole",
        lines: [
          { metric: "success", name: "in training" },
          { metric: "dev/sampled", name: "dev, sampled", dots: true },
          { metric: "dev/greedy", name: "dev, greedy", dots: true },
        ],
      },
      {
        title: "Reward",
        about: "Mean over trajectories, and each term that it is made of.",
        always: true,
        lines: (names) => [
          { metric: "reward/mean", name: "all terms" },
          ...withPrefix("reward/", true, ["reward/mean"])(names),
        ],
      },
      {
        title: "When, which, how",
        about: "Calls when a tool is needed · the right one · with right arguments.",
        share: "whole",
        lines: [
          { metric: "when", name: "when" },
          { metric: "which", name: "which" },
          { metric: "how", name: "how" },
        ],
      },
      {
        title: "Needless and missed calls",
        share: "some",
        about: "Share of tasks with a call that was not needed, or without one that was.",
        lines: [
          { metric: "needless_call_rate", name: "needless" },
          { metric: "missed_call_rate", name: "missed" },
        ],
      },
    ],
  },
  {
    title: "Behaviour",
    pictures: [
      {
        title: "Calls and turns",
        about: "Per trajectory.",
        lines: [
          { metric: "tool_calls", name: "calls" },
          { metric: "num_turns", name: "turns" },
        ],
      },
      {
        title: "Length",
        about: "Tokens that the policy writes per trajectory.",
        lines: [
          { metric: "response_length", name: "tokens" },
          { metric: "thought_tokens", name: "of thoughts" },
        ],
      },
      {
        title: "Entropy",
        about: "Nats per token. Near 0: no more exploring. Rising fast: coming apart.",
        lines: [{ metric: "entropy", name: "entropy" }],
      },
      {
        title: "Faults",
        about: "What could not be read, failed or was cut off.",
        lines: [
          { metric: "faults", name: "unreadable per trajectory" },
          { metric: "execution_failure_rate", name: "calls that failed" },
          { metric: "truncated_rate", name: "cut off" },
          { metric: "fault_rate", name: "broken by others" },
        ],
      },
    ],
  },
  {
    title: "Learning",
    pictures: [
      {
        title: "KL",
        about: "How far the update moved the policy, and how far it is from the reference.",
        lines: [
          { metric: "approx_kl", name: "in this step" },
          { metric: "kl", name: "to the reference" },
        ],
      },
      { title: "Gradient", about: "Norm before clipping.", lines: [{ metric: "grad_norm", name: "norm" }] },
      {
        title: "Clipped tokens",
        share: "some",
        about: "Share of tokens whose ratio left the trust region.",
        lines: [{ metric: "clip_fraction", name: "clipped" }],
      },
      {
        title: "Groups that say nothing",
        about: "All trajectories fared alike, so there is nothing to learn from.",
        share: "whole",
        lines: [{ metric: "zero_advantage_groups", name: "silent" }],
      },
      {
        title: "Curriculum",
        about: "How often each kind of task is drawn.",
        lines: withPrefix("curriculum/", false),
      },
    ],
  },
  {
    title: "Stages and throughput",
    pictures: [
      {
        title: "Imitation",
        about: "Loss per token while it imitates demonstrations.",
        lines: [
          { metric: "sft/loss", name: "the agent's tokens" },
          { metric: "sft/other_loss", name: "others' tokens" },
        ],
      },
      {
        title: "Speed",
        about: "Tokens per second of the whole step, evaluation included.",
        lines: [{ metric: "tokens_per_second", name: "tokens / s" }],
      },
      {
        title: "Where the time goes",
        about: "Seconds of each step by pass.",
        lines: (names) => withPrefix("time/", false, ["time/step"])(names),
      },
      {
        title: "Who answered",
        about: "Calls of a step: the real tools, or the simulator.",
        lines: [
          { metric: "simulated_calls", name: "simulator" },
          { metric: "real_calls", name: "real tools" },
        ],
      },
    ],
  },
];

/** The picture of a run, or nothing when the run has nothing of it to show. */
export function pictureOf(spec: PictureSpec, series: Series): Picture | null {
  const names = [...series.columns.keys()].sort();
  const wanted = typeof spec.lines === "function" ? spec.lines(names) : spec.lines;
  const lines: Line[] = [];
  wanted.forEach((one, i) => {
    const values = series.column(one.metric);
    if (!values || !(spec.always || series.says(one.metric))) return;
    lines.push({ name: one.name, values, colour: i, dots: !!one.dots, dashed: !!one.dashed });
  });
  const imitation = wanted.some((one) => one.metric.startsWith("sft/"));
  const first = imitation ? 0 : Math.max(series.column("success")?.findIndex((value) => value !== null) ?? 0, 0);
  const shown = trimmed(series.steps, lines, first);
  if (shown.lines.length === 0) return null;
  if (spec.title === "Where the time goes") keepLargest(shown.lines, 6); // the small ones cannot be told apart
  return { title: spec.title, about: spec.about, ...shown, share: spec.share };
}

// From `first` on, without the rows before the first value and behind the last. Imitation comes before trial and error and has
// pictures of its own; in the others its steps would leave no room for the rest.
function trimmed(x: number[], lines: Line[], first: number): { x: number[]; lines: Line[] } {
  const there = (row: number) => lines.some((line) => (line.values[row] ?? null) !== null);
  let last = x.length;
  while (first < last && !there(first)) ++first;
  while (last > first && !there(last - 1)) --last;
  const cut = lines.map((line) => ({ ...line, values: line.values.slice(first, last) }));
  return { x: x.slice(first, last), lines: cut.filter((line) => line.values.some((value) => value !== null)) };
}

function keepLargest(lines: Line[], count: number): void {
  const size = (line: Line) => line.values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  lines.sort((a, b) => size(b) - size(a));
  lines.length = Math.min(lines.length, count);
  lines.forEach((line, i) => (line.colour = i));
}
