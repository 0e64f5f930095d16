import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { UPSTREAM_URL } from "../../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";
import { scriptedModels } from "../../../testing/scripted-models.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";
import { timePrefix } from "../../base/timed-id.ts";

const asAdmin = { secret: ADMIN_SECRET };
const HOUR_MS = 3_600_000;
const HOSTILE = '<script>alert(1)</script>"\u0000\ud800';

let admin: AdminHarness;
let receipt = "";
let other = "";
const secrets: Record<string, string> = {};

type Data = Record<string, unknown>;
const dataOf = (json: Data) => json["data"] as Data;

async function call(key: string): Promise<string> {
  const body = { messages: [{ role: "user", content: HOSTILE }] };
  const answer = await admin.gateway.call("chat", { key, body });
  expect(answer.status).toBe(200);
  await admin.clock.until(admin.gateway.gateway.captures.close());
  return answer.headers.get("x-trivium-receipt") ?? "";
}

beforeAll(async () => {
  admin = await AdminHarness.start({
    config: {
      ...scriptedModels(UPSTREAM_URL),
      keys: [{ name: "tests", key: TEST_KEY }],
      capture: { retention_hours: 2 },
    },
  });
  const { upstream } = admin.gateway;
  upstream.play(upstream.json(plainAnswer("chat", { text: HOSTILE, usage: plainUsage("chat", 1, 1) })));
  const made = await admin.ask("POST", "/api/keys", { ...asAdmin, body: { name: "k", project: "red", capture: true } });
  expect(made.status).toBe(201);
  receipt = await call(String(dataOf(made.json)["key"]));
  other = await call(TEST_KEY);
  await admin.ask("POST", "/api/keys", { ...asAdmin, body: { name: "of blue", project: "blue" } });
  secrets["red"] = await admin.operator("project", "red");
  secrets["blue"] = await admin.operator("project", "blue");
  secrets["viewer"] = await admin.operator("viewer");
});
afterAll(() => admin.gateway.storage.close());

const bodies = (id: string, secret = ADMIN_SECRET) => admin.ask("GET", `/api/receipts/${id}/bodies`, { secret });
const views = async () => {
  const { json } = await admin.ask("GET", "/api/audit?act=receipt.bodies", asAdmin);
  return (json["data"] as Data[]).map(({ who, target, project, address }) => [who, target, project, address]);
};

