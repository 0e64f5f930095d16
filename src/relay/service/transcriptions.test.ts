import { describe, expect, test } from "bun:test";
import { event, SoundGateway } from "./sound-gateway.sample.ts";

const sound = SoundGateway.forTests();

const delta = (text: string) => event({ type: "transcript.text.delta", delta: text });
const DONE = event({
  type: "transcript.text.done",
  text: "one two",
  usage: {
    type: "tokens",
    input_tokens: 20,
    input_token_details: { audio_tokens: 18, text_tokens: 2 },
    output_tokens: 3,
    total_tokens: 23,
  },
});

describe("the transcribed audio is billed", () => {
  test("choices 5: by the seconds that the host reports", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.json({ text: "hi", usage: { type: "duration", seconds: 61 } }));
    const answer = await harness.clock.until(sound.hear().answer);
    expect(JSON.parse(answer.text)).toMatchObject({ text: "hi" });
    expect(await harness.receipt(answer)).toMatchObject({
      usage: { seconds: 61 },
      usage_source: "measured",
      cost_nano_usd: 6_100_000,
    });
  });

  test("H26: by the size of the file if the host reports nothing, as marked in the receipt", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.json({ text: "hi" }));
    const answer = await harness.clock.until(sound.hear().answer);
    expect(await harness.receipt(answer)).toMatchObject({ usage: { seconds: 2 }, usage_source: "estimated" });
  });

  test("H26: in full where the client disconnects while the host is at work", async () => {
    const { harness } = sound;
    harness.upstream.play(async (reply) => {
      await harness.clock.sleep(60_000);
      reply.head(200);
      void reply.write(JSON.stringify({ text: "hi", usage: { type: "duration", seconds: 90 } }));
      reply.end();
    });
    const call = sound.hear();
    await harness.clock.pass(500);
    call.disconnect();
    await harness.clock.pass(90_000);
    expect(await sound.lastReceipt()).toMatchObject({
      usage: { seconds: 90 },
      usage_source: "measured",
    });
  });

  test.each([
    ["no time at all", { type: "duration", seconds: 0 }],
    ["tokens, where seconds are paid", { type: "tokens", input_tokens: 5, output_tokens: 1 }],
    ["less than any recording of that size lasts", { type: "duration", seconds: 0.001 }],
  ])("H27: by the size of the file where the host tells of %s", async (_, usage) => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.json({ text: "hi", usage }));
    const answer = await harness.clock.until(sound.hear({}, new Uint8Array(8_000)).answer);
    expect(await harness.receipt(answer)).toMatchObject({ usage: { seconds: 2 }, usage_source: "estimated" });
  });

  test("H27: by the size of the file if the host reports no tokens", async () => {
    const { harness } = sound;
    const usage = { type: "tokens", input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    harness.upstream.play(harness.upstream.json({ text: "four", usage }));
    const answer = await harness.clock.until(sound.hear({ model: "test/token-ear" }).answer);
    expect(await harness.receipt(answer)).toMatchObject({
      usage: { audio_input: 20, output: 1 },
      usage_source: "estimated",
    });
  });

  test("not at all where the host refuses the recording", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.json({ error: { message: "corrupted", param: "file" } }, 400));
    const answer = await harness.clock.until(sound.hear().answer);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { message: "file: corrupted", param: "file" } });
    expect(await harness.receipt(answer)).toMatchObject({ cost_nano_usd: 0 });
  });
});

describe("a streamed transcript", () => {
  test("is passed on as it arrives; text and audio tokens have separate prices", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.stream(delta("one "), 50, delta("two"), DONE));
    const answer = await harness.clock.until(sound.hear({ model: "test/token-ear", stream: "true" }).answer);
    expect(answer.text).toBe(delta("one ") + delta("two") + DONE);
    expect(answer.chunks.length).toBeGreaterThan(1);
    expect(await harness.receipt(answer)).toMatchObject({
      usage: { input: 2, audio_input: 18, output: 3 },
      usage_source: "measured",
    });
  });

  test("H16: that ends without its last event ends with an error", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.stream(delta("one "), 50, delta("two")));
    const answer = await harness.clock.until(sound.hear({ model: "test/token-ear", stream: "true" }).answer);
    expect(answer.text).toContain("closed the stream before the end of the transcript");
    expect(await harness.receipt(answer)).toMatchObject({ usage_source: "partial" });
  });

  test("of a host that answers whole is two events", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.json({ text: "one two", usage: { type: "duration", seconds: 2 } }));
    const answer = await harness.clock.until(sound.hear({ stream: "true" }).answer);
    expect(answer.text).toBe(
      delta("one two") +
        event({ type: "transcript.text.done", text: "one two", usage: { type: "duration", seconds: 2 } }),
    );
    expect(harness.upstream.requests[0]?.body).not.toContain('name="stream"');
  });
});

