import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";

const asAdmin = { secret: ADMIN_SECRET };
const dataOf = <T>(json: Record<string, unknown>) => json["data"] as T;

describe("choices 10: models and prices", () => {
  interface Item {
    id: string;
    origins: Record<string, string>;
    offers: { provider: string }[];
    prices: { name: string; origin: string; items: { value: number }[] }[];
  }
  const models = [
    {
      id: "acme/one",
      context_length: 1000,
      pricings: { prompt: [{ value: 2, unit: "perMTokens", currency: "USD" }] },
      offers: [
        { provider: "up", model: "one" },
        {
          provider: "up2",
          model: "one",
          pricings: { prompt: [{ value: 3, unit: "perMTokens", currency: "USD" }] },
        },
      ],
    },
    { id: "anthropic/claude-sonnet-5", context_length: 5, offers: [{ provider: "up", model: "haiku" }] },
  ];
  const provider = {
    kind: "openai-compatible",
    base_url: "http://upstream.localhost/v1",
    api_key: "hidden-provider-key",
  };
  const config = { providers: { up: provider, up2: provider }, models, aliases: { quick: "acme/one" } };

  test("each value has its source", async () => {
    const admin = await AdminHarness.start({ config });
    const listed = dataOf<Item[]>((await admin.ask("GET", "/api/models", asAdmin)).json);
    const known = listed.find(({ id }) => id === "anthropic/claude-sonnet-5");
    expect(known?.origins).toMatchObject({ context_length: "configuration", max_output_tokens: "built-in" });
    const own = dataOf<Item[]>((await admin.ask("GET", "/api/models?text=QUICK", asAdmin)).json);
    expect(own.map(({ id }) => id)).toEqual(["acme/one"]);
    expect(own[0]?.origins).toMatchObject({ context_length: "configuration", reasoning: "default" });
    const prices = dataOf<Item[]>((await admin.ask("GET", "/api/prices?model=acme/one", asAdmin)).json);
    expect(prices.map(({ id, prices: list }) => [id, list[0]?.items[0]?.value, list[0]?.origin])).toEqual([
      ["acme/one:up", 2, "configuration"],
      ["acme/one:up2", 3, "configuration"],
    ]);
    const builtIn = dataOf<Item[]>(
      (await admin.ask("GET", "/api/prices?model=anthropic/claude-sonnet-5", asAdmin)).json,
    );
    expect(builtIn[0]?.prices.find(({ name }) => name === "prompt")?.origin).toBe("built-in");
  });

  test("pages contain each of them once", async () => {
    const admin = await AdminHarness.start({ config });
    const seen: string[] = [];
    let after = "";
    for (let pages = 0; pages < 10; pages++) {
      const { json } = await admin.ask("GET", `/api/prices?limit=1${after}`, asAdmin);
      seen.push(...dataOf<Item[]>(json).map(({ id }) => id));
      if (json["next"] === null) break;
      after = `&after=${encodeURIComponent(String(json["next"]))}`;
    }
    expect(seen.toSorted()).toEqual(["acme/one:up", "acme/one:up2", "anthropic/claude-sonnet-5:up"]);
    expect((await admin.ask("GET", "/api/prices?after=none", asAdmin)).status).toBe(400);
  });

  test("S10: the configuration shows no secret, and marks what comes from the file", async () => {
    const admin = await AdminHarness.start({ config });
    const { text, json } = await admin.ask("GET", "/api/config", asAdmin);
    expect(text).not.toContain("hidden-provider-key");
    expect(text).toContain("[secret]");
    const shown = dataOf<{ origins: Record<string, string>; values: Record<string, unknown> }>(json);
    expect(shown.origins).toMatchObject({ models: "file", server: "default", providers: "file" });
    expect(shown.values["aliases"]).toEqual({ quick: "acme/one" });
    expect(JSON.stringify(shown.values)).toContain('"context_length":1000');
  });
});

describe("choices 10: POST /api/config/check", () => {
  const check = async (yaml: unknown) => {
    const admin = await AdminHarness.start();
    return admin.ask("POST", "/api/config/check", { ...asAdmin, body: { yaml } });
  };

  test("reports what would apply, and what would need a restart", async () => {
    const { json } = await check("server: { port: 9999 }\nsimulator: false\nproviders: {}\n");
    expect(dataOf(json)).toMatchObject({ ok: true, problems: [], models: 0, providers: [] });
    expect(dataOf<{ restart_needed: string[] }>(json).restart_needed).toContain("server.port");
  });

  test("H25: reports the position of every mistake, and repeats no value", async () => {
    const { status, json, text } = await check("sever: {}\nserver: { port: hidden-value }\n");
    expect(status).toBe(200);
    const { ok, problems } = dataOf<{ ok: boolean; problems: { line: number }[] }>(json);
    expect([ok, problems.map(({ line }) => line)]).toEqual([false, [1, 2]]);
    expect(text).not.toContain("hidden-value");
  });

  test.each([5, null, {}])("bad input: %j", async (yaml) => {
    expect((await check(yaml)).status).toBe(400);
  });

  test("bad input: a body of more than a megabyte, and YAML designed to expand", async () => {
    expect((await check("x".repeat(1_100_000))).status).toBe(413);
    const lol = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (let at = 0; at < 9; at++) {
      const [name, before] = [String.fromCharCode(98 + at), String.fromCharCode(97 + at)];
      lol.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(",")}]`);
    }
    const { json } = await check(lol.join("\n"));
    expect(dataOf<{ ok: boolean }>(json).ok).toBe(false);
  });
});
