import { beforeEach, describe, expect, test } from "bun:test";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { GatewayError } from "../../canon/error.ts";
import { Watchdog } from "../attempt/watchdog.ts";
import { DEFAULT_TIMINGS } from "../settle/timings.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { readBody, readBytes, readSmallBody, UnreadBodyError } from "./read-body.ts";

const KB = 1024;
const MB = 1024 * KB;
const OWNER = { keyId: "key_1", keyName: "ci" };

let clock: VirtualClock;
let gateway: {
  watchdog: Watchdog;
  timings: typeof DEFAULT_TIMINGS;
  closing: boolean;
  memory: MemoryBudget;
  snapshot: { maxJsonKeys: number };
};
beforeEach(() => {
  clock = new VirtualClock();
  const memory = new MemoryBudget(64 * MB);
  gateway = {
    watchdog: new Watchdog(clock),
    timings: DEFAULT_TIMINGS,
    closing: false,
    memory,
    snapshot: { maxJsonKeys: 250_000 },
  };
});

interface Sent {
  type?: string;
  /** What `content-length` says; null where it is not sent. */
  length?: number | null;
  maxBytes?: number;
}

function requestOf(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  { type = "application/json", length }: Sent,
) {
  const known = typeof body === "string" ? Buffer.byteLength(body) : body instanceof Uint8Array ? body.length : null;
  const declared = length === undefined ? known : length;
  const headers = { "content-type": type, ...(declared === null ? {} : { "content-length": String(declared) }) };
  return new Request("http://127.0.0.1/", { method: "POST", headers, body });
}

function read(body: Parameters<typeof requestOf>[0], sent: Sent = {}) {
  const memory = gateway.memory.open(OWNER);
  // What is refused at once fails as what is refused later.
  const reading = (async () =>
    readBody(requestOf(body, sent), { maxBytes: sent.maxBytes ?? 8 * MB, memory }, gateway))();
  reading.catch(() => {});
  return { reading, memory };
}

async function refusalOf(reading: Promise<unknown>): Promise<GatewayError> {
  const thrown = await clock.until(reading).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof GatewayError) return thrown;
  throw new Error(`not refused: ${String(thrown)}`);
}

/** A body that comes when the test says so. */
function arriving() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const state = { cancelled: false };
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    cancel: () => {
      state.cancelled = true;
    },
  });
  return {
    body,
    state,
    push: (bytes: number) => controller?.enqueue(new Uint8Array(bytes).fill(0x20)),
    pushText: (text: string) => controller?.enqueue(Buffer.from(text)),
    end: () => controller?.close(),
    fail: () => controller?.error(new Error("reset")),
  };
}

const jsonOf = (bytes: number): string => JSON.stringify({ text: "x".repeat(bytes - '{"text":""}'.length) });

/** Whether it is still being read. */
async function isPending(reading: Promise<unknown>): Promise<boolean> {
  const later = new Promise((resolve) => setImmediate(resolve, "pending"));
  return (await Promise.race([reading.catch(() => undefined), later])) === "pending";
}

