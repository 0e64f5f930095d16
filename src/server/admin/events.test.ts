import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../../testing/plain-answer.ts";

const USAGE = plainUsage("chat", 12, 3);
const ANSWER = plainAnswer("chat", { text: "Hello", usage: USAGE });
const SSE = { "content-type": "text/event-stream" };

interface Told {
  type: string;
  [field: string]: unknown;
}

/** Reads only while allowed to. */
function reader(response: Response) {
  const source = response.body?.getReader();
  return {
    async next(): Promise<Told[]> {
      const { value } = (await source?.read()) ?? {};
      const text = new TextDecoder().decode(value);
      return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as Told);
    },
    cancel: () => source?.cancel(),
  };
}

async function watching(query = "") {
  const admin = await AdminHarness.start();
  const response = await admin.clock.until(admin.open("GET", `/api/events${query}`, { secret: ADMIN_SECRET }));
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const read = reader(response);
  expect(await read.next()).toEqual([]);
  return { admin, read, harness: admin.gateway, hub: admin.gateway.gateway.events };
}

describe("choices 10: GET /api/events", () => {
  test("reports calls as they begin, commit and end", async () => {
    const { harness, read } = await watching();
    harness.upstream.play((reply) => {
      reply.head(200, SSE);
      void reply.write(plainStream("chat", ["Hel", "lo"], USAGE));
      reply.end();
    });
    const answer = await harness.call("chat", { stream: true });
    const told: Told[] = [];
    while (told.length < 3) told.push(...(await read.next()));
    expect(told.map(({ type }) => type)).toEqual(["call.begun", "call.committed", "call.ended"]);
    const receipt = answer.headers.get("x-trivium-receipt") ?? "";
    for (const event of told) expect(event).toMatchObject({ receipt, project: "default", key: "static:tests" });
    expect(told[2]).toMatchObject({ outcome: "ok", input_tokens: 12, output_tokens: 3, at: expect.any(String) });
    expect(JSON.stringify(told)).not.toContain("Hello");
  });

  test("only matching events, by one filter", async () => {
    const { harness, read } = await watching("?type=call&model=test/none");
    harness.upstream.play(harness.upstream.json(ANSWER));
    await harness.call("chat");
    await read.cancel();
    const other = await watching("?type=health");
    other.harness.upstream.play(other.harness.upstream.json(ANSWER));
    await other.harness.call("chat");
    other.hub.tell({
      type: "health",
      atMs: 0,
      provider: "up",
      credential: undefined,
      upstreamModel: "m",
      state: "open",
      openMs: 5,
    });
    expect(await other.read.next()).toEqual([
      {
        type: "health",
        at: "1970-01-01T00:00:00.000Z",
        provider: "up",
        credential: null,
        upstream_model: "m",
        state: "open",
        open_ms: 5,
      },
    ]);
  });

  test("H20: a reader that does not read loses events and is told how many; nothing else is buffered", async () => {
    const { read, hub } = await watching();
    for (let told = 0; told < 5_000; told++) {
      hub.tell({
        type: "operation",
        atMs: 0,
        operation: "o",
        project: "p",
        key: "k",
        model: "m",
        provider: "p",
        state: "done",
      });
    }
    let seen = 0;
    let dropped = 0;
    while (seen + dropped < 5_000) {
      for (const { type, dropped: lost } of await read.next()) {
        if (type === "lagged") dropped += Number(lost);
        else seen += 1;
      }
    }
    expect(seen + dropped).toBe(5_000);
    expect(seen).toBeLessThanOrEqual(2_001);
  });

  test("sends a comment every 15 seconds, and costs nothing once the reader is gone", async () => {
    const { admin, read, hub } = await watching();
    const silent = read.next();
    await admin.clock.pass(15_000);
    expect(await silent).toEqual([]);
    expect(hub.watched).toBe(true);
    await read.cancel();
    expect([hub.watched, hub.listeners]).toEqual([false, 0]);
    await admin.clock.pass(15_000);
    expect(admin.clock.timers).toBe(0);
  });

  test("limits its readers", async () => {
    const { admin } = await watching();
    for (let more = 1; more < 20; more++) {
      expect((await admin.clock.until(admin.open("GET", "/api/events", { secret: ADMIN_SECRET }))).status).toBe(200);
    }
    expect((await admin.ask("GET", "/api/events", { secret: ADMIN_SECRET })).status).toBe(503);
  });
});
