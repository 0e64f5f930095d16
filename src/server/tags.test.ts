import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../testing/admin-harness.ts";
import { DIALECTS } from "../../testing/build-call.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const TAGGED_KEY = "a-key-of-the-file-with-tags";
const config = {
  ...scriptedModels(UPSTREAM_URL),
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "tagged", key: TAGGED_KEY, tags: ["team-a", "tier:1"] },
  ],
};
const asAdmin = { secret: ADMIN_SECRET };
const tagged = (tags: string) => ({ headers: { "x-trivium-tags": tags } });

describe("0061: tags of a call", () => {
  for (const dialect of DIALECTS) {
    test(`${dialect}: its own and those of its key are in the receipt, each once, and are not sent to providers`, async () => {
      const harness = await Harness.start({ config });
      harness.upstream.play(
        harness.upstream.json(plainAnswer(dialect, { text: "ok", usage: plainUsage(dialect, 1, 1) })),
      );
      const plain = await harness.call(dialect);
      expect((await harness.receipt(plain)).tags).toEqual([]);
      const own = await harness.call(dialect, tagged(" feature=search,Team-A\t, feature=search"));
      expect((await harness.receipt(own)).tags).toEqual(["feature=search", "Team-A"]);
      const both = await harness.call(dialect, { key: TAGGED_KEY, ...tagged("tier:1, x/y") });
      expect((await harness.receiptOf(both.headers.get("x-trivium-receipt") ?? "")).tags).toEqual([
        "team-a",
        "tier:1",
        "x/y",
      ]);
      for (const { headers, body } of harness.upstream.requests) {
        expect(JSON.stringify(headers) + body).not.toMatch(/x-trivium-tags|feature=search/);
      }
    });

    test.each([
      ["a character", "team a", "tag 1"],
      ["markup", "a, <script>alert(1)</script>", "tag 2"],
      ["an empty place", "a,,b", "tag 2"],
      ["a quote", 'a"],["b', "tag 1"],
      ["the length", "x".repeat(65), "tag 1"],
      ["the number", Array.from({ length: 11 }, (_, index) => `t${index}`).join(","), "too many"],
    ])(
      `${dialect}: a header with an error in %s is a 400 that names it, and no provider is called`,
      async (_, tags, words) => {
        const harness = await Harness.start({ config });
        const answer = await harness.call(dialect, tagged(tags));
        expect(answer.status).toBe(400);
        expect(answer.text).toContain("x-trivium-tags");
        expect(answer.text).toContain(words);
        expect(answer.text).toContain("at most 10 tags");
        expect(answer.text).not.toContain("alert(1)");
        expect(harness.upstream.requests).toEqual([]);
        expect(await harness.receipts()).toEqual([]);
      },
    );
  }
});

describe("0061: tags at the Admin API", () => {
  async function withCalls(): Promise<AdminHarness> {
    const admin = await AdminHarness.start({ config });
    const { upstream } = admin.gateway;
    upstream.play(upstream.json(plainAnswer("chat", { text: "ok", usage: plainUsage("chat", 1_000, 500) })));
    for (const tags of ["team-a", "team-a, feature=search", ""]) await admin.gateway.call("chat", tagged(tags));
    return admin;
  }

  test("usage by tag counts a call under each of its tags, and once in the total", async () => {
    const admin = await withCalls();
    const usage = async (query: string) => (await admin.ask("GET", `/api/usage?${query}`, asAdmin)).json;
    expect(await usage("by=tag")).toMatchObject({
      data: [
        { group: "team-a", calls: 2, cost_nano_usd: 4_000_000 },
        { group: "feature=search", calls: 1, cost_nano_usd: 2_000_000 },
      ],
      total: { calls: 3, cost_nano_usd: 6_000_000, usage: { input: 3_000 } },
      groups_overlap: true,
    });
    expect(await usage("by=model&tag=team-a")).toMatchObject({
      data: [{ calls: 2 }],
      total: { calls: 2, cost_nano_usd: 4_000_000 },
      groups_overlap: false,
    });
    expect(await usage("by=outcome")).toMatchObject({ data: [{ calls: 3 }], total: { calls: 3 } });
    expect((await admin.ask("GET", "/api/usage?tag=%22", asAdmin)).status).toBe(400);
  });

  test("receipts show them, and are found by them", async () => {
    const admin = await withCalls();
    const found = async (query: string) => (await admin.ask("GET", `/api/receipts?${query}`, asAdmin)).json["data"];
    expect(await found("tag=feature%3Dsearch")).toMatchObject([{ tags: ["team-a", "feature=search"] }]);
    expect(await found("tag=team")).toEqual([]);
    const { text } = await admin.ask("GET", "/api/usage/export?tag=team-a&format=jsonl", asAdmin);
    expect(text.trim().split("\n")).toHaveLength(2);
  });

  test("keys are created, shown and updated with them", async () => {
    const admin = await AdminHarness.start();
    const { json } = await admin.ask("POST", "/api/keys", { ...asAdmin, body: { name: "k", tags: ["team-a"] } });
    const { id } = json["data"] as { id: string };
    const shown = async () => (await admin.ask("GET", `/api/keys/${id}`, asAdmin)).json["data"];
    expect(await shown()).toMatchObject({ tags: ["team-a"] });
    await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body: { tags: ["b", "c"] } });
    expect(await shown()).toMatchObject({ tags: ["b", "c"] });
    await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body: { name: "other" } });
    expect(await shown()).toMatchObject({ tags: ["b", "c"] });
    await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body: { tags: null } });
    expect(await shown()).toMatchObject({ tags: [] });
    const bad = await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body: { tags: ["<b>"] } });
    expect([bad.status, bad.text.includes("tags")]).toEqual([400, true]);
  });
});