describe("accepted bodies", () => {
  test.each(["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.api+json"])(
    "JSON as %s",
    async (type) => {
      expect((await read("{}", { type }).reading).body).toEqual({});
    },
  );

  test.each([
    ["text/plain", "it is text/plain"],
    ["application/jsonp", "it is application/jsonp"],
    ["multipart/form-data", "it is multipart/form-data"],
    ["", "none was sent"],
  ])("not %p", async (type, words) => {
    const { kind, message } = await refusalOf(read("{}", { type }).reading);
    expect([kind, message]).toEqual(["unsupported_media_type", `The Content-Type must be application/json; ${words}.`]);
  });

  // As text alone, as bytes at once, and in parts.
  const SIZES = [100, 32 * KB, 32 * KB + 1, MB, MB + 1, 3 * MB];

  test.each(SIZES)("a body of %d bytes is the same text, and counted as what it is", async (size) => {
    const text = jsonOf(size);
    const { reading, memory } = read(text);
    const received = await reading;
    expect(received.text).toBe(text);
    expect(received.body).toEqual(JSON.parse(text));
    // Only the large ones keep their bytes, to be changed in place.
    expect(received.bytes === undefined).toBe(size <= 32 * KB);
    if (received.bytes) expect(Buffer.from(received.bytes).equals(Buffer.from(text))).toBe(true);
    expect(memory.bytes).toBe(size);
    await clock.pass(200);
    expect(clock.timers).toBe(0);
  });

  test.each([100, MB, 3 * MB])(
    "a body of %d bytes without a declared length is counted as it arrives",
    async (size) => {
      const text = jsonOf(size);
      const { body, pushText, end } = arriving();
      const { reading, memory } = read(body, { length: null });
      pushText(text.slice(0, 50));
      await clock.pass(100);
      expect(memory.bytes).toBe(50);
      pushText(text.slice(50));
      end();
      expect((await clock.until(reading)).text).toBe(text);
      expect(memory.bytes).toBe(size);
    },
  );

  test("S17: the largest body that is allowed is read, and one byte more is not, nor held", async () => {
    for (const size of [1_000, 2 * MB]) {
      await read(jsonOf(size), { maxBytes: size }).reading;
      const { reading, memory } = read(jsonOf(size + 1), { maxBytes: size });
      const refusal = await refusalOf(reading);
      expect(refusal.kind).toBe("too_large");
      expect(refusal).toBeInstanceOf(UnreadBodyError);
      expect(memory.bytes).toBe(0);
    }
    const { message } = await refusalOf(read(jsonOf(2 * MB), { maxBytes: 1.5 * MB }).reading);
    expect(message).toBe("The body is larger than the limit of 1.5 MB.");
  });

  test("S17: the same for one without a declared length", async () => {
    const size = 1_000;
    const fits = arriving();
    fits.pushText(jsonOf(size));
    fits.end();
    await clock.until(read(fits.body, { length: null, maxBytes: size }).reading);
    const endless = arriving();
    endless.push(size + 1);
    const { reading, memory } = read(endless.body, { length: null, maxBytes: size });
    expect((await refusalOf(reading)).kind).toBe("too_large");
    expect([memory.bytes, endless.state.cancelled]).toEqual([0, true]);
  });

  test("S17: a body that exceeds the memory of all calls is rejected before it is read", async () => {
    gateway.memory.open({ keyId: "other", keyName: "other" }).add(30 * MB);
    gateway.memory.open({ keyId: "third", keyName: "third" }).add(30 * MB);
    expect((await refusalOf(read(jsonOf(5 * MB)).reading)).kind).toBe("overloaded");
    const { body, push } = arriving();
    push(5 * MB);
    expect((await refusalOf(read(body, { length: null }).reading)).kind).toBe("overloaded");
  });

  test("a body that nothing is kept of holds no memory afterwards", async () => {
    expect(await readSmallBody(requestOf('{"a":1}', {}), KB, OWNER, gateway)).toEqual({ a: 1 });
    expect(gateway.memory.held).toBe(0);
    await refusalOf(readSmallBody(requestOf("[]", {}), KB, OWNER, gateway));
    expect(gateway.memory.held).toBe(0);
  });
});

