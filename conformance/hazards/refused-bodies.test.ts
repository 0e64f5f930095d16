import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { scriptedHarness } from "../support/scripted-harness.ts";

const { gateway } = await scriptedHarness(() => ({ config: { server: { max_body_mb: 1 } } }));

const PART = Buffer.alloc(1024 * 1024, "x");

/**
 * Sends a body as most clients do: they read the response only when all of it is sent, and report a connection that closes before. Returns
 * the heads of the responses to it and to a second request on the same connection.
 */
async function sendWhole(megabytes: number, key: string): Promise<string[]> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  // Waiting for an event that does not come fails the test.
  socket.on("error", () => {});
  const heads: string[] = [];
  const next = async () => {
    let received = "";
    while (!received.includes("\r\n\r\n")) {
      const [data] = (await once(socket, "data")) as [Buffer];
      received += data.toString();
    }
    heads.push(received);
  };
  const head = (bytes: number) =>
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;
  try {
    await once(socket, "connect");
    const first = next();
    socket.write(head(megabytes * PART.length));
    for (let sent = 0; sent < megabytes; sent++) if (!socket.write(PART)) await once(socket, "drain");
    await first;
    const second = next();
    socket.write(`${head(2)}{}`);
    await second;
    return heads;
  } finally {
    socket.destroy();
  }
}

test("a client that sends a whole body before it reads gets 413, and its connection stays", async () => {
  const [refused, next] = await sendWhole(24, gateway.key);
  expect(refused).toStartWith("HTTP/1.1 413");
  expect(refused?.toLowerCase()).not.toContain("connection: close");
  expect(next).toStartWith("HTTP/1.1 400");
});

test("so does one with a wrong key get 401", async () => {
  const [refused] = await sendWhole(4, "sk-trv-wrong");
  expect(refused).toStartWith("HTTP/1.1 401");
});
