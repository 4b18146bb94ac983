// Numbers and times as people read them.

const grouped = new Intl.NumberFormat("en-US");

export function count(value: number): string {
  return grouped.format(Math.round(value));
}

/** 0.9375 as "93.8 %". */
export function percent(value: number | null | undefined, digits = 1): string {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`;
}

/** Four significant digits, without a tail of zeros. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 10000) return count(value);
  if (size < 0.001) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

export function signed(value: number, digits = 2): string {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "−" : "+") + text;
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function ago(time: number | null, now: number = Date.now() / 1000): string {
  if (time === null) return "–";
  const seconds = Math.max(0, now - time);
  if (seconds < 5) return "just now";
  if (seconds < 86400) return `${duration(seconds)} ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}