describe("bodies that are not a request", () => {
  test.each([100, 40 * KB])("invalid UTF-8 in a body of %d bytes", async (size) => {
    const bytes = Buffer.from(jsonOf(size));
    bytes[50] = 0xff;
    expect((await refusalOf(read(new Uint8Array(bytes)).reading)).message).toBe("The body is not valid UTF-8.");
  });

  test("a replacement character that the client sent is valid", async () => {
    expect((await read('{"text":"\uFFFD"}').reading).body).toEqual({ text: "\uFFFD" });
  });

  test.each([
    ["small", 10],
    ["large", 40 * KB],
    ["read as it arrives", 1100 * KB],
  ])("its text, bytes and length are those that came: %s", async (_, characters) => {
    const text = JSON.stringify({ text: "é".repeat(characters), other: "👍\ud800\u0000" });
    const { text: kept, bytes, characters: counted = kept.length, body } = await clock.until(read(text).reading);
    expect([kept === text, counted, body]).toEqual([true, text.length, JSON.parse(text)]);
    if (characters > 10) expect(bytes?.equals(Buffer.from(text))).toBe(true);
    else expect(bytes).toBeUndefined();
  });

  test.each([
    ["[1]", "The body must be a JSON object.", undefined],
    ["{", "The body is not valid JSON: Expected '}'.", undefined],
    ['{"a":1,"a":2}', "Duplicate field a.", "a"],
    ['{"a":[{"b":1},{"b":1,"b":2}]}', "Duplicate field a[1].b.", "a[1].b"],
  ])("%s", async (text, message, path) => {
    const refusal = await refusalOf(read(text).reading);
    expect([refusal.kind, refusal.message, refusal.path]).toEqual(["invalid_request", message, path]);
  });

  test("S18: a path that is too deep or too long is shown in part", async () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}{"x":1,"x":2}${"}".repeat(depth)}`;
    const path = async (depth: number) => (await refusalOf(read(nested(depth)).reading)).path;
    expect(await path(20)).toBe(`${"a.".repeat(20)}x`);
    expect(await path(21)).toBe("a.".repeat(20).slice(0, -1));
    const long = "k".repeat(500);
    expect((await refusalOf(read(`{"${long}":1,"${long}":2}`).reading)).path).toBe(long.slice(0, 400));
  });

  test("S18: more JSON values than any request needs", async () => {
    const { kind, message } = await refusalOf(read(`{"a":[${"1,".repeat(1_000_001)}1]}`).reading);
    expect([kind, message]).toEqual([
      "too_large",
      "The body contains more than 1000000 JSON values, which is the limit.",
    ]);
  });
});

describe("S17: a body that does not arrive", () => {
  const slow = "The body stopped arriving before it was complete, or arrived more slowly than 16 KB per second.";

  // Half a minute, and what the body needs at the slowest pace: a minute for a megabyte. Deadlines are looked at ten times a second.
  test.each([
    [16 * KB, 31_000],
    [MB, 94_000],
  ])("of %d bytes is given up after its time", async (length, deadlineMs) => {
    const { reading } = read(arriving().body, { length });
    await clock.pass(deadlineMs);
    expect(await isPending(reading)).toBe(true);
    await clock.pass(300);
    const refusal = await refusalOf(reading);
    expect([refusal.kind, refusal.message]).toEqual(["invalid_request", slow]);
    expect(refusal).toBeInstanceOf(UnreadBodyError);
    // A client may stay silent for ever; its body is not watched for ever.
    await clock.pass(200);
    expect(clock.timers).toBe(0);
  });

  test.each([
    ["without a declared length", null],
    ["of two megabytes", 2 * MB],
  ])("%s may pause for half a minute, and is given up after more", async (_, length) => {
    const { body, state, push } = arriving();
    const { reading } = read(body, { length });
    for (let pause = 0; pause < 3; pause++) {
      push(MB / 2);
      await clock.pass(29_900);
      expect(await isPending(reading)).toBe(true);
    }
    await clock.pass(400);
    expect((await refusalOf(reading)).message).toBe("The body stopped arriving before it was complete.");
    // What comes later is not wanted.
    push(1);
    await clock.pass(100);
    expect(state.cancelled).toBe(true);
  });

  test("a trickle is given up after half a minute, a body at the slowest pace is not", async () => {
    const trickle = arriving();
    const { reading } = read(trickle.body, { length: null });
    for (let second = 0; second < 30; second++) {
      trickle.push(1);
      await clock.pass(1_000);
    }
    expect(await isPending(reading)).toBe(true);
    trickle.push(1);
    await clock.pass(500);
    expect((await refusalOf(reading)).message).toBe("The body arrived more slowly than 16 KB per second.");
    const steady = arriving();
    const slowest = read(steady.body, { length: null });
    steady.pushText("{");
    for (let second = 0; second < 120; second++) {
      steady.push(16 * KB);
      await clock.pass(1_000);
    }
    steady.pushText("}");
    steady.end();
    expect((await clock.until(slowest.reading)).body).toEqual({});
  });

  test.each([100, 40 * KB, 2 * MB, null])("a connection that breaks, of length %p", async (length) => {
    const { body, push, fail } = arriving();
    const { reading } = read(body, { length });
    push(10);
    await clock.pass(100);
    fail();
    const refusal = await refusalOf(reading);
    expect(refusal.message).toBe("The connection closed before the body was complete.");
    expect(refusal).toBeInstanceOf(UnreadBodyError);
    await clock.pass(200);
    expect(clock.timers).toBe(0);
  });

  test.each([100, 2 * MB, null])("where the gateway stops, of length %p", async (length) => {
    const { reading } = read(arriving().body, { length });
    gateway.closing = true;
    await clock.pass(100);
    expect((await refusalOf(reading)).message).toBe("This gateway is shutting down. Try again.");
    await clock.pass(200);
    expect(clock.timers).toBe(0);
  });
});

test("a body of any type is read within the same bounds", async () => {
  const memory = gateway.memory.open(OWNER);
  const bytes = await readBytes(requestOf("a form", { type: "multipart/form-data" }), { maxBytes: 6, memory }, gateway);
  expect([bytes.toString(), memory.bytes]).toEqual(["a form", 6]);
});
