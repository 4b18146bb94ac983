// How long each view of a run takes until it can be read: node first_view.mjs URL RUN [LIMIT_MS]. Status 1 when the first one is
// slower than the limit.

import { chromium } from "playwright-core";

const [url, run, limit = "2000"] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.HONE_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
let slow = false;
for (const [name, hash, ready] of [
  ["runs", "#/runs", "tr[data-run]"],
  ["curves", `#/curves?run=${encodeURIComponent(run)}`, ".chart canvas"],
  ["trajectories", `#/trajectories?run=${encodeURIComponent(run)}`, ".tokens span"],
  ["compare", `#/compare?runs=${encodeURIComponent(run)}`, ".chart canvas"],
]) {
  const page = await context.newPage();
  const begin = performance.now();
  await page.goto(url + hash);
  await page.waitForSelector(ready);
  const took = performance.now() - begin;
  console.log(`${(took / 1000).toFixed(2)} s until ${name} can be read`);
  slow ||= took > Number(limit);
  await page.close();
}
await browser.close();
process.exit(slow ? 1 : 0);
