import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../testing/eventually.ts";
import { runProgram } from "./support/program.ts";
import { SteadyLoad } from "./support/steady-load.ts";
import { startTestGateway, TEST_ADMIN_SECRET } from "./support/test-gateway.ts";

const [PROMPT_TOKENS, COMPLETION_TOKENS] = [10, 100];
const answer = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  usage: { prompt_tokens: PROMPT_TOKENS, completion_tokens: COMPLETION_TOKENS, total_tokens: 110 },
});
const host = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" }).end(answer);
});
await new Promise<void>((listening) => host.listen(0, "127.0.0.1", listening));
const { port } = host.address() as AddressInfo;
const gateway = await startTestGateway({
  config: {
    providers: { openai: { kind: "openai", api_key: "upstream-secret", base_url: `http://127.0.0.1:${port}/v1` } },
    models: [{ id: "openai/gpt-5-mini", pricings: { prompt: [{ value: 9, unit: "perMTokens", currency: "USD" }] } }],
  },
});
afterAll(async () => {
  await gateway.stop();
  host.close();
});

const usdPerMillion = (value: number) => value / 1_000_000;

/** A list in LiteLLM's format, with one price for everything. */
function writeList(price: number): string {
  const path = join(gateway.folder, "list.json");
  const model = { litellm_provider: "openai", mode: "chat", max_input_tokens: 1_000, max_output_tokens: 100 };
  const cost = { input_cost_per_token: usdPerMillion(price), output_cost_per_token: usdPerMillion(price) };
  writeFileSync(path, JSON.stringify({ "gpt-99": { ...model, ...cost }, "gpt-5-mini": { ...model, ...cost } }));
  return path;
}

const catalogue = (...args: string[]) =>
  runProgram(["catalogue", ...args, "--config", gateway.configFile], { cwd: gateway.folder });

