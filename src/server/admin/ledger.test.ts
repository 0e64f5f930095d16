import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { UPSTREAM_URL } from "../../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../../testing/scripted-models.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";
import { listReceipts } from "../../ledger/receipt-pages.ts";
import { insertReceipts } from "../../storage/receipts/receipts.ts";

const asAdmin = { secret: ADMIN_SECRET };
const ANSWER = plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 1_000, 500) });
/** At 1 and 2 dollars per million. */
const COST = 2_000_000;
const MINUTE_MS = 60_000;

async function withCalls(ok: number, failed = 0) {
  const admin = await AdminHarness.start();
  const { upstream } = admin.gateway;
  for (let call = 0; call < ok + failed; call++) {
    upstream.play(call < ok ? upstream.json(ANSWER) : upstream.json({ error: { message: "no" } }, 400));
    await admin.gateway.call("chat");
    await admin.clock.pass(MINUTE_MS);
  }
  return admin;
}

const listOf = <T>(json: Record<string, unknown>) => json["data"] as T[];

describe("choices 10: receipts, usage and the overview", () => {
  test("receipts are listed newest first, page by page, each once", async () => {
    const admin = await withCalls(5, 2);
    const seen: string[] = [];
    let after = "";
    for (let pages = 0; pages < 10; pages++) {
      const { json } = await admin.ask("GET", `/api/receipts?limit=3${after}`, asAdmin);
      seen.push(...listOf<{ id: string }>(json).map(({ id }) => id));
      if (json["next"] === null) break;
      after = `&after=${encodeURIComponent(String(json["next"]))}`;
    }
    expect(seen).toEqual(seen.toSorted().reverse());
    expect(new Set(seen).size).toBe(7);
    const { json } = await admin.ask("GET", `/api/receipts/${seen[0]}`, asAdmin);
    expect(json["data"]).toMatchObject({
      id: seen[0],
      project: "default",
      key: "static:tests",
      outcome: "invalid_request",
    });
    expect((await admin.ask("GET", "/api/receipts/rcp_none", asAdmin)).status).toBe(404);
  });

  test("S13: filters narrow the list, and wildcards are plain characters", async () => {
    const admin = await withCalls(2, 1);
    const count = async (query: string) =>
      listOf((await admin.ask("GET", `/api/receipts?${query}`, asAdmin)).json).length;
    expect(await count("outcome=ok")).toBe(2);
    expect(await count(`min_cost=${COST / 1e9}`)).toBe(2);
    expect(await count("min_cost=0.003")).toBe(0);
    expect(await count("project=other")).toBe(0);
    expect(await count("from=2027-01-01")).toBe(0);
    expect(await count("text=%25")).toBe(0);
    expect(await count("text=_")).toBe(0);
    expect(await count("text=rcp_")).toBe(3);
  });

  test("console-design: a receipt has the error that its client received", async () => {
    const admin = await withCalls(1, 1);
    const { gateway } = admin;
    const { upstream } = gateway;
    upstream.play(upstream.json({ error: { message: "no" } }, 503), upstream.json({ error: { message: "no" } }, 503));
    const streamed = await gateway.call("chat", { stream: true });
    const told = (JSON.parse(streamed.text) as { error: { message: string } }).error.message;
    const { json } = await admin.ask("GET", "/api/receipts", asAdmin);
    const [broken, refused, answered] = listOf<{ error: { message: string; path: string | null } | null }>(json);
    expect([broken?.error?.message, answered?.error]).toEqual([told, null]);
    expect(refused?.error?.message).toContain("no");
  });

  test("S13: the filter of live connections is text and not a pattern", async () => {
    const admin = await withCalls(1);
    const storage = admin.gateway.storage;
    const [row] = (await listReceipts(storage, {}, { limit: 1 })).receipts;
    if (row === undefined) throw new Error("there is no receipt");
    await insertReceipts(storage, [
      { ...row, id: `${row.id}x`, sessionId: "ses_one", error: { message: '"sessionId":"ses_two"' } },
    ]);
    const count = async (session: string) =>
      listOf((await admin.ask("GET", `/api/receipts?session=${encodeURIComponent(session)}`, asAdmin)).json).length;
    expect([await count("ses_one"), await count("ses_two"), await count("ses_"), await count("%")]).toEqual([
      1, 0, 0, 0,
    ]);
  });

  test("receipts are found by the guard that found something in them; its name is text and not a pattern", async () => {
    const admin = await withCalls(1);
    const storage = admin.gateway.storage;
    const [row] = (await listReceipts(storage, {}, { limit: 1 })).receipts;
    if (row === undefined) throw new Error("there is no receipt");
    const found = { name: 'a "b"', on: "response", verdict: "observed", ms: 1 } as const;
    const error = { message: '{"name":"other","on":"request","verdict":"blocked"' };
    await insertReceipts(storage, [
      { ...row, id: `${row.id}x`, guards: [{ ...found, name: "idle", verdict: "passed" }, found], error },
    ]);
    const count = async (guard: string) =>
      listOf((await admin.ask("GET", `/api/receipts?guard=${encodeURIComponent(guard)}`, asAdmin)).json).length;
    const counts = await Promise.all(['a "b"', "idle", "other", "%", "a"].map(count));
    expect(counts).toEqual([1, 0, 0, 0, 0]);
  });

  test("usage is summed by two dimensions, and the groups add up to the total", async () => {
    const admin = await withCalls(3, 1);
    const { json } = await admin.ask("GET", "/api/usage?by=outcome,day", asAdmin);
    const rows = listOf<{ groups: string[]; calls: number; cost_nano_usd: number }>(json);
    expect(rows.map(({ groups: [outcome], calls, cost_nano_usd }) => [outcome, calls, cost_nano_usd]).sort()).toEqual([
      ["invalid_request", 1, 0],
      ["ok", 3, 3 * COST],
    ]);
    const callsOf = async (query: string) =>
      listOf<{ calls: number }>((await admin.ask("GET", `/api/usage?${query}`, asAdmin)).json).map(
        ({ calls }) => calls,
      );
    expect([await callsOf("outcome=failed"), await callsOf("outcome=ok&dialect=chat")]).toEqual([[1], [3]]);
    expect(await callsOf("dialect=messages")).toEqual([]);
    for (const query of ["by=a", "by=model,model", "by=model,key,day", "zone=Mars", "days=1&from=2026-01-01"]) {
      expect([query, (await admin.ask("GET", `/api/usage?${query}`, asAdmin)).status]).toEqual([query, 400]);
    }
  });

  test("the export has a row for each receipt, as CSV and as JSON lines", async () => {
    const admin = await withCalls(3);
    const csv = (await admin.ask("GET", "/api/usage/export", asAdmin)).text.trim().split("\r\n");
    expect([csv.length, csv[0]?.startsWith("id,")]).toEqual([4, true]);
    const keys = listOf<{ name: string }>((await admin.ask("GET", "/api/keys", asAdmin)).json);
    expect([csv[0]?.endsWith(",key_name"), csv[1]?.endsWith(`,${keys[0]?.name}`)]).toEqual([true, true]);
    const lines = (await admin.ask("GET", "/api/usage/export?format=jsonl&outcome=ok", asAdmin)).text
      .trim()
      .split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { cost_nano_usd: number }).cost_nano_usd)).toEqual([
      COST,
      COST,
      COST,
    ]);
  });

  test.each(["15m", "1h", "24h", "7d", "30d"])("the overview of %s has every call in its interval", async (window) => {
    const admin = await withCalls(3, 1);
    const { json } = await admin.ask("GET", `/api/overview?window=${window}`, asAdmin);
    const { total, series, top, calls_per_minute } = json["data"] as {
      total: { calls: number; failures: number; cost_nano_usd: number; total_ms: { p50: number } };
      series: { at: string; calls: number; cost_nano_usd: number }[];
      top: { models: { name: string; calls: number }[] };
      calls_per_minute: number;
    };
    expect(total).toMatchObject({
      calls: 4,
      failures: 1,
      cost_nano_usd: 3 * COST,
      input_tokens: 3_000,
      output_tokens: 1_500,
    });
    expect(series.reduce((sum, { calls }) => sum + calls, 0)).toBe(4);
    expect(series.filter(({ calls }) => calls > 0).length).toBe(window === "15m" || window === "1h" ? 4 : 1);
    expect(top.models.map(({ calls }) => calls)).toEqual([4]);
    expect(calls_per_minute).toBeGreaterThan(0);
    expect(total.total_ms.p50).toBeGreaterThan(0);
  });
});

