/**
 * One provider of the failover run: it answers chat completions after a while, streamed or not, and can be told to stall or
 * to refuse. It is a process of its own, so that it can be killed. Arguments: its name, and its port.
 */
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ANSWER, CHUNK_MS, FIRST_CONTENT_MS, type ProviderMode } from "./traffic.ts";

const [name = "provider", port = "0"] = process.argv.slice(2);
const usage = plainUsage("chat", 10, ANSWER.length);
let mode: ProviderMode = "answer";

async function* stream(): AsyncGenerator<string> {
  for (const word of ANSWER) {
    yield wire.chatChunk({ content: word });
    await Bun.sleep(CHUNK_MS);
  }
  yield wire.chatChunk({}, "stop");
  yield wire.chatUsage(usage);
  yield wire.done;
}

async function answer(request: Request): Promise<Response> {
  const { stream: streamed } = (await request.json()) as { stream?: boolean };
  if (mode === "stall") await new Promise(() => {});
  if (mode === "refuse") {
    const error = { message: "Too many requests", type: "rate_limit_error" };
    return Response.json({ error }, { status: 429, headers: { "retry-after": "2" } });
  }
  await Bun.sleep(FIRST_CONTENT_MS);
  if (streamed) return new Response(stream(), { headers: { "content-type": "text/event-stream" } });
  await Bun.sleep(CHUNK_MS * ANSWER.length);
  return Response.json(plainAnswer("chat", { text: ANSWER.join(""), usage }));
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  idleTimeout: 0,
  fetch: async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname !== "/mode") return answer(request);
    mode = (await request.text()) as ProviderMode;
    return new Response(`${name}: ${mode}`);
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
