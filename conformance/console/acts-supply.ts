// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { WatchedPage } from "./browser.ts";
import { PUBLISHED_LIST } from "./seed-supply.ts";
import { HOSTILE, type SeededGateway } from "./seeded-gateway.ts";
import type { Visit } from "./visit.ts";

/** Providers, models, the catalogue and the playground. */
export function actAtSupply(visit: () => Visit): void {
  describe("console-notes 4: a person who looks after providers and prices", () => {
    let gateway: SeededGateway;
    let watched: WatchedPage;
    let page: Page;

    beforeAll(() => {
      ({ gateway, watched } = visit());
      page = watched.page;
    });

    const send = () => page.getByRole("button", { name: "Send", exact: true });
    const answers = () => page.locator(".figures-line .state.good");

    test("console-notes 4.1: shows how to add a provider, accepts no secret, and reports problems", async () => {
      await watched.visit("/providers");
      await page.getByRole("button", { name: "Add provider" }).click();
      const dialog = page.getByRole("dialog", { name: "Add provider" });
      await dialog.getByLabel("Kind").selectOption("openai-compatible");
      await dialog.getByLabel("Name").fill("my-vllm");
      await dialog.getByLabel("Base URL").fill("http://10.0.0.9:8000/v1");
      await dialog.getByLabel(/^API key/).fill("sk-a-secret-itself");
      await page.keyboard.press("Enter");
      expect(await dialog.locator("input:invalid").getAttribute("name")).toBe("field.api_key");
      await dialog.getByLabel(/^API key/).fill("${NO_SUCH_VARIABLE}");
      await page.keyboard.press("Enter");
      await dialog.getByText(/NO_SUCH_VARIABLE.* is not set|variable NO_SUCH_VARIABLE/).waitFor();
      await dialog.getByLabel(/^API key/).fill("");
      await page.keyboard.press("Enter");
      await dialog.locator(".code pre").waitFor();
      expect(await dialog.locator(".code pre").textContent()).toBe(
        'providers:\n  my-vllm:\n    kind: openai-compatible\n    base_url: "http://10.0.0.9:8000/v1"\n',
      );
      await dialog.getByText("The key was not checked").waitFor();
      expect(await watched.accessibilityInBoth()).toEqual([]);
      await page.keyboard.press("Escape");
      await page.waitForSelector("dialog", { state: "detached" });
      expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(
        "sk-a-secret",
      );
    });

    test("tests a provider, from the list and from its page", async () => {
      await watched.visit("/providers");
      await page.getByRole("button", { name: "Test simulator" }).click();
      await page.locator(".tested .state.good").first().waitFor();
      await watched.visit("/providers/simulator");
      await page.getByRole("button", { name: "Test simulator" }).click();
      await page.locator(".tested .state.good").first().waitFor();
      expect(await watched.accessibility()).toEqual([]);
    });

    test("finds in three clicks since when a provider fails, why, and whom that concerns", async () => {
      await watched.visit("/?range=24h");
      await page.getByRole("link", { name: "Providers", exact: true }).first().click();
      const first = page.locator("table.data tbody tr").first();
      await first.getByText(/unavailable|probing/).waitFor();
      await first.getByText(/^since /).waitFor();
      await first.getByText(/could not be reached/).waitFor();
      await first.getByRole("link", { name: "openai" }).click();
      await page
        .getByText(/could not be reached/)
        .first()
        .waitFor();
      await page.locator(".supply-charts .plot canvas").first().waitFor();
      const keys = page.getByRole("region", { name: "Who uses it" });
      await keys.getByRole("link", { name: "search" }).waitFor();
      await page.getByRole("link", { name: "View failed calls" }).click();
      await page.waitForURL(/\/calls\?q=.*provider%3Aopenai.*outcome%3Afailed|\/calls\?q=.*outcome%3Afailed/);
    });

    test("S14: names of keys are text on a provider's page", async () => {
      await watched.visit("/providers/anthropic?range=30d");
      await page.getByRole("region", { name: "Who uses it" }).getByText(HOSTILE).waitFor();
      expect(await page.locator("main img").count()).toBe(0);
    });

    test("searches models, opens one with the keyboard, and computes what it would cost", async () => {
      await watched.visit("/models");
      await page.getByLabel("Search models").fill("claude sonnet");
      await page.waitForURL(/text=claude/);
      const rows = page.locator("table.data tbody tr");
      expect(await rows.count()).toBeGreaterThan(1);
      for (const text of await rows.locator("th a").allTextContents()) expect(text).toContain("sonnet");
      await page.getByLabel("Search models").fill("no such model");
      await page.getByRole("button", { name: "Show all models" }).click();
      await page.getByLabel("Accepts").selectOption("audio");
      const link = page.getByRole("link", { name: "google/gemini-2.5-flash", exact: true });
      await link.focus();
      await page.keyboard.press("Enter");
      await page.getByLabel("Input tokens").fill("1000000");
      await page.getByLabel("Cached of them").fill("0");
      await page.getByLabel("Output tokens").fill("100000");
      await page.getByLabel("Calls a day").fill("10");
      // One million at $0.30 and a tenth of one at $2.50, then times 10 and 300.
      const costs = page.getByRole("region", { name: "Cost at each offer" }).locator("tbody td");
      expect(await costs.allTextContents()).toEqual(["$0.550", "$5.50", "$165.00"]);
      expect(await watched.accessibilityInBoth()).toEqual([]);
    });

    test("console-notes 4.1: tells unpriced from free, and says where each price is from", async () => {
      const state = (text: string) => page.locator(".lead .state").getByText(text).waitFor();
      await watched.visit("/models/acme/unpriced");
      await state("unpriced");
      await watched.visit("/models/openai/omni-moderation-latest");
      await state("free");
      await watched.visit("/models/openai/gpt-5.4-nano");
      await page.getByRole("region", { name: "Prices" }).getByText("update, litellm.json").first().waitFor();
    });

    test("decision 0097: compares a list, accepts a held price by name, applies it after asking, and removes it", async () => {
      await watched.visit("/catalogue");
      await page.getByRole("button", { name: "Compare a list" }).click();
      const buffer = Buffer.from(JSON.stringify(PUBLISHED_LIST));
      await page.getByLabel("List (JSON)").setInputFiles({ name: "prices.json", mimeType: "application/json", buffer });
      await page.getByText("openai/gpt-99-preview", { exact: false }).waitFor();
      const held = page.getByRole("region", { name: "Held back" });
      await held.getByText("openai/gpt-5-nano").first().waitFor();
      expect(await watched.accessibilityInBoth()).toEqual([]);
      await page.getByRole("checkbox", { name: "openai/gpt-5-nano" }).check();
      await page
        .getByRole("region", { name: "Held back" })
        .getByText("openai/gpt-5-nano")
        .waitFor({ state: "detached" });
      await page.getByRole("region", { name: "Changed values" }).getByText("openai/gpt-5-nano").first().waitFor();
      await page.getByRole("button", { name: /^Apply to/ }).click();
      await page.getByRole("button", { name: "Apply these prices" }).click();
      await page.getByText(/^Applied as update 2/).waitFor();
      const applied = page.getByRole("button", { name: "2: prices.json" });
      for (let tries = 0; tries < 40 && (await applied.count()) === 0; tries++) await watched.visit("/catalogue");
      await applied.click();
      await page.getByRole("region", { name: "Changed values" }).getByText("openai/gpt-5-nano").first().waitFor();
      await page.getByRole("button", { name: "Remove update 2" }).click();
      const dialog = page.getByRole("dialog", { name: "Remove update 2" });
      await dialog.getByRole("button", { name: "Remove update 2" }).click();
      await page.waitForSelector("dialog", { state: "detached" });
      await watched.visit("/audit?act=catalogue.remove");
      await page.getByText("removed an update of the catalogue: 2").first().waitFor();
    });

    test("the playground works in every protocol, with images and videos, and with two models side by side", async () => {
      for (const protocol of ["chat", "responses", "messages", "genai"]) {
        await watched.visit(`/play?model=sim%2Fstandard&protocol=${protocol}`);
        await send().click();
        await answers().waitFor();
        expect((await page.locator(".play-body .text").textContent())?.length).toBeGreaterThan(5);
        await page.getByText(/tok\/s/).waitFor();
      }
      await watched.visit("/play?model=sim%2Fimage&model2=sim%2Fvideo");
      await page.waitForSelector(".play.two");
      expect(await page.getByLabel("Temperature").count()).toBe(0);
      await page.getByLabel("Seconds").waitFor();
      await send().click();
      await page.locator(".play-body img").waitFor();
      await page.locator(".play-body video").waitFor();
      expect(await watched.accessibility()).toEqual([]);
      await page.locator(".play-column").first().getByRole("button", { name: "Code" }).click();
      expect(await page.locator(".code pre").textContent()).toContain("curl");
    });

    test("the playground keeps a conversation, edits its last prompt, and stops a call", async () => {
      await watched.visit("/play?model=sim%2Fstandard");
      await page.getByLabel("Prompt", { exact: true }).fill("first question");
      await page.keyboard.press("Control+Enter");
      await answers().waitFor();
      await page.getByLabel("Prompt", { exact: true }).fill("second question");
      await send().click();
      await answers().nth(1).waitFor();
      // The simulator's model says how many it was sent.
      expect(await page.locator(".play-body .text").nth(0).textContent()).toContain("holds 1 turn");
      expect(await page.locator(".play-body .text").nth(1).textContent()).toContain("holds 3 turns");
      await page.getByRole("button", { name: "Edit last prompt" }).click();
      expect(await page.getByLabel("Prompt", { exact: true }).inputValue()).toBe("second question");
      await page.getByLabel("Prompt", { exact: true }).fill("another question");
      await send().click();
      await page.getByText("another question", { exact: true }).waitFor();
      await answers().nth(1).waitFor();
      expect(await page.locator(".turns > li").count()).toBe(2);
      await page.getByRole("button", { name: "Clear" }).click();
      expect(await page.locator(".turns > li").count()).toBe(0);
      await watched.visit("/play?model=sim%2Fslow-first-byte-3");
      await send().click();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("stopped").waitFor();
    });

    test("the playground finds a model by a part of its name, with the keyboard", async () => {
      await watched.visit("/play");
      const field = page.getByRole("combobox", { name: "Model", exact: true });
      // The heading of a new page takes the focus once.
      await page.waitForTimeout(200);
      await field.focus();
      await page.keyboard.type("haiku");
      const options = page.getByRole("option");
      await options.first().waitFor();
      expect(await options.first().textContent()).toMatch(/haiku.*\$/);
      expect(await watched.accessibilityInBoth()).toEqual([]);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL(/model=anthropic%2Fclaude-haiku/);
      await field.focus();
      await page.keyboard.type("zzz");
      await page.getByText("No model matches.").waitFor();
      await page.keyboard.press("Escape");
      expect(await field.inputValue()).toContain("haiku");
    });

    test("the playground opens a captured call as its client sent it", async () => {
      const headers = { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" };
      const made = await fetch(`${gateway.url}/api/keys`, {
        method: "POST",
        headers,
        body: JSON.stringify({ name: "kept for the playground", capture: true }),
      });
      const { data } = (await made.json()) as { data: { key: string } };
      const answer = await fetch(`${gateway.clientsUrl}/v1/messages`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${data.key}`,
          "content-type": "application/json",
          "anthropic-version": "2023-06-01",
        },
        body: JSON.stringify({
          model: "sim/standard",
          max_tokens: 77,
          messages: [{ role: "user", content: "a captured question" }],
        }),
      });
      await answer.text();
      const receipt = answer.headers.get("x-trivium-receipt") ?? "";
      // Bodies are stored after the client has received its response.
      const stored = async () => (await fetch(`${gateway.url}/api/receipts/${receipt}/bodies`, { headers })).ok;
      while (!(await stored())) await Bun.sleep(50);
      await watched.visit(`/play?receipt=${receipt}`);
      const body = page.getByLabel("Request body");
      await body.waitFor();
      expect(JSON.parse(await body.inputValue())).toMatchObject({
        max_tokens: 77,
        messages: [{ content: "a captured question" }],
      });
      expect(await page.getByLabel("Protocol").inputValue()).toBe("messages");
      await send().click();
      await answers().waitFor();
      await page.getByText("a captured question").first().waitFor();
      expect(await watched.accessibility()).toEqual([]);
    });
  });
}
