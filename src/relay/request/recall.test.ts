import { describe, expect, test } from "bun:test";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";
import { scriptedModels } from "../../../testing/scripted-models.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";
import type { Storage } from "../../storage/storage.ts";

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
const SLOW_MS = 4_000;

/** The machine's storage, which takes its time for statements about answers while `isSlow` says so. */
function slow({ storage, clock }: Machine, isSlow: () => boolean): Storage {
  const wait = async (statement: string) => {
    if (isSlow() && /\b(answers|answer_items|operations)\b/.test(statement)) await clock.sleep(SLOW_MS);
  };
  return {
    engine: storage.engine,
    query: async (statement, parameters, options) => {
      await wait(statement);
      return await storage.query(statement, parameters, options);
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
              await wait(statement);
              return await queries.query(statement, parameters);
            },
          }),
        options,
      ),
  };
}

/** A gateway that has answered once, and whose storage is slow from then on. */
async function begun() {
  const machine = await makeMachine();
  const { clock, upstream, fileStore } = machine;
  let isSlow = false;
  const within = { clock, send: upstream.send, storage: slow(machine, () => isSlow), fileStore };
  const harness = await Harness.start({ config: scriptedModels(UPSTREAM_URL), machine, within });
  upstream.play(upstream.json(plainAnswer("chat", { text: "Hello, Ada.", usage: plainUsage("chat", 10, 5) })));
  const answer = await harness.post("/v1/responses", { model: "test/chat", input: "My name is Ada." }, TEST_KEY);
  const first = JSON.parse(answer.text) as { id: string; output: { id: string }[] };
  isSlow = true;
  return { machine, harness, first };
}

const errorIn = (text: string) => (JSON.parse(text) as { error: { code: string; message: string } }).error;

describe("choices 8: deadline_ms covers the whole call, including the time of the storage", () => {
  const forms = ["previous_response_id", "item_reference", "input_tokens", "stream", "background"] as const;
  test.each(forms)(
    "a slow storage and %s: 504 to the millisecond, nothing was asked, nothing is held",
    async (form) => {
      const { machine, harness, first } = await begun();
      const reference = { type: "item_reference", id: first.output[0]?.id ?? "" };
      const input = form === "item_reference" ? [reference, { role: "user", content: "Who?" }] : "Who?";
      const builds = form !== "item_reference" && form !== "background";
      const path = form === "input_tokens" ? "/v1/responses/input_tokens" : "/v1/responses";
      const sentAtMs = machine.clock.nowMs();
      const asked = machine.upstream.requests.length;
      const { status, text } = await harness.post(
        path,
        {
          model: "test/chat",
          input,
          ...(builds && { previous_response_id: first.id }),
          ...(form === "stream" && { stream: true }),
          ...(form === "background" && { background: true }),
          trivium: { deadline_ms: 1_500 },
        },
        TEST_KEY,
      );
      expect(status).toBe(504);
      expect(errorIn(text)).toMatchObject({
        message: "The response did not finish within this request's deadline of 1500 ms.",
      });
      // A call with a receipt also waits for its row.
      expect(machine.clock.nowMs() - sentAtMs).toBeLessThanOrEqual(1_500 + (form === "background" ? 250 : 0));
      // What the storage says later holds no memory and begins no work.
      await machine.clock.pass(90_000);
      expect(machine.upstream.requests).toHaveLength(asked);
      expect(harness.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  test("with time enough, the slow storage is waited for", async () => {
    const { machine, harness, first } = await begun();
    const { upstream } = machine;
    upstream.play(upstream.json(plainAnswer("chat", { text: "Ada.", usage: plainUsage("chat", 10, 5) })));
    const body = {
      model: "test/chat",
      input: "Who?",
      previous_response_id: first.id,
      trivium: { deadline_ms: 60_000 },
    };
    expect((await harness.post("/v1/responses", body, TEST_KEY)).status).toBe(200);
    await machine.clock.pass(90_000);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  });
});
