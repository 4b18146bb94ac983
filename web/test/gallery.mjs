// The pictures of docs/dashboard.md, taken from a running `hone dash`:
//
//   node gallery.mjs URL OUT RUN [OTHER]
//
// RUN is shown alone, and beside OTHER on the page that compares.

import { chromium } from "playwright-core";

const [url, out, run, other = run] = process.argv.slice(2);
const [one, both] = [encodeURIComponent(run), [run, other].map(encodeURIComponent).join(",")];
const browser = await chromium.launch({
  executablePath: process.env.HONE_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
for (const [name, hash, ready, colorScheme = "light"] of [
  ["dash-runs", "#/runs", "tr[data-run]"],
  ["dash-curves", `#/curves?run=${one}`, ".chart canvas"],
  ["dash-trajectory", `#/trajectories?run=${one}`, ".tokens"],
  ["dash-compare", `#/compare?runs=${both}`, ".chart canvas"],
  ["dash-dark", `#/trajectories?run=${one}`, ".tokens", "dark"],
]) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, colorScheme });
  const page = await context.newPage();
  await page.goto(url + hash);
  await page.waitForSelector(ready);
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: `${out}/${name}.png` });
  await context.close();
}
await browser.close();
