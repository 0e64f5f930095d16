import { expect, test } from "bun:test";
import { connect } from "node:net";
import { buildCall } from "../support/client-calls.ts";
import { scriptedStand } from "../support/scripted-stand.ts";
import { sendJson, sleep, startEvents, wire } from "../support/scripted-upstream.ts";
import { scriptedModels } from "../support/test-gateway.ts";

/** The runtime looks at silent connections every four seconds. */
const LOOK_MS = 4_000;
const SILENCE_MS = 1_000;

const { upstream, gateway } = await scriptedStand((url) => ({
  config: scriptedModels(url, { first_byte: 60_000, idle: 60_000 }),
  timings: { strangerConnectionMs: SILENCE_MS, idleConnectionMs: SILENCE_MS },
}));

/** What came on a connection until the gateway closed it, or for long enough to know that it does not. */
async function watch(bytes: string): Promise<{ text: string; closed: boolean }> {
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  const closed = Promise.withResolvers<boolean>();
  socket.on("data", (data) => {
    text += data;
  });
  socket.on("error", () => {});
  socket.on("close", () => closed.resolve(true));
  socket.write(bytes);
  const timer = setTimeout(() => closed.resolve(false), 30_000);
  const result = await closed.promise;
  clearTimeout(timer);
  socket.destroy();
  return { text, closed: result };
}

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`;

function call(dialect: "chat" | "genai", stream: boolean): string {
  const [url, init] = buildCall(gateway.url, dialect, gateway.key, { stream });
  const { pathname, search } = new URL(url);
  const body = String(init.body);
  const headers = Object.entries({ host: "127.0.0.1", ...(init.headers as object), "content-length": body.length });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `POST ${pathname}${search} HTTP/1.1\r\n${lines}\r\n${body}`;
}

test("S16: silent connections are closed, before a call and after it, and not while an answer runs", async () => {
  const slowMs = SILENCE_MS + LOOK_MS + 1_000;
  upstream.play(async ({ path }, response) => {
    if (path.includes("stream")) {
      startEvents(response);
      response.write(wire.genaiChunk("a"));
      await sleep(slowMs);
      response.end(wire.genaiChunk("b", "STOP"));
      return;
    }
    await sleep(slowMs);
    const message = { role: "assistant", content: "hello" };
    sendJson(response, { id: "1", object: "chat.completion", choices: [{ index: 0, finish_reason: "stop", message }] });
  });
  const [health, wrongKey, notFound, slowAnswer, slowStream] = await Promise.all([
    watch(get("/healthz")),
    watch(call("chat", false).replace(gateway.key, "sk-trv-wrong")),
    watch(get("/api/v1/generation?id=x", `authorization: Bearer ${gateway.key}\r\n`)),
    watch(call("chat", false)),
    watch(call("genai", true)),
  ]);
  expect(health.text).toStartWith("HTTP/1.1 200");
  expect(wrongKey.text).toStartWith("HTTP/1.1 401");
  expect(notFound.text).toStartWith("HTTP/1.1 404");
  expect(slowAnswer.text).toStartWith("HTTP/1.1 200");
  expect(slowStream.text).toStartWith("HTTP/1.1 200");
  expect(slowStream.text).toContain("FINISH_REASON_STOP");
  for (const { closed } of [health, wrongKey, notFound, slowAnswer, slowStream]) expect(closed).toBe(true);
}, 60_000);
