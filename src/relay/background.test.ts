import { describe, expect, spyOn, test } from "bun:test";
import { DONE, SSE, textChunk, usageChunk } from "../../testing/chat-chunks.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { MortalProcess } from "../../testing/mortal-process.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { BUILT_IN_DIALECTS } from "../dialects/index.ts";
import { plainPng } from "../media/images.sample.ts";
import type { Storage } from "../storage/storage.ts";
import { NOT_WATCHED } from "./attempt/watchdog.ts";
import { buryAbandonedAnswers } from "./background.ts";

test("an answer whose process is killed while it makes it is ended as failed by another, when the lease is over", async () => {
  const machine = await makeMachine();
  const config = scriptedModels(UPSTREAM_URL, { first_byte: 600_000, idle: 600_000 });
  const process = new MortalProcess(machine);
  const doomed = await Harness.start({ config, machine, within: process });
  machine.upstream.play((reply) => void reply.closed);
  const queued = await doomed.post("/v1/responses", { model: "test/chat", input: "Hi", background: true }, TEST_KEY);
  const { id } = JSON.parse(queued.text) as { id: string };
  await machine.clock.pass(5_000);
  // Dead from its next step on: the renewal of its lease.
  process.dieAt({ step: 1, when: "before" });
  const survivor = await Harness.start({ config, machine });
  const look = async () =>
    JSON.parse((await survivor.ask("GET", `/v1/responses/${id}`)).text) as { status: string; error: object | null };

  await machine.clock.pass(30_000);
  await buryAbandonedAnswers(survivor.gateway, BUILT_IN_DIALECTS);
  expect(await look()).toMatchObject({ status: "in_progress", error: null });
  await machine.clock.pass(40_000);
  await buryAbandonedAnswers(survivor.gateway, BUILT_IN_DIALECTS);
  expect(await look()).toMatchObject({
    id,
    status: "failed",
    error: {
      code: "server_error",
      message: "The gateway stopped while it generated this response. Create the response again.",
    },
  });
  expect(await machine.storage.query("SELECT id FROM operations")).toEqual([]);
  await buryAbandonedAnswers(survivor.gateway, BUILT_IN_DIALECTS);
});

const CONFIG = scriptedModels(UPSTREAM_URL, { first_byte: 600_000, idle: 600_000 });
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };

const begin = async (harness: Harness) => {
  const sent = harness.sendPost("/v1/responses", { model: "test/chat", input: "Hi", background: true }, TEST_KEY);
  return await harness.clock.until(sent.answer);
};

const look = async (harness: Harness, id: string) =>
  JSON.parse((await harness.ask("GET", `/v1/responses/${id}`)).text) as { status?: string; output?: object[] };

/** A host that takes a second for its answer. */
function answersSlowly({ upstream, clock }: Machine): void {
  upstream.play(async (reply) => {
    await clock.sleep(1_000);
    reply.head(200);
    void reply.write(JSON.stringify(plainAnswer("chat", { text: "Done.", usage: plainUsage("chat", 10, 5) })));
    reply.end();
  });
}

/** The machine's storage, in which the statements fail that `fails` says. */
function failing(storage: Storage, fails: (statement: string) => boolean): Storage {
  const failure = () => Object.assign(new Error("disk I/O error"), { name: "SQLiteError", code: "SQLITE_IOERR" });
  const checked = (statement: string) => {
    if (fails(statement)) throw failure();
  };
  return {
    engine: storage.engine,
    query: async (statement, parameters, options) => {
      checked(statement);
      return storage.query(statement, parameters, options);
    },
    runForEach: (...rows) => storage.runForEach(...rows),
    changeStamp: () => storage.changeStamp(),
    close: () => storage.close(),
    transaction: (run, options) =>
      storage.transaction(
        (queries) =>
          run({
            ...queries,
            query: async (statement, parameters) => {
              checked(statement);
              return queries.query(statement, parameters);
            },
          }),
        options,
      ),
  };
}

