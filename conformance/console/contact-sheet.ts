import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { toWebp } from "./to-webp.ts";

const THUMB_WIDTH = 300;

/** The pictures of each page that the sheet has. */
const COLUMNS = [
  { title: "a team, 1440 px", file: "team/1440", scheme: "light" },
  { title: "dark", file: "team/1440", scheme: "dark" },
  { title: "1024 px", file: "team/1024", scheme: "light" },
  { title: "390 px", file: "team/390", scheme: "light" },
  { title: "no data", file: "empty/1440", scheme: "light" },
  { title: "a million calls", file: "million/1440", scheme: "light" },
] as const;

/** One picture with all pages, for a look at the whole. */
export async function contactSheet(browser: Browser, folder: string, names: readonly string[]): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: COLUMNS.length * (THUMB_WIDTH + 12) + 120, height: 800 },
  });
  const page = await context.newPage();
  const cell = async (name: string, { file, scheme }: (typeof COLUMNS)[number]) => {
    const path = join(folder, file, `${name}-${scheme}.webp`);
    if (!existsSync(path)) return "<td></td>";
    return `<td><img src="data:image/webp;base64,${(await Bun.file(path).bytes()).toBase64()}"></td>`;
  };
  const rows: string[] = [];
  for (const name of names) {
    const cells: string[] = [];
    for (const column of COLUMNS) cells.push(await cell(name, column));
    rows.push(`<tr><th>${name}</th>${cells.join("")}</tr>`);
  }
  await page.setContent(`<style>
    body { margin: 12px; font: 14px sans-serif; background: #ddd }
    th { text-align: left; vertical-align: top; width: 100px }
    td { vertical-align: top; padding: 0 12px 12px 0 }
    img { width: ${THUMB_WIDTH}px; max-height: 190px; object-fit: cover; object-position: top left; display: block }
  </style><table><tr><th></th>${COLUMNS.map(({ title }) => `<th>${title}</th>`).join("")}</tr>${rows.join("")}</table>`);
  await page.waitForFunction("[...document.images].every((image) => image.complete)");
  const png = await page.screenshot({ fullPage: true });
  await Bun.write(join(folder, "contact-sheet.webp"), await toWebp(context, png));
  await context.close();
}
