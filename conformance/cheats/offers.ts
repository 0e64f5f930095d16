import type { JsonObject } from "../../src/base/json.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { DerivedWorld } from "../support/derived-world.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";

const SECOND = "test/second";
/** One call reaches each of them. */
const LIMITS = [
  { budget_usd_total: 0.00003 },
  { requests_per_day: 1 },
  { tokens_per_day: 25 },
  { requests_per_minute: 1 },
];
const IMAGE_LIMITS = [{ budget_usd_total: 0.04 }, { requests_per_day: 1 }, { requests_per_minute: 1 }];
/** The offers of the first model, each tried twice. */
const FIRST_ATTEMPTS = 4;
const SHORT = { max_tokens: 10 };

type Attack = (world: DerivedWorld) => Promise<readonly string[]>;

const ask = async (world: DerivedWorld, body: JsonObject, headers: Record<string, string> = {}) => {
  const { status } = await world.answer(world.chat({ ...SHORT, ...body }, headers));
  return [`${status}`];
};

/** Ways to a model that the request does not name first, with the settings that they need. */
const WAYS: readonly (readonly [string, Attack, JsonObject?, JsonObject?])[] = [
  ["as the fallback in the body", (world) => ask(world, { provider: { fallback: SECOND } })],
  [
    "as the fallback in a header",
    (world) => ask(world, {}, { "x-trivium-routing": JSON.stringify({ provider: { fallback: SECOND } }) }),
  ],
  [
    "as the fallback, by an alias",
    (world) => ask(world, { provider: { fallback: "pet/name" } }),
    { aliases: { "pet/name": SECOND } },
  ],
  ["as the fallback of its key", (world) => ask(world, {}), {}, { routing: { fallback: SECOND } }],
  ["as the fallback of the gateway", (world) => ask(world, {}), { routing: { fallback: SECOND } }],
  ["as the fallback of a stream", (world) => ask(world, { stream: true, provider: { fallback: SECOND } })],
  [
    "as the second offer of a hedge",
    (world) => {
      world.takesMs.text = 20_000;
      return ask(world, { provider: { fallback: SECOND } }, { "x-trivium-hedge": "true" });
    },
  ],
  [
    "as a choice of trivium/auto",
    (world) => ask(world, { model: "trivium/auto", model_routing_config: { available_models: ["test/text", SECOND] } }),
  ],
  [
    "as the model of a refused Messages request",
    async (world) => [`${(await world.answer(world.fallbacks({ max_tokens: 10 }))).status}`],
  ],
  [
    "as the default of a refused Messages request",
    async (world) => [`${(await world.answer(world.fallbacks({ max_tokens: 10, fallbacks: "default" }))).status}`],
    { routing: { fallback: SECOND } },
  ],
  ["in a line of a batch", (world) => line(world, { ...ASKED, model: SECOND })],
  ["as the fallback of a line of a batch", (world) => line(world, { ...ASKED, provider: { fallback: SECOND } })],
  ["in a batch at its provider", (world) => nativeLine(world, { ...ASKED, model: SECOND })],
  [
    "ten times at once",
    async (world) => {
      const body = { ...SHORT, provider: { fallback: SECOND } };
      const sent = Array.from({ length: 10 }, () => world.chat(body).answer);
      return (await world.harness.clock.until(Promise.all(sent))).map(({ status }) => `${status}`);
    },
  ],
];

const ASKED = { model: "test/text", messages: [{ role: "user", content: "Hi" }], ...SHORT };

async function line(world: DerivedWorld, body: JsonObject): Promise<string[]> {
  const { work, lines = [] } = await world.batch("chat", [body]);
  const [first] = lines;
  if (work === undefined || first === undefined) return ["not created"];
  const outcome = await world.harness.clock.until(work.run(first, () => {}));
  if (typeof outcome === "string" || !("receipts" in outcome)) return ["later"];
  for (const receipt of outcome.receipts) await world.harness.gateway.ledger.write(receipt);
  return [`${outcome.status}`];
}

const PREPARED = "prepared";

/** Whether the provider would be given the line. */
async function nativeLine(world: DerivedWorld, body: JsonObject): Promise<string[]> {
  const { work, lines = [] } = await world.batch("chat", [body]);
  const [first] = lines;
  if (work === undefined || first === undefined) return ["not created"];
  const prepared = await world.harness.clock.until(work.prepare(first, undefined, true));
  return ["body" in prepared ? PREPARED : JSON.stringify(prepared)];
}

const cheat = (
  tries: string,
  config: JsonObject,
  run: (world: DerivedWorld) => Promise<readonly [string, boolean]>,
): Cheat => ({
  id: "H58",
  tries,
  run: async (): Promise<Outcome> => {
    const world = await DerivedWorld.start(config);
    const [got, isMore] = await run(world);
    await world.harness.clock.pass(200_000);
    return { got, ...(isMore ? { broken: "a model was called over its limit" } : {}) };
  },
});

/** An admission that knows one model of a plan, although others may answer. */
export async function openOffers(): Promise<CheatGroup> {
  const cheats = WAYS.flatMap(([way, attack, config = {}, ofKey = {}]) =>
    LIMITS.map((limits) => {
      const [limit = ""] = Object.keys(limits);
      const limited = { name: "tests", key: TEST_KEY, ...ofKey, limits_by_model: { [SECOND]: limits } };
      return cheat(`a model over its ${limit}: ${way}`, { keys: [limited], ...config }, async (world) => {
        await ask(world, { model: SECOND });
        world.asked.length = 0;
        const failing = way.includes("Messages") ? 0 : way.includes("ten times") ? 10 * FIRST_ATTEMPTS : FIRST_ATTEMPTS;
        world.instead = (asked, _request, number) =>
          asked === "text" && number <= failing ? { status: 500, body: {} } : undefined;
        const before = new Set((await world.receipts()).map(({ id }) => id));
        const got = await attack(world);
        const receipts = (await world.receipts()).filter(({ id }) => !before.has(id));
        const billed = receipts.filter(({ model, cost_nano_usd }) => model === SECOND && cost_nano_usd > 0);
        // A line of a batch is not one of the requests of a minute (choices 12).
        const mayRun = "requests_per_minute" in limits && way.includes("batch");
        return [got.join(" "), !mayRun && (billed.length > 0 || got.includes(PREPARED))];
      });
    }),
  );
  const images = IMAGE_LIMITS.map((limits) => {
    const limited = { name: "tests", key: TEST_KEY, limits_by_model: { "test/painter": limits } };
    const tries = `an image of a model over its ${Object.keys(limits)[0]}, in the middle of a response`;
    return cheat(tries, { keys: [limited] }, async (world) => {
      const draw = () => world.answer(world.images({ max_output_tokens: 10 }));
      await draw();
      const first = world.asked.filter((asked) => asked === "image").length;
      const { status } = await draw();
      const images = world.asked.filter((asked) => asked === "image").length;
      return [`${status}, ${first} then ${images - first} images`, first !== 1 || images > first];
    });
  });
  return { atOnce: true, close: async () => {}, cheats: [...cheats, ...images] };
}
