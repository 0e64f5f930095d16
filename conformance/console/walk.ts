import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { AxePart } from "./accessibility.ts";
import type { WatchedPage } from "./browser.ts";
import type { SeededGateway } from "./seeded-gateway.ts";
import type { Visit } from "./visit.ts";

interface Stop {
  name: string;
  path: string | ((gateway: SeededGateway) => string);
  /** A selector that matches once the page has loaded. */
  ready: string;
  act?: (page: Page) => Promise<void>;
  /** Its list has the links of a key and of its project one below the other. */
  hasSmallTargets?: true;
}

const STOPS: readonly Stop[] = [
  { name: "overview", path: "/?range=24h", ready: ".tops tbody a" },
  { name: "calls", path: "/calls?range=24h", ready: "table.calls tbody tr" },
  { name: "call", path: ({ retried }) => `/calls/${retried}`, ready: ".waterfall tbody tr" },
  { name: "refused", path: "/refused?range=24h", ready: "table.data tbody tr" },
  { name: "usage", path: "/usage?range=30d&by=day,model", ready: "table.data tfoot" },
  { name: "usage-ranked", path: "/usage?range=30d&by=key,model", ready: ".ranked li" },
  {
    name: "play",
    path: "/play?model=sim%2Fstandard&model2=sim%2Fthinker&protocol2=messages",
    ready: ".play.two",
    act: async (page) => {
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.locator(".figures-line .state.good").nth(1).waitFor();
    },
  },
  { name: "models", path: "/models", ready: "table.data tbody tr" },
  { name: "model", path: "/models/anthropic/claude-sonnet-5", ready: ".calculator tbody tr" },
  { name: "catalogue", path: "/catalogue", ready: "table.data tbody tr" },
  { name: "providers", path: "/providers", ready: "table.data tbody tr" },
  { name: "provider", path: "/providers/openai", ready: ".supply-charts canvas" },
  { name: "operations", path: "/operations", ready: "table.data tbody tr" },
  { name: "live", path: "/live", ready: ".empty" },
  { name: "in-flight", path: "/in-flight", ready: "h1" },
  { name: "batches", path: "/batches", ready: "table.data tbody tr", hasSmallTargets: true },
  { name: "batch", path: ({ batch }) => `/batches/${batch}`, ready: ".facts a" },
  { name: "files", path: "/files", ready: "table.data tbody tr", hasSmallTargets: true },
  { name: "caches", path: "/caches", ready: "table.data tbody tr", hasSmallTargets: true },
  { name: "keys", path: "/keys", ready: "table.keys tbody tr" },
  { name: "key", path: ({ key }) => `/keys/${key}`, ready: ".spend-charts .plot canvas" },
  { name: "people", path: "/people", ready: "table.data tbody tr" },
  { name: "projects", path: "/projects", ready: "table.keys tbody tr" },
  { name: "project", path: "/projects/shop", ready: ".spend-charts .plot canvas" },
  { name: "alerts", path: "/alerts", ready: "table.alerts tbody tr" },
  { name: "guards", path: "/guards", ready: "table.data tbody tr" },
  { name: "end-users", path: "/end-users", ready: "table.data tbody tr" },
  { name: "end-user", path: "/end-users/customer-17", ready: ".over-time .plot canvas" },
  { name: "exports", path: "/exports", ready: "table.data tbody tr" },
  { name: "config", path: "/config", ready: ".config pre" },
  { name: "audit", path: "/audit", ready: ".acts-list li" },
];

/** The addresses of all pages but those of one thing. */
export const PAGE_PATHS: readonly string[] = [
  ...new Set(STOPS.flatMap(({ path }) => (typeof path === "string" ? [path.replace(/\?.*/, "")] : []))),
].filter((path) => path.lastIndexOf("/") === 0);

/**
 * From the request of the data to what is shown, with the work of leaving the page before. Twice what a reader may wait, because this
 * browser has no optimising compiler, and because other tests use the processors' caches.
 */
const FIRST_VIEW_MS = 300;
const FIRST_PAGE_BYTES = 60_000;
const ALL_BYTES = 200_000;
/** All scripts and styles. */
const BUNDLE_BYTES = 200_000;

/** Tables that are wider than their place, so that something has to be scrolled to or lies under the last column. */
const TOO_WIDE = `[...document.querySelectorAll("main .wide")]
  .filter((element) => element.scrollWidth > element.clientWidth + 1)
  .map((element) => element.getAttribute("aria-label") + " " + element.scrollWidth + " of " + element.clientWidth)`;

