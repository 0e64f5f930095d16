import { type JsonObject, parseObject } from "../../src/base/json.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { DerivedWorld, HOOK_URL, PARENT_KEY } from "../support/derived-world.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";

const FORBIDDEN = { messages: [{ role: "user", content: "forbidden" }] };
const judge = {
  name: "judge",
  use: "moderation",
  model: "test/judge",
  action: "block",
  on: ["request"],
  on_failure: "allow",
};
const hook = { ...judge, name: "hook", use: "webhook", url: HOOK_URL, model: undefined };
const key = (more: JsonObject) => ({ keys: [{ name: "tests", key: TEST_KEY, ...more }] });
const IMAGE_NANO_USD = 40_000_000;

/** A cheat in a gateway in memory. `run` returns what it got, and whether that is more than it may. */
const cheat = (
  id: string,
  tries: string,
  config: JsonObject,
  run: (world: DerivedWorld) => Promise<readonly [got: string, isMore: boolean]>,
): Cheat => ({
  id,
  tries,
  run: async (): Promise<Outcome> => {
    const world = await DerivedWorld.start(JSON.parse(JSON.stringify(config)));
    const [got, isMore] = await run(world);
    // Calls that go on without their client are billed too.
    await world.harness.clock.pass(200_000);
    const [sum] = await world.harness.storage.query("SELECT COALESCE(SUM(cost_nano_usd), 0) AS cost FROM receipts");
    const ledger = Number(sum?.["cost"]);
    const upstream = IMAGE_NANO_USD * world.asked.filter((asked) => asked === "image").length;
    return { got, upstream, ledger, ...(isMore ? { broken: "it got more than it may" } : {}) };
  },
});

/** Whether a forbidden text has reached a model. */
async function passes(world: DerivedWorld, headers: Record<string, string> = {}, as = TEST_KEY, body: JsonObject = {}) {
  const { status } = await world.answer(world.chat({ ...FORBIDDEN, ...body }, headers, as));
  return [`${status}`, world.asked.includes("text")] as const;
}

/** Calls that the gateway makes for a call: an image, a fallback, a guard's question, a line of a batch. */
export async function openDerived(): Promise<CheatGroup> {
  const limited = key({ end_users: { required: true, limits: { budget_usd_total: 0.03 } } });
  const ofParent = { name: "words", use: "words", words: ["forbidden"], action: "block", for: { keys: ["parent"] } };
  const ofSecond = { ...ofParent, for: { models: ["test/second"] } };
  const ignored = key({ limits_by_tag: { "team-*": { budget_usd_total: 0 } } });
  const asked = { model: "test/text", messages: [{ role: "user", content: "Hi" }] };
  const line = async (world: DerivedWorld, body: JsonObject, headers: Record<string, string>, as?: string) => {
    const { work, lines = [] } = await world.batch("chat", [body], headers, as);
    const [first] = lines;
    if (work === undefined || first === undefined) return { status: 400, receipts: [] };
    const outcome = await world.harness.clock.until(work.run(first, () => {}));
    if (typeof outcome === "string" || !("receipts" in outcome)) return { status: 429, receipts: [] };
    for (const receipt of outcome.receipts) await world.harness.gateway.ledger.write(receipt);
    return outcome;
  };
  return {
    atOnce: true,
    close: async () => {},
    cheats: [
      cheat("H73", "an image past the budget of the end user in the body", limited, async (world) => {
        const { status, text } = await world.answer(world.images({ user: "u-1" }));
        return [`${status}`, text.includes("aGk=")];
      }),
      cheat("H73", "a batch past the limits of its tags", ignored, async (world) => {
        const { status } = await line(world, asked, { "x-trivium-tags": "team-a" });
        return [`${status}`, status === 200];
      }),
      cheat("H73", "a batch to a provider that its request excludes", {}, async (world) => {
        const { receipts } = await line(world, asked, { "x-trivium-require": "region=eu" });
        return [`${receipts[0]?.provider}`, receipts[0]?.provider !== "eu"];
      }),
      cheat("H73", "a batch of a token for another end user", {}, async (world) => {
        const { receipts } = await line(world, { ...asked, user: "u-mallory" }, {}, await world.token());
        return [`${receipts[0]?.endUser}`, receipts[0]?.endUser !== "u-token"];
      }),
      cheat("H73", "models after the deadline", {}, async (world) => {
        world.takesMs.text = 700;
        const { status } = await world.answer(world.fallbacks({}, { "x-trivium-deadline-ms": "1000" }));
        return [`${status}`, world.asked.length > 2];
      }),
      ...[
        ["one slot", { limits: { concurrent: 1 } }, {}],
        ["a requirement", {}, { "x-trivium-require": "region=eu" }],
        ["a routing", {}, { "x-trivium-routing": '{"provider":{"providers":["eu"]}}' }],
        ["a limit by the minute", { limits: { requests_per_minute: 1 } }, {}],
        ["a short deadline", {}, { "x-trivium-deadline-ms": "5" }],
      ].map(([how, more, headers]) =>
        cheat("H74", `a forbidden text past its guard: ${how}`, { ...key(Object(more)), guards: [judge] }, (world) => {
          world.takesMs.judge = 10;
          return passes(world, Object(headers));
        }),
      ),
      cheat("H74", "a forbidden text past its guard: a long one", { guards: [judge] }, (world) => {
        world.instead = (is, { body }) =>
          is === "judge" && body.length > 4_000 ? { status: 400, body: {} } : undefined;
        const content = `${"x ".repeat(20_000)} forbidden`;
        return passes(world, {}, TEST_KEY, { messages: [{ role: "user", content }] });
      }),
      cheat("H74", "a forbidden text past its guard: one that a webhook does not take", { guards: [hook] }, (world) => {
        world.instead = (is) => (is === "hook" ? { status: 413, body: {} } : undefined);
        return passes(world);
      }),
      cheat(
        "H74",
        "failures in one project for the texts of another",
        {
          keys: [
            { name: "tests", key: TEST_KEY },
            { name: "other", key: PARENT_KEY, project: "other" },
          ],
          guards: [judge],
        },
        async (world) => {
          world.instead = (is) => (is === "judge" ? { status: 500, body: {} } : undefined);
          for (let at = 0; at < 8; at++) await passes(world);
          world.instead = () => undefined;
          world.asked.length = 0;
          return passes(world, {}, PARENT_KEY);
        },
      ),
      cheat("H76", "a forbidden text by a child of the guarded key", { guards: [ofParent] }, async (world) =>
        passes(world, {}, await world.childOf()),
      ),
      cheat("H57", "a forbidden text to a fallback model that its guard is for", { guards: [ofSecond] }, (world) => {
        world.instead = (is, _request, number) => (is === "text" && number < 5 ? { status: 500, body: {} } : undefined);
        return passes(world, {}, TEST_KEY, { provider: { fallback: "test/second" } });
      }),
      cheat(
        "H73",
        "one more image after the budget is spent",
        key({ limits: { budget_usd_total: 0.3 } }),
        async (world) => {
          let images = 0;
          for (let at = 0; at < 12; at++) {
            const { text } = await world.answer(world.images({ max_output_tokens: 10 }));
            if (text.includes("aGk=") && parseObject(text) !== undefined) images++;
          }
          return [`${images} images`, images > 7];
        },
      ),
    ],
  };
}