describe("choices 10: filters of receipts", () => {
  test("by request id, and by whether a stored response has answered", async () => {
    const cache = { ttl_seconds: 60, max_mb: 1 };
    const config = { ...modelsOfEveryDialect(UPSTREAM_URL), keys: [{ name: "tests", key: TEST_KEY, cache }] };
    const admin = await AdminHarness.start({ config });
    const { upstream } = admin.gateway;
    upstream.play(upstream.json(ANSWER));
    const answer = await admin.gateway.call("chat");
    await admin.clock.pass(1_000);
    await admin.gateway.call("chat");
    const list = async (query: string) =>
      listOf<{ id: string }>((await admin.ask("GET", `/api/receipts?${query}`, asAdmin)).json).map(({ id }) => id);
    const [cached, plain] = await list("");
    const request = answer.headers.get("x-trivium-request-id") ?? "";
    expect(await list(`request_id=${request}`)).toEqual([plain ?? ""]);
    expect(await list(`request_id=${request}0`)).toEqual([]);
    expect(await list("cached=true")).toEqual([cached ?? ""]);
    expect(await list("cached=false")).toEqual([plain ?? ""]);
    expect((await admin.ask("GET", "/api/receipts?request_id=req_%25", asAdmin)).status).toBe(400);
  });

  test("H25: an unknown filter is refused, with the nearest known one", async () => {
    const admin = await AdminHarness.start();
    for (const [wrong, meant] of [
      ["modle", "model"],
      ["Provider", "provider"],
      ["end-user", "end_user"],
      ["out", "outcome"],
    ]) {
      const { status, text } = await admin.ask("GET", `/api/receipts?${wrong}=a`, asAdmin);
      expect(status).toBe(400);
      expect(text).toContain(`did you mean ${meant}?`);
    }
    const { status, text } = await admin.ask("GET", "/api/receipts?zzzzzzzz=a", asAdmin);
    expect(status).toBe(400);
    expect(text).not.toContain("did you mean");
  });
});

