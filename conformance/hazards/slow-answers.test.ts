import { expect, test } from "bun:test";
import { eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";

/** Once over sockets; the other cases are in conformance/memory/timeouts.test.ts, in memory. */

const WAIT_MS = 400;
const { upstream, gateway } = await scriptedHarness((url) => ({
  config: scriptedModels(url, { first_byte: WAIT_MS, idle: WAIT_MS }),
}));

test("H18: silence in the middle of a non-streamed response is a timeout, and stops the upstream", async () => {
  upstream.play((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 1000 });
    response.write('{"id":');
  });
  const response = await callGateway(gateway.url, "chat", gateway.key, { stream: false });
  expect(response.status).toBe(504);
  expect(await response.text()).toContain(`sent nothing more for ${WAIT_MS} ms`);
  // The host learns of it from its socket, a moment later.
  await eventually("the host to be disconnected", () => upstream.disconnects > 0);
});