const call = (model: string) =>
  fetch(`${gateway.url}/api/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  });

test("decision 0097: an update is shown, applied only on request, used by the running gateway, and removed", async () => {
  expect((await call("openai/gpt-99")).status).toBe(404);
  const list = writeList(1);
  const shown = await catalogue("update", "--from", list, "--json");
  const { digest, added, held, applied } = JSON.parse(shown.stdout);
  expect(added).toEqual([{ model: "openai/gpt-99", family: "openai/gpt-5.6", priced: true }]);
  expect(held.map(({ model }: { model: string }) => model)).toContain("openai/gpt-5-mini");
  expect(applied).toBeNull();
  expect((await catalogue("list", "--json")).stdout.trim()).toBe("[]");

  const wrong = await catalogue("update", "--from", list, "--apply", "--digest", "sha256:0");
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining(digest)]);
  expect((await catalogue("list", "--json")).stdout.trim()).toBe("[]");
  const done = await catalogue("update", "--from", list, "--apply", "--digest", digest);
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("Applied as update 1")]);

  await eventually("the running gateway to look", async () => (await call("openai/gpt-99")).status === 200);
  expect((await gateway.receipt(await call("openai/gpt-99"))).cost_nano_usd).toBe(110_000);
  const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
  const prices = await (await fetch(`${gateway.adminUrl}/api/prices?model=openai/gpt-99`, { headers })).json();
  const price = { name: "prompt", origin: "update", source: "list.json" };
  expect(prices).toMatchObject({ data: [{ prices: expect.arrayContaining([expect.objectContaining(price)]) }] });
  const updates = await (await fetch(`${gateway.adminUrl}/api/catalogue/updates`, { headers })).json();
  expect(updates).toMatchObject({ data: [{ number: 1, source: "list.json", digest }] });

  expect((await catalogue("remove", "1")).code).toBe(0);
  await eventually("the running gateway to look", async () => (await call("openai/gpt-99")).status === 404);
});

test("decision 0097: a configured price wins over an update that was confirmed", async () => {
  const done = await catalogue("update", "--from", writeList(1), "--apply", "--confirm", "openai/gpt-5-mini");
  expect(done.code).toBe(0);
  await eventually("the running gateway to look", async () => (await call("openai/gpt-99")).status === 200);
  // The configured 9 for the prompt, the update's 1 for the completion.
  expect((await gateway.receipt(await call("openai/gpt-5-mini"))).cost_nano_usd).toBe(190_000);
  expect((await catalogue("remove", /Applied as update (\d+)/.exec(done.stdout)?.[1] ?? "")).code).toBe(0);
  await eventually("the running gateway to look", async () => (await call("openai/gpt-99")).status === 404);
});

test("decision 0105: an update is planned, applied and removed through the Admin API, by an admin only", async () => {
  const list = writeList(1.2);
  const remote = ["--url", gateway.adminUrl, "--secret", TEST_ADMIN_SECRET];
  const elsewhere = (...args: string[]) => runProgram(["catalogue", ...args, ...remote], { cwd: tmpdir() });
  const planned = JSON.parse((await elsewhere("update", "--from", list, "--json")).stdout);
  expect(planned).toMatchObject({ listed: 2, applied: null });
  const wrong = await elsewhere("update", "--from", list, "--apply", "--digest", "sha256:0");
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining(planned.digest)]);
  const done = await elsewhere("update", "--from", list, "--apply", "--digest", planned.digest);
  expect(done.stdout).toContain("Applied as update");
  const number = /Applied as update (\d+)/.exec(done.stdout)?.[1];
  const listed = async () => JSON.parse((await elsewhere("list", "--json")).stdout) as { number: number }[];
  await eventually("the running gateway to look", async () =>
    (await listed()).some((one) => String(one.number) === number),
  );
  expect((await elsewhere("remove", String(number))).code).toBe(0);
  await eventually(
    "the running gateway to look",
    async () => !(await listed()).some((one) => String(one.number) === number),
  );
  const again = await elsewhere("remove", String(number));
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(`No catalogue update ${number}`)]);

  const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" };
  const audit = (await (await fetch(`${gateway.adminUrl}/api/audit`, { headers })).json()) as {
    data: { act: string }[];
  };
  expect(audit.data.slice(0, 2).map(({ act }) => act)).toEqual(["catalogue.remove", "catalogue.update"]);
  const body = { source: "a", as_of: "2026-01-01", models: [{ id: "openai/gpt-99", context_length: -1 }] };
  const bad = await fetch(`${gateway.adminUrl}/api/catalogue/updates`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining("models[0].context_length")]);
});

test("decision 0105: a list is compared as it was published, and what an update has changed is shown", async () => {
  const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" };
  const send = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${gateway.adminUrl}/api/catalogue/updates${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: JSON.parse(await answer.text()) };
  };
  const list = JSON.parse(await Bun.file(writeList(1.2)).text());
  const request = { source: "litellm.json", as_of: "2026-11-01", list };
  // The gateway learns within a second that the test before has removed its update.
  await eventually(
    "the running gateway to look",
    async () => (await send("POST", "", request)).json.data.added.length > 0,
  );
  const planned = await send("POST", "", request);
  expect(planned.json).toMatchObject({ data: { applied: null, added: [{ model: "openai/gpt-99" }] } });
  const { digest, held } = planned.json.data;
  expect(held[0]).toMatchObject({ model: "openai/gpt-5-mini", before: expect.anything(), after: expect.anything() });
  const { applied } = (await send("POST", "", { ...request, apply: true, digest })).json.data;
  await eventually("the running gateway to look", async () => (await send("GET", `/${applied}`)).status === 200);
  const shown = (await send("GET", `/${applied}`)).json.data;
  expect(shown).toMatchObject({ number: applied, digest, added: [{ model: "openai/gpt-99", priced: true }] });
  expect(shown.changes).toEqual(planned.json.data.changes);
  const here = await catalogue("show", String(applied), "--json");
  expect(JSON.parse(here.stdout)).toEqual(shown);
  const there = await catalogue("show", String(applied), "--url", gateway.adminUrl, "--secret", TEST_ADMIN_SECRET);
  expect([there.code, there.stdout]).toEqual([0, expect.stringContaining("openai/gpt-99")]);
  expect((await catalogue("show", "999")).code).toBe(2);
  expect((await send("GET", `/${applied + 7}`)).status).toBe(404);
  expect((await send("POST", "", { ...request, models: [] })).status).toBe(400);
  expect((await send("POST", "", { ...request, list: { nothing: 1 } })).json.error.message).toContain("litellm.json");
  expect((await send("DELETE", `/${applied}`)).status).toBe(200);
  await eventually("the running gateway to look", async () => (await send("GET", `/${applied}`)).status === 404);
});

test("decision 0105: a configuration may name models that only an update knows, and retired ones are reported", async () => {
  const file = join(gateway.folder, "named.yaml");
  const sections = {
    data_dir: join(gateway.folder, "data"),
    simulator: false,
    providers: { openai: { kind: "openai", api_key: "upstream-secret" } },
    aliases: { newest: "openai/gpt-99", old: "openai/gpt-1" },
  };
  writeFileSync(file, JSON.stringify(sections));
  const check = (...args: string[]) => runProgram(["check", "--config", file, ...args], { cwd: gateway.folder });
  await catalogue("update", "--from", writeList(1), "--apply", "--confirm", "openai/gpt-5-mini");
  const before = await check();
  expect([before.code, before.stderr]).toEqual([1, expect.stringContaining("aliases.old refers to an unknown model")]);

  const model = { litellm_provider: "openai", mode: "chat", max_input_tokens: 1_000, max_output_tokens: 100 };
  const cost = { input_cost_per_token: usdPerMillion(1), output_cost_per_token: usdPerMillion(1) };
  const list = join(gateway.folder, "retired.json");
  writeFileSync(list, JSON.stringify({ "gpt-1": { ...model, ...cost, deprecation_date: "2026-01-31" } }));
  expect((await catalogue("update", "--from", list, "--apply")).stdout).toContain("Applied");
  const [row] = JSON.parse((await catalogue("list", "--json")).stdout).toReversed();
  expect(row.retirements).toEqual([{ model: "openai/gpt-1", retires_after: "2026-01-31" }]);

  // It is the earliest day, and not the last one: nothing ends.
  const after = await check("--json");
  expect(JSON.parse(after.stdout)).toMatchObject({ ok: true, retirements: [] });
  const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
  const shown = async () => (await fetch(`${gateway.adminUrl}/api/models?text=openai/gpt-1`, { headers })).text();
  await eventually("the running gateway to look", async () =>
    (await shown()).includes('"retires_on":null,"retires_in_days":null,"retires_after":"2026-01-31"'),
  );

  const retired = { models: [], aliases: { newest: "openai/gpt-99", old: "openai/o4-mini" } };
  writeFileSync(file, JSON.stringify({ ...sections, ...retired }));
  const named = { model: "openai/o4-mini", retires_on: "2026-10-23", days: 0, path: "aliases.old" };
  expect(JSON.parse((await check("--json")).stdout).retirements).toMatchObject([named]);
  expect((await check()).stderr).toContain("aliases.old names openai/o4-mini, which was retired on 2026-10-23");
  const prices = await runProgram(["prices", "check", "--config", file, "--json"], { cwd: gateway.folder });
  expect(JSON.parse(prices.stdout).retirements).toHaveLength(1);
});

test("decision 0105: a configuration is checked where its storage cannot be reached, and the check says so", async () => {
  const file = join(gateway.folder, "unreachable.yaml");
  const storage = "postgres://nobody:nothing@127.0.0.1:1/none";
  writeFileSync(file, JSON.stringify({ storage, simulator: true, providers: {} }));
  const checked = await runProgram(["check", "--config", file, "--json"], { cwd: gateway.folder });
  expect([checked.code, JSON.parse(checked.stdout)]).toEqual([
    0,
    expect.objectContaining({ ok: true, unread: expect.stringContaining("Updates of the catalogue were not read") }),
  ]);
});

/** US dollars for a million tokens of the prompt, of the part that was cached, and of the answer. */
type Prices = readonly [prompt: number, cached: number, completion: number];
/** Each moves by less than half, and no mixture of two versions has the cost of a third. */
const VERSIONS: readonly Prices[] = [
  [1, 0.5, 2],
  [1.3, 0.6, 2.2],
  [1.1, 0.4, 2.6],
  [1.5, 0.55, 2.1],
  [1.2, 0.45, 2.9],
];
const TOKENS: Prices = [30, 7, 101];
const costOf = (prices: Prices): number =>
  Math.round(prices.reduce((sum, price, index) => sum + price * (TOKENS[index] ?? 0) * 1_000, 0));

test("decision 0105: under a steady load of calls, each one is priced by a single version of the catalogue", async () => {
  const mixed = VERSIONS.flatMap(([prompt], one) =>
    VERSIONS.flatMap(([, cached], two) =>
      VERSIONS.flatMap(([, , completion], three) =>
        one === two && two === three ? [] : [costOf([prompt, cached, completion])],
      ),
    ),
  );
  const pure = VERSIONS.map(costOf);
  expect(pure.filter((cost) => mixed.includes(cost))).toEqual([]);

  const [fresh, cached, completion] = TOKENS;
  const load = await SteadyLoad.start({
    ...JSON.parse(answer),
    model: "gpt-98",
    usage: {
      prompt_tokens: fresh + cached,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens: completion,
      total_tokens: fresh + cached + completion,
    },
  });
  const loaded = await startTestGateway({
    config: {
      providers: {
        openai: { kind: "openai", api_key: "upstream-secret", base_url: `http://127.0.0.1:${load.port}/v1` },
      },
    },
  });
  try {
    const apply = (prices: Prices) => applyPrices(loaded.adminUrl, prices);
    await apply(VERSIONS[0] ?? [1, 1, 1]);
    await load.run({
      port: Number(new URL(loaded.url).port),
      path: "/v1/chat/completions",
      key: loaded.key,
      body: { model: "gpt-98", messages: [{ role: "user", content: "Hello" }] },
      connections: 32,
      perSecond: 1_200,
    });
    const database = new Database(join(loaded.folder, "data", "trivium.db"), { readonly: true });
    const costs = () =>
      database.query("SELECT DISTINCT cost_nano_usd FROM receipts WHERE model = 'openai/gpt-98'").all();
    for (const [before, prices] of VERSIONS.slice(1).entries()) {
      await eventually("calls at these prices", () => costs().length > before);
      await apply(prices);
    }
    await eventually("calls at the last prices", () => costs().length === VERSIONS.length);
    const { calls, failed, perSecond } = await load.end();
    await loaded.app.stop();
    const rows = database
      .query(
        "SELECT cost_nano_usd AS cost, content, COUNT(*) AS calls FROM receipts JOIN prices ON prices.id = receipts.priced_by WHERE model = 'openai/gpt-98' GROUP BY cost_nano_usd, content",
      )
      .all() as { cost: number; content: string; calls: number }[];
    database.close();
    // One list of prices for each version, and one cost for each list.
    expect(rows.map(({ cost }) => cost).toSorted()).toEqual(pure.toSorted());
    for (const { cost, content } of rows) expect(pricesIn(content)).toEqual([...(VERSIONS[pure.indexOf(cost)] ?? [])]);
    const billed = rows.reduce((sum, row) => sum + row.calls, 0);
    expect([billed, failed]).toEqual([calls, 0]);
    console.log(`${calls} calls while ${VERSIONS.length - 1} updates were applied, ${perSecond} a second`);
  } finally {
    await load.stop();
    await loaded.stop();
  }
}, 120_000);

