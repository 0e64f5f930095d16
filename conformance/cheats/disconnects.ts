import type { CallOptions } from "../../testing/build-call.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { BillingHarness, LANES } from "./billing-harness.ts";
import { type Chunk, type Performance, words } from "./billing-host.ts";
import type { Cheat, CheatGroup } from "./cheat.ts";
import { type CloseKind, statusesOf, visit } from "./rude-client.ts";

/** Much hidden thinking, few words, and the usage shortly after the last of them. */
const THINKER: Performance = {
  promptTokens: 12,
  thinkingTokens: 3_000,
  thinkingMs: 150,
  chunks: words(6, "the-last-word"),
  everyMs: 10,
  tailMs: 60,
};

/** Lasts longer than any response is read on. */
const endless = (chunk: Chunk, thinkingTokens = 0): Performance => ({
  promptTokens: 12,
  thinkingTokens,
  thinkingMs: thinkingTokens > 0 ? 200 : 0,
  chunks: [["first-word ", 3], ...Array.from({ length: 400 }, () => chunk)],
  everyMs: 10,
});

type DisconnectWhen = (text: string, ms: number) => boolean;

const MOMENTS: Readonly<Record<string, { disconnectWhen: DisconnectWhen; stream: boolean }>> = {
  "before the headers": { stream: true, disconnectWhen: (_, ms) => ms > 60 },
  "at the first word": { stream: true, disconnectWhen: (text) => text.includes("word") },
  "at the last word": { stream: true, disconnectWhen: (text) => text.includes("the-last-word") },
  "while a non-streamed answer is awaited": { stream: false, disconnectWhen: (_, ms) => ms > 60 },
};

/** How each host is asked for much thinking. */
const THINK: Record<ScriptedDialect, Record<string, unknown>> = {
  chat: { reasoning_effort: "medium" },
  messages: { max_tokens: 8_000, thinking: { type: "enabled", budget_tokens: 4_000 } },
  responses: { reasoning: { effort: "medium" } },
  genai: { generationConfig: { thinkingConfig: { thinkingBudget: 4_000 } } },
};

/** H26: disconnecting does not change the price. */
export async function openDisconnects(): Promise<CheatGroup> {
  const harness = await BillingHarness.open({ timings: { commitDeadlineMs: 10_000 } });
  const cheat = (
    tries: string,
    performance: Performance,
    client: ScriptedDialect,
    options: CallOptions,
    disconnectWhen: DisconnectWhen,
    close: CloseKind = "closes",
  ): Cheat => ({
    id: "H26",
    tries,
    run: async () => {
      const purse = harness.purse(performance);
      const { text } = await visit(harness.call(purse, client, options), disconnectWhen, close);
      return harness.outcome(purse, `${statusesOf(text)}, ${text.length} bytes`);
    },
  });
  const cheats: Cheat[] = [];
  for (const { client, host } of LANES) {
    for (const [moment, { disconnectWhen, stream }] of Object.entries(MOMENTS)) {
      for (const close of moment === "at the last word" ? (["closes", "resets"] as const) : (["resets"] as const)) {
        const tries = `${client} client of a ${host} host ${close} ${moment}`;
        cheats.push(cheat(tries, THINKER, client, { model: `test/${host}`, stream }, disconnectWhen, close));
      }
    }
    const first: DisconnectWhen = (text) => text.includes("first-word");
    const more: DisconnectWhen = (text) => (text.match(/more/g)?.length ?? 0) > 20;
    const options = { model: `test/${host}`, stream: true };
    cheats.push(
      cheat(
        `${client} client of a ${host} host asks for much thinking, disconnects at the first of many words`,
        endless(["more ", 1], 3_900),
        client,
        { ...options, body: THINK[client] },
        first,
      ),
      cheat(
        `${client} client of a ${host} host disconnects from an endless answer`,
        endless(["more ", 1]),
        client,
        options,
        more,
      ),
      cheat(
        `${client} client of a ${host} host disconnects from an endless answer in Chinese`,
        endless(["更多的话more", 5]),
        client,
        options,
        more,
      ),
      cheat(
        `${client} client of a ${host} host disconnects from an endless answer of digits, three a token`,
        endless(["314", 1]),
        client,
        options,
        (text) => (text.match(/314/g)?.length ?? 0) > 20,
      ),
      cheat(
        `${client} client of a ${host} host disconnects from an endless answer of emoji`,
        endless(["🦑more", 2]),
        client,
        options,
        more,
      ),
    );
  }
  cheats.push(
    cheat(
      "half-closes at the first word and reads on",
      THINKER,
      "chat",
      { model: "test/chat", stream: true },
      (text) => text.includes("word"),
      "sends FIN and reads on",
    ),
    cheat(
      "half-closes before the headers and reads on",
      THINKER,
      "chat",
      { model: "test/chat" },
      (_, ms) => ms > 60,
      "sends FIN and reads on",
    ),
  );
  return { cheats, atOnce: true, close: () => harness.close() };
}
