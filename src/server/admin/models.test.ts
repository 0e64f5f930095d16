import { expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";
import type { CatalogueModel } from "./schemas/model.ts";

const ANSWER = plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 1_000, 500) });

test("choices 10: a model and its offers have measured speeds of the last day, and prices with origin and age", async () => {
  const admin = await AdminHarness.start();
  const model = async () => {
    const { json } = await admin.ask("GET", "/api/models?text=test/chat", { secret: ADMIN_SECRET });
    return (json["data"] as CatalogueModel[])[0];
  };
  expect(await model()).toMatchObject({
    measured: null,
    offers: [
      {
        provider: "up-chat",
        measured: null,
        prices: {
          prompt: { value: 1, unit: "perMTokens", more: false, origin: "configuration", as_of: null, days: null },
        },
      },
    ],
  });
  const { upstream } = admin.gateway;
  upstream.play(upstream.json(ANSWER));
  await admin.gateway.call("chat");
  const measured = { calls: 1, failures: 0, tokens_per_second: null };
  expect(await model()).toMatchObject({ measured, offers: [{ measured }] });
  await admin.clock.pass(25 * 3_600_000);
  expect((await model())?.measured).toBeNull();
});

test("choices 10: a price of the catalogue has the day of its list", async () => {
  const admin = await AdminHarness.start();
  const { json } = await admin.ask("GET", "/api/models?provider=up-messages&limit=500", { secret: ADMIN_SECRET });
  const prices = (json["data"] as CatalogueModel[]).flatMap(({ offers }) =>
    offers.flatMap((one) => one.prices["prompt"] ?? []),
  );
  const listed = prices.find(({ origin }) => origin === "built-in");
  expect(listed?.as_of).toMatch(/^20\d\d-\d\d-\d\d$/);
  expect(typeof listed?.days).toBe("number");
});
