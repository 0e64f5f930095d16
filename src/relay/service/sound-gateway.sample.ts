import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../../testing/harness.ts";
import type { Script } from "../../../testing/memory-network.ts";
import type { ReadingOptions } from "../../../testing/sent-call.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";

const usd = (value: number, unit: string) => [{ value, unit, currency: "USD" }];

const offer = (provider: string, model: string) => ({ provider, model });

/** A character costs 15,000 nano-dollars here, a second 100,000. */
const CONFIG = {
  providers: Object.fromEntries(
    ["one", "two"].map((name) => [
      name,
      { kind: "openai", base_url: `${UPSTREAM_URL}/${name}/v1`, api_key: "upstream-secret" },
    ]),
  ),
  models: [
    {
      id: "test/voice",
      output_modalities: ["audio"],
      pricings: { characters: usd(15, "perMCharacters") },
      offers: [offer("one", "tts-1")],
    },
    {
      id: "test/two-voices",
      output_modalities: ["audio"],
      pricings: { characters: usd(15, "perMCharacters") },
      offers: [offer("one", "tts-1"), offer("two", "tts-1")],
    },
    {
      id: "test/token-voice",
      output_modalities: ["audio"],
      pricings: { prompt: usd(1, "perMTokens"), audio_output: usd(10, "perMTokens") },
      offers: [offer("one", "gpt-4o-mini-tts")],
    },
    {
      id: "test/ear",
      output_modalities: ["transcription"],
      pricings: { audio: usd(0.0001, "perSecond") },
      offers: [offer("one", "whisper-1")],
    },
    {
      id: "test/token-ear",
      output_modalities: ["transcription"],
      pricings: { audio: usd(6, "perMTokens"), completion: usd(10, "perMTokens") },
      offers: [offer("one", "gpt-4o-transcribe")],
    },
    {
      id: "test/writer",
      pricings: { prompt: usd(1, "perMTokens"), completion: usd(2, "perMTokens") },
      price_multiples: { priority: 2 },
      offers: [offer("one", "gpt-3.5-turbo-instruct")],
    },
  ],
  keys: [{ name: "tests", key: TEST_KEY }],
};

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };

/** A gateway in memory whose models speak, listen and complete, for the tests of one file. */
export class SoundGateway {
  #harness: Harness | undefined;

  /** Called at the start of a test file. */
  static forTests(): SoundGateway {
    const sound = new SoundGateway();
    beforeAll(async () => {
      sound.#harness = await Harness.start({ config: CONFIG });
    });
    // Waits until no offer rests any longer because of earlier calls.
    beforeEach(() => sound.harness.clock.pass(3_700_000));
    // Every call releases what it held, however it ended.
    afterEach(async () => {
      await sound.harness.clock.pass(60_000);
      expect(sound.harness.leftovers()).toEqual(NOTHING_LEFT);
      expect(sound.harness.upstream.mistakes).toEqual([]);
    });
    afterAll(() => sound.harness.storage.close());
    return sound;
  }

  get harness(): Harness {
    if (!this.#harness) throw new Error("the tests have not begun");
    return this.#harness;
  }

  say(body: object = {}, headers: Record<string, string> = {}, reading: ReadingOptions = {}) {
    const speech = { model: "test/voice", voice: "alloy", input: "hello", ...body };
    return this.harness.sendPost("/v1/audio/speech", speech, TEST_KEY, headers, reading);
  }

  hear(fields: Record<string, string> = {}, file = new Uint8Array(8_000)) {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "test/ear", ...fields })) form.append(name, value);
    form.append("file", new File([file], "said.mp3", { type: "audio/mpeg" }));
    return this.harness.sendForm("/v1/audio/transcriptions", form);
  }

  complete(body: object = {}) {
    return this.harness.sendPost("/v1/completions", { model: "test/writer", prompt: "hello", stream: true, ...body });
  }

  /** A host that sends these parts of a sound, with pauses between them, and ends well or breaks. */
  sounds(steps: readonly (string | number)[], end: "whole" | "broken" | "silent" = "whole"): Script {
    return async (reply) => {
      reply.head(200, { "content-type": "audio/mpeg" });
      for (const step of steps) {
        if (typeof step === "number") await this.harness.clock.sleep(step);
        else void reply.write(step);
      }
      if (end === "whole") reply.end();
      if (end === "broken") reply.fail("broken");
    };
  }

  /** The receipt that was written last. */
  async lastReceipt() {
    const row = (await this.harness.receipts()).at(-1);
    if (row === undefined) throw new Error("there is no receipt");
    return row;
  }
}

/** Events as a host sends them. */
export const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