describe("the form that the host gets", () => {
  test("has the host's model name, the file as received, and fields that only the host supports", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.json({ text: "hi" }));
    const file = new TextEncoder().encode("bytes of a file");
    await harness.clock.until(sound.hear({ language: "en", hotwords: "fox", temperature: "0.5" }, file).answer);
    const { body = "", url, headers } = harness.upstream.requests[0] ?? {};
    expect(url).toEndWith("/one/v1/audio/transcriptions");
    expect(headers?.["content-type"]).toStartWith("multipart/form-data; boundary=trivium-");
    const fields = Object.fromEntries(
      [...body.matchAll(/name="([^"]+)"[^\r]*\r\n(?:Content-Type: [^\r]+\r\n)?\r\n([^\r]*)\r\n/g)].map((m) => [
        m[1],
        m[2],
      ]),
    );
    expect(fields).toEqual({
      model: "whisper-1",
      response_format: "json",
      language: "en",
      temperature: "0.5",
      hotwords: "fox",
      file: "bytes of a file",
    });
    expect(body).toContain('filename="said.mp3"');
  });

  test("contract 8: a form without a file, with two files or with a repeated field is rejected", async () => {
    const { harness } = sound;
    harness.upstream.play(harness.upstream.json({ text: "never" }));
    const refusal = async (...fields: [string, string | File][]) => {
      const form = new FormData();
      for (const [name, value] of [["model", "test/ear"] as const, ...fields]) form.append(name, value);
      const answer = await harness.clock.until(harness.sendForm("/v1/audio/transcriptions", form).answer);
      const { error } = JSON.parse(answer.text) as { error: { param: string } };
      return [answer.status, error.param];
    };
    const file = new File(["x"], "said.wav");
    expect(await refusal()).toEqual([400, "file"]);
    expect(await refusal(["file", "text"])).toEqual([400, "file"]);
    expect(await refusal(["file", file], ["file", file])).toEqual([400, "file"]);
    expect(await refusal(["file", file], ["language", "en"], ["language", "de"])).toEqual([400, "language"]);
    expect(await refusal(["file", file], ["prompt", file])).toEqual([400, "prompt"]);
    expect(harness.upstream.requests).toEqual([]);
  });
});

describe("objects that a form may refer to", () => {
  test.each(["Model", "MODEL", "Response_Format", "Models", "Fallbacks[0][model]"])(
    "S15: a field %s is rejected: a host may take it for another",
    async (name) => {
      const { harness } = sound;
      harness.upstream.play(harness.upstream.json({ text: "hi" }));
      const answer = await harness.clock.until(sound.hear({ [name]: "dear" }).answer);
      expect(answer.status).toBe(400);
      expect(harness.upstream.requests).toHaveLength(0);
    },
  );

  test.each(["models", "models[]", "fallbacks", "fallbacks[0][model]"])(
    "S07: %s names other models, which are not sent to any host",
    async (name) => {
      const { harness } = sound;
      harness.upstream.play(harness.upstream.json({ text: "hi", usage: { type: "duration", seconds: 2 } }));
      const answer = await harness.clock.until(sound.hear({ [name]: "dear", custom: "kept" }).answer);
      expect(answer.status).toBe(200);
      const [sent] = harness.upstream.requests;
      expect(sent?.body).not.toContain("dear");
      expect(sent?.body).toContain("kept");
      expect(await harness.receipt(answer)).toMatchObject({
        fields: [{ path: name.split("[")[0], action: "dropped" }],
      });
    },
  );
});
