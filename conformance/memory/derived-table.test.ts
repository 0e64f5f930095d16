import { describe, expect, test } from "bun:test";
import { type JsonObject, parseObject, stringAt } from "../../src/base/json.ts";
import type { MADE_BY_CALLS, MadeByCalls } from "../../src/relay/call.ts";
import { realtime } from "../../testing/live/live-hosts.ts";
import { plainUsage } from "../../testing/plain-answer.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type Asked, DerivedWorld, HOOK_URL, PARENT_KEY } from "../support/derived-world.ts";

/**
 * H73: what each call that the gateway makes does with each property of the call that causes it. A new kind of call fills its row, and a
 * new property its column: every cell is a test.
 */

/** Work that outlasts the request that creates it. */
type MadeLater = "batch_line" | "native_line" | "secret_turn" | "live_turn" | "background";
type Made = MadeByCalls | MadeLater;
type Kind = (typeof MADE_BY_CALLS)[MadeByCalls] | "later";

/** How the cause is sent. */
interface Sending {
  headers: Record<string, string>;
  body: JsonObject;
  key: string;
  /** When this has passed, while the call that is made hangs. */
  meanwhile?: ((leave: () => void) => void) | undefined;
}

interface Outcome {
  status: number;
  text: string;
  /** Since the cause was sent. */
  ms: number;
}

interface Row {
  kind: Kind;
  config?: JsonObject;
  /** The request to a host that the call sends, and which of its kind. */
  asks?: readonly [Asked, number];
  send(world: DerivedWorld, sending: Sending): Promise<Outcome>;
  /** Its receipt; absent: it has none. */
  receipt?(all: readonly ReceiptData[]): ReceiptData | undefined;
  /** How many requests of its client there are. */
  requests: number;
}

const HANG_MS = 1_000;
const MUCH_LATER_MS = 60_000;
const of = (model: string, at: number) => (all: readonly ReceiptData[]) =>
  all.filter((one) => one.model === model).at(at);

/** Sends a request, and does something while it waits. */
async function play(
  world: DerivedWorld,
  send: () => ReturnType<DerivedWorld["chat"]>,
  { meanwhile }: Sending,
): Promise<Outcome> {
  const sent = send();
  if (meanwhile !== undefined) {
    await world.harness.clock.pass(HANG_MS);
    meanwhile(() => sent.disconnect());
    await world.harness.clock.pass(MUCH_LATER_MS);
  }
  const gone = { status: 0, text: "", endMs: 0 };
  const { status, text, endMs } = await world.harness.clock.until(sent.answer.catch(() => gone));
  return { status, text, ms: endMs };
}

const judge = {
  name: "judge",
  use: "moderation",
  model: "test/judge",
  action: "block",
  on: ["request"],
  on_failure: "allow",
  timeout_ms: 30_000,
};
const hook = {
  name: "hook",
  use: "webhook",
  url: HOOK_URL,
  action: "block",
  on: ["request"],
  on_failure: "allow",
  timeout_ms: 30_000,
};

async function runLine(
  world: DerivedWorld,
  { headers, body, key, meanwhile }: Sending,
  isNative: boolean,
): Promise<Outcome> {
  const asked = { model: "test/text", messages: [{ role: "user", content: "Hi" }], ...body };
  const { made, work, lines = [] } = await world.batch("chat", [asked], headers, key);
  const [line] = lines;
  if (work === undefined || line === undefined) return { ...made, ms: made.endMs };
  const { clock } = world.harness;
  const startedMs = clock.nowMs();
  const store = async (result: object) => {
    if (!("receipts" in result)) throw new Error(JSON.stringify(result));
    for (const receipt of result.receipts as never[]) await world.harness.gateway.ledger.write(receipt);
    const { status, result: text } = result as unknown as { status: number; result: string };
    return { status, text, ms: clock.nowMs() - startedMs };
  };
  if (!isNative) {
    const running = work.run(line, () => {});
    if (meanwhile !== undefined) {
      await clock.pass(HANG_MS);
      meanwhile(() => {});
    }
    return store(Object(await clock.until(running)));
  }
  const prepared = await work.prepare(line, undefined);
  if (!("body" in prepared)) throw new Error(JSON.stringify(prepared));
  const message = { content: "Fine." };
  const response = { choices: [{ index: 0, message, finish_reason: "stop" }], usage: plainUsage("chat", 1, 2) };
  const answered = { status: 200, body: JSON.stringify(response) };
  return store(await clock.until(work.settle({ ...line, sent: prepared.left }, prepared.target, answered)));
}

