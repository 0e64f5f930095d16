import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { WatchedPage } from "./browser.ts";
import type { SeededGateway } from "./seeded-gateway.ts";
import type { Visit } from "./visit.ts";

/** Counts what a person does with the mouse from now on. Dragging over a chart counts as one click, typing as none. */
const COUNT_CLICKS = `(() => {
  window.clicks = 0;
  addEventListener("pointerdown", ({ isTrusted }) => { if (isTrusted) window.clicks++; }, true);
})()`;

/** Five questions of an operator who opens the console, each from the first page. docs/console-design.md has the table. */
export function countClicks(visit: () => Visit): void {
  describe("console-design: five tasks of a new user, in clicks", () => {
    let gateway: SeededGateway;
    let watched: WatchedPage;
    let page: Page;

    beforeAll(() => {
      ({ gateway, watched } = visit());
      page = watched.page;
    });

    const start = async () => {
      await page.goto(`${gateway.url}/?range=24h`);
      await page.waitForSelector(".tops tbody a");
      await page.evaluate(COUNT_CLICKS);
    };
    const clicks = () => page.evaluate<number>("window.clicks");
    const section = (name: string) =>
      page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true });
    const admin = (path: string, body?: object) =>
      fetch(gateway.url + path, {
        headers: { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      });

    test("why this customer got a 429 at that time: one click, and one to narrow the time", async () => {
      await start();
      await section("Refused").click();
      const row = page.locator("table.data tr", { has: page.getByRole("link", { name: "trial", exact: true }) });
      await row.getByText("429 rate limited").waitFor();
      await row.getByText(/limit of 2 requests a minute/).waitFor();
      await row
        .getByText(/\d\d:\d\d:\d\d/)
        .first()
        .waitFor();
      expect(await clicks()).toBe(1);
      const box = await page.locator(".over-time .u-over").boundingBox();
      if (box === null) throw new Error("the chart is not drawn");
      const y = box.y + box.height / 2;
      await page.mouse.move(box.x + box.width * 0.9, y);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width - 1, y, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL(/from=/);
      await row.getByText("429 rate limited").waitFor();
      const { searchParams } = new URL(page.url());
      const wide = Date.parse(searchParams.get("to") ?? "") - Date.parse(searchParams.get("from") ?? "");
      expect([wide < 4 * 3_600_000, await clicks()]).toEqual([true, 2]);
    });

    test("which key spent most yesterday, and on what: two clicks", async () => {
      await start();
      await page.getByRole("link", { name: /^yesterday \$/ }).click();
      await page.locator(".ranked li a").first().click();
      await page.getByText("Cost by model").waitFor();
      expect(new URL(page.url()).searchParams.get("q")).toStartWith("key:key_");
      await page.locator(".ranked li").first().waitFor();
      expect(await clicks()).toBe(2);
    });

    test("since when a provider is slow, and for whom: one click", async () => {
      await start();
      await page.locator(".tops").getByRole("link", { name: "gemini", exact: true }).click();
      await page.locator(".supply-charts .plot canvas").first().waitFor();
      const users = page.getByRole("region", { name: "Who uses it" });
      await users.getByRole("link", { name: "checkout assistant" }).waitFor();
      expect(await clicks()).toBe(1);
      // The chart as a table: the seeded provider has been slow for five hours. An hour has a call or two, whose times are drawn.
      await page.getByRole("button", { name: "Show First content as a table" }).click();
      const medians = await page
        .getByRole("region", { name: "First content" })
        .locator("tbody tr td:nth-child(2)")
        .allTextContents();
      const ms = medians.map((text) => Number.parseFloat(text) * (text.endsWith(" ms") ? 1 : 1_000));
      const [before, now] = [ms.slice(0, -6), ms.slice(-5)];
      const usual = (values: number[]) =>
        values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
      expect(usual(now.filter(Number.isFinite))).toBeGreaterThan(1.5 * usual(before.filter(Number.isFinite)));
    });

    test("cap one end user at $5 a day: four clicks", async () => {
      await start();
      await section("Usage").click();
      await page.getByRole("link", { name: "End users" }).click();
      await page.getByRole("button", { name: "Cap at $5 a day: customer-4", exact: true }).click();
      await page.getByRole("button", { name: "Set cap" }).click();
      const row = page.locator("table.data tr", { has: page.getByRole("link", { name: "customer-4", exact: true }) });
      await row.getByText("project shop: $5 a day").waitFor();
      expect(await clicks()).toBe(4);
    });

    test("all calls whose bodies mention an order number: one click and typing", async () => {
      const made = await admin("/api/keys", { name: "orders by clicks", capture: true });
      const { data } = (await made.json()) as { data: { key: string } };
      const ids: string[] = [];
      for (const content of ["Where is ORDER-8801?", "Cancel ORDER-8801.", "Where is ORDER-8802?"]) {
        const answer = await fetch(`${gateway.clientsUrl}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${data.key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "sim/standard", messages: [{ role: "user", content }] }),
        });
        await answer.text();
        ids.push(answer.headers.get("x-trivium-receipt") ?? "");
      }
      // Bodies are stored after the client has received its response.
      const isStored = async (id: string) => (await admin(`/api/receipts/${id}/bodies`)).ok;
      for (const id of ids) while (!(await isStored(id))) await Bun.sleep(50);
      await start();
      await section("Calls").click();
      await page.waitForSelector("table.calls tbody tr");
      await page.keyboard.press("/");
      await page.keyboard.type('body:"ORDER-8801"');
      await page.keyboard.press("Enter");
      await page.getByText(/searched the captured bodies of \d+ calls/).waitFor();
      const found = await page
        .locator("table.calls tbody a.time")
        .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
      expect(found.sort()).toEqual([`/calls/${ids[0]}`, `/calls/${ids[1]}`].sort());
      expect(await clicks()).toBe(1);
    });

    test("all of this loads nothing from other origins, violates no policy and logs no error", () => {
      expect(watched.problems).toEqual([]);
    });
  });
}
