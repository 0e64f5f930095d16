import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { BillingHarness } from "./billing-harness.ts";
import { type Performance, words } from "./billing-host.ts";
import type { Cheat, CheatGroup } from "./cheat.ts";
import type { Purse } from "./purses.ts";
import { visit } from "./rude-client.ts";

/**
 * A paper of fifteen pages: hosts count some two thousand tokens a page, and report them at the end of the response.
 */
const DOCUMENT_TOKENS = 30_000;
const DOCUMENT_BYTES = 1_000_000;
/** Two minutes of audio. */
const SOUND_TOKENS = 3_840;
const reader = (promptTokens: number): Performance => ({
  promptTokens,
  chunks: [["The answer is 42. first-word ", 8], ...words(300, "end")],
  everyMs: 10,
});
const ANSWER: Performance = { promptTokens: 20, chunks: words(50) };

/** Combinations: media that only the host can count, keys that end during a call, counters that cost nothing. */
export async function openInterplay(): Promise<CheatGroup> {
  const harness = await BillingHarness.open();
  return {
    cheats: [
      ...documents(harness),
      ...slowUnary(harness),
      ...oracles(harness),
      ...revocations(harness),
      ...repeats(harness),
    ],
    atOnce: true,
    close: () => harness.close(),
  };
}

/** Asks about a long document, reads the first sentence of the response and disconnects. */
function documents(harness: BillingHarness): Cheat[] {
  const data = Buffer.from(`%PDF-1.7\n${"x".repeat(DOCUMENT_BYTES)}`).toString("base64");
  const sound = Buffer.alloc(DOCUMENT_BYTES, 1).toString("base64");
  const prompts: Record<string, { client: ScriptedDialect; content: (text: string) => object }> = {
    "a PDF (chat)": {
      client: "chat",
      content: (text) => ({
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text },
              { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${data}` } },
            ],
          },
        ],
      }),
    },
    "sound (chat)": {
      client: "chat",
      content: (text) => ({
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text },
              { type: "input_audio", input_audio: { data: sound, format: "wav" } },
            ],
          },
        ],
      }),
    },
    "a PDF (messages)": {
      client: "messages",
      content: (text) => ({
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text },
              { type: "document", source: { type: "base64", media_type: "application/pdf", data } },
            ],
          },
        ],
      }),
    },
    "a PDF (responses)": {
      client: "responses",
      content: (text) => ({
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text },
              { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${data}` },
            ],
          },
        ],
      }),
    },
    "a PDF (genai)": {
      client: "genai",
      content: (text) => ({
        contents: [{ role: "user", parts: [{ text }, { inlineData: { mimeType: "application/pdf", data } }] }],
      }),
    },
  };
  return Object.entries(prompts).map(([what, { client, content }]) => ({
    id: "H26",
    tries: `asks a chat host about ${what} of 1 MB, disconnects at the first sentence`,
    run: async () => {
      const purse = harness.purse(reader(what.startsWith("sound") ? SOUND_TOKENS : DOCUMENT_TOKENS));
      const body = content(`What does it say? ${purse.name}`) as Record<string, unknown>;
      const call = harness.call(purse, client, { model: "test/chat", stream: true, body });
      const { text } = await visit(call, (seen) => seen.includes("first-word") || seen.includes("HTTP/1.1 4"));
      return harness.outcome(purse, `${/HTTP\/1\.1 (\d+)/.exec(text)?.[1]}, the first sentence`);
    },
  }));
}

/** Disconnects from a non-streamed response that takes longer than the gateway reads on. */
function slowUnary(harness: BillingHarness): Cheat[] {
  return [100, 200].flatMap((rate) =>
    SCRIPTED_DIALECTS.map((dialect) => ({
      id: "H26",
      tries: `disconnects from a non-streamed ${dialect} answer after 1 s, of a host that makes ${rate} tokens a second`,
      run: async () => {
        const thinkingMs = 6_000;
        const purse = harness.purse({
          promptTokens: 12,
          thinkingTokens: (rate * thinkingMs) / 1000,
          thinkingMs,
          chunks: words(3),
        });
        await visit(
          harness.call(purse, dialect, { body: dialect === "messages" ? { max_tokens: 8_000 } : {} }),
          (_, ms) => ms > 1_000,
          "resets",
        );
        return harness.outcome(purse, "nothing");
      },
    })),
  );
}

