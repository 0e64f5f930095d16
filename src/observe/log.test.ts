import { describe, expect, test } from "bun:test";
import { system } from "../base/system.ts";
import type { CallFacts, SettledCall } from "./call-line.ts";
import { makeFormat } from "./format.ts";
import { createLog, type LogOptions } from "./log.ts";

const CALL: SettledCall = {
  id: "rcp_1",
  project: "default",
  key: "key_1",
  createdAtMs: 0,
  model: "acme/large",
  provider: "acme",
  upstreamModel: "large-1",
  verb: "generate",
  clientDialect: "chat",
  upstreamDialect: "messages",
  lane: "translated",
  stream: true,
  outcome: "ok",
  offers: [{ outcome: "answered" }],
  fields: [],
  usage: { input: 10, cacheRead: 3, output: 7, reasoning: 2 },
  costNanoUsd: 12_345,
  firstContentMs: 40,
  totalMs: 90,
};
const FACTS: CallFacts = { requestId: "req_1", host: "api.acme.example", failures: [] };
const REFUSED = {
  provider: "acme",
  kind: "upstream_credentials",
  host: "api.acme.example",
  status: 401,
  cure: "check providers.acme.api_key",
};

/** What a log writes. */
async function linesOf(options: Omit<LogOptions, "write" | "clock">, use: (log: ReturnType<typeof createLog>) => void) {
  let written = "";
  const write = async (text: string) => {
    written += text;
  };
  const log = createLog({ clock: system.clock, ...options, write });
  use(log);
  await log.flush();
  return written.split("\n").slice(0, -1);
}

const objectsOf = async (...parameters: Parameters<typeof linesOf>) =>
  (await linesOf(...parameters)).map((line) => JSON.parse(line) as Record<string, unknown>);

describe("the line of a call", () => {
  test("in JSON: words for levels, who, where, how long, how much", async () => {
    const [line] = await objectsOf({ level: "info", format: "json" }, (log) => log.call(CALL, FACTS));
    const { time, ...rest } = line ?? {};
    expect(String(time)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(rest).toEqual({
      level: "info",
      msg: "call",
      request_id: "req_1",
      receipt: "rcp_1",
      project: "default",
      key_id: "key_1",
      verb: "generate",
      dialect: "chat",
      upstream_dialect: "messages",
      lane: "translated",
      model: "acme/large",
      provider: "acme",
      host: "api.acme.example",
      upstream_model: "large-1",
      stream: true,
      outcome: "ok",
      attempts: 1,
      first_content_ms: 40,
      total_ms: 90,
      input: 10,
      cache_read: 3,
      output: 7,
      reasoning: 2,
      cost_nano_usd: 12_345,
    });
  });

  test("is a warning if a provider failed although another one answered, and an error if the operator must act", async () => {
    const said = await objectsOf({ level: "info", format: "json" }, (log) => {
      log.call(CALL, { ...FACTS, failures: [{ provider: "other", kind: "overloaded", status: 503 }] });
      log.call(CALL, { ...FACTS, failures: [REFUSED] });
      log.call(
        { ...CALL, outcome: "invalid_request" },
        { ...FACTS, failures: [{ provider: "acme", kind: "invalid_request" }] },
      );
      log.call({ ...CALL, outcome: "client_gone" }, FACTS);
      log.call({ ...CALL, outcome: "upstream_failed" }, FACTS);
      log.call({ ...CALL, outcome: "internal" }, FACTS);
    });
    expect(said.map(({ level }) => level)).toEqual(["warn", "error", "info", "info", "warn", "error"]);
    expect(said[1]?.["failures"]).toEqual([REFUSED]);
  });

  test("is written for all calls, for those that failed, or for none", async () => {
    const linesOf = (options: Omit<LogOptions, "clock" | "format" | "write">) =>
      objectsOf({ ...options, format: "json" }, (log) => {
        log.call(CALL, FACTS);
        log.call({ ...CALL, outcome: "upstream_timeout" }, FACTS);
        log.error("else");
      }).then((lines) => lines.map(({ outcome, msg }) => outcome ?? msg));
    expect(await linesOf({ level: "info" })).toEqual(["ok", "upstream_timeout", "else"]);
    expect(await linesOf({ level: "info", calls: "errors" })).toEqual(["upstream_timeout", "else"]);
    expect(await linesOf({ level: "warn" })).toEqual(["upstream_timeout", "else"]);
    expect(await linesOf({ level: "debug", calls: "off" })).toEqual(["else"]);
    expect(await linesOf({ level: "silent" })).toEqual([]);
  });

  test("for people: one line, followed by one for each failed attempt with a remedy", async () => {
    const lines = await linesOf({ level: "info", format: "text" }, (log) => {
      log.call(CALL, FACTS);
      log.call(
        { ...CALL, outcome: "upstream_credentials", usage: {}, costNanoUsd: 0 },
        { ...FACTS, failures: [REFUSED] },
      );
    });
    expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d\.\d{3}/, "TIME"))).toEqual([
      "TIME info  acme/large  90 ms (first 40)  in 10 cached 3 out 7 reasoning 2  $0.000012  acme (api.acme.example)  default/key_1  rcp_1",
      "TIME error acme/large  upstream_credentials  90 ms (first 40)  $0.000000  acme (api.acme.example)  default/key_1  rcp_1",
      "             acme (api.acme.example): upstream_credentials, HTTP 401; check providers.acme.api_key",
    ]);
  });
});

