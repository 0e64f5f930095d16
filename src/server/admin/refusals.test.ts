import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";

const asAdmin = { secret: ADMIN_SECRET };
const CALL = { model: "test/chat", messages: [{ role: "user", content: "hi" }] };
const PATH = "/v1/chat/completions";
const MINUTE_MS = 60_000;

interface Sums {
  data: { group: string; groups: string[]; requests: number; first_at: string | null; last_at: string | null }[];
  total: { requests: number; first_at?: string | null; last_at?: string | null };
  groups_left_out: boolean;
}

async function started(onLog?: (line: Record<string, unknown>) => void) {
  const admin = await AdminHarness.start(
    onLog === undefined
      ? {}
      : {
          onLog: (text) => {
            for (const line of text.trim().split("\n")) onLog(JSON.parse(line) as Record<string, unknown>);
          },
        },
  );
  const { upstream } = admin.gateway;
  upstream.play(upstream.json(plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 10, 5) })));
  const post = (key: string, body: object = CALL) => admin.gateway.post(PATH, body, key);
  const sums = async (query = "", secret = ADMIN_SECRET) =>
    (await admin.ask("GET", `/api/refusals${query}`, { secret })).json as unknown as Sums;
  return { admin, post, sums };
}

const rows = ({ data }: Sums) => data.map(({ groups, requests }) => [...groups, requests]);