/** Counting tokens is free, and must not make a host generate. */
function oracles(harness: BillingHarness): Cheat[] {
  const ask = (tries: string, path: string, body: (purse: Purse) => object): Cheat => ({
    id: "H11",
    tries,
    run: async () => {
      const purse = harness.purse(ANSWER);
      const response = await fetch(harness.gateway.url + path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${purse.key}`,
          "x-api-key": purse.key,
          "content-type": "application/json",
          "partner-version": "2023-06-01",
        },
        body: JSON.stringify(body(purse)),
      });
      const text = await response.text();
      const seen = harness.host.upstream.seen.filter((request) => request.body.includes(purse.name));
      const generated = seen.filter(({ path: to }) => !/count_tokens|countTokens|input_tokens/.test(to)).length;
      const got = `${response.status}, ${text.length} bytes`;
      return generated > 0 ? { got, broken: "the host was asked to generate" } : { got };
    },
  });
  const messages = ({ name }: Purse) => [{ role: "user", content: name }];
  return [
    ask(
      "counts tokens of a messages host, with a stream and a limit asked for",
      "/v1/messages/count_tokens",
      (purse) => ({ model: "test/messages", messages: messages(purse), stream: true, max_tokens: 9_999 }),
    ),
    ask("counts tokens of a chat host in messages", "/v1/messages/count_tokens", (purse) => ({
      model: "test/chat",
      messages: messages(purse),
    })),
    ask("counts tokens in responses, in the background and to be kept", "/v1/responses/input_tokens", (purse) => ({
      model: "test/responses",
      input: purse.name,
      background: true,
      store: true,
      stream: true,
    })),
    ask("counts tokens of a chat host in responses", "/v1/responses/input_tokens", (purse) => ({
      model: "test/chat",
      input: purse.name,
    })),
    ask("counts tokens of a whole request inside a request", "/v1beta/models/test/genai:countTokens", (purse) => ({
      generateContentRequest: {
        model: "models/test/genai",
        contents: [{ role: "user", parts: [{ text: purse.name }] }],
      },
    })),
  ];
}

/** A key that is revoked during its response pays for it, and gets no other. */
function revocations(harness: BillingHarness): Cheat[] {
  return SCRIPTED_DIALECTS.map((dialect) => ({
    id: "S05",
    tries: `a key is revoked while its ${dialect} answer runs, and tries again`,
    run: async () => {
      const purse = harness.purse({ promptTokens: 20, chunks: words(60), everyMs: 10 });
      const admin = (path: string, init: RequestInit) =>
        fetch(harness.gateway.adminUrl + path, {
          ...init,
          headers: { authorization: `Bearer ${harness.gateway.adminSecret}`, "content-type": "application/json" },
        });
      const made = await admin("/api/keys", {
        method: "POST",
        body: JSON.stringify({ name: `revoked-${purse.name}` }),
      });
      const { data } = (await made.json()) as { data: { id: string; key: string } };
      const mine = { ...purse, key: data.key };
      const running = visit(harness.call(mine, dialect, { stream: true }), () => false);
      await Bun.sleep(150);
      await admin(`/api/keys/${data.id}`, { method: "DELETE" });
      const again = await fetch(...harness.call(mine, dialect));
      await again.text();
      await Promise.race([running, Bun.sleep(2_000)]);
      const ledger = await harness.spentBy(data.id);
      const upstream = harness.host.billed(purse.name);
      const outcome = { got: `${again.status} for the second call`, upstream, ledger };
      return again.status === 401 ? outcome : { ...outcome, broken: "a revoked key was taken" };
    },
  }));
}

/**
 * Idempotency keys are for videos. A text is made and billed each time, or once, but never made twice and billed once.
 */
function repeats(harness: BillingHarness): Cheat[] {
  return SCRIPTED_DIALECTS.map((dialect) => ({
    id: "H24",
    tries: `asks three times for the same ${dialect} answer under one Idempotency-Key`,
    run: async () => {
      const purse = harness.purse(ANSWER);
      const call = harness.call(purse, dialect, { headers: { "idempotency-key": "one-and-the-same" } });
      for (let time = 0; time < 3; time++) await (await fetch(...call)).text();
      return harness.outcome(purse, `${harness.host.requests(purse.name)} answers`, {
        rows: harness.host.requests(purse.name),
      });
    },
  }));
}
