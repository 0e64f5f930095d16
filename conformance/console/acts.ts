// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { wavHead } from "../../src/wire/wav-head.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { WatchedPage } from "./browser.ts";
import { HOSTILE, type SeededGateway } from "./seeded-gateway.ts";
import type { Visit } from "./visit.ts";

/** One pixel, with a text chunk that makes it long enough to count as data. */
const PNG = pngWithText("x".repeat(300));

function pngWithText(text: string): string {
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const bytes = Buffer.from(pixel, "base64");
  const body = Buffer.from(`tEXtnote\0${text}`, "latin1");
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(body.length - 4, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  // Before the last chunk, which has twelve bytes.
  return Buffer.concat([bytes.subarray(0, -12), chunk, bytes.subarray(-12)]).toBase64();
}

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

    test("finds, selects and opens a call with the keyboard only, and goes back", async () => {
      await watched.visit("/calls?range=30d");
      await page.waitForSelector("table.calls tbody tr");
      await page.keyboard.press("/");
      await page.keyboard.type("outcome:failed");
      await page.keyboard.press("Enter");
      await page.waitForURL(/q=outcome/);
      await page.waitForSelector("table.calls .state.good", { state: "detached" });
      await page.waitForSelector("table.calls .state.bad");
      await page.locator("h1").focus();
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".timeline li");
      expect(page.url()).toContain("/calls/rcp_");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
      await page.keyboard.press("Escape");
      await page.waitForSelector("dialog", { state: "detached" });
      await page.goBack();
      await page.waitForSelector(".chip");
      expect(page.url()).toContain("q=outcome%3Afailed");
    });

    test("console-notes 4.1: columns are hidden and shown with the keyboard, and the browser stores the choice", async () => {
      const address = "/calls?range=24h&q=outcome%3Afailed";
      const rows = "table.calls tbody tr";
      const reload = async () => {
        await page.goto(gateway.url + address);
        await page.waitForSelector(rows);
      };
      const heads = () => page.locator("table.calls thead th").allTextContents();
      await watched.visit(address);
      await page.waitForSelector(rows);
      const all = await heads();
      expect(all).toContain("Cost");
      await page.getByRole("button", { name: "Columns" }).focus();
      await page.keyboard.press("Enter");
      const cost = page.getByRole("checkbox", { name: "Cost" });
      await cost.focus();
      await page.keyboard.press("Space");
      expect(await heads()).toEqual(all.filter((head) => head !== "Cost"));
      expect(await page.locator("table.calls tbody tr").first().locator("td").count()).toBe(all.length - 1);
      expect(await watched.accessibilityInBoth()).toEqual([]);
      await page.keyboard.press("Escape");
      expect(await cost.isVisible()).toBe(false);
      await reload();
      expect(await heads()).not.toContain("Cost");
      await page.getByRole("button", { name: "Columns (1 hidden)" }).click();
      await page.getByRole("button", { name: "Show all" }).click();
      expect(await heads()).toEqual(all);
      await reload();
      expect(await heads()).toEqual(all);
    });

    test("the volume chart follows a filter by outcome, and names filters that it does not support", async () => {
      const shown = async (q: string) => {
        await watched.visit(`/calls?range=30d&q=${encodeURIComponent(q)}`);
        const label = (await page.locator(".volume .plot").getAttribute("aria-label")) ?? "";
        return { label, calls: Number(/([\d,]+) calls? in/.exec(label)?.[1]?.replaceAll(",", "")) };
      };
      const all = await shown("");
      const failed = await shown("outcome:failed");
      const answered = await shown("outcome:ok");
      const left = await shown("outcome:client_gone");
      expect([failed.calls > 0, failed.calls + answered.calls + left.calls]).toEqual([true, all.calls]);
      expect(failed.label).toStartWith("Volume. ");
      expect((await shown("outcome:failed lane:native")).label).toStartWith("Volume, not filtered by lane. ");
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
        "/audit",
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

    test("creates a key that is shown once and works, and revokes it after its name is typed", async () => {
      await watched.visit("/keys");
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByRole("textbox", { name: "Name" }).fill("from the console");
      await page.locator("input[name=budget_usd_per_day]").fill("0.5");
      await page.keyboard.press("Enter");
      const secret = (await page.locator(".secret code").textContent()) ?? "";
      expect(secret.length).toBeGreaterThan(30);
      expect(await watched.accessibility()).toEqual([]);
      // A secret that is shown once must not be lost by accident.
      await page.keyboard.press("Escape");
      expect(await page.locator(".secret").count()).toBe(1);
      await page.getByRole("button", { name: "I have saved it" }).click();
      const call = () =>
        fetch(`${gateway.clientsUrl}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "sim/standard", messages: [{ role: "user", content: "Hello" }] }),
        });
      expect((await call()).status).toBe(200);
      await page.getByRole("button", { name: "Revoke from the console" }).click();
      const revoke = page.getByRole("button", { name: "Revoke", exact: true });
      expect(await revoke.isDisabled()).toBe(true);
      await page.getByLabel("Type the name of the key").fill("from the console");
      await revoke.click();
      await page.waitForSelector("dialog", { state: "detached" });
      expect((await call()).status).toBe(401);
    });

    test("0064: shows captured bodies and the diff between both sides, with hostile content as text", async () => {
      await watched.visit("/keys");
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByRole("textbox", { name: "Name" }).fill("with bodies");
      await page.getByText("Data and billing").click();
      await page.getByLabel(/^Capture request/).check();
      await page.getByRole("button", { name: "Create", exact: true }).click();
      const secret = (await page.locator(".secret code").textContent()) ?? "";
      await page.getByRole("button", { name: "I have stored it" }).click();
      const answer = await fetch(`${gateway.clientsUrl}/v1/messages`, {
        method: "POST",
        headers: { "x-api-key": secret, "anthropic-version": "2023-06-01", "content-type": "application/json" },
        body: JSON.stringify({
          model: "sim/echo-request",
          max_tokens: 100,
          messages: [{ role: "user", content: `${HOSTILE} ${secret}` }],
        }),
      });
      expect(answer.status).toBe(200);
      const receipt = answer.headers.get("x-trivium-receipt") ?? "";
      const show = page.getByRole("button", { name: "Show bodies" });
      // Bodies are stored after the response ends.
      for (let tries = 0; tries < 20 && (await show.count()) === 0; tries++) {
        await watched.visit(`/calls/${receipt}`);
        await page.waitForSelector(".timeline li");
      }
      await show.click();
      await page.locator(".diff .added").first().waitFor();
      expect(await page.locator(".diff .removed").count()).toBeGreaterThan(0);
      for (const name of ["Client request", "Provider request", "Provider response", "Client response"]) {
        await page.getByRole("button", { name, exact: true }).click();
        expect(await page.locator(".bodies pre").textContent()).toContain("<img src=x onerror=");
        expect(await page.locator(".bodies pre").textContent()).not.toContain(secret);
      }
      expect(await page.locator("main img").count()).toBe(0);
      expect(await watched.accessibility()).toEqual([]);
      if (process.env["TRIVIUM_SCREENSHOTS"]) {
        await page.getByRole("button", { name: "Request diff" }).click();
        const path = join(process.env["TRIVIUM_SCREENSHOTS"], "bodies.png");
        await page.locator(".bodies").screenshot({ path, animations: "disabled" });
      }
      await watched.visit("/audit");
      await page.locator(".acts-list").getByText("read the captured bodies of the call").first().waitFor();
    });

    test("0074: shows images and audio of captured bodies; data that only claims to be an image stays text", async () => {
      const headers = { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" };
      const made = await fetch(`${gateway.url}/api/keys`, {
        method: "POST",
        headers,
        body: JSON.stringify({ name: "with media", capture: true }),
      });
      const { data } = (await made.json()) as { data: { key: string } };
      const silence = Buffer.concat([wavHead(2_000, 8_000), Buffer.alloc(2_000)]).toBase64();
      const svg = Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" onload="alert('stored')">${" ".repeat(300)}</svg>`,
      );
      const image = (url: string) => ({ type: "image_url", image_url: { url } });
      const answer = await fetch(`${gateway.clientsUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${data.key}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: "sim/standard",
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: `${HOSTILE} data:image/png;base64,${svg.toBase64()}` },
                image(`data:image/png;base64,${PNG}`),
                { type: "input_audio", input_audio: { data: silence, format: "wav" } },
              ],
            },
          ],
        }),
      });
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
      const show = page.getByRole("button", { name: "Show bodies" });
      for (let tries = 0; tries < 20 && (await show.count()) === 0; tries++) {
        await watched.visit(`/calls/${answer.headers.get("x-trivium-receipt")}`);
        await page.waitForSelector(".timeline li");
      }
      await show.click();
      const preview = page.getByRole("img", { name: "Medium 1 of the call" });
      await preview.waitFor();
      const width =
        "(async (image) => (await image.decode(), image.naturalWidth))(document.querySelector('.media img'))";
      expect(await page.evaluate(width)).toBe(1);
      const sound = page.locator(".bodies audio");
      // `waitForFunction` calls `eval` when it polls, which the content security policy blocks.
      const loaded = `new Promise((resolve) => {
        const audio = document.querySelector('.bodies audio');
        if (audio.readyState >= 1) return resolve();
        for (const type of ["loadedmetadata", "error"]) audio.addEventListener(type, () => resolve());
      })`;
      await page.evaluate(loaded);
      expect(await page.evaluate("document.querySelector('.bodies audio').error")).toBeNull();
      expect([await page.locator("main img").count(), await sound.count()]).toEqual([1, 1]);
      await page.getByRole("button", { name: "Client request", exact: true }).click();
      const text = (await page.locator(".bodies pre").textContent()) ?? "";
      expect(text).toContain("medium 1]");
      expect(text).toContain("<img src=x onerror=");
      expect(await watched.accessibility()).toEqual([]);
    });

    test("S09: a project operator can read bodies by receipt ID, but only those of the project", async () => {
      const makeKey = async (project: string): Promise<string> => {
        const headers = { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" };
        const body = JSON.stringify({ name: `kept for ${project}`, project, capture: true });
        const answer = await fetch(`${gateway.url}/api/keys`, { method: "POST", headers, body });
        return ((await answer.json()) as { data: { key: string } }).data.key;
      };
      const callWith = async (key: string): Promise<string> => {
        const answer = await fetch(`${gateway.clientsUrl}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "sim/echo-request", messages: [{ role: "user", content: HOSTILE }] }),
        });
        await answer.text();
        return answer.headers.get("x-trivium-receipt") ?? "";
      };
      const [own, foreign] = [await callWith(await makeKey("shop")), await callWith(await makeKey("research"))];
      // Bodies are stored after the client has received its response.
      const headers = { authorization: `Bearer ${gateway.secret}` };
      const isStored = async (id: string) =>
        (await fetch(`${gateway.url}/api/receipts/${id}/bodies`, { headers })).status === 200;
      while (!((await isStored(own)) && (await isStored(foreign)))) await Bun.sleep(50);
      const theirs = await browser.newContext();
      const other = await WatchedPage.open(theirs, gateway.url);
      await other.page.goto(gateway.url);
      await other.page.getByLabel(/operator secret/).fill(gateway.projectSecret);
      await other.page.keyboard.press("Enter");
      await other.page.getByRole("link", { name: "Calls", exact: true }).click();
      const find = async (receipt: string) => {
        await other.page.getByLabel("Receipt").fill(receipt);
        await other.page.keyboard.press("Enter");
        await other.page.getByRole("button", { name: "Show bodies" }).click();
      };
      await find(own);
      await other.page.getByRole("button", { name: "Client request", exact: true }).click();
      expect(await other.page.locator(".bodies pre").textContent()).toContain("<img src=x");
      expect(await other.accessibilityInBoth()).toEqual([]);
      await find(foreign);
      await other.page.getByText(`No bodies of "${foreign}" are stored`).waitFor();
      await theirs.close();
    });

    test("live: a call appears without a reload", async () => {
      await watched.visit("/calls?live=1&range=24h");
      await page.waitForSelector("table.calls tbody tr");
      await page.mouse.move(5, 5);
      await page.waitForSelector(".side .dot.live");
      await fetch(`${gateway.clientsUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "sim/echo-request", messages: [{ role: "user", content: "Hello" }] }),
      });
      await page.getByRole("button", { name: "sim/echo-request" }).first().waitFor();
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
