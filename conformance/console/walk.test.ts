import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { findBrowser, launch, WatchedPage } from "./browser.ts";
import { type SeededGateway, startSeeded } from "./seeded-gateway.ts";

const found = findBrowser();
const mustRun = process.env["CI"] === "true";
if (!found)
  console.log("skipped: the walk through the console, because no Chromium was found (apt-get install chromium)");

/** Where screenshots of the pages go; nowhere where absent. */
const SCREENSHOTS = process.env["TRIVIUM_SCREENSHOTS"];

const DARK_PICTURES = ["overview", "calls"];

interface Stop {
  name: string;
  path: string | ((gateway: SeededGateway) => string);
  /** What shows that the page is there. */
  ready: string;
  act?: (page: Page) => Promise<void>;
}

const STOPS: readonly Stop[] = [
  { name: "overview", path: "/?range=24h", ready: ".tops tbody a" },
  { name: "calls", path: "/calls?range=24h", ready: "table.calls tbody tr" },
  { name: "call", path: ({ retried }) => `/calls/${retried}`, ready: ".timeline li" },
  { name: "usage", path: "/usage?range=7d&by=day,model", ready: "table.list tfoot" },
  {
    name: "play",
    path: "/play?model=sim%2Fstandard&model2=sim%2Fthinker&protocol2=messages",
    ready: ".play.two",
    act: async (page) => {
      for (const send of await page.getByRole("button", { name: "Send" }).all()) await send.click();
      await page.locator(".figures-line .state.good").nth(1).waitFor();
    },
  },
  { name: "models", path: "/models", ready: "table.list tbody tr" },
  { name: "providers", path: "/providers", ready: ".card" },
  { name: "operations", path: "/operations", ready: ".empty" },
  { name: "keys", path: "/keys", ready: "table.list tbody tr" },
  { name: "projects", path: "/projects", ready: "table.list tbody tr" },
  { name: "alerts", path: "/alerts", ready: "table.alerts tbody tr" },
  { name: "config", path: "/config", ready: ".config pre" },
  { name: "audit", path: "/audit", ready: "table.audit tbody tr" },
];

describe.skipIf(!found && !mustRun)("console-notes 4: a browser", () => {
  let browser: Browser;
  let gateway: SeededGateway;

  beforeAll(async () => {
    gateway = await startSeeded();
    browser = await launch(found ?? "chromium");
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  test("S14: walks every page in light and dark colours: nothing from elsewhere, no violation, no error, axe finds nothing", async () => {
    await Promise.all([
      walk(
        "light",
        STOPS.filter((_, at) => at % 2 === 0),
      ),
      walk(
        "dark",
        STOPS.filter((_, at) => at % 2 === 1),
      ),
    ]);
  }, 90_000);

  /** Pages are loaded in one colour and turned to the other: to load them in both takes twice as long. */
  async function walk(loadedIn: "light" | "dark", stops: readonly Stop[]): Promise<void> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const watched = await WatchedPage.open(context, gateway.url);
    const { page } = watched;
    await page.emulateMedia({ colorScheme: loadedIn });
    await (loadedIn === "light" ? page.goto(gateway.link) : logIn(page, gateway));
    await page.waitForSelector("nav[aria-label=Pages]");
    expect(page.url()).toBe(`${gateway.url}/`);
    for (const { name, path, ready, act } of stops) {
      await page.emulateMedia({ colorScheme: loadedIn });
      await page.goto(gateway.url + (typeof path === "string" ? path : path(gateway)));
      await page.waitForSelector(ready);
      await act?.(page);
      await look(watched, name, loadedIn);
      const other = loadedIn === "light" ? "dark" : "light";
      await page.emulateMedia({ colorScheme: other });
      await look(watched, name, other);
    }
    await context.close();
  }
});

async function look(watched: WatchedPage, name: string, colorScheme: "light" | "dark"): Promise<void> {
  const { page, problems } = watched;
  // Charts are drawn in the frame after their data or their colours have come.
  await page.waitForTimeout(150);
  await page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished))");
  const where = `${name}, ${colorScheme}`;
  expect([where, await watched.accessibility()]).toEqual([where, []]);
  expect([where, problems]).toEqual([where, []]);
  if (SCREENSHOTS && (colorScheme === "light" || DARK_PICTURES.includes(name))) {
    await screenshot(page, join(SCREENSHOTS, `${name}${colorScheme === "light" ? "" : "-dark"}.png`));
  }
}

async function logIn(page: Page, { url, secret }: SeededGateway): Promise<void> {
  await page.goto(url);
  await page.getByLabel(/Admin secret/).fill(secret);
  await page.keyboard.press("Enter");
}

async function screenshot(page: Page, path: string): Promise<void> {
  mkdirSync(join(path, ".."), { recursive: true });
  await page.screenshot({ path, animations: "disabled" });
}
