import { beforeAll, describe, expect, test } from "bun:test";
import { arrayAt, type JsonObject, objectAt, parseObject, stringAt } from "../../src/base/json.ts";
import { readFrames } from "../../src/wire/sse.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";
import { ResponsesScript, responsesAnswer, responsesUsage } from "../../testing/wires/responses-wire.ts";
import { answerProblem } from "../support/well-formed.ts";

const SCRIPTED = scriptedModels(UPSTREAM_URL, { first_byte: 20_000, idle: 3_000 });
const MODEL = {
  ...(SCRIPTED["models"] as object[])[0],
  id: "test/host",
  offers: [{ provider: "up-chat", model: "m", dialect: "responses" }],
};
const COST = 10 * 1_000 + 5 * 2_000;
const WORDS = ["The Seine rises ", "in Burgundy."] as const;
const TEXT = WORDS.join("");
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };

/** Hosts that speak the Responses protocol badly, to clients of every protocol. */
let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({
    config: {
      ...SCRIPTED,
      models: [MODEL],
      routing: { sticky: "off", breaker: { failures: 100_000, window_ms: 1 } },
    },
  });
});

const USAGE = responsesUsage(10, 5);

/** The events of a valid stream, one by one. */
function soundEvents(): string[] {
  const script = new ResponsesScript();
  const parts = [script.begin(), ...WORDS.map((word) => script.delta(word)), script.close(), script.completed(USAGE)];
  return parts.flatMap((part) => part.match(/[\s\S]+?\n\n/g) ?? []);
}

/** The same with each event changed. */
const changed = (change: (event: JsonObject, index: number) => JsonObject): string =>
  soundEvents()
    .map((frame, index) => {
      const { data } = readFrames(frame)[0] ?? {};
      const event = change(parseObject(data ?? "") ?? {}, index);
      return `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`;
    })
    .join("");