describe("H29: an unavailable storage", () => {
  async function withFaults(fails: (statement: string) => boolean) {
    const machine = await makeMachine();
    const { clock, upstream, fileStore } = machine;
    const within = { clock, send: upstream.send, storage: failing(machine.storage, fails), fileStore };
    const log: string[] = [];
    const harness = await Harness.start({ config: CONFIG, machine, within, onLog: (line) => void log.push(line) });
    answersSlowly(machine);
    return { machine, harness, log };
  }

  test("when a response is done stores it once it is back, because the response is billed and cannot be had otherwise", async () => {
    let away = true;
    const { machine, harness } = await withFaults((statement) => away && /^UPDATE answers/.test(statement));
    const { id } = JSON.parse((await begin(harness)).text) as { id: string };
    await machine.clock.pass(90_000);
    expect((await look(harness, id)).status).toBe("in_progress");
    const [work] = await machine.storage.query("SELECT created_at_ms FROM operations");
    expect(Number(work?.["created_at_ms"])).toBeGreaterThan(machine.clock.wallMs() - 100_000);
    away = false;
    await machine.clock.pass(10_000);
    expect(await look(harness, id)).toMatchObject({ status: "completed", output: [{ type: "message" }] });
    expect(await harness.receipts()).toHaveLength(1);
    expect(await machine.storage.query("SELECT id FROM operations")).toEqual([]);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("for longer than it is retried is logged, and another process marks the response as failed", async () => {
    let away = true;
    const { machine, harness, log } = await withFaults((statement) => away && /^UPDATE answers/.test(statement));
    const { id } = JSON.parse((await begin(harness)).text) as { id: string };
    await machine.clock.pass(700_000);
    away = false;
    await harness.gateway.log.flush();
    expect(log.join("")).toContain("response was not stored");
    expect(log.join("")).toContain("background response could not be stored");
    expect(harness.gateway.background.running).toBe(0);
    await machine.clock.pass(100_000);
    await buryAbandonedAnswers(harness.gateway, BUILT_IN_DIALECTS);
    expect((await look(harness, id)).status).toBe("failed");
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });

  test("at the start is reported to the caller; no host is called, and nothing is left", async () => {
    const { machine, harness } = await withFaults((statement) => /^INSERT INTO answers/.test(statement));
    const watch = spyOn(harness.gateway.watchdog, "watch");
    const answer = await begin(harness);
    expect(answer.status).toBe(503);
    expect(watch).toHaveBeenCalled();
    expect(watch.mock.calls.map(([watched]) => watched.watchIndex)).toEqual(watch.mock.calls.map(() => NOT_WATCHED));
    await machine.clock.pass(100_000);
    // It may have been stored all the same: what is left of it is buried when its lease is over.
    await buryAbandonedAnswers(harness.gateway, BUILT_IN_DIALECTS);
    expect(machine.upstream.requests).toHaveLength(0);
    expect(await machine.storage.query("SELECT id FROM operations")).toEqual([]);
    expect(harness.gateway.background.running).toBe(0);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });
});

/** The same host, with a model that makes images. */
const PAINTING = {
  ...CONFIG,
  models: [
    ...(CONFIG["models"] as object[]),
    {
      id: "test/painter",
      output_modalities: ["image"],
      pricings: { image: [{ value: 0.04, unit: "perCount", currency: "USD" }] },
      offers: [{ provider: "up-chat", model: "gpt-image-1" }],
    },
  ],
};

function paintsSlowly({ upstream, clock }: Machine): void {
  upstream.play(async (reply) => {
    await clock.sleep(1_000);
    reply.head(200);
    void reply.write(JSON.stringify({ created: 1, data: [{ b64_json: plainPng(8, 8).base64 }] }));
    reply.end();
  });
}

function streamsSlowly({ upstream, clock }: Machine): void {
  upstream.play(async (reply) => {
    await clock.sleep(1_000);
    reply.head(200, SSE);
    void reply.write(`${textChunk("Done.")}${textChunk("", "stop")}${usageChunk(10, 5)}${DONE}`);
    reply.end();
  });
}

const BACKGROUND = { model: "test/chat", input: "Hi", background: true };

describe("a process that is killed at any step of an answer that its client has the id of", () => {
  test.each([
    ["a text, before", BACKGROUND, answersSlowly],
    ["a text, after", BACKGROUND, answersSlowly],
    ["an image, before", { ...BACKGROUND, model: "test/painter" }, paintsSlowly],
    ["an image, after", { ...BACKGROUND, model: "test/painter" }, paintsSlowly],
    ["a stream, before", { model: "test/chat", input: "Hi", stream: true }, streamsSlowly],
    ["a stream, after", { model: "test/chat", input: "Hi", stream: true }, streamsSlowly],
  ] as const)(
    "leaves one end, one bill at most, one for every answer that is done, and asks once (%s the step)",
    async (kind, body, answers) => {
      const ends = new Set<string>();
      for (let step = 1; step <= 12; step++) {
        const machine = await makeMachine();
        const process = new MortalProcess(machine);
        const doomed = await Harness.start({ config: PAINTING, machine, within: process });
        answers(machine);
        process.dieAt({ step, when: kind.endsWith("before") ? "before" : "after" });
        const sent = doomed.sendPost("/v1/responses", body, TEST_KEY);
        sent.answer.catch(() => {});
        await machine.clock.pass(30_000);
        const survivor = await Harness.start({ config: PAINTING, machine });
        await machine.clock.pass(100_000);
        await buryAbandonedAnswers(survivor.gateway, BUILT_IN_DIALECTS);
        await buryAbandonedAnswers(survivor.gateway, BUILT_IN_DIALECTS);
        const rows = await machine.storage.query("SELECT state FROM answers");
        const states = rows.map((row) => String(row["state"]));
        expect(states.length).toBeLessThanOrEqual(1);
        expect(states).not.toContain("pending");
        expect(await machine.storage.query("SELECT id FROM operations")).toEqual([]);
        expect(machine.upstream.requests.length).toBeLessThanOrEqual(1);
        const receipts = await machine.storage.query("SELECT id FROM receipts");
        expect(receipts.length).toBeLessThanOrEqual(1);
        if (states.includes("done")) expect(receipts).toHaveLength(1);
        for (const state of states) ends.add(state);
      }
      expect([...ends].sort()).toEqual("background" in body ? ["done", "failed"] : ["done"]);
    },
  );
});
