import { api } from "./api";

/** The numbers of one run, read on as they come. */
export class Series {
  readonly steps: number[] = [];
  readonly columns = new Map<string, (number | null)[]>();
  private generation = -1;

  constructor(
    readonly run: string,
    private readonly names: string[] = [],
  ) {}

  /** Whether there was anything new. */
  async refresh(signal?: AbortSignal): Promise<boolean> {
    const asked = { generation: this.generation, row: this.steps.length };
    const got = await api.metrics(this.run, this.names, asked.generation, asked.row, signal);
    // Somebody else has asked meanwhile and was told: this answer is not what comes next any more.
    if (asked.generation !== this.generation || asked.row !== this.steps.length) return false;
    const again = got.generation !== this.generation || got.first_row !== this.steps.length;
    if (again) {
      this.steps.length = 0;
      this.columns.clear();
    }
    this.generation = got.generation;
    const before = this.steps.length;
    for (const step of got.steps) this.steps.push(step);
    for (const [name, values] of Object.entries(got.series)) {
      const column = this.columns.get(name) ?? new Array<number | null>(before).fill(null);
      for (const value of values) column.push(value);
      this.columns.set(name, column);
    }
    for (const column of this.columns.values()) {
      while (column.length < this.steps.length) column.push(null);
    }
    return again || got.steps.length > 0;
  }

  column(name: string): (number | null)[] | undefined {
    return this.columns.get(name);
  }

  /** Whether there is a value other than 0: a recipe without that part has none. */
  says(name: string): boolean {
    return this.columns.get(name)?.some((value) => value !== null && value !== 0) ?? false;
  }

  /** What a column adds up to by each row. */
  running(name: string): number[] {
    let sum = 0;
    return (this.columns.get(name) ?? this.steps.map(() => 0)).map((value) => (sum += value ?? 0));
  }

  last(name: string): number | null {
    const column = this.columns.get(name) ?? [];
    for (let i = column.length - 1; i >= 0; --i) {
      const value = column[i];
      if (value !== null && value !== undefined) return value;
    }
    return null;
  }
}

/** The mean over a window that ends at each value; what is not there stays so. */
export function smoothed(values: (number | null)[], window: number): (number | null)[] {
  if (window <= 1) return values;
  const recent: number[] = [];
  let sum = 0;
  return values.map((value) => {
    if (value === null) return null;
    recent.push(value);
    sum += value;
    if (recent.length > window) sum -= recent.shift() ?? 0;
    return sum / recent.length;
  });
}