async function takeTurn(world: DerivedWorld, { headers, key, meanwhile }: Sending): Promise<Outcome> {
  const { harness } = world;
  try {
    const client = await harness.openLive("/v1/realtime?model=test/realtime", { key, headers });
    await client.hears("session.created");
    client.say({ type: "response.create" });
    await harness.clock.pass(10);
    harness.sockets.host.say(realtime.began("resp_1"), realtime.text("resp_1", "Hi"));
    await harness.clock.pass(10);
    seen = harness.gateway.calls.list().at(-1);
    if (meanwhile !== undefined) {
      meanwhile(() => client.leave());
      await harness.clock.pass(MUCH_LATER_MS);
      return { status: 200, text: JSON.stringify(client.events), ms: 0 };
    }
    harness.sockets.host.say(realtime.done("resp_1"));
    await client.hears("response.done");
    client.leave();
    await harness.clock.pass(10_000);
    return { status: 200, text: JSON.stringify(client.events), ms: 0 };
  } catch (thrown) {
    const [status = "0"] = String(thrown).replace("Error: ", "").split(" ");
    return { status: Number(status), text: String(thrown), ms: 0 };
  }
}

const ROWS: { readonly [Name in MadeByCalls]: Row & { kind: (typeof MADE_BY_CALLS)[Name] } } & {
  readonly [Name in MadeLater]: Row;
} = {
  hosted_image: {
    kind: "work",
    asks: ["image", 1],
    send: (world, one) => play(world, () => world.images(one.body, one.headers, one.key), one),
    receipt: of("test/painter", 0),
    requests: 1,
  },
  hosted_round: {
    kind: "work",
    asks: ["text", 2],
    send: (world, one) => play(world, () => world.images(one.body, one.headers, one.key), one),
    receipt: of("test/text", 1),
    requests: 1,
  },
  fallback: {
    kind: "work",
    asks: ["text", 2],
    send: (world, { body: { user, ...body }, ...one }) =>
      play(
        world,
        () =>
          world.fallbacks(user === undefined ? body : { ...body, metadata: { user_id: user } }, one.headers, one.key),
        { body, ...one },
      ),
    receipt: of("test/second", 0),
    requests: 1,
  },
  moderation: {
    kind: "check",
    config: { guards: [judge] },
    asks: ["judge", 1],
    send: (world, one) => play(world, () => world.chat(one.body, one.headers, one.key), one),
    receipt: of("test/judge", 0),
    requests: 1,
  },
  webhook: {
    kind: "check",
    config: { guards: [hook] },
    asks: ["hook", 1],
    send: (world, one) => play(world, () => world.chat(one.body, one.headers, one.key), one),
    requests: 1,
  },
  batch_line: {
    kind: "later",
    asks: ["text", 1],
    send: (world, one) => runLine(world, one, false),
    receipt: of("test/text", 0),
    requests: 2,
  },
  native_line: {
    kind: "later",
    send: (world, one) => runLine(world, one, true),
    receipt: of("test/text", 0),
    requests: 2,
  },
  secret_turn: {
    kind: "later",
    send: async (world, { headers, key, ...one }) => {
      const session = { type: "realtime", model: "test/realtime" };
      const made = await world.answer(world.harness.sendPost("/v1/realtime/client_secrets", { session }, key, headers));
      if (made.status !== 200) return { ...made, ms: made.endMs };
      const value = stringAt(parseObject(made.text), "value") ?? "";
      return takeTurn(world, { ...one, headers: {}, key: value });
    },
    receipt: of("test/realtime", 0),
    requests: 3,
  },
  live_turn: { kind: "later", send: takeTurn, receipt: of("test/realtime", 0), requests: 2 },
  background: {
    kind: "later",
    asks: ["text", 1],
    send: async (world, { headers, body, key, meanwhile }) => {
      const { harness } = world;
      const asked = { model: "test/text", input: "Hi", background: true, ...body };
      const queued = await world.answer(harness.sendPost("/v1/responses", asked, key, headers));
      await harness.clock.pass(HANG_MS);
      meanwhile?.(() => {});
      await harness.clock.pass(MUCH_LATER_MS);
      const id = stringAt(parseObject(queued.text), "id");
      if (id === undefined) return { ...queued, ms: queued.endMs };
      const principal = harness.gateway.keys.identify(key, { address: "127.0.0.1" });
      const { keyId, project } = await principal;
      const kept = await harness.gateway.answers.find({ keyId, project }, id, () => {});
      const answer = parseObject(kept?.answer ?? "") ?? {};
      const isOk = answer["status"] === "completed";
      return { status: isOk ? 200 : 504, text: JSON.stringify(answer), ms: HANG_MS };
    },
    receipt: of("test/text", 0),
    requests: 1,
  },
};

