// The dashboard in a real browser, headless: node browser.mjs URL FINISHED OTHER LIVE [SCREENSHOTS]
//
// URL is that of a running hone dash; FINISHED and OTHER are runs that have ended, LIVE one that is being trained ("-": none).
// Each step says "ok" with its name; the first that fails ends it with status 1. SCREENSHOTS is a folder for pictures.

import { chromium } from "playwright-core";
import assert from "node:assert/strict";

const [url, finished, other, live, pictures] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.HONE_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, colorScheme: "light" });
const page = await context.newPage();
page.setDefaultTimeout(60000); // others may keep the machine busy

// Nothing may go wrong silently, and nothing may come from elsewhere.
const problems = [];
page.on("console", (message) => {
  if (message.type() === "error" || message.type() === "warning") problems.push(`console: ${message.text()}`);
});
page.on("pageerror", (error) => problems.push(`exception: ${error.message}`));
page.on("response", (response) => {
  if (response.status() >= 400) problems.push(`${response.status()} for ${response.url()}`);
});
page.on("request", (request) => {
  if (!request.url().startsWith(url) && !request.url().startsWith("data:")) problems.push(`asked elsewhere: ${request.url()}`);
});

const visit = async (hash) => {
  await page.goto("about:blank");
  await page.goto(url + hash);
};
const picture = async (name) => {
  if (!pictures) return;
  await page.mouse.move(0, 0);
  await page.waitForTimeout(400);
  await page.screenshot({ path: `${pictures}/${name}.png` });
};
const texts = (selector) => page.locator(selector).allTextContents();
const id = encodeURIComponent;

