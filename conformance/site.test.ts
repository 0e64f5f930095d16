import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, normalize } from "node:path";
import { Glob } from "bun";
import type { Browser } from "playwright-core";
import { findBrowser, launch, WatchedPage } from "./console/browser.ts";

const root = new URL("..", import.meta.url).pathname;
const built = join(root, "dist/site");
const found = findBrowser();
const isPossible = found !== undefined && existsSync(join(built, "index.html"));
if (!isPossible)
  console.log("skipped: the documentation is not read by a browser: it needs Chromium, and `npm run docs` before");

/** The pages that differ most in content: the beginning, long tables, code, images, a page in a folder. */
const PAGES = ["index", "configuration", "console", "telemetry", "clients/index", "reference/hazards"];

/** The folder as any static file host serves it. */
function serveFolder() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async ({ url }) => {
      const { pathname } = new URL(url);
      const path = normalize(decodeURIComponent(pathname)).replace(/\/$/, "/index.html");
      const file = Bun.file(join(built, path));
      return (await file.exists()) ? new Response(file) : new Response("", { status: 404 });
    },
  });
}

describe.skipIf(!isPossible)("the documentation site", () => {
  let server: ReturnType<typeof serveFolder>;
  let browser: Browser;
  let origin: string;
  beforeAll(async () => {
    server = serveFolder();
    origin = `http://127.0.0.1:${server.port}`;
    browser = await launch(found ?? "chromium");
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await server?.stop(true);
  });

  test.each(["light", "dark"] as const)(
    "a browser reads it in %s colours: no other origin, no error, no axe finding",
    async (colorScheme) => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme });
      const watched = await WatchedPage.open(context, origin);
      const { page } = watched;
      for (const name of PAGES) {
        await page.goto(`${origin}/${name}.html`, { waitUntil: "networkidle" });
        expect(await page.locator("h1").first().innerText()).not.toBe("");
        expect(await page.evaluate("document.documentElement.classList.contains('dark')")).toBe(colorScheme === "dark");
        expect([name, await watched.accessibility()]).toEqual([name, []]);
        expect([name, watched.problems]).toEqual([name, []]);
      }
      await context.close();
    },
  );

  test("its search finds a word of a page without contacting a host", async () => {
    const context = await browser.newContext();
    const watched = await WatchedPage.open(context, origin);
    const { page } = watched;
    await page.goto(`${origin}/index.html`, { waitUntil: "networkidle" });
    await page.keyboard.press("Control+k");
    const field = page.locator("#localsearch-input");
    await field.waitFor();
    // The index is loaded with the search field: from here on there is no network.
    await page.waitForLoadState("networkidle");
    await context.setOffline(true);
    await field.fill("drain_delay_seconds");
    const results = page.locator("#localsearch-list a.result");
    await results.first().waitFor();
    expect((await results.allInnerTexts()).join(" ").toLowerCase()).toContain("configuration");
    await context.setOffline(false);
    await results.first().click();
    await page.waitForURL(/\.html#/);
    expect(watched.problems).toEqual([]);
    await context.close();
  });

  test("every link between its pages works", async () => {
    const missing: string[] = [];
    for (const page of new Glob("**/*.html").scanSync(built)) {
      const html = await Bun.file(join(built, page)).text();
      for (const [, href = ""] of html.matchAll(/<a\b[^>]*\bhref="([^"]+)"/g)) {
        const { origin: of, pathname } = new URL(href, `http://site/${page}`);
        if (of !== "http://site" || !/(\.html|\/)$/.test(pathname)) continue;
        if (!existsSync(join(built, pathname.replace(/\/$/, "/index.html")))) missing.push(`${page}: ${href}`);
      }
    }
    expect(missing).toEqual([]);
  });
});
