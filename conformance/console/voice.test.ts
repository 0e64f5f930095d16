import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { sayAloud } from "../../simulator/voice/say-aloud.ts";
import { wavHead } from "../../src/wire/wav-head.ts";
import { isPresent } from "../../testing/is-present.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { findBrowser, WatchedPage } from "./browser.ts";

const found = findBrowser();
isPresent(
  found !== undefined,
  "the voice mode of the console, because no Chromium was found (apt-get install chromium)",
);

const SAID = "Hello from the microphone.";

describe.skipIf(!found)("the voice mode of the playground", () => {
  test("S14: hears the microphone, answers aloud and shows the cost, within the page's policy", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trivium-voice-"));
    const { samples, rate } = sayAloud(SAID);
    // The browser repeats the recording: a pause follows that is longer than the button is held.
    const sound = Buffer.concat([new Uint8Array(samples.buffer), Buffer.alloc(rate * 2 * 10)]);
    const file = join(folder, "microphone.wav");
    writeFileSync(file, Buffer.concat([wavHead(sound.length, rate), sound]));
    const gateway = await startTestGateway({ config: { simulator: true } });
    const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    const microphone = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"];
    const args = [...sandbox, ...microphone, `--use-file-for-fake-audio-capture=${file}`];
    const browser = await chromium.launch({ executablePath: found ?? "chromium", args });
    try {
      const watched = await WatchedPage.open(await browser.newContext(), gateway.adminUrl);
      const { page } = watched;
      await page.goto(gateway.app.consoleUrl ?? "");
      await page.waitForSelector("nav[aria-label=Pages]");
      await watched.visit("/play?model=sim%2Frealtime");
      await page.getByRole("button", { name: "Start conversation" }).click();
      const talk = page.getByRole("button", { name: "Hold to talk" });
      await talk.focus();
      await page.keyboard.down(" ");
      await page.getByText("listening").waitFor();
      await Bun.sleep(SAID.length * 60 + 4_000);
      await page.keyboard.up(" ");
      await page.getByRole("link", { name: "View call" }).waitFor();
      await page.locator(".voice .figures-line").getByText("$").waitFor();
      const shown = await page.locator(".transcript").innerText();
      expect(shown).toContain("This is Trivium's simulator.");
      await page.getByText("first sound").waitFor();
      expect(await watched.accessibility()).toEqual([]);
      await page.getByRole("button", { name: "End conversation" }).click();
      await page.getByRole("button", { name: "Start conversation" }).waitFor();
      expect(watched.problems).toEqual([]);
    } finally {
      await browser.close();
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 120_000);
});