export function walkThroughPages(visit: () => Visit): void {
  describe("console-notes 4: a browser", () => {
    // A test for each page, so that none takes long on a busy machine.
    for (const [at, stop] of STOPS.entries())
      test(`S14: ${stop.name}, light and dark, loads nothing from other origins, violates no policy, logs no error and passes axe`, async () => {
        const { gateway, watched } = visit();
        await stopAt(stop, gateway, watched, at % 2 === 0 ? "light" : "dark");
        await watched.page.emulateMedia({ colorScheme: "light" });
      });

    test("S14: light and dark differ only in colours, so structure is checked in one of them", async () => {
      const rules = "[...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]).map(({ cssText }) => cssText)";
      const found = await visit().watched.page.evaluate<string[]>(rules);
      expect(found.length).toBeGreaterThan(100);
      // The bundler turns `light-dark()`, which only applies to colours, into variables.
      const left = found.map((rule) => rule.replaceAll(/--buncss-(light|dark): *(initial)?;/g, ""));
      const dependent = left.filter((rule) => rule.includes("prefers-color-scheme"));
      expect(dependent.filter((rule) => !/^@media [^{]*\{\s*:root \{\s*\}\s*\}$/.test(rule))).toEqual([]);
    });

    test("S14: axe finds a colour that is wrong only in the last row of a table and only in dark", async () => {
      const { watched } = visit();
      await watched.visit("/files");
      const cell = watched.page.locator("table.data tbody tr").last().locator("td").first();
      await cell.waitFor();
      await cell.evaluate((element: { style: { cssText: string } }) => {
        element.style.cssText = "color: light-dark(black, #444)";
      });
      expect(await watched.accessibility("colours")).toEqual([]);
      await watched.page.emulateMedia({ colorScheme: "dark" });
      expect(await watched.accessibility("colours")).toEqual([expect.stringMatching(/^color-contrast: .*#444444/s)]);
      await watched.page.emulateMedia({ colorScheme: "light" });
    });

    test("no table of any page is wider than its page, from small laptops to large screens", async () => {
      const { gateway, watched } = visit();
      const { page } = watched;
      const wide: string[] = [];
      for (const { path, ready } of STOPS) {
        const address = typeof path === "string" ? path : path(gateway);
        await watched.visit(address);
        await page.waitForSelector(ready);
        for (const width of [1_920, 1_440, 1_280, 1_024]) {
          await page.setViewportSize({ width, height: 900 });
          for (const one of await page.evaluate<string[]>(TOO_WIDE)) wide.push(`${address} at ${width}: ${one}`);
        }
      }
      await page.setViewportSize({ width: 1_440, height: 900 });
      expect(wide).toEqual([]);
    });

    test("the first view of every page takes at most 300 ms of the browser's work", async () => {
      const { gateway, watched } = visit();
      const { page } = watched;
      const browser = await page.context().newCDPSession(page);
      // Processor time of the page's thread: other tests share the machine.
      await browser.send("Performance.enable", { timeDomain: "threadTicks" });
      const work = async (): Promise<number> => {
        const { metrics } = await browser.send("Performance.getMetrics");
        return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1_000;
      };
      const took = new Map<string, number>();
      for (const { name, path, ready } of STOPS) {
        const times: number[] = [];
        for (let turn = 0; turn < 3; turn++) {
          const before = await work();
          await watched.visit(typeof path === "string" ? path : path(gateway));
          await page.waitForSelector(ready);
          await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
          times.push((await work()) - before);
        }
        took.set(name, Math.min(...times));
      }
      await browser.detach();
      const slowest = [...took].toSorted(([, one], [, other]) => other - one);
      console.log(
        `console: ms of work to the first view: ${slowest.map(([name, ms]) => `${name} ${ms.toFixed(0)}`).join(", ")}`,
      );
      expect(slowest.filter(([, ms]) => !(ms > 0 && ms <= FIRST_VIEW_MS))).toEqual([]);
    });

    test("loads at most 60 kB of scripts for the first page and 200 kB for all pages", () => {
      const { first, watched } = visit();
      const all = watched.scriptBytes();
      console.log(`console: ${first} bytes of scripts on the first page, ${all} in all`);
      expect([first > 10_000, first <= FIRST_PAGE_BYTES]).toEqual([true, true]);
      expect([all > first, all <= ALL_BYTES]).toEqual([true, true]);
      const bundle = [...watched.loaded.values()].reduce((sum, bytes) => sum + bytes, 0);
      expect([bundle > all, bundle <= BUNDLE_BYTES]).toEqual([true, true]);
    });
  });
}

/** Loads a page in one colour scheme and switches to the other, which takes half the time of loading it twice. */
async function stopAt(
  { name, path, ready, act, hasSmallTargets }: Stop,
  gateway: SeededGateway,
  watched: WatchedPage,
  loadedIn: "light" | "dark",
): Promise<void> {
  const { page } = watched;
  await page.emulateMedia({ colorScheme: loadedIn });
  await page.goto(gateway.url + (typeof path === "string" ? path : path(gateway)));
  await page.waitForSelector(ready);
  await act?.(page);
  await look(watched, name, loadedIn, hasSmallTargets ? "but-targets" : "all");
  const other = loadedIn === "light" ? "dark" : "light";
  await page.emulateMedia({ colorScheme: other });
  await look(watched, name, other, "colours");
}

async function look(watched: WatchedPage, name: string, colorScheme: "light" | "dark", part: AxePart): Promise<void> {
  const { page, problems } = watched;
  // Charts are drawn one frame after their data or colours change.
  await page.waitForTimeout(150);
  await watched.settled();
  const where = `${name}, ${colorScheme}`;
  expect([where, await watched.accessibility(part)]).toEqual([where, []]);
  expect([where, problems]).toEqual([where, []]);
}
