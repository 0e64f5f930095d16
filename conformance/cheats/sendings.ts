import type { Socket } from "node:net";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { type ScriptedUpstream, sendJson, startEvents, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import type { Cheat, CheatGroup } from "./cheat.ts";

const answer = (content: string) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream-model",
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** H32 and S22, S24: host behaviour outside the protocol. */
export async function openSendings(): Promise<CheatGroup> {
  const upstream = await startScriptedUpstream();
  const gateway = await startTestGateway({ config: modelsOfEveryDialect(upstream.url) });
  return {
    cheats: [...resends(upstream, gateway), ...strays(upstream, gateway), ...tales(upstream, gateway)],
    close: async () => {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

function resends(upstream: ScriptedUpstream, gateway: TestGateway): Cheat[] {
  const ways: Record<string, (socket: Socket | null) => void> = {
    "closes every connection on which it has read a request": (socket) => void socket?.end(),
    "resets every connection on which it has read a request": (socket) => void socket?.resetAndDestroy(),
    "answers half a head and closes": (socket) => void socket?.end("HTTP/1.1 200 OK\r\ncontent-le"),
  };
  return SCRIPTED_DIALECTS.flatMap((dialect) =>
    Object.entries(ways).flatMap(([way, act]) =>
      [false, true].map((stream) => ({
        id: "H32",
        tries: `a ${dialect} host ${way}${stream ? ", streaming" : ""}`,
        run: async () => {
          upstream.play((_request, response) => act(response.socket));
          const response = await callGateway(gateway.url, dialect, gateway.key, { stream });
          await response.text();
          const { offers } = await gateway.receipt(response);
          const figures = `reached the host ${upstream.seen.length} times, the receipt has ${offers.length}`;
          const got = String(response.status);
          return upstream.seen.length > offers.length
            ? { got, figures, broken: "a resend is hidden" }
            : { got, figures };
        },
      })),
    ),
  );
}

function strays(upstream: ScriptedUpstream, gateway: TestGateway): Cheat[] {
  const secret = "an answer that belongs to somebody else";
  const stray = JSON.stringify(answer(secret));
  const bytes = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${stray.length}\r\n\r\n${stray}`;
  const run = async (delayMs: number) => {
    const heard: string[] = [];
    for (let call = 0; call < 6; call++) {
      upstream.play((_request, response) => {
        const { socket } = response;
        sendJson(response, answer("mine"));
        response.on("finish", () => void setTimeout(() => socket?.write(bytes), delayMs));
      });
      const response = await callGateway(gateway.url, "chat", gateway.key);
      heard.push(await response.text());
      await Bun.sleep(delayMs === 0 ? 0 : 30);
    }
    const wrong = heard.filter((text) => text.includes(secret)).length;
    const figures = `${heard.filter((text) => text.includes("mine")).length} of 6 answers are the caller's own`;
    return wrong > 0
      ? { got: "somebody else's answer", figures, broken: "a stray answer was passed on" }
      : { got: "its own answers", figures };
  };
  return [
    { id: "S24", tries: "a host sends one answer too many, at once", run: () => run(0) },
    { id: "S24", tries: "a host sends one answer too many, a moment later", run: () => run(10) },
  ];
}

function tales(upstream: ScriptedUpstream, gateway: TestGateway): Cheat[] {
  const wordsOf = (dialect: string) =>
    `no quota for org-Ab12cd34Ef at llm-7.prod.internal:8443 (10.0.0.7), key upstream-secret-${dialect}, see https://internal.example/x?token=abc`;
  const leak = /Ab12cd34Ef|prod\.internal|10\.0\.0\.7|upstream-secret|internal\.example/;
  return [400, 401, 403, 404, 413, 422, 429, 500, 503].flatMap((status) =>
    SCRIPTED_DIALECTS.map((dialect) => ({
      id: "S22",
      tries: `a ${dialect} host tells of its internals with ${status}, and inside a stream`,
      run: async () => {
        // The provider of the chat dialect speaks that of Responses too.
        const words = wordsOf(dialect === "responses" ? "chat" : dialect);
        upstream.play(
          (_request, response) =>
            void sendJson(response, { error: { message: words, type: words, code: words } }, status),
        );
        const response = await callGateway(gateway.url, dialect, gateway.key);
        const heads = JSON.stringify([...response.headers]);
        const said = heads + (await response.text());
        upstream.play((_request, response) => {
          startEvents(response);
          response.write(wire.chatChunk({ content: "hi" }));
          const inStream = wordsOf("chat");
          response.end(`data: ${JSON.stringify({ error: { message: inStream, type: inStream } })}\n\n`);
        });
        const streamed = await callGateway(gateway.url, dialect, gateway.key, { model: "test/chat", stream: true });
        const all = said + (await streamed.text());
        const found = leak.exec(all)?.[0];
        const got = String(response.status);
        return found ? { got, broken: `"${found}" reached the client` } : { got };
      },
    })),
  );
}