describe("0064: the bodies of a call at the Admin API", () => {
  test("the admin reads all four, and their content is only ever text", async () => {
    const { status, json } = await bodies(receipt);
    expect(status).toBe(200);
    const data = dataOf(json);
    expect(data).toMatchObject({
      receipt,
      project: "red",
      client_request: { cut: false },
      client_answer: { cut: false },
    });
    expect(Date.parse(String(data["expires_at"])) - Date.parse(String(data["created_at"]))).toBe(2 * HOUR_MS);
    for (const name of ["client_request", "provider_request", "provider_answer", "client_answer"]) {
      expect((data[name] as { text: string }).text).toContain("<script>alert(1)</script>");
    }
  });

  test("each view is in the audit log before the response, with actor, target and address; refused ones are not", async () => {
    const before = (await views()).length;
    expect((await bodies(receipt)).status).toBe(200);
    expect((await bodies(receipt, secrets["red"])).status).toBe(200);
    expect((await bodies(receipt, secrets["blue"])).status).toBe(404);
    expect((await bodies(receipt, secrets["viewer"])).status).toBe(403);
    const now = await views();
    expect(now).toHaveLength(before + 2);
    expect(now[0]?.slice(1)).toEqual([receipt, "red", "127.0.0.1"]);
    expect(String(now[0]?.[0])).toStartWith("operator:project red");
    expect(now[1]?.[0]).toBe("operator:admin");
  });

  test("S09: an operator of another project gets the same error as for bodies that were never kept", async () => {
    const foreign = await bodies(receipt, secrets["blue"]);
    const none = await bodies("rcp_none", secrets["blue"]);
    expect([foreign.status, none.status]).toEqual([404, 404]);
    expect(foreign.text.replaceAll(receipt, "ID").replaceAll(/req_\w+/g, "")).toBe(
      none.text.replaceAll("rcp_none", "ID").replaceAll(/req_\w+/g, ""),
    );
  });

  test("a receipt shows whether bodies are kept, without showing them", async () => {
    const shown = async (id: string) =>
      dataOf((await admin.ask("GET", `/api/receipts/${id}`, asAdmin)).json)["captured"];
    expect([await shown(receipt), await shown(other)]).toEqual([true, false]);
    const { status, json } = await bodies(other);
    expect([status, (json["error"] as Data)["code"]]).toEqual([404, "bodies_not_kept"]);
  });

  test("capture is off by default and can be changed; the change is in the audit log", async () => {
    const body = { name: "plain", project: "red" };
    const made = dataOf((await admin.ask("POST", "/api/keys", { ...asAdmin, body })).json);
    const id = String(made["id"]);
    const shown = async () => dataOf((await admin.ask("GET", `/api/keys/${id}`, asAdmin)).json)["capture"];
    expect(await shown()).toBe(false);
    await call(String(made["key"]));
    const count = async () => (await admin.gateway.storage.query("SELECT receipt_id FROM captures")).length;
    const before = await count();
    await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body: { capture: true } });
    expect(await shown()).toBe(true);
    await call(String(made["key"]));
    expect(await count()).toBe(before + 1);
    await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body: { name: "still" } });
    expect(await shown()).toBe(true);
    await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body: { capture: false } });
    await call(String(made["key"]));
    expect(await count()).toBe(before + 1);
    const { json } = await admin.ask("GET", `/api/audit?act=key.update&target=${id}`, asAdmin);
    const changes = (json["data"] as Data[]).map(({ after }) => (after as Data)["capture"]);
    expect(changes).toEqual([false, undefined, true]);
  });

  test("S05: a key cannot set it for child keys, which inherit it", async () => {
    const body = { name: "maker", project: "red", capture: true, scopes: ["keys:create"] };
    const maker = String(dataOf((await admin.ask("POST", "/api/keys", { ...asAdmin, body })).json)["key"]);
    const make = (more: object) => admin.gateway.post("/api/v1/keys", { name: "child", ...more }, maker);
    expect((await make({ capture: true })).status).toBe(403);
    const child = await make({});
    expect(child.status).toBe(201);
    const id = await call(String(dataOf(JSON.parse(child.text) as Data)["key"]));
    expect((await bodies(id)).status).toBe(200);
  });

  test("bodies sealed with another key return a 404 that says so", async () => {
    const { storage } = admin.gateway;
    await storage.query(
      "INSERT INTO captures SELECT 'rcp_moved', project, key_id, created_at_ms, size, bodies FROM captures WHERE receipt_id = ?",
      [receipt],
    );
    const before = (await views()).length;
    const { status, json } = await bodies("rcp_moved");
    expect([status, (json["error"] as Data)["code"]]).toEqual([404, "bodies_unreadable"]);
    expect(await views()).toHaveLength(before);
  });

  test("after their retention they are gone, and the next sweep deletes them", async () => {
    const { storage, gateway } = admin.gateway;
    await admin.clock.pass(2 * HOUR_MS + 1);
    expect((await bodies(receipt)).status).toBe(404);
    expect((await storage.query("SELECT receipt_id FROM captures")).length).toBeGreaterThan(2);
    await admin.clock.until(gateway.captures.sweep());
    expect(await storage.query("SELECT receipt_id FROM captures")).toEqual([]);
  });
});

