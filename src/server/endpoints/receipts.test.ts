import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Harness, makeMachine, UPSTREAM_URL } from "../../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";
import { scriptedModels } from "../../../testing/scripted-models.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";
import { system } from "../../base/system.ts";
import { FileJournal } from "../../ledger/journal.ts";

const OTHER_KEY = "a-key-of-the-configuration-in-another-project";

test("H21: a receipt can be read as soon as its response has ended, although a slow store does not have it yet", async () => {
  const machine = await makeMachine();
  const { storage } = machine;
  const held = Promise.withResolvers<void>();
  const runForEach = storage.runForEach.bind(storage);
  let isSlow = false;
  storage.runForEach = async (...given) => {
    if (isSlow) await held.promise;
    await runForEach(...given);
  };
  const config = {
    ...scriptedModels(UPSTREAM_URL),
    keys: [
      { name: "tests", key: TEST_KEY },
      { name: "others", key: OTHER_KEY, project: "other" },
    ],
  };
  const harness = await Harness.start({ config, machine });
  harness.upstream.play(harness.upstream.json(plainAnswer("chat", { text: "hi", usage: plainUsage("chat", 101, 53) })));
  isSlow = true;
  const given = await harness.call("chat");
  expect(await storage.query("SELECT id FROM receipts")).toEqual([]);
  expect(await harness.receipt(given)).toMatchObject({ cost_nano_usd: 101_000 + 53 * 2_000 });
  const path = `/api/v1/generation?id=${given.headers.get("x-trivium-receipt")}`;
  expect((await harness.ask("GET", path, OTHER_KEY)).status).toBe(404);
  held.resolve();
  await harness.clock.until(harness.gateway.ledger.flush());
  expect(await storage.query("SELECT id FROM receipts")).toHaveLength(1);
  expect(await harness.receipt(given)).toMatchObject({ cost_nano_usd: 101_000 + 53 * 2_000 });
});

test("H21: another process of the same machine can read it, too: it is in a journal that they share", async () => {
  const machine = await makeMachine();
  const { storage, clock } = machine;
  const held = Promise.withResolvers<void>();
  const runForEach = storage.runForEach.bind(storage);
  storage.runForEach = async (...given) => {
    await held.promise;
    await runForEach(...given);
  };
  const folder = mkdtempSync(join(tmpdir(), "trivium-receipts-"));
  try {
    const config = {
      ...scriptedModels(UPSTREAM_URL),
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "others", key: OTHER_KEY, project: "other" },
      ],
    };
    // Its disk takes the machine's time.
    const start = () =>
      Harness.start({ config, machine, journal: new FileJournal({ folder, maxBytes: 1e6, ...system }) });
    const first = await start();
    const second = await start();
    first.upstream.play(first.upstream.json(plainAnswer("chat", { text: "hi", usage: plainUsage("chat", 101, 53) })));
    const given = await first.call("chat");
    expect(await storage.query("SELECT id FROM receipts")).toEqual([]);
    expect(await second.receipt(given)).toMatchObject({ cost_nano_usd: 101_000 + 53 * 2_000 });
    const path = `/api/v1/generation?id=${given.headers.get("x-trivium-receipt")}`;
    expect((await second.ask("GET", path, OTHER_KEY)).status).toBe(404);
    held.resolve();
    await clock.until(first.gateway.ledger.flush());
    expect(await second.receipt(given)).toMatchObject({ cost_nano_usd: 101_000 + 53 * 2_000 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
