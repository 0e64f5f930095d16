/**
 * `npm run console:gallery`: takes pictures of every page of the console, at three widths, in both colour schemes, with no data,
 * with a month of a team's data, and with a million calls.
 *
 * Options: --out FOLDER (default docs/images/console), --pages a,b (default: all), --data empty,team,million (default: all),
 * --widths 1440,1024,390, --schemes light,dark, --calls N of the large ledger (default 1000000), --png instead of WebP. A run of all
 * pages also makes a contact sheet. The times are those from the address to the data, in a page that is loaded anew.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser } from "playwright-core";
import { findBrowser, launch } from "./browser.ts";
import { contactSheet } from "./contact-sheet.ts";
import { type GalleryData, startGalleryGateway } from "./gallery-gateway.ts";
import { GALLERY_PAGES } from "./gallery-pages.ts";
import { toWebp } from "./to-webp.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "docs/images/console" },
    pages: { type: "string" },
    data: { type: "string", default: "empty,team,million" },
    widths: { type: "string", default: "1440,1024,390" },
    schemes: { type: "string", default: "light,dark" },
    calls: { type: "string", default: "1000000" },
    png: { type: "boolean", default: false },
  },
});
const wanted = values.pages?.split(",");
const pages = GALLERY_PAGES.filter(({ name }) => wanted === undefined || wanted.includes(name));
const widths = values.widths.split(",").map(Number);
const schemes = values.schemes.split(",") as ("light" | "dark")[];
const HEIGHTS: Readonly<Record<number, number>> = { 1440: 900, 1024: 768, 390: 844 };

async function shoot(browser: Browser, data: GalleryData): Promise<void> {
  const gateway = await startGalleryGateway(data, Number(values.calls));
  try {
    const context = await browser.newContext({ reducedMotion: "reduce" });
    const plain = await browser.newContext();
    const page = await context.newPage();
    await page.goto(gateway.link);
    await page.waitForSelector("main#page");
    for (const { name, path, act } of pages) {
      const address = typeof path === "string" ? path : path(gateway);
      if (address === undefined) continue;
      const took: number[] = [];
      for (const width of widths) {
        await page.setViewportSize({ width, height: HEIGHTS[width] ?? 900 });
        const began = performance.now();
        await page.goto(gateway.url + address);
        await page.waitForSelector("h1");
        await page.waitForSelector("main .waiting", { state: "detached" });
        took.push(performance.now() - began);
        await page.waitForLoadState("networkidle").catch(() => {});
        await act?.(page).catch(() => {});
        for (const colorScheme of schemes) {
          await page.emulateMedia({ colorScheme });
          await page.waitForTimeout(200);
          const png = await page.screenshot({ animations: "disabled" });
          const file = join(values.out, data, String(width), `${name}-${colorScheme}`);
          if (values.png) await Bun.write(`${file}.png`, png);
          else await Bun.write(`${file}.webp`, await toWebp(plain, png));
        }
      }
      console.log(`${data}: ${name}, shown after ${Math.round(Math.min(...took))} ms`);
    }
    await context.close();
    await plain.close();
  } finally {
    await gateway.stop();
  }
}

const program = findBrowser();
if (program === undefined) throw new Error("Chromium is not installed (apt-get install chromium)");
const browser = await launch(program);
try {
  for (const data of values.data.split(",")) await shoot(browser, data as GalleryData);
  if (wanted === undefined && !values.png)
    await contactSheet(
      browser,
      values.out,
      pages.map(({ name }) => name),
    );
} finally {
  await browser.close();
}
process.exit(0);
