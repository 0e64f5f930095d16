import { describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { eventually } from "../../testing/eventually.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

const answerOf = (dialect: DialectName) => plainAnswer(dialect, { text: "hi", usage: plainUsage(dialect, 1, 1) });

/** Lets the gateway keep a connection, and gives it time to rest. */
async function warmUp(dialect: DialectName): Promise<void> {
  upstream.play((_request, response) => void sendJson(response, answerOf(dialect)));
  await (await callGateway(gateway.url, dialect, gateway.key)).text();
  const restsSince = Date.now();
  await eventually("the connection to have rested", () => Date.now() > restsSince + 2);
}

describe("H32: a client's call reaches the provider as often as its receipt says", () => {
  const ways: Record<string, (socket: Socket | null) => void> = {
    closes: (socket) => void socket?.end(),
    resets: (socket) => void socket?.resetAndDestroy(),
  };
  for (const dialect of SCRIPTED_DIALECTS) {
    for (const [how, close] of Object.entries(ways)) {
      for (const stream of [false, true]) {
        test(`${dialect}${stream ? ", streaming" : ""}: a host ${how} every connection on which it has read a request`, async () => {
          await warmUp(dialect);
          upstream.play((_request, response) => close(response.socket));
          const response = await callGateway(gateway.url, dialect, gateway.key, { stream });
          expect(response.status).toBe(502);
          await response.text();
          const { offers, cost_nano_usd } = await gateway.receipt(response);
          expect(upstream.seen.length).toBe(offers.length);
          // The table of choices 4: one retry, and no more.
          expect(offers.map(({ outcome, reason }) => [outcome, reason])).toEqual([
            ["failed", "upstream_failed"],
            ["failed", "upstream_failed"],
          ]);
          expect(cost_nano_usd).toBe(0);
        });
      }
    }
  }

  test("a reused connection closed by the host costs one attempt, which the receipt shows", async () => {
    await warmUp("chat");
    const kept = new Set<Socket | null>();
    upstream.play((_request, response: ServerResponse) => {
      if (kept.size > 0) return void sendJson(response, answerOf("chat"));
      kept.add(response.socket);
      response.socket?.destroy();
    });
    const response = await callGateway(gateway.url, "chat", gateway.key);
    expect(response.status).toBe(200);
    const { offers } = await gateway.receipt(response);
    expect(offers.map(({ outcome }) => outcome)).toEqual(["failed", "answered"]);
    expect(upstream.seen).toHaveLength(2);
  });
});