describe("0130: calls by a text in their captured bodies", () => {
  type Found = { data: { id: string }[]; next: string | null; searched_back_to: string | null; bodies: Data | null };
  const search = async (query: string, secret = ADMIN_SECRET) => {
    const { status, json, text } = await admin.ask("GET", `/api/receipts?${query}`, { secret });
    return { status, text, ...(json as unknown as Found) };
  };
  let key = "";
  const ids: string[] = [];
  beforeAll(async () => {
    const made = await admin.ask("POST", "/api/keys", {
      ...asAdmin,
      body: { name: "s", project: "red", capture: true },
    });
    key = String(dataOf(made.json)["key"]);
    for (const content of ["order 4711-A please", 'order "4711-A"\u00e9', "something else"]) {
      const { upstream } = admin.gateway;
      upstream.play(upstream.json(plainAnswer("chat", { text: "on its way", usage: plainUsage("chat", 1, 1) })));
      const answer = await admin.gateway.call("chat", { key, body: { messages: [{ role: "user", content }] } });
      ids.push(answer.headers.get("x-trivium-receipt") ?? "");
      await admin.clock.until(admin.gateway.gateway.captures.close());
      await admin.clock.pass(10_000);
    }
  });

  test("are found on both sides, newest first, and combine with the filters of receipts", async () => {
    const found = await search("body=4711-A");
    expect(found.data.map(({ id }) => id)).toEqual([ids[1], ids[0]] as string[]);
    expect(found).toMatchObject({ next: null, searched_back_to: null, bodies: { unreadable: 0 } });
    expect((await search('body="4711-A"%C3%A9')).data.map(({ id }) => id)).toEqual([ids[1] ?? ""]);
    expect((await search("body=on its way")).data).toHaveLength(3);
    expect((await search("body=on its way&outcome=failed")).data).toEqual([]);
    expect((await search("body=on its way&project=blue")).bodies).toEqual({ searched: 0, unreadable: 0 });
    expect((await search("body=4711-a")).data).toEqual([]);
    expect((await search("limit=5")).bodies).toBeNull();
  });

  test("are listed page by page, each once", async () => {
    const seen: string[] = [];
    let pages = 0;
    for (let after = ""; pages < 10; pages++) {
      const { data, next } = await search(`body=on its way&limit=1${after}`);
      seen.push(...data.map(({ id }) => id));
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(seen).toEqual(ids.toReversed());
  });

  test("S09: only admins may search, each search is in the audit log, and a text is never a pattern", async () => {
    for (const secret of [secrets["viewer"] ?? "", secrets["red"] ?? ""]) {
      expect((await search("body=4711-A", secret)).status).toBe(403);
    }
    const searches = async () => {
      const { json } = await admin.ask("GET", "/api/audit?act=receipt.search", asAdmin);
      return (json["data"] as Data[]).map(({ who, target }) => [who, target]);
    };
    const before = (await searches()).length;
    expect((await search("body=%25%25%25%25")).data).toEqual([]);
    expect(await searches()).toHaveLength(before + 1);
    expect((await searches())[0]).toEqual(["operator:admin", "%%%%"]);
    expect((await search("body=471")).status).toBe(400);
    expect((await search("body=%20%20%20%20a")).status).toBe(400);
    expect((await search(`body=${"x".repeat(300)}`)).status).toBe(400);
    expect((await search("body=aaaa%00")).status).toBe(400);
    expect((await admin.ask("GET", "/api/usage/export?body=4711-A", asAdmin)).status).toBe(400);
  });

  test("a page reads a bounded number of captures, and says how far it searched", async () => {
    const { storage, gateway } = admin.gateway;
    const createdAtMs = Math.floor(admin.clock.wallMs());
    const rows = Array.from({ length: 1_500 }, (_, index) => [
      `rcp_${timePrefix(createdAtMs + index)}x`,
      createdAtMs + index,
    ]);
    await storage.runForEach(
      "INSERT INTO captures (receipt_id, project, key_id, created_at_ms, size, bodies) VALUES (?, 'red', 'k', ?, 10, ?)",
      rows.map(([id = "", at = 0]) => [id, at, new Uint8Array(10)]),
    );
    const found = await search("body=4711-A");
    expect(found.data).toEqual([]);
    expect(found.bodies).toEqual({ searched: 0, unreadable: 1_000 });
    expect(found.searched_back_to).toBe(new Date(createdAtMs + 500).toISOString());
    const rest = await search(`body=4711-A&after=${found.next}`);
    expect(rest.data.map(({ id }) => id)).toEqual([ids[1], ids[0]] as string[]);
    expect(rest.bodies).toMatchObject({ unreadable: 500 });
    // Once expired, nothing is searched.
    await admin.clock.pass(3 * HOUR_MS);
    expect((await search("body=4711-A")).bodies).toEqual({ searched: 0, unreadable: 0 });
    expect(gateway.captures.dropped).toBe(0);
  });
});