/** The call as it is listed while its host works. */
let seen: ReturnType<DerivedWorld["running"]>[number] | undefined;
const seenAs = () => seen as unknown as { routing: { preference: object }; incoming: { strict: boolean } } | undefined;

interface Ran extends Outcome {
  world: DerivedWorld;
  made: ReceiptData | undefined;
  all: readonly ReceiptData[];
}

interface Column {
  config?: JsonObject;
  /** More of the key, which has made the caller's if `isChild`. */
  keyMore?: (row: Row) => JsonObject;
  headers?: Record<string, string>;
  body?: JsonObject;
  caller?: "token" | "child";
  /** The host of the call does not answer. */
  hangs?: boolean;
  meanwhile?: (world: DerivedWorld, leave: () => void) => void;
  holds(ran: Ran, row: Row): void | Promise<void>;
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const succeeds = ({ status, made }: Ran, { receipt }: Row) =>
  expect([status, made === undefined]).toEqual([200, receipt === undefined]);
const ended = ({ world }: Ran) =>
  expect(world.harness.leftovers()).toMatchObject({ runningCalls: 0, openUpstreams: 0 });

const COLUMNS = {
  "end user from a header": {
    headers: { "x-trivium-user": "u-1" },
    holds: ({ made }) => expect(made?.end_user).toBe("u-1"),
  },
  "end user from the body": { body: { user: "u-1" }, holds: ({ made }) => expect(made?.end_user).toBe("u-1") },
  "end user from a token": { caller: "token", holds: ({ made }) => expect(made?.end_user).toBe("u-token") },
  tag: { headers: { "x-trivium-tags": "team-a" }, holds: ({ made }) => expect(made?.tags).toContain("team-a") },
  "limits of the parent": {
    caller: "child",
    holds: ({ world, all }) => {
      const { admissions, clock } = world.harness.gateway;
      const { meter } = admissions.account("key", "static:parent");
      expect(all.length).toBeGreaterThan(0);
      expect(meter.spent("total", clock.wallMs())).toBe(all.reduce((sum, { cost_nano_usd: cost }) => sum + cost, 0));
      expect(meter.spent("requests", clock.wallMs())).toBe(all.length);
    },
  },
  "guard of the parent": {
    caller: "child",
    config: { guards: [{ name: "watch", use: "words", words: ["xyz"], action: "observe", for: { keys: ["parent"] } }] },
    holds: ({ made }, { kind }) => {
      const names = new Set(made?.guards.map(({ name }) => name));
      // Nothing looks at the question of a guard.
      expect([...names]).toEqual(kind === "check" ? [] : ["watch"]);
    },
  },
  requirement: {
    headers: { "x-trivium-require": "region=eu" },
    holds: (ran, row) => {
      succeeds(ran, row);
      const { require } = ran.made as unknown as { require: object | null };
      // The judge states no region.
      if (row.kind === "check") expect([ran.made?.provider, require]).toEqual(["us", null]);
      else expect(require).toEqual({ region: "eu" });
    },
  },
  strictness: {
    headers: { "x-trivium-strict": "true" },
    holds: (ran, row) => {
      succeeds(ran, row);
      expect(seenAs()?.incoming.strict).toBe(row.kind !== "check");
    },
  },
  routing: {
    headers: { "x-trivium-routing": '{"provider":{"providers":["us","up-realtime"]}}' },
    holds: (ran, row) => {
      succeeds(ran, row);
      if (row.kind === "check") expect(seenAs()?.routing.preference).toEqual({});
      else expect(["us", "up-realtime"]).toContain(ran.made?.provider ?? "");
    },
  },
  capture: {
    keyMore: () => ({ capture: true }),
    holds: async ({ world, made }, { kind }) => {
      const { captures } = world.harness.gateway;
      await world.harness.clock.until(captures.close());
      const kept = await captures.read(made?.id ?? "");
      // The request that it is about is captured.
      expect(kept === undefined).toBe(kind === "check");
    },
  },
  trace: {
    headers: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` },
    holds: ({ made }) => expect(made?.trace_id).toBe(TRACE),
  },
  deadline: {
    headers: { "x-trivium-deadline-ms": String(HANG_MS) },
    hangs: true,
    holds: (ran) => {
      expect([ran.text.includes("deadline of"), ran.ms]).toEqual([true, HANG_MS]);
      ended(ran);
    },
  },
  stop: {
    hangs: true,
    meanwhile: (world) => world.stop(undefined),
    holds: (ran, row) => {
      ended(ran);
      expect(ran.text).toContain("stopped this call");
      const [asked = "text", number = 1] = row.asks ?? [];
      expect(ran.world.asked.filter((one) => one === asked).length).toBe(number);
      expect(ran.world.asked.at(-1)).toBe(asked);
    },
  },
  "client gone": {
    hangs: true,
    meanwhile: (_world, leave) => leave(),
    holds: (ran, row) => {
      ended(ran);
      if (row.asks !== undefined) expect(ran.world.asked.at(-1)).toBe(row.asks[0]);
    },
  },
  concurrent: { keyMore: () => ({ limits: { concurrent: 1 } }), holds: succeeds },
  requests_per_minute: { keyMore: ({ requests }) => ({ limits: { requests_per_minute: requests } }), holds: succeeds },
} as const satisfies Record<string, Column>;

type Property = keyof typeof COLUMNS;

interface Exception {
  why: string;
  /** What holds instead. */
  instead(ran: Ran): void;
}

const refused = (header: string) => (ran: Ran) => expect([ran.status, ran.text.includes(header)]).toEqual([400, true]);
const NO_RECEIPT: Exception = {
  why: "a question to a webhook is no call: it has no receipt",
  instead: ({ status, all }) => expect([status, all.length]).toEqual([200, 1]),
};
const STRICT: Exception = {
  why: "a strict request is not approximated: its tool is refused",
  instead: ({ status, world }) => expect([status, world.asked]).toEqual([400, []]),
};
const NO_BODY: Exception = {
  why: "a session has no body that could name an end user",
  instead: ({ made }) => expect(made?.end_user).toBeNull(),
};
const NO_DEADLINE: Exception = {
  why: "it cannot hold, and is refused when the work is created",
  instead: refused("x-trivium-deadline-ms"),
};
const WITH_SESSION: Exception = {
  why: "a turn ends with its session, which operators end instead",
  instead: ({ status }) => expect(status).toBe(200),
};
const NO_CLIENT: Exception = {
  why: "no client waits for it: it goes on",
  instead: ({ world }) => expect(world.harness.gateway.runningCalls).toBeLessThanOrEqual(1),
};
const DONE: Exception = {
  why: "the provider has done it when the gateway reads its response",
  instead: (ran) => expect(ran.status).toBe(200),
};
const SPOKEN: Exception = {
  why: "an observing guard looks at no speech, and the receipt says so",
  instead: ({ made }) => expect(made?.guards[0]).toMatchObject({ name: "watch", verdict: "not_run" }),
};

const EXCEPTIONS: { readonly [Name in Made]?: { readonly [Cell in Property]?: Exception } } = {
  hosted_image: { strictness: STRICT },
  hosted_round: { strictness: STRICT },
  webhook: {
    "end user from a header": NO_RECEIPT,
    "end user from the body": NO_RECEIPT,
    "end user from a token": NO_RECEIPT,
    tag: NO_RECEIPT,
    "guard of the parent": NO_RECEIPT,
    requirement: NO_RECEIPT,
    strictness: NO_RECEIPT,
    routing: NO_RECEIPT,
    capture: NO_RECEIPT,
    trace: NO_RECEIPT,
  },
  batch_line: { deadline: NO_DEADLINE, "client gone": NO_CLIENT },
  native_line: { strictness: DONE, deadline: NO_DEADLINE, stop: DONE, "client gone": DONE },
  secret_turn: {
    "end user from the body": NO_BODY,
    deadline: NO_DEADLINE,
    stop: WITH_SESSION,
    "guard of the parent": SPOKEN,
  },
  live_turn: {
    "end user from the body": NO_BODY,
    deadline: NO_DEADLINE,
    stop: WITH_SESSION,
    "guard of the parent": SPOKEN,
  },
  background: { "client gone": NO_CLIENT },
};

async function run(row: Row, column: Column): Promise<Ran> {
  seen = undefined;
  const { guards: own = [] } = (row.config ?? {}) as { guards?: object[] };
  const { guards: more = [], ...rest } = (column.config ?? {}) as { guards?: object[] };
  const key = { name: "tests", key: TEST_KEY, ...column.keyMore?.(row) };
  const keys = [key, { name: "parent", key: PARENT_KEY, scopes: ["keys:create"] }];
  const guards = [...own, ...more];
  const world = await DerivedWorld.start({ ...rest, keys, ...(guards.length > 0 ? { guards } : {}) });
  const [asked, number] = row.asks ?? [];
  world.instead = (is, _request, nth) => {
    if (is !== asked || nth !== number) return undefined;
    seen = world.running().at(-1);
    return column.hangs ? "nothing" : undefined;
  };
  const caller =
    column.caller === "token" ? await world.token() : column.caller === "child" ? await world.childOf() : TEST_KEY;
  const { meanwhile } = column;
  const outcome = await row.send(world, {
    headers: column.headers ?? {},
    body: column.body ?? {},
    key: caller,
    meanwhile: meanwhile && ((leave) => meanwhile(world, leave)),
  });
  const all: ReceiptData[] = [];
  for (const { id } of await world.harness.storage.query("SELECT id FROM receipts ORDER BY id")) {
    // Each is read with the same key, which may have a limit by the minute.
    await world.harness.clock.pass(MUCH_LATER_MS);
    all.push(await world.harness.receiptOf(String(id)));
  }
  return { ...outcome, world, all, made: row.receipt?.(all) };
}

describe("H73: what holds for a call holds for the calls that the gateway makes for it", () => {
  for (const [name, row] of Object.entries(ROWS) as [Made, Row][]) {
    for (const [property, column] of Object.entries(COLUMNS) as [Property, Column][]) {
      const exception = EXCEPTIONS[name]?.[property];
      const title = exception === undefined ? "" : ` (${exception.why})`;
      test(`${name} × ${property}${title}`, async () => {
        const ran = await run(row, column);
        if (exception === undefined) await column.holds(ran, row);
        else exception.instead(ran);
      });
    }
  }
});
