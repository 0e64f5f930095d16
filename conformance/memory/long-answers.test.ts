import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";

/** Answers whose texts pass through the gateway without being decoded. */
const CLIENTS: readonly ScriptedDialect[] = ["chat", "messages", "genai", "responses"];
const TEXT = 'Prüfe "alles"\n\\ – 構成 🙂 '.repeat(900);
const CHARACTERS = TEXT.length;

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
});

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
afterEach(() => expect(harness.leftovers()).toEqual(NOTHING_LEFT));

const reply =
  (body: Buffer): Script =>
  (exchange) => {
    exchange.head(200, {});
    void exchange.write(body);
    exchange.end();
  };

async function ask(client: ScriptedDialect, body: object): Promise<{ text: string; receipt: ReceiptData }> {
  harness.upstream.play(reply(body instanceof Buffer ? body : Buffer.from(JSON.stringify(body))));
  const limit = client === "messages" ? { max_tokens: 8_000 } : {};
  const answer = await harness.call(client, { model: `test/${client}`, body: limit });
  expect(answer.status).toBe(200);
  return { text: answer.text, receipt: await harness.receipt(answer) };
}

describe.each(CLIENTS)("%s", (client) => {
  const answerWith = (usage: object) => plainAnswer(client, { text: TEXT, usage });

  test("the client gets the whole text, and the usage that the host reported is billed", async () => {
    const { text, receipt } = await ask(client, answerWith(plainUsage(client, 10, 5_000)));
    expect(text).toContain(JSON.stringify(TEXT));
    expect(receipt).toMatchObject({ lane: "native", usage: { input: 10, output: 5_000 }, usage_source: "measured" });
  });

  test("a text without usage is counted", async () => {
    const { text, receipt } = await ask(client, answerWith({}));
    expect(text).toContain(JSON.stringify(TEXT));
    expect(receipt.usage_source).toBe("estimated");
    expect(receipt.usage["output"]).toBeGreaterThan(CHARACTERS / 4);
  });

  test("an implausibly small usage is corrected by the length of the text", async () => {
    const { text, receipt } = await ask(client, answerWith(plainUsage(client, 10, 1)));
    expect(text).toContain(JSON.stringify(TEXT));
    expect(receipt).toMatchObject({ usage_source: "estimated", reported: { output: 1 } });
    expect(receipt.usage["output"]).toBeGreaterThan(CHARACTERS / 4);
  });

  test("invalid UTF-8 in a text is replaced", async () => {
    const bytes = Buffer.from(JSON.stringify(answerWith(plainUsage(client, 10, 5_000))));
    bytes[bytes.indexOf("Prüfe") + 2] = 0xff;
    const { text, receipt } = await ask(client, bytes);
    expect(text).toContain(`Pr\ufffd\ufffdfe`);
    expect(receipt).toMatchObject({ usage: { output: 5_000 }, usage_source: "measured" });
  });

  test("a line break in a text makes it invalid", async () => {
    const written = JSON.stringify(answerWith(plainUsage(client, 10, 5_000)));
    harness.upstream.play(reply(Buffer.from(written.replace("\\n", "\n"))));
    const answer = await harness.call(client, { model: `test/${client}` });
    expect(answer.status).toBe(502);
    expect(answer.text).toContain("not JSON");
  });
});