const withoutLast = (): string => soundEvents().slice(0, -1).join("");
const last = (): string => soundEvents().at(-1) ?? "";
const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 90, ...more })}\n\n`;

async function ask(client: ScriptedDialect, body: string): Promise<ReadAnswer> {
  harness.upstream.play(harness.upstream.stream(body));
  const answer = await harness.call(client, { model: "test/host", stream: true });
  await harness.clock.pass(10_000);
  expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  return answer;
}

const eventsOf = ({ text }: ReadAnswer): JsonObject[] =>
  readFrames(text).flatMap(({ data }) => (data === undefined || data === "[DONE]" ? [] : [parseObject(data) ?? {}]));

/** What a client has read of the text. */
function textOf(client: ScriptedDialect, answer: ReadAnswer): string {
  const events = eventsOf(answer);
  const said = (chunk: JsonObject): string => {
    switch (client) {
      case "chat":
        return arrayAt(chunk, "choices")
          .map((choice) => stringAt(objectAt(choice, "delta"), "content") ?? "")
          .join("");
      case "messages":
        return stringAt(objectAt(chunk, "delta"), "text") ?? "";
      case "genai":
        return arrayAt(chunk, "candidates")
          .flatMap((candidate) => arrayAt(objectAt(candidate, "content"), "parts"))
          .map((part) => stringAt(part, "text") ?? "")
          .join("");
      case "responses":
        return chunk["type"] === "response.output_text.delta" ? (stringAt(chunk, "delta") ?? "") : "";
    }
  };
  return events.map(said).join("");
}

/** Whether it is a response with a proper end; an error sent as bare JSON is not (sdks 1.5). */
function isWhole(client: ScriptedDialect, { text }: ReadAnswer): boolean {
  try {
    return answerProblem(client, true, text) === undefined;
  } catch {
    return false;
  }
}

/** Errors that a client receives, in its protocol. */
const errorsIn = (answer: ReadAnswer): number =>
  eventsOf(answer).filter((chunk) => chunk["type"] === "error" || (objectAt(chunk, "error") && !("response" in chunk)))
    .length;

const ODD_BUT_WHOLE: Readonly<Record<string, () => string>> = {
  "other ids in each event": () =>
    changed((one, index) => ({
      ...one,
      ...("item_id" in one ? { item_id: `msg_other_${index}` } : {}),
      ...(objectAt(one, "item") ? { item: { ...objectAt(one, "item"), id: `msg_item_${index}` } } : {}),
    })),
  "another answer's id in each event": () =>
    changed((one, index) =>
      objectAt(one, "response") ? { ...one, response: { ...objectAt(one, "response"), id: `resp_${index}` } } : one,
    ),
  "the last event three times": () => withoutLast() + last() + last() + last(),
  "a failure after the last event": () =>
    withoutLast() + last() + event("response.failed", { response: { status: "failed", error: { message: "late" } } }),
  "words after the last event": () =>
    withoutLast() + last() + event("response.output_text.delta", { output_index: 0, content_index: 0, delta: "late" }),
  "garbage after the last event": () => `${withoutLast() + last()}data: {no json\n\n`,
  "the same number on every event": () => changed((one) => ({ ...one, sequence_number: 7 })),
  "numbers that fall": () => changed((one, index) => ({ ...one, sequence_number: 1_000 - index })),
  "numbers as texts": () => changed((one, index) => ({ ...one, sequence_number: String(index) })),
  "no numbers": () => changed(({ sequence_number: _, ...one }) => one),
  "no places": () => changed(({ output_index: _, content_index: __, ...one }) => one),
  "no names of events": () =>
    soundEvents()
      .join("")
      .replaceAll(/^event: .*\n/gm, ""),
  "the beginning twice": () => soundEvents()[0] + soundEvents().join(""),
  "lines that end in CR LF": () => soundEvents().join("").replaceAll("\n", "\r\n"),
  "pings between its events": () => soundEvents().join(event("ping") + event("keepalive")),
  "nothing in its last event but the usage": () =>
    changed((one) =>
      one["type"] === "response.completed" ? { ...one, response: { ...objectAt(one, "response"), output: [] } } : one,
    ),
};

/** What clients of the same protocol receive unchanged, and others do not see. */
const ODD_FOR_OTHERS: Readonly<Record<string, () => string>> = {
  "events that are not known": () => soundEvents().join(event("response.something.new", { output_index: 9 })),
  "no last words of its items": () =>
    soundEvents()
      .filter((frame) => !/\.done"/.test(frame))
      .join(""),
  "comments between its events": () => soundEvents().join(": comment\n\n"),
};

describe.each([...SCRIPTED_DIALECTS])("R20, R21: a %s client", (client) => {
  test.each(Object.keys(ODD_BUT_WHOLE))("reads one complete response of a host with %s", async (what) => {
    const answer = await ask(client, ODD_BUT_WHOLE[what]?.() ?? "");
    expect(answer.status).toBe(200);
    expect(answerProblem(client, true, answer.text)).toBeUndefined();
    expect(textOf(client, answer)).toBe(TEXT);
    expect(await harness.receipt(answer)).toMatchObject({ usage_source: "measured", cost_nano_usd: COST });
    if (client !== "responses") return;
    const events = eventsOf(answer);
    expect(events.map((one) => one["sequence_number"])).toEqual(events.map((_, index) => index));
    const ids = new Set(events.map((one) => stringAt(objectAt(one, "response"), "id")).filter(Boolean));
    expect(ids.size).toBe(1);
    const output = arrayAt(objectAt(events.at(-1), "response"), "output");
    expect(output).toMatchObject([{ type: "message", content: [{ text: TEXT }] }]);
    const items = events.flatMap((one) => stringAt(one, "item_id") ?? stringAt(objectAt(one, "item"), "id") ?? []);
    expect(new Set(items).size).toBe(1);
  });
});

describe.each(["chat", "messages", "genai"] as const)("R20: a %s client", (client) => {
  test.each(Object.keys(ODD_FOR_OTHERS))("reads one complete response of a host with %s", async (what) => {
    const answer = await ask(client, ODD_FOR_OTHERS[what]?.() ?? "");
    expect(answerProblem(client, true, answer.text)).toBeUndefined();
    expect(textOf(client, answer)).toBe(TEXT);
    expect(await harness.receipt(answer)).toMatchObject({ usage_source: "measured", cost_nano_usd: COST });
  });
});

const BROKEN: Readonly<Record<string, () => string>> = {
  "never says that it has ended": () => withoutLast(),
  "sends garbage": () => `${soundEvents().slice(0, 6).join("")}data: {no json\n\n${last()}`,
  "sends a page": () => `${soundEvents().slice(0, 6).join("")}<html><body>Bad gateway</body></html>`,
  "sends an error event": () =>
    soundEvents().slice(0, 6).join("") + event("error", { error: { type: "server_error", message: "no more" } }),
  "sends a flat error event": () =>
    soundEvents().slice(0, 6).join("") + event("error", { code: "server_error", message: "no more", param: null }),
  "sends an error event and response.failed": () =>
    soundEvents().slice(0, 6).join("") +
    event("error", { error: { type: "server_error", message: "no more" } }) +
    event("response.failed", {
      response: { id: "resp_1", status: "failed", error: { code: "server_error", message: "x" } },
    }),
  "sends response.failed": () =>
    soundEvents().slice(0, 6).join("") +
    event("response.failed", {
      response: { id: "resp_1", status: "failed", error: { code: "server_error", message: "x" } },
    }),
  "says that it was cancelled": () =>
    soundEvents().slice(0, 6).join("") +
    event("response.cancelled", { response: { id: "resp_1", status: "cancelled" } }),
};

describe.each([...SCRIPTED_DIALECTS])("R1, H16: a %s client", (client) => {
  test.each(Object.keys(BROKEN))("gets one error from a host that %s, and pays for what it has read", async (what) => {
    const answer = await ask(client, BROKEN[what]?.() ?? "");
    expect(answer.status).toBe(200);
    expect(isWhole(client, answer)).toBe(false);
    expect(errorsIn(answer)).toBe(1);
    expect(TEXT).toStartWith(textOf(client, answer));
    if (client === "responses") {
      const types = eventsOf(answer).map((one) => stringAt(one, "type"));
      expect(types.slice(-2)).toEqual(["error", "response.failed"]);
      expect(types.filter((type) => /completed|incomplete|failed/.test(type ?? ""))).toHaveLength(1);
      const numbers = eventsOf(answer).map((one) => one["sequence_number"]);
      expect(numbers).toEqual(numbers.map((_, index) => index));
    }
    const receipt = await harness.receipt(answer);
    expect(receipt.usage_source).toBe("partial");
    expect(receipt.cost_nano_usd).toBeGreaterThan(0);
    expect(receipt.cost_nano_usd).toBeLessThan(200_000);
  });

  test("gets one error wherever the connection breaks, and never an incomplete response as complete", async () => {
    const whole = soundEvents().join("");
    const firstWords = whole.indexOf("\n\n", whole.indexOf("The Seine")) + 2;
    for (let cut = firstWords; cut < whole.length - 2; cut += 97) {
      harness.upstream.play(harness.upstream.brokenStream(whole.slice(0, cut), 10));
      const answer = await harness.call(client, { model: "test/host", stream: true });
      expect([cut, answer.status, isWhole(client, answer), errorsIn(answer)]).toEqual([cut, 200, false, 1]);
    }
  });
});

const NO_ANSWERS: Readonly<Record<string, unknown>> = {
  "an object without output": { id: "resp_1", object: "response", status: "completed" },
  "an error inside 200": { error: { message: "no", type: "server_error" } },
  "a failed response": { id: "resp_1", status: "failed", output: [], error: { code: "server_error", message: "no" } },
  "an output that is no list": { id: "resp_1", status: "completed", output: "text" },
  "a list": [],
  "a text": "hello",
  null: null,
  "a cancelled response": { id: "resp_1", status: "cancelled", output: [] },
  "one that is still being made": { id: "resp_1", status: "in_progress", output: [] },
  "one that is queued": { id: "resp_1", status: "queued", output: [] },
};

describe.each([...SCRIPTED_DIALECTS])("decision 0008: a %s client that does not stream", (client) => {
  test.each(Object.keys(NO_ANSWERS))("gets a clear error for %s, and pays nothing", async (what) => {
    harness.upstream.play(harness.upstream.json(NO_ANSWERS[what]));
    const answer = await harness.call(client, { model: "test/host" });
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.text)).toHaveProperty("error.message");
    expect(await harness.receipt(answer)).toMatchObject({ cost_nano_usd: 0 });
  });

  test("reads unusual items as far as they make sense", async () => {
    const sound = responsesAnswer(TEXT, USAGE) as { output: unknown[] };
    const odd = [
      null,
      5,
      "text",
      [],
      {},
      { type: "message" },
      { type: "message", content: [null, 7, {}] },
      { type: "new" },
    ];
    harness.upstream.play(harness.upstream.json({ ...sound, output: [...odd, ...sound.output] }));
    const answer = await harness.call(client, { model: "test/host" });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(TEXT);
    expect(await harness.receipt(answer)).toMatchObject({ cost_nano_usd: COST });
  });
});

test.each([...SCRIPTED_DIALECTS])(
  "S23: an endless item is not buffered without limit, for a %s client",
  async (client) => {
    const script = new ResponsesScript();
    const begun = script.begin() + script.delta(WORDS[0]);
    const piece = "x".repeat(1024 * 1024);
    const endless = [
      begun,
      10,
      `event: response.output_item.done\ndata: {"type":"response.output_item.done","item":{"text":"`,
    ];
    harness.upstream.play(harness.upstream.stream(...endless, ...Array.from({ length: 40 }, () => piece)));
    const answer = await harness.call(client, { model: "test/host", stream: true });
    expect(errorsIn(answer)).toBe(1);
    expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  },
);