const steps = {
  async "the list of runs shows each with its state"() {
    await page.goto(url);
    await page.waitForSelector(`tr[data-run="${finished}"]:has-text("finished") svg.spark polyline`, { state: "attached" });
    if (live !== "-") await page.waitForSelector(`tr[data-run="${live}"]:has-text("running")`);
    await picture("dash-runs");
  },

  async "the filter leaves the runs that fit"() {
    await page.keyboard.press("/");
    await page.keyboard.type(finished);
    await page.waitForFunction(() => document.querySelectorAll("tr[data-run]").length === 1);
    await page.fill("input[type=search]", "no such run");
    await page.waitForSelector(".empty");
    await page.fill("input[type=search]", "");
    await page.keyboard.press("Escape");
    await page.waitForSelector(`tr[data-run="${other}"]`);
  },

  async "runs are ordered by any column, and the address remembers it"() {
    const seeds = () => page.evaluate(() => [...document.querySelectorAll("tr[data-run]")].map((row) => Number(row.children[4].textContent)));
    await page.click('th[data-column="seed"] button');
    await page.waitForSelector('th[data-column="seed"][aria-sort="ascending"]');
    const up = await seeds();
    assert.deepEqual(up, [...up].sort((a, b) => a - b), "the smallest first");
    await page.click('th[data-column="seed"] button');
    await page.waitForSelector('th[data-column="seed"][aria-sort="descending"]');
    assert.deepEqual(await seeds(), [...up].reverse());
    assert.equal(await page.evaluate(() => document.activeElement.textContent.trim().slice(0, 4)), "seed", "the head keeps the focus");
    await visit(new URL(page.url()).hash);
    await page.waitForSelector('th[data-column="seed"][aria-sort="descending"]');
    assert.ok((await texts("thead th")).some((text) => text.startsWith("model")), "a column for the model");
    await visit("#/runs");
    await page.waitForSelector('th[data-column="run"][aria-sort="ascending"]');
  },

  async "a box that is ticked with the space bar keeps the focus"() {
    const box = page.locator(`tr[data-run="${finished}"] input`);
    await box.focus();
    await page.keyboard.press("Space");
    await page.waitForSelector("button.primary:has-text('Compare 1')");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), `compare ${finished}`);
    await page.keyboard.press("Space");
    await page.waitForSelector("button.primary:has-text('Compare'):not(:has-text('1'))");
  },

  async "a run opens its curves"() {
    await page.click(`tr[data-run="${finished}"] a`);
    await page.waitForSelector(".chart canvas");
    const titles = await texts(".chart h3");
    for (const title of ["Success", "Reward", "When, which, how", "Entropy", "Length", "Speed"]) {
      assert.ok(titles.includes(title), `${title} in ${titles}`);
    }
    assert.ok((await texts('.chart[aria-label="Reward"] .key')).length >= 3, "every term of the reward");
    await picture("dash-curves");
  },

  async "the legend tells the values under the pointer, and hides a line"() {
    const chart = page.locator('.chart[aria-label="Success"]');
    const box = await chart.locator(".u-over").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForFunction(() => /step \d/.test(document.querySelector('.chart[aria-label="Success"] .at').textContent));
    assert.match(await chart.locator(".key b").first().innerText(), /%/);
    await chart.locator(".key").first().click();
    assert.equal(await chart.locator(".key").first().getAttribute("aria-pressed"), "false");
    await chart.locator(".key").first().click();
  },

  async "any other metric can be added"() {
    await page.selectOption(".adder select", "learning_rate");
    await page.waitForSelector('.chart[aria-label="learning_rate"] canvas');
  },

  async "alarms are marks, and listed"() {
    const all = (selector) => `document.querySelectorAll('${selector}').length`;
    await page.waitForFunction(`${all("#alarms tbody tr")} === ${all('.chart[aria-label="Success"] .mark')}`);
  },

  async "a group of trajectories opens, with its tree and its tokens"() {
    await page.keyboard.press("t");
    await page.waitForSelector(".group-line");
    await page.waitForSelector(".tree .leaf");
    await page.waitForSelector(".block.policy .tokens span");
    assert.ok((await page.locator(".tree .leaf").count()) >= 2, "several trajectories");
  },

  async "filters leave the groups that fit"() {
    const before = await page.locator(".group-line").count();
    assert.ok(before > 0);
    await page.fill("input[name=text]", "no such words anywhere");
    await page.waitForSelector(".group-list .empty");
    await page.fill("input[name=text]", "");
    await page.waitForSelector(".group-line");
    await page.check("input[name=differing]");
    await page.waitForFunction(() => location.hash.includes("differing=1"));
    await page.waitForSelector('.group-line[aria-selected="true"]');
  },

  async "each token shows its credit, channel by channel"() {
    await page.waitForSelector(".tokens .earned, .tokens .charged");
    const channels = await texts("[data-channel]");
    assert.ok(channels.length >= 4, `credit, its channels, surprise, entropy: ${channels}`);
    const token = page.locator(".tokens .earned, .tokens .charged").first();
    await token.hover();
    await page.waitForFunction(() => /log-prob/.test(document.querySelector(".facts").textContent));
    assert.match(await page.locator(".facts").innerText(), /credit [+−]\d/);
    await page.keyboard.press("2");
    await page.waitForSelector('[data-channel^="layer:"][aria-pressed="true"]');
    await page.click('[data-channel="entropy"]');
    await page.waitForSelector(".tokens .amount");
    await page.keyboard.press("1");
    await page.waitForSelector('[data-channel="trained"][aria-pressed="true"]');
    if (!pictures) return;
    await visit(`#/trajectories?run=${id(finished)}&differing=1&order=oldest&id=2&leaf=1`);
    await page.waitForSelector(".tokens .earned, .tokens .charged");
    await picture("dash-trajectory");
  },

  async "calls have arguments and results, the end its reward terms"() {
    // Through the trajectories of one group after the other, however long each takes to come.
    const end = Date.now() + 60000;
    for (let i = 0; Date.now() < end && (await page.locator(".call").count()) === 0; ++i) {
      await page.keyboard.press(i % 6 === 5 ? "j" : "]");
      await page.waitForTimeout(150);
    }
    assert.ok((await page.locator(".call .tool").count()) > 0, "a call");
    assert.ok((await page.locator(".call .pill").count()) > 0, "its result");
    assert.ok((await page.locator(".terms tbody tr").count()) > 0, "terms of the reward");
  },

  async "another method of credit can be tried on the same group"() {
    await page.selectOption('select[aria-label="method of credit"]', "grpo");
    await page.waitForFunction(() => location.hash.includes("method=grpo"));
    await page.waitForSelector(".tokens");
  },

  async "the address leads back to the same trajectory"() {
    await page.keyboard.press("Escape"); // out of the list of methods
    for (const key of ["[", "[", "[", "[", "]"]) await page.keyboard.press(key);
    await page.waitForFunction(() => /id=\d+.*leaf=\d|leaf=\d.*id=\d+/.test(location.hash));
    const line = await page.locator(".controls b").innerText();
    const hash = new URL(page.url()).hash;
    await visit(hash);
    await page.waitForSelector(".controls b");
    await page.waitForSelector('.group-line[aria-selected="true"]');
    assert.equal(await page.locator(".controls b").innerText(), line);
    assert.equal(new URL(page.url()).hash, hash);
  },

  async "two runs are compared over each other"() {
    await visit(`#/runs`);
    await page.check(`tr[data-run="${finished}"] input`);
    await page.check(`tr[data-run="${other}"] input`);
    await page.click("button.primary:has-text('Compare 2')");
    await page.waitForSelector('.chart[aria-label="Success in training"] canvas');
    assert.equal((await texts('.chart[aria-label="Success in training"] .key')).length, 2);
    assert.equal(await page.locator("#table tbody tr").count(), 2);
    // What differs between their recipes, key by key; where runs are written is no difference.
    await page.waitForSelector("#differences tbody tr");
    const keys = await texts("#differences tbody td:first-child");
    assert.ok(keys.length > 0 && !keys.includes("run.name"), `keys that differ: ${keys}`);
    assert.equal(await page.locator("#differences thead th").count(), 3, "the key and a column for each run");
    await page.selectOption('select[aria-label="along"]', "trajectories");
    await page.waitForFunction(() => location.hash.includes("along=trajectories"));
    await picture("dash-compare");
  },

  async "a click on a tab shows which one it is"() {
    await visit("#/runs");
    for (const name of ["Compare", "Trajectories", "Runs"]) {
      await page.click(`nav a:has-text("${name}")`);
      await page.waitForFunction((wanted) => {
        const current = [...document.querySelectorAll("nav a[aria-current=page]")].map((link) => link.textContent);
        return current.length === 1 && current[0] === wanted;
      }, name);
    }
  },

  async "on a narrow screen nothing of the header is cut off"() {
    await page.setViewportSize({ width: 480, height: 800 });
    await visit(`#/curves?run=${id(finished)}`);
    await page.waitForSelector("svg, canvas", { state: "attached" });
    const width = await page.evaluate(() => document.querySelector(".top").scrollWidth);
    assert.ok(width <= 480, `the header is ${width} px wide`);
    await picture("dash-narrow");
    for (const view of ["runs", `curves?run=${id(finished)}`, "trajectories", `compare?runs=${id(finished)},${id(other)}`]) {
      await visit(`#/${view}`);
      await page.waitForSelector(view === "runs" ? "tr[data-run]" : view === "trajectories" ? ".group-line" : ".chart canvas");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${view} is ${wide} pixels too wide`);
    }
    await picture("dash-narrow-compare");
    await page.setViewportSize({ width: 1366, height: 768 });
  },

  async "keys switch views, and the theme"() {
    for (const [key, hash] of [["r", "#/runs"], ["c", "#/curves"], ["t", "#/trajectories"], ["x", "#/compare"]]) {
      await page.keyboard.press(key);
      await page.waitForFunction((wanted) => location.hash.startsWith(wanted), hash);
    }
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog:not([open])", { state: "attached" });
    await page.keyboard.press("d"); // light
    await page.keyboard.press("d"); // dark
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await visit(`#/curves?run=${id(finished)}`);
    await page.waitForSelector(".chart canvas");
    await picture("dash-dark");
    assert.equal(await page.evaluate(() => getComputedStyle(document.body.parentElement).colorScheme), "dark");
    await page.keyboard.press("d"); // as the system wants it
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  },

  async "it fits a small laptop's screen"() {
    await page.setViewportSize({ width: 1280, height: 720 });
    for (const view of ["runs", "curves", "trajectories", "compare"]) {
      await visit(`#/${view}`);
      await page.waitForSelector(view === "runs" ? "tr[data-run]" : view === "trajectories" ? ".group-line" : "h1");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${view} is ${wide} pixels too wide`);
    }
  },

  async "a run in training moves while one looks"() {
    if (live === "-") return;
    await visit(`#/curves?run=${id(live)}`);
    await page.waitForSelector(".pill.running");
    const now = async () => Number(/step ([\d,]+) of/.exec(await page.locator(".bar").first().innerText())[1].replace(/,/g, ""));
    const before = await now();
    await page.waitForFunction((step) => Number(/step ([\d,]+) of/.exec(document.querySelector(".bar").innerText)?.[1].replace(/,/g, "")) > step, before);
    await page.keyboard.press("t");
    await page.waitForSelector(".group-line");
    await page.waitForSelector(".tree .leaf");
    const newest = await page.locator(".group-line b").first().innerText();
    await page.waitForFunction((text) => document.querySelector(".group-line b").innerText !== text, newest);
  },

  async "nothing went wrong meanwhile"() {
    assert.deepEqual(problems, []);
  },
};

let status = 0;
for (const [name, step] of Object.entries(steps)) {
  try {
    await step();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAILED ${name}: ${error.message}\n  at ${page.url()}\n  ${problems.join("\n  ")}`);
    if (pictures) await page.screenshot({ path: `${pictures}/failed.png` });
    status = 1;
    break;
  }
}
await browser.close();
process.exit(status);
