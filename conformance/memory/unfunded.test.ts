import { beforeEach, describe, expect, test } from "bun:test";
import { makeAlerts } from "../../src/app/make-alerts.ts";
import { Harness } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";

type Dialect = "chat" | "messages" | "genai" | "responses";
const KINDS = { chat: "openai", responses: "openai", messages: "anthropic", genai: "gemini" } as const;
const EMPTY = "key-of-the-empty-account";
const FULL = "key-of-the-other-account";

/** How each vendor says that the account has no money left, and under which status. */
const REFUSALS: readonly (readonly [string, Dialect, number, object])[] = [
  [
    "chat, insufficient_quota",
    "chat",
    429,
    { error: { message: "You exceeded your quota.", code: "insufficient_quota" } },
  ],
  [
    "chat, billing_hard_limit_reached",
    "chat",
    400,
    { error: { message: "Limit.", code: "billing_hard_limit_reached" } },
  ],
  ["chat, by its status", "chat", 402, { error: { message: "Pay first." } }],
  ["responses, billing_not_active", "responses", 403, { error: { message: "Inactive.", code: "billing_not_active" } }],
  [
    "messages, in words",
    "messages",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "Your credit balance is too low to access the API." },
    },
  ],
  [
    "messages, contract_spend_limit_reached",
    "messages",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "No.", details: { error_code: "contract_spend_limit_reached" } },
    },
  ],
  ["messages, billing_error", "messages", 402, { type: "error", error: { type: "billing_error", message: "No." } }],
  [
    "genai, in words",
    "genai",
    429,
    {
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "Your prepayment credits are depleted. Please go on.",
      },
    },
  ],
];

let harness: Harness;
beforeEach(async () => {
  const credentials = [
    { api_key: EMPTY, label: "empty", weight: 1000 },
    { api_key: FULL, label: "full", weight: 1 },
  ];
  const pair = (dialect: Dialect) => ({
    kind: KINDS[dialect],
    base_url: `http://pair.test${KINDS[dialect] === "openai" ? "/v1" : ""}`,
    credentials,
  });
  const dialects = Object.keys(KINDS) as Dialect[];
  harness = await Harness.start({
    config: {
      providers: Object.fromEntries(dialects.map((dialect) => [`pair-${dialect}`, pair(dialect)])),
      models: dialects.map((dialect) => ({
        id: `acme/${dialect}`,
        pricings: {},
        offers: [{ provider: `pair-${dialect}`, model: "m", dialect }],
      })),
      alerts: { webhooks: [{ name: "hook", url: "https://hook.test/x", secret: "a-secret-of-the-hook" }] },
    },
  });
});

/** Who answers: `empty` refuses, and so does the other if none is left. */
function play(dialect: Dialect, status: number, refusal: object, isLastEmpty: boolean): void {
  harness.upstream.play((reply, { headers }) => {
    const isEmpty = isLastEmpty || JSON.stringify(headers).includes(EMPTY);
    reply.head(isEmpty ? status : 200, {});
    const answer = plainAnswer(dialect, { text: "Hello", usage: plainUsage(dialect, 10, 2), model: "m" });
    void reply.write(JSON.stringify(isEmpty ? refusal : answer));
    reply.end();
  });
}

describe("H64: a credential whose account has no money left", () => {
  test.each(REFUSALS)("%s: the next one answers, and the first is out of use", async (_, dialect, status, refusal) => {
    play(dialect, status, refusal, false);
    for (let call = 0; call < 3; call++)
      expect((await harness.call(dialect, { door: "dropin", model: `acme/${dialect}` })).status).toBe(200);
    const tried = harness.upstream.requests.filter(({ headers }) => JSON.stringify(headers).includes(EMPTY));
    expect(tried).toHaveLength(1);
  });

  test.each(REFUSALS)(
    "%s: if none is left, 503 says so, and not what the vendor said",
    async (_, dialect, status, refusal) => {
      play(dialect, status, refusal, true);
      const given = await harness.call(dialect, { door: "dropin", model: `acme/${dialect}` });
      expect(given.status).toBe(503);
      expect(given.text).toContain("the gateway's account has no credit or quota left");
      expect(given.text).toContain("Your Trivium key is valid.");
      expect(given.text).not.toContain("credit balance");
      expect(given.headers.get("x-should-retry")).toBe("false");
    },
  );

  test("a prompt about money is no refusal: only the beginning of a host's own message counts", async () => {
    const message = "messages.0: Your credit balance is too low is no valid role";
    play("messages", 400, { type: "error", error: { type: "invalid_request_error", message } }, true);
    expect((await harness.call("messages", { door: "dropin", model: "acme/messages" })).status).toBe(400);
  });

  test("the operator is told once a day which credential it is", async () => {
    const sent: { type: string; data: object }[] = [];
    const alerts = makeAlerts(harness.config, {
      gateway: harness.gateway,
      storage: harness.storage,
      sources: harness.gateway,
      condition: () => ({ status: "ready", reasons: [] }),
      post: ({ body }) => {
        sent.push(JSON.parse(body));
        return Promise.resolve({ status: 200, retryAfterMs: 0, body: "" });
      },
    });
    const [, dialect, status, refusal] = REFUSALS[4] ?? REFUSALS[0] ?? [];
    if (dialect === undefined || status === undefined || refusal === undefined) throw new Error("no refusal");
    play(dialect, status, refusal, false);
    await harness.call(dialect, { door: "dropin", model: `acme/${dialect}` });
    for (let look = 0; look < 3; look++) {
      await alerts.look();
      await harness.clock.pass(1000);
    }
    expect(sent.filter(({ type }) => type === "provider.credential")).toMatchObject([
      { data: { provider: "pair-messages", credential: "empty", reason: "unfunded", status: 400 } },
    ]);
  });
});
