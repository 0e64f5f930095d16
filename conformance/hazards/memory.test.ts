import { afterAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import type { Timings } from "../../src/relay/settle/timings.ts";
import { eventually, shortPause } from "../../testing/eventually.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway } from "../support/test-gateway.ts";

const LIMITED = `sk-trv-${"OneCallAtATime".padEnd(43, "x")}`;
const OTHER = `sk-trv-${"SomebodyElse".padEnd(43, "x")}`;
const MB = 1024 * 1024;

const options = (timings: Partial<Timings>) => ({
  config: {
    server: { host: "127.0.0.1", port: 0, drain_seconds: 0, max_body_mb: 8, memory_mb: 16 },
    keys: [
      { name: "tests", key: TEST_KEY },
      { name: "one", key: LIMITED, limits: { concurrent: 1 } },
      { name: "other", key: OTHER },
    ],
  },
  timings,
});

const gateway = await startTestGateway(options({}));
const impatient = await startTestGateway(options({ bodyStallMs: 400, bodyBytesPerSecond: MB }));
/**
 * A body may take longer than a stall; at the minimum rate the smaller one has minutes, since a busy machine
 * pauses.
 */
const slow = await startTestGateway(options({ bodyStallMs: 5, bodyBytesPerSecond: 100 }));
afterAll(() => Promise.all([gateway.stop(), impatient.stop(), slow.stop()]));

interface Protocol {
  path: string;
  headers: (key: string) => Record<string, string>;
  message: (answer: never) => { type: string; message: string };
}

const PROTOCOLS: Record<string, Protocol> = {
  chat: {
    path: "/api/v1/chat/completions",
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    message: ({ error }: { error: { type: string; message: string } }) => error,
  },
  messages: {
    path: "/api/msg/v1/messages",
    headers: (key) => ({ "x-api-key": key, "partner-version": "2023-06-01" }),
    message: ({ error }: { error: { type: string; message: string } }) => error,
  },
  genai: {
    path: "/api/genai/v1/publishers/test/models/genai:generateContent",
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    message: ({ error }: { error: { status: string; message: string } }) => ({
      type: error.status,
      message: error.message,
    }),
  },
};

/** A request whose body is announced but not sent. */
function announce({ path, headers }: Protocol, key: string, bytes: number | "chunked", { url } = gateway): Announced {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    "content-type: application/json",
    bytes === "chunked" ? "transfer-encoding: chunked" : `content-length: ${bytes}`,
    ...Object.entries(headers(key)).map(([name, value]) => `${name}: ${value}`),
  ];
  let received = "";
  const ended = Promise.withResolvers<string>();
  socket.on("data", (data) => {
    received += data;
  });
  socket.on("error", () => {});
  socket.on("close", () => ended.resolve(received));
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  return { socket, answer: ended.promise };
}

interface Announced {
  socket: Socket;
  /** Everything received until the connection was closed. */
  answer: Promise<string>;
}

const post = ({ path, headers }: Protocol, key: string, body: string) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { ...headers(key), "content-type": "application/json" },
    body,
  });

describe.each(Object.keys(PROTOCOLS))("S17 in %s", (name) => {
  const protocol = PROTOCOLS[name] as Protocol;

  test("a key with one concurrent call is refused while another of its bodies arrives, before its own is read", async () => {
    // Whichever of the two arrives first is admitted: they are resent until it is the announced one.
    const { first, refused } = await eventually("a refusal", async () => {
      const announced = announce(protocol, LIMITED, 1000);
      const response = await post(protocol, LIMITED, "this is no JSON");
      if (response.status === 429) return { first: announced, refused: response };
      await response.text();
      announced.socket.destroy();
      return undefined;
    });
    const { message } = protocol.message((await refused.json()) as never);
    expect(message).toContain('The key "one" has 1 calls in flight');
    first.socket.destroy();
    await eventually("the slot", async () => (await post(protocol, LIMITED, "this is no JSON")).status === 400);
  });

  test("bodies beyond the memory for calls are refused before they are read: 429 for the key that holds half of it, 503 for all", async () => {
    const large = JSON.stringify({ contents: "x".repeat(2 * MB) });
    /** Whichever of the two arrives first is admitted: they are resent until it is the announced one. */
    const crowdedOut = (holder: string, bytes: number, key: string, wanted: (status: number) => boolean) =>
      eventually("a refusal", async () => {
        const held = announce(protocol, holder, bytes);
        const refused = await post(protocol, key, large);
        if (wanted(refused.status)) return { held, refused };
        await refused.text();
        held.socket.destroy();
        return undefined;
      });
    const { held, refused: greedy } = await crowdedOut(TEST_KEY, 8 * MB, TEST_KEY, (status) => status === 429);
    expect(protocol.message((await greedy.json()) as never).message).toContain("which is the limit for one key");
    expect(greedy.headers.get("retry-after")).toBe("1");
    const { held: other, refused: full } = await crowdedOut(OTHER, 7 * MB, LIMITED, (status) => status >= 500);
    expect(full.status).toBe(name === "messages" ? 529 : 503);
    expect(full.headers.get("retry-after")).toBe("1");
    expect(protocol.message((await full.json()) as never).message).toContain("reached its memory limit");
    // What is small still fits.
    expect((await post(protocol, LIMITED, "no JSON")).status).toBe(400);
    held.socket.destroy();
    other.socket.destroy();
    await eventually("the memory", async () => (await post(protocol, TEST_KEY, large)).status < 429);
  });

  test.each([
    ["announced", 4 * MB],
    ["in chunks", "chunked"],
  ] as const)("a large body that trickles is abandoned, and its connection closed (%s)", async (_, bytes) => {
    const { socket, answer } = announce(protocol, TEST_KEY, bytes, impatient);
    // One byte at a time, faster than a stall: only the rate is too low.
    const trickle = setInterval(() => socket.write(bytes === "chunked" ? "1\r\n \r\n" : " "), 50);
    const text = await answer;
    clearInterval(trickle);
    expect(text).toContain("HTTP/1.1 400");
    expect(text).toContain("more slowly than 1024 KB per second");
  });

  test.each([20 * 1024, 700 * 1024])(
    "a body of %d bytes that arrives at the minimum rate or faster is read to its end",
    async (bytes) => {
      const { socket, answer } = announce(protocol, TEST_KEY, bytes, slow);
      const chunks = 8;
      for (let chunk = 0; chunk < chunks; chunk++) {
        socket.write(" ".repeat(bytes / chunks));
        await shortPause();
      }
      socket.end();
      expect(await answer).toContain("The body is not valid JSON");
    },
  );
});