describe("choices 10: refused requests are counted", () => {
  test("by reason, key, address and time, without those that became calls", async () => {
    const { admin, post, sums } = await started();
    const made = await admin.ask("POST", "/api/keys", { ...asAdmin, body: { name: "k", models: ["none/*"] } });
    const { id, key } = made.json["data"] as { id: string; key: string };
    for (let time = 0; time < 3; time++) await post("sk-wrong");
    await post(key);
    await post(key, { model: "test/chat" });
    await admin.gateway.get("/v1/no-such-endpoint");
    expect((await admin.gateway.call("chat")).status).toBe(200);
    expect(rows(await sums())).toEqual([
      ["unauthenticated", 3],
      ["forbidden", 1],
      ["invalid_request", 1],
      ["not_found", 1],
    ]);
    expect((await sums()).total).toMatchObject({ requests: 6 });
    expect(rows(await sums("?by=key,reason&key=none"))).toEqual([
      ["none", "unauthenticated", 3],
      ["none", "not_found", 1],
    ]);
    expect(rows(await sums(`?by=key&reason=forbidden`))).toEqual([[id, 1]]);
    expect(rows(await sums("?by=address_class,address"))).toEqual([["loopback", "127.0.0.1", 6]]);
    const hour = new Date(Math.floor(admin.clock.wallMs() / 3_600_000) * 3_600_000).toISOString();
    expect(rows(await sums("?by=hour&reason=unauthenticated"))).toEqual([[hour, 3]]);
    expect((await sums("?to=2020-01-01&from=2019-01-01")).total).toMatchObject({ requests: 0 });
    for (const query of ["by=model", "by=key,key", "reason=nothing", "from=2026-01-02&to=2026-01-01", "limit=5"]) {
      expect([query, (await admin.ask("GET", `/api/refusals?${query}`, asAdmin)).status]).toEqual([query, 400]);
    }
    const minute = new Date(Math.floor(admin.clock.wallMs() / MINUTE_MS) * MINUTE_MS).toISOString();
    await admin.clock.pass(5 * MINUTE_MS);
    await post("sk-wrong");
    const later = new Date(Math.floor(admin.clock.wallMs() / MINUTE_MS) * MINUTE_MS).toISOString();
    const seen = async (query: string) => (await sums(query)).data.map(({ first_at, last_at }) => [first_at, last_at]);
    expect(await seen("?reason=unauthenticated")).toEqual([[minute, later]]);
    expect(await seen("?reason=forbidden")).toEqual([[minute, minute]]);
    expect((await sums("?reason=budget_exhausted")).total).toEqual({ requests: 0, first_at: null, last_at: null });
  });

  test("an admin sees the last message to the client, for each key and reason; others do not", async () => {
    const { admin, post } = await started();
    const made = await admin.ask("POST", "/api/keys", { ...asAdmin, body: { name: "k", models: ["none/*"] } });
    const { id, key } = made.json["data"] as { id: string; key: string };
    await post("sk-wrong");
    await admin.clock.pass(1_000);
    const answer = await post(key);
    const examples = async (query: string, secret = ADMIN_SECRET) =>
      (await admin.ask("GET", `/api/refusals${query}`, { secret })).json["examples"] as Record<string, string>[];
    const [last, first, ...more] = await examples("");
    expect(more).toEqual([]);
    expect(last).toMatchObject({ reason: "forbidden", key: id, project: "default", endpoint: `POST ${PATH}` });
    expect(answer.text).toContain(JSON.stringify(last?.["message"] ?? "?").slice(1, -1));
    expect(first).toMatchObject({ reason: "unauthenticated", key: "none", project: null });
    expect(JSON.stringify(first)).not.toContain("sk-wrong");
    expect(await examples(`?key=${id}`)).toEqual([last ?? {}]);
    expect(await examples("?reason=rate_limited")).toEqual([]);
    expect(await examples("", await admin.operator("viewer"))).toEqual([]);
  });

  test("S09: project operators only see requests with keys of their project", async () => {
    const { admin, post, sums } = await started();
    for (const id of ["red", "blue"]) await admin.ask("POST", "/api/projects", { ...asAdmin, body: { id } });
    const ofRed = await admin.operator("project", "red");
    for (const project of ["red", "blue"]) {
      const body = { name: project, project, models: ["none/*"] };
      const made = await admin.ask("POST", "/api/keys", { ...asAdmin, body });
      await post((made.json["data"] as { key: string }).key);
    }
    await post("sk-wrong");
    expect(rows(await sums("?by=project", ofRed))).toEqual([["red", 1]]);
    expect((await sums("", ofRed)).total).toMatchObject({ requests: 1 });
    expect((await admin.ask("GET", "/api/refusals?project=blue", { secret: ofRed })).status).toBe(403);
    expect((await sums("?project=blue")).total).toMatchObject({ requests: 1 });
  });

  test("a revoked key is named, so that its client can be found", async () => {
    const { admin, post, sums } = await started();
    const made = await admin.ask("POST", "/api/keys", { ...asAdmin, body: { name: "k" } });
    const { id, key } = made.json["data"] as { id: string; key: string };
    await admin.ask("DELETE", `/api/keys/${id}`, asAdmin);
    expect((await post(key)).status).toBe(401);
    expect(rows(await sums("?by=key,reason"))).toEqual([[id, "unauthenticated", 1]]);
  });

  test("H13: a client that disconnects while it sends its body is not refused", async () => {
    const { admin, sums } = await started();
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from('{"model"')) });
    const sent = admin.gateway.sendRaw(PATH, body, { "content-type": "application/json" });
    await admin.clock.pass(100);
    sent.disconnect();
    await admin.clock.pass(60_000);
    expect((await sums()).total).toMatchObject({ requests: 0 });
  });

  test("counts are written within ten seconds, and swept after a week", async () => {
    const { admin, post, sums } = await started();
    const { refusals } = admin.gateway.gateway;
    const stored = async () => {
      const [row] = await admin.gateway.storage.query("SELECT SUM(requests) AS n FROM refusals");
      return Number(row?.["n"] ?? 0);
    };
    await post("sk-wrong");
    await post("sk-wrong");
    expect(await stored()).toBe(0);
    await admin.clock.pass(10_000);
    expect(await stored()).toBe(2);
    await post("sk-wrong");
    await admin.clock.pass(MINUTE_MS);
    expect([await stored(), (await sums()).total]).toMatchObject([3, { requests: 3 }]);
    await refusals.sweep();
    expect(await stored()).toBe(3);
    await admin.clock.pass(8 * 86_400_000);
    await refusals.sweep();
    expect(await stored()).toBe(0);
  });
});

describe("choices 7: refused requests are in the log at info", () => {
  test("the first of each kind at once, then a summary for each minute", async () => {
    const lines: Record<string, unknown>[] = [];
    const { admin, post } = await started((line) => lines.push(line));
    const told = () => lines.filter(({ level, msg }) => level === "info" && /refused/.test(String(msg)));
    for (let time = 0; time < 50; time++) await post("sk-wrong");
    await admin.clock.pass(1_000);
    expect(told()).toEqual([
      expect.objectContaining({
        msg: "refused",
        reason: "unauthenticated",
        status: 401,
        key: "none",
        address: "127.0.0.1",
        method: "POST",
        path: PATH,
        request_id: expect.stringMatching(/^req_/),
      }),
    ]);
    await admin.clock.pass(2 * MINUTE_MS);
    expect(told().slice(1)).toEqual([
      expect.objectContaining({
        msg: "more requests refused within the last minute",
        reason: "unauthenticated",
        requests: 49,
      }),
    ]);
    expect(JSON.stringify(lines)).not.toContain("sk-wrong");
  });
});
