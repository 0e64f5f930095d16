/**
 * One provider of the failover run: it answers chat completions after a delay, streamed or not, and can be told to
 * stall or to refuse. It is a separate process, so that it can be killed. Arguments: its name and port.
 */
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ANSWER, CHUNK_MS, FIRST_CONTENT_MS, type ProviderMode } from "./traffic.ts";

const [name = "provider", port = "0"] = process.argv.slice(2);
const usage = plainUsage("chat", 10, ANSWER.length);
let mode: ProviderMode = "answer";

interface Asked {
  stream?: boolean;
  messages: { role: string; content: string | { text: string }[] }[];
}

/** The remaining text: a conversation may end with the beginning of the response. */
function wordsLeft({ messages }: Asked): readonly string[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return ANSWER;
  const said = typeof last.content === "string" ? last.content : last.content.map(({ text }) => text).join("");
  return (
    ANSWER.join("")
      .slice(said.length)
      .match(/\s*\S+\s*/g) ?? []
  );
}

async function* stream(words: readonly string[]): AsyncGenerator<string> {
  for (const word of words) {
    yield wire.chatChunk({ content: word });
    await Bun.sleep(CHUNK_MS);
  }
  yield wire.chatChunk({}, "stop");
  yield wire.chatUsage(usage);
  yield wire.done;
}

async function answer(request: Request): Promise<Response> {
  const asked = (await request.json()) as Asked;
  const words = wordsLeft(asked);
  if (mode === "stall") await new Promise(() => {});
  if (mode === "refuse") {
    const error = { message: "Too many requests", type: "rate_limit_error" };
    return Response.json({ error }, { status: 429, headers: { "retry-after": "2" } });
  }
  await Bun.sleep(FIRST_CONTENT_MS);
  if (asked.stream) return new Response(stream(words), { headers: { "content-type": "text/event-stream" } });
  await Bun.sleep(CHUNK_MS * words.length);
  return Response.json(plainAnswer("chat", { text: words.join(""), usage }));
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
