// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { TEST_KEY } from "../../testing/test-key.ts";
import type { WatchedPage } from "./browser.ts";
import { HOSTILE, type SeededGateway } from "./seeded-gateway.ts";
import type { Visit } from "./visit.ts";

export function actAtConsole(visit: () => Visit): void {
  describe("console-notes 4: a person who uses the console", () => {
    let browser: Browser;
    let gateway: SeededGateway;
    let watched: WatchedPage;
    let page: Page;

    beforeAll(() => {
      ({ browser, gateway, watched } = visit());
      page = watched.page;
    });

    test("S11: a login link works once, and every page needs a session", async () => {
      const stranger = await browser.newContext();
      const other = await stranger.newPage();
      await other.goto(gateway.link);
      await other.getByLabel(/operator secret/).waitFor();
      await other.getByLabel(/operator secret/).fill("wrong");
      await other.keyboard.press("Enter");
      await other.getByText("This is not the secret of an operator").waitFor();
      await other.getByLabel(/operator secret/).fill(gateway.secret);
      await other.keyboard.press("Enter");
      await other.waitForSelector("nav[aria-label=Pages]");
      await stranger.close();
    });

    test("must show: a hostile name is shown as text on every page", async () => {
      for (const path of [
        "/?range=30d",
        "/calls?range=30d&q=project%3Aresearch",
        "/usage?by=key&range=30d",
        "/keys",
        "/batches",
        "/files",
        "/alerts",
        // What the other tests do would push it off the first page.
        "/audit?act=key.create",
      ]) {
        await watched.visit(path);
        await page.getByText(HOSTILE).first().waitFor();
        expect(await page.locator("main img").count()).toBe(0);
      }
    });

    test("sends a test to a webhook and shows the response; no page shows its URL or secret", async () => {
      await watched.visit("/alerts");
      const button = page.getByRole("button", { name: "Send test to chat" });
      await button.focus();
      await page.keyboard.press("Enter");
      await page.getByText("thank you").waitFor();
      expect(await watched.accessibility()).toEqual([]);
      await page.getByRole("button", { name: "Send test to pager" }).click();
      await page.locator(".tested .state.bad").waitFor();
      expect(await page.content()).not.toMatch(/a-token|a-secret-of-the-chat/);
      await watched.visit("/config");
      await page.waitForSelector(".config pre");
      expect(await page.content()).not.toMatch(/a-token|a-secret-of-the-chat/);
    });

    test("resends an alert that a webhook did not accept, with the keyboard", async () => {
      await watched.visit("/alerts");
      const row = page.locator("table.alerts tbody tr", { hasText: "all 3 models" });
      const button = row.getByRole("button", { name: /^Resend: provider\.down, .*, to pager$/ });
      await button.focus();
      await page.keyboard.press("Enter");
      // The seeded pager refuses everything.
      await row.getByRole("button", { name: /^Retry now: provider\.down/ }).waitFor();
      expect(await watched.accessibility()).toEqual([]);
      await watched.visit("/audit?act=alerts.deliver");
      await page.locator(".acts-list").getByText("sent an alert again to").first().waitFor();
    });

    test("without webhooks, the alerts page shows how to add one", async () => {
      const switches = { provider_down: true, gateway_degraded: true, error_percent: 50 };
      const numbers = { error_minutes: 10, error_min_calls: 20, retry_hours: 24 };
      const none = { webhooks: [], budget_percent: [50], ...switches, ...numbers };
      await page.route("**/api/alerts/settings", (route) => route.fulfill({ json: { data: none } }));
      await page.route("**/api/alerts?*", (route) => route.fulfill({ json: { data: [], next: null } }));
      await watched.visit("/alerts");
      await page.getByText("webhooks:").waitFor();
      expect(await watched.accessibility()).toEqual([]);
      await page.unrouteAll();
    });

    test("runs an export, and shows its last file and why another one fails", async () => {
      const common = {
        every_seconds: 3600,
        lag_seconds: 12,
        files: 1,
        failures: 0,
        failing_since: null,
        next_run_at: null,
      };
      const at = "2026-11-18T10:15:00.000Z";
      const exports = [
        {
          ...{ ...common, name: "all", to: "s3://bucket/receipts", format: "parquet", state: "waiting", rows: 3 },
          ...{ error: null, last_file: { name: "receipts-1.parquet", at, rows: 3 } },
        },
        {
          ...{ ...common, name: "costs", to: "/exports", format: "focus", state: "failing", rows: 0 },
          ...{ error: "no space left", last_file: null },
        },
      ];
      const asked: string[] = [];
      await page.route("**/api/exports", (route) => route.fulfill({ json: { data: exports } }));
      await page.route("**/api/exports/*/run", (route) => {
        asked.push(route.request().url());
        return route.fulfill({ json: { data: exports[0] } });
      });
      await watched.visit("/exports");
      await page.getByText("receipts-1.parquet").waitFor();
      await page.getByText("no space left").waitFor();
      expect(await watched.accessibility()).toEqual([]);
      await page.getByRole("button", { name: "Run now: all" }).click();
      await page.getByRole("button", { name: "Run now: all", disabled: false }).waitFor();
      expect(asked.map((url) => new URL(url).pathname)).toEqual(["/api/exports/all/run"]);
      await page.unrouteAll();
    });

    test("0112: goes from a batch to its files and its calls, and from a call back to the batch", async () => {
      await watched.visit(`/batches/${gateway.batch}`);
      const output = page.locator(".facts a[href^='/files?id=']").nth(1);
      const id = (await output.textContent()) ?? "";
      await output.click();
      // The filter shows the id as well.
      await page.locator("table.data tbody tr").getByText(id).waitFor();
      expect(await page.locator("table.data tbody tr").count()).toBe(1);
      expect(await watched.accessibility()).toEqual([]);
      await page.goBack();
      await page.getByRole("link", { name: "Calls of this batch" }).click();
      await page.waitForSelector("table.calls tbody tr");
      await page.locator("h1").focus();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.locator(".facts").getByRole("link", { name: gateway.batch }).waitFor();
      await page.getByText(/line \d+, review-\d+/).waitFor();
    });

    test("0112: cancels a batch with the keyboard, after confirmation", async () => {
      const headers = { authorization: `Bearer ${TEST_KEY}` };
      const line = (at: number) => ({
        custom_id: `line ${at}`,
        method: "POST",
        url: "/v1/chat/completions",
        body: { model: "sim/slow-first-byte-3", messages: [{ role: "user", content: "Hello" }] },
      });
      const lines = Array.from({ length: 200 }, (_, at) => JSON.stringify(line(at))).join("\n");
      const form = new FormData();
      form.set("purpose", "batch");
      form.set("file", new File([lines], "slow.jsonl"));
      const uploaded = await fetch(`${gateway.clientsUrl}/v1/files`, { method: "POST", headers, body: form });
      const { id: input_file_id } = (await uploaded.json()) as { id: string };
      const created = await fetch(`${gateway.clientsUrl}/v1/batches`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" }),
      });
      const { id } = (await created.json()) as { id: string };
      await watched.visit("/batches?project=default");
      const row = page.locator("table.data tbody tr", { hasText: id });
      await row.getByText(/of 200/).waitFor();
      const cancel = row.getByRole("button", { name: `Cancel ${id}` });
      await cancel.focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: "Cancel batch" });
      expect(await watched.accessibilityInBoth()).toEqual([]);
      await page.keyboard.press("Escape");
      await page.waitForSelector("dialog", { state: "detached" });
      await row.getByText("in progress").waitFor();
      await cancel.focus();
      await page.keyboard.press("Enter");
      await dialog.getByRole("button", { name: "Cancel batch" }).focus();
      await page.keyboard.press("Enter");
      await row.getByText(/cancell(ing|ed)/).waitFor();
      await watched.visit("/audit?act=batch.cancel");
      await page.locator(".acts-list").getByRole("link", { name: id }).waitFor();
    });

    test("0112: deletes a file after confirmation, and shows what to do if nothing matches", async () => {
      await watched.visit("/files?project=default");
      const row = page.locator("table.data tbody tr", { hasText: "slow.jsonl" });
      await row.getByRole("button", { name: "Delete slow.jsonl" }).click();
      await page.getByRole("button", { name: "Delete file" }).click();
      await page.waitForSelector("dialog", { state: "detached" });
      await row.waitFor({ state: "detached" });
      await watched.visit("/files?project=none");
      await page.getByText("No matching files").waitFor();
      expect(await watched.accessibility()).toEqual([]);
      await page.getByRole("button", { name: "Remove filter project none" }).click();
      await page.waitForSelector("table.data tbody tr");
      await page.route("**/api/batches?*", (route) => route.fulfill({ json: { data: [], next: null } }));
      await watched.visit("/batches");
      await page.getByText("No batches", { exact: true }).waitFor();
      expect(await watched.accessibility()).toEqual([]);
      await page.unrouteAll();
    });

    test("0110: shows what the storage of a cache costs, and deletes it at its provider", async () => {
      const made = await fetch(`${gateway.clientsUrl}/v1beta/cachedContents`, {
        method: "POST",
        headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: "models/sim/standard",
          displayName: "harbour rules",
          contents: [{ role: "user", parts: [{ text: "The harbour opens at nine. ".repeat(500) }] }],
        }),
      });
      expect(made.status).toBe(200);
      await watched.visit("/caches?project=default");
      const row = page.locator("table.data tbody tr", { hasText: "harbour rules" });
      await row.getByText("sim/standard").waitFor();
      await row.getByText("simulator", { exact: true }).waitFor();
      expect(await watched.accessibilityInBoth()).toEqual([]);
      await row.getByRole("button", { name: "Delete harbour rules" }).click();
      await page.getByRole("button", { name: "Delete cache" }).click();
      await row.waitFor({ state: "detached" });
      await page.getByText("No matching caches").waitFor();
    });

    test("all of this loads nothing from other origins, violates no policy and logs no error", () => {
      expect(watched.problems).toEqual([]);
    });
  });
}