/** Applies an update and returns when the gateway uses it. */
async function applyPrices(adminUrl: string, [prompt, cached, completion]: Prices): Promise<void> {
  const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" };
  const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
  const model = {
    id: "openai/gpt-98",
    upstream_model: "gpt-98",
    kind: "text",
    input_modalities: ["text"],
    output_modalities: ["text"],
    pricings: { prompt: price(prompt), input_cache_read: price(cached), completion: price(completion) },
  };
  const body = JSON.stringify({ source: "test", as_of: "2026-11-18", models: [model], apply: true });
  const response = await fetch(`${adminUrl}/api/catalogue/updates`, { method: "POST", headers, body });
  const { data } = (await response.json()) as { data: { applied: number } };
  expect(data.applied).toBeGreaterThan(0);
  await eventually("the running gateway to look", async () => {
    const updates = await (await fetch(`${adminUrl}/api/catalogue/updates`, { headers })).json();
    return (updates as { data: { number: number }[] }).data.some(({ number }) => number === data.applied);
  });
}

function pricesIn(content: string): number[] {
  const { pricings } = JSON.parse(content) as { pricings: Record<string, { value: number }[]> };
  return ["prompt", "input_cache_read", "completion"].map((name) => pricings[name]?.[0]?.value ?? 0);
}
