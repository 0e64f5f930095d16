import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { drained, startEvents } from "../support/scripted-upstream.ts";

/** The shortest time that the runtime can wait for a pong. */
const HALF_OPEN_MS = 8_000;

const { upstream, gateway } = await scriptedHarness((url) => ({
  config: scriptedModels(url),
  timings: { slowReaderMs: 300, halfOpenConnectionMs: HALF_OPEN_MS },
}));

/** A WebSocket of which the test plays every byte. Resolves after the handshake. */
async function open(): Promise<Socket> {
  const { hostname, port, host } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  const lines = [
    "GET /v1/responses HTTP/1.1",
    `Host: ${host}`,
    `Authorization: Bearer ${gateway.key}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const head = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  expect(head.toString()).toStartWith("HTTP/1.1 101 ");
  return socket;
}

/** A text frame, with a mask that changes nothing. */
function frame(event: object): Buffer {
  const payload = Buffer.from(JSON.stringify(event));
  const head = Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 0xff, 0, 0, 0, 0]);
  return Buffer.concat([head, payload]);
}

test("H13, H20, decision 0115: a client that reads no frames stops its upstream, and its connection is closed", async () => {
  const chunk = wire.chatChunk({ content: "x".repeat(100_000) });
  let written = 0;
  upstream.play(async (_request, response) => {
    startEvents(response);
    while (!response.destroyed) {
      written += chunk.length;
      if (!response.write(chunk)) await drained(response);
    }
  });
  const socket = await open();
  socket.pause();
  socket.write(frame({ type: "response.create", model: "test/chat", input: "Hello", store: false }));
  await eventually("the upstream to be stopped", () => upstream.disconnects === 1);
  // The buffers of two sockets, and not the whole response.
  expect(written).toBeLessThan(64 * 1024 * 1024);
  const closed = new Promise((resolve) => socket.once("close", () => resolve("closed")));
  socket.resume();
  expect(await closed).toBe("closed");
});

test("decision 0115: a client that answers no ping is disconnected", async () => {
  const socket = await open();
  const closed = new Promise((resolve) => socket.once("close", () => resolve("closed")));
  const pings: number[] = [];
  socket.on("data", (bytes: Buffer) => pings.push(bytes[0] ?? 0));
  expect(await closed).toBe("closed");
  // A ping without content.
  expect(pings[0]).toBe(0x89);
});
