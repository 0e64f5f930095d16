import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { WatchedPage } from "./browser.ts";
import type { Visit } from "./visit.ts";
import { PAGE_PATHS } from "./walk.ts";

/** WCAG 2.2, 2.5.8. Links within a sentence or a cell of text are exempt. */
const LEAST_TARGET = 24;

/** What is smaller than a finger, as `name width × height`. */
const SMALL_TARGETS = `[...document.querySelectorAll("main button, main select, main input:not([type=checkbox]), aside button, .tabs a")]
  .filter((element) => element.checkVisibility() && !element.closest(".unseen, .data thead"))
  .map((element) => [element.textContent || element.getAttribute("aria-label") || element.tagName, element.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && (width < ${LEAST_TARGET} || height < ${LEAST_TARGET}))
  .map(([name, { width, height }]) => name.trim().slice(0, 40) + " " + Math.round(width) + " × " + Math.round(height))`;

/** The controls that Tab should reach, and those without a visible focus. Ends when the focus has come round. */
async function tabThrough(page: Page): Promise<{ reached: number; unseen: string[]; expected: number }> {
  const expected = await page.evaluate<number>(`(() => {
    const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
    return controls.filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled && !element.closest("[popover]:not(:popover-open)")).length;
  })()`);
  // The first control of every page.
  await page.locator(".skip").focus();
  await page.evaluate("window.reached = new Set([document.activeElement])");
  const unseen: string[] = [];
  let reached = 1;
  for (let turn = 0; turn < expected + 5; turn++) {
    await page.keyboard.press("Tab");
    const found = await page.evaluate<{ isBody: boolean; isNew: boolean; outline: string; name: string }>(`(() => {
      const element = document.activeElement;
      const isNew = !window.reached.has(element);
      window.reached.add(element);
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return { isBody: element === document.body, isNew, outline: outlineStyle === "none" ? "0px" : outlineWidth,
        name: (element.textContent || element.getAttribute("aria-label") || element.tagName).trim().slice(0, 40) };
    })()`);
    if (found.isBody || !found.isNew) break;
    reached++;
    if (Number.parseFloat(found.outline) < 1) unseen.push(found.name);
  }
  return { reached, unseen, expected };
}

export function walkOnPhoneAndByKeyboard(visit: () => Visit): void {
  describe("console-notes 4.3: on a phone and by keyboard", () => {
    let watched: WatchedPage;
    let page: Page;

    beforeAll(() => {
      ({ watched } = visit());
      page = watched.page;
    });

    const open = async (path: string) => {
      await watched.visit(path);
      await page.waitForSelector("main h1");
      await page.waitForLoadState("networkidle");
      await page.waitForTimeout(100);
    };

    test("no page scrolls sideways on a phone, and every control is large enough for a finger", async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      const wide: string[] = [];
      for (const path of PAGE_PATHS) {
        await open(path);
        const [inner, scroll] = await page.evaluate<[number, number]>(
          "[innerWidth, document.documentElement.scrollWidth]",
        );
        if (scroll > inner) wide.push(`${path}: ${scroll} of ${inner}`);
        for (const small of await page.evaluate<string[]>(SMALL_TARGETS)) wide.push(`${path}: ${small}`);
      }
      await page.setViewportSize({ width: 1440, height: 900 });
      expect(wide).toEqual([]);
    });

    test("the menu of a phone leads to every page, and closes with Escape", async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await open("/calls");
      const button = page.getByRole("button", { name: "Menu" });
      await button.focus();
      await page.keyboard.press("Enter");
      const menu = page.getByRole("dialog", { name: "Pages" });
      await menu.waitFor();
      const links = await menu
        .getByRole("link")
        .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
      expect(links.map((link) => link.split("?")[0] ?? "").sort()).toEqual(PAGE_PATHS.toSorted());
      await page.keyboard.press("Escape");
      await menu.waitFor({ state: "detached" });
      await button.click();
      await menu.getByRole("link", { name: "Keys" }).click();
      await menu.waitFor({ state: "detached" });
      expect(new URL(page.url()).pathname).toBe("/keys");
      await page.setViewportSize({ width: 1440, height: 900 });
    });

    test("Tab reaches every control of every page, visibly, and leaves it again", async () => {
      const problems: string[] = [];
      for (const path of PAGE_PATHS) {
        await open(path);
        const { reached, unseen, expected } = await tabThrough(page);
        if (reached < expected) problems.push(`${path}: ${reached} of ${expected} controls`);
        for (const name of unseen) problems.push(`${path}: no visible focus on ${name}`);
      }
      expect(problems).toEqual([]);
    });

    test("Ctrl K finds a page by other words, and Enter opens it", async () => {
      await open("/");
      await page.keyboard.press("Control+k");
      const dialog = page.getByRole("dialog", { name: "Go to" });
      await dialog.getByRole("searchbox").waitFor();
      await page.keyboard.type("receipts");
      await dialog.getByRole("link", { name: /Calls/ }).waitFor();
      expect(await watched.accessibility()).toEqual([]);
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      expect(new URL(page.url()).pathname).toBe("/calls");
    });
  });
}
