import { expect, test } from "bun:test";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

/** Once over sockets; every protocol and status is in conformance/memory/retries.test.ts, in memory. */
test("H19: a provider's long Retry-After is passed on, and no provider is called again", async () => {
  upstream.play(
    (_request, response) => void sendJson(response, { error: { message: "busy" } }, 503, { "Retry-After": "30" }),
  );
  const response = await callGateway(gateway.url, "chat", gateway.key);
  expect([response.status, response.headers.get("retry-after"), upstream.seen.length]).toEqual([503, "30", 1]);
});