describe("other lines", () => {
  test("fields and errors with their causes, in JSON and for people", async () => {
    const err = new Error("outer", { cause: Object.assign(new Error("inner"), { code: "ECONNREFUSED" }) });
    const say = (log: ReturnType<typeof createLog>) => {
      log.debug("hidden");
      log.info("plain");
      log.error({ err, provider: "acme" }, "it failed");
    };
    const [plain, failed] = await objectsOf({ level: "info", format: "json" }, say);
    expect(plain).toEqual({ time: expect.any(String), level: "info", msg: "plain" });
    expect(failed).toMatchObject({
      level: "error",
      msg: "it failed",
      provider: "acme",
      err: { type: "Error", message: "outer", cause: { message: "inner", code: "ECONNREFUSED" } },
    });
    const text = (await linesOf({ level: "info", format: "text" }, say)).join("\n");
    expect(text).toMatch(
      /info {2}plain\n.* error it failed\nError: outer\n[\s\S]*because: Error: inner\n[\s\S]* provider=acme/,
    );
  });

  test("logged text cannot begin a new line, nor move a terminal's cursor", async () => {
    const evil = "a\nb\u001b[2J\u009b1m\r";
    const text = await linesOf({ level: "info", format: "text" }, (log) => log.info({ path: evil }, "refused"));
    expect(text).toHaveLength(1);
    expect(text[0]).toEndWith("refused path=a\\u000ab\\u001b[2J\\u009b1m\\u000d");
    const json = await linesOf({ level: "info", format: "json" }, (log) => log.info({ path: evil }, "refused"));
    expect(json).toHaveLength(1);
  });
});

describe("the form", () => {
  const linesOf = (format: "auto" | "text" | "json", isTTY: boolean, environment: Record<string, string> = {}) =>
    makeFormat(Date.now, format, { isTTY }, environment).line("warn", undefined, "hot");

  test("is coloured text on a terminal and JSON elsewhere unless configured; NO_COLOR is honoured", () => {
    expect(linesOf("auto", true)).toContain("\u001b[33mwarn \u001b[0m hot");
    expect(linesOf("auto", true, { NO_COLOR: "1" })).toEndWith(" warn  hot\n");
    expect(linesOf("auto", true, { TERM: "dumb" })).toEndWith(" warn  hot\n");
    expect(linesOf("auto", false)).toStartWith('{"time":');
    expect(linesOf("text", false)).toEndWith(" warn  hot\n");
    expect(linesOf("json", true)).toStartWith('{"time":');
  });
});

describe("writing", () => {
  test("a stalled reader blocks nothing: lines are kept up to a limit, then counted", async () => {
    const { promise: held, resolve: read } = Promise.withResolvers<void>();
    let written = "";
    const log = createLog({
      clock: system.clock,
      level: "info",
      format: "json",
      write: async (text) => {
        await held;
        written += text;
      },
    });
    const long = "x".repeat(1000);
    for (let index = 0; index < 5000; index++) log.info(long);
    read();
    await log.flush();
    const lines = written
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { msg: string; lines?: number });
    const last = lines.at(-1);
    expect(last?.msg).toContain("dropped");
    expect((last?.lines ?? 0) + lines.length - 1).toBe(5000);
    expect(lines.length).toBeLessThan(1100);
    log.info("after");
    await log.flush();
    expect(written).toEndWith('"msg":"after"}\n');
  });

  test("lines of many calls are in their order among others, each with the time of its call", async () => {
    let written = "";
    let nowMs = 0;
    const write = async (text: string) => {
      written += text;
    };
    const clock = { ...system.clock, wallMs: () => nowMs };
    const log = createLog({ clock, level: "info", format: "json", write });
    for (nowMs = 1; nowMs <= 100; nowMs++) {
      if (nowMs % 40 === 0) log.info("else");
      else log.call({ ...CALL, id: `rcp_${nowMs}` }, FACTS);
    }
    await log.flush();
    const lines = written.split("\n").slice(0, -1);
    expect(lines.map((line) => JSON.parse(line) as Record<string, unknown>)).toEqual(
      Array.from({ length: 100 }, (_, index) =>
        expect.objectContaining({
          time: new Date(index + 1).toISOString(),
          ...((index + 1) % 40 === 0 ? { msg: "else" } : { msg: "call", receipt: `rcp_${index + 1}` }),
        }),
      ),
    );
  });

  test("many lines are few writes, in their order", async () => {
    const writes: string[] = [];
    const write = async (text: string) => void writes.push(text);
    const log = createLog({ clock: system.clock, level: "info", format: "json", write });
    for (let index = 0; index < 100; index++) log.info(String(index));
    await log.flush();
    expect(writes).toHaveLength(1);
    const said = writes[0]
      ?.split("\n")
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(said).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  });
});