describe("choices 10: usage compared with the period before", () => {
  test("each group has its amounts of the period of equal length before", async () => {
    const admin = await withCalls(2, 1);
    await admin.clock.pass(3 * 60 * MINUTE_MS);
    const { upstream } = admin.gateway;
    upstream.play(upstream.json(ANSWER));
    await admin.gateway.call("chat");
    const at = (minutes: number) => new Date(admin.clock.wallMs() - minutes * MINUTE_MS).toISOString();
    const query = `by=outcome&compare=previous&from=${at(120)}&to=${at(-120)}`;
    const { json } = await admin.ask("GET", `/api/usage?${query}`, asAdmin);
    expect(json).toMatchObject({
      data: [{ group: "ok", calls: 1, previous: { calls: 2, cost_nano_usd: 2 * COST } }],
      total: { calls: 1 },
      previous: { to: at(120), total: { calls: 3, failures: 1 } },
    });
    const nothing = await admin.ask("GET", `/api/usage?compare=previous&from=${at(-60)}&to=${at(-180)}`, asAdmin);
    expect(nothing.json).toMatchObject({ data: [], previous: { total: { calls: 1 } } });
    expect((await admin.ask("GET", "/api/usage?by=model", asAdmin)).json).not.toHaveProperty("previous");
    expect((await admin.ask("GET", "/api/usage?by=day&compare=previous", asAdmin)).status).toBe(400);
    expect((await admin.ask("GET", "/api/usage?compare=last", asAdmin)).status).toBe(400);
  });
});
