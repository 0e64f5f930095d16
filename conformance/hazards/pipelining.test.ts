import { beforeEach, expect, test } from "bun:test";
import { connect } from "node:net";
import { buildCall } from "../../testing/build-call.ts";
import { eventually } from "../../testing/eventually.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

beforeEach(() => {
  upstream.play((_request, response) => {
    sendJson(response, plainAnswer("chat", { text: "hello", usage: plainUsage("chat", 1, 1) }));
  });
});

/** A request as bytes. */
function bytesOf(dialect: (typeof SCRIPTED_DIALECTS)[number]): string {
  const [url, { headers, body }] = buildCall(gateway.url, dialect, gateway.key, { model: "test/chat" });
  const lines = Object.entries(headers as Record<string, string>).map(([name, value]) => `${name}: ${value}\r\n`);
  const { host, pathname, search } = new URL(url);
  return `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${lines.join("")}content-length: ${Buffer.byteLength(String(body))}\r\n\r\n${body}`;
}

/** Everything received on one connection until the peer closes it or a response is complete. */
function exchange(sent: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  let received = "";
  socket.on("data", (data) => {
    received += data;
    if (received.includes("\r\n\r\n") && received.includes("hello")) socket.destroy();
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(received));
  socket.write(sent);
  return promise;
}

test.each([...SCRIPTED_DIALECTS])(
  "decision 0090: two requests in one packet: no provider is called for %s, since the runtime closes the connection",
  async (dialect) => {
    const call = bytesOf(dialect);
    expect(await exchange(call + call)).toBe("");
    // A single one is answered; by then the others would have been seen too.
    expect(await exchange(call)).toContain("hello");
    expect(upstream.seen).toHaveLength(1);
    await eventually("all bytes to be released", () => gateway.app.heldBytes() === 0);
  },
);
