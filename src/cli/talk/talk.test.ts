import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { listen } from "../../../simulator/voice/listen.ts";
import { sayAloud } from "../../../simulator/voice/say-aloud.ts";
import { AudioConverter } from "../../audio/audio-converter.ts";
import { wavHead } from "../../wire/wav-head.ts";
import { liveTalk } from "./live-talk.ts";
import { readWav } from "./read-wav.ts";
import { realtimeTalk } from "./realtime-talk.ts";
import { convertAll, type TalkAnswer, type TalkProtocol, type TalkRequest } from "./talk.ts";
import { TalkSocket } from "./talk-socket.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
});
afterAll(() => simulator.stop());

/** The hosts, where a gateway would be. */
const HOSTS: readonly [name: string, host: string, protocol: TalkProtocol][] = [
  ["realtime", "/openai", realtimeTalk],
  ["live", "/gemini", liveTalk],
];

async function talk(
  host: string,
  protocol: TalkProtocol,
  { model = "", key = "key", ...given }: Partial<TalkRequest> & { key?: string },
): Promise<TalkAnswer & { shown: string[] }> {
  const shown: string[] = [];
  const socket = await TalkSocket.open(simulator.url + host + protocol.path(model), protocol.headers(key));
  try {
    const request: TalkRequest = {
      model,
      input: { text: "Hello" },
      instructions: undefined,
      voice: undefined,
      pace: 0,
      onHeard: (text) => shown.push(`heard ${text}`),
      onSaid: () => {},
      signal: new AbortController().signal,
      ...given,
    };
    return { ...(await protocol.talk(socket, request)), shown };
  } finally {
    socket.close();
  }
}

function soundOf(text: string, { input }: TalkProtocol): Uint8Array {
  const { samples, rate } = sayAloud(text);
  return convertAll(new AudioConverter({ type: "pcm", rate }, input), samples);
}

for (const [model, host, protocol] of HOSTS) {
  describe(`talking in the protocol ${model}`, () => {
    test("a recording is heard, and the sound of the answer says its transcript", async () => {
      const sound = soundOf("Good evening.", protocol);
      const answer = await talk(host, protocol, { model, input: { sound } });
      expect(answer.heard).toBe("Good evening.");
      expect(answer.shown).toEqual(["heard Good evening."]);
      expect(answer.said).toContain("Good evening.");
      expect(listen(answer.sound, true).text).toBe(answer.said);
      expect(answer.firstSoundMs).toBeGreaterThanOrEqual(0);
      expect(answer).toMatchObject({
        status: "completed",
        usage: { input: expect.any(Number), output: expect.any(Number) },
      });
    });

    test("a text is answered, with instructions and a voice", async () => {
      const answer = await talk(host, protocol, { model, instructions: "Be brief.", voice: "cedar" });
      expect(answer.said).toContain("“Hello”");
      expect(answer.heard).toBeUndefined();
    });

    test("every ending is reported: cut, closed, failed, and frames that are not JSON", async () => {
      const failure = async (text: string): Promise<string> => {
        try {
          await talk(host, protocol, { model, input: { text } });
          return "";
        } catch (thrown) {
          return thrown instanceof Error ? thrown.message : "";
        }
      };
      expect(await failure("sim:cut")).toContain("was lost");
      expect(await failure("sim:close-4242")).toContain("code 4242: Simulated");
      expect(await failure("sim:fails")).not.toBe("");
      expect(await failure("sim:garbage")).toContain("not JSON");
    });
  });
}

describe("a connection that is not opened", () => {
  test("says what the gateway says", async () => {
    await expect(talk("/openai", realtimeTalk, { model: "fail-429" })).rejects.toThrow("Rate limit reached");
    await expect(talk("/openai", realtimeTalk, { model: "fail-401" })).rejects.toThrow("Incorrect API key");
    await expect(talk("/openai", realtimeTalk, { model: "realtime", key: "wrong" })).rejects.toThrow(
      "Incorrect API key",
    );
    await expect(talk("/gemini", liveTalk, { model: "unknown" })).rejects.toThrow("models/unknown is not found");
  });

  test("says that there is no gateway", async () => {
    const unreachable = TalkSocket.open("http://127.0.0.1:1/v1/realtime", {});
    await expect(unreachable).rejects.toThrow("Cannot connect to a gateway at http://127.0.0.1:1");
  });
});

describe("WAV files", () => {
  const head = ({ tag = 1, channels = 1, rate = 16_000, bits = 16 } = {}, bytes = 8): Buffer => {
    const file = wavHead(bytes, rate);
    file.writeUInt16LE(tag, 20);
    file.writeUInt16LE(channels, 22);
    file.writeUInt16LE(bits, 34);
    return file;
  };
  const withSamples = (file: Buffer, ...samples: number[]): Uint8Array =>
    Buffer.concat([file, Buffer.from(Int16Array.from(samples).buffer)]);

  test("of several channels are mixed, and a length beyond the end is ignored", () => {
    const stereo = withSamples(head({ channels: 2 }, 4_000_000_000), 100, 300, -4, -8);
    expect(readWav(stereo, "a.wav")).toEqual({ samples: Int16Array.of(200, -6), rate: 16_000 });
  });

  test("may have other chunks, and an extensible format", () => {
    const plain = withSamples(head(), 1, 2, 3, 4);
    const list = Buffer.from("LIST\x03\x00\x00\x00abc\x00", "latin1");
    const chunks = Buffer.concat([plain.subarray(0, 12), list, plain.subarray(12)]);
    expect([...readWav(chunks, "a.wav").samples]).toEqual([1, 2, 3, 4]);
    const format = Buffer.alloc(40);
    format.set(plain.subarray(20, 36));
    format.writeUInt16LE(0xfffe, 0);
    format.writeUInt16LE(1, 24);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(40);
    const extensible = Buffer.concat([plain.subarray(0, 16), size, format, plain.subarray(36)]);
    expect([...readWav(extensible, "a.wav").samples]).toEqual([1, 2, 3, 4]);
  });

  test("that cannot be sent are refused with the reason", () => {
    const problem = (bytes: Uint8Array): string => {
      try {
        readWav(bytes, "a.wav");
        return "";
      } catch (thrown) {
        return thrown instanceof Error ? thrown.message : "";
      }
    };
    expect(problem(Buffer.from("ID3 not a wave file"))).toContain('"a.wav" is not a WAV file');
    expect(problem(new Uint8Array())).toContain("is not a WAV file");
    expect(problem(withSamples(head({ tag: 3, bits: 32 }), 1))).toContain("floating-point samples");
    expect(problem(withSamples(head({ tag: 7, bits: 8 }), 1))).toContain("μ-law");
    expect(problem(withSamples(head({ bits: 24 }), 1))).toContain("24 bits");
    expect(problem(withSamples(head({ rate: 0 }), 1))).toContain("0 samples per second");
    expect(problem(withSamples(head({ channels: 0 }), 1))).toContain("0 channels");
    expect(problem(head())).toContain("no samples");
    expect(problem(head().subarray(0, 20))).toContain("incomplete format");
    expect(problem(Buffer.concat([head().subarray(0, 12), head().subarray(36), Buffer.alloc(8)]))).toContain(
      "no format",
    );
  });

  test("of any rate are heard", async () => {
    const { samples } = sayAloud("At any rate.");
    for (const rate of [8_000, 11_025, 44_100, 47_999]) {
      const to = { type: "pcm", rate: Math.round(rate / 25) * 25 } as const;
      const recorded = convertAll(new AudioConverter({ type: "pcm", rate: 24_000 }, to), samples);
      const file = Buffer.concat([wavHead(recorded.length, rate), recorded]);
      const back = readWav(file, "a.wav");
      const from = { type: "pcm", rate: Math.round(back.rate / 25) * 25 } as const;
      const sound = convertAll(new AudioConverter(from, realtimeTalk.input), back.samples);
      const { heard } = await talk("/openai", realtimeTalk, { model: "realtime", input: { sound } });
      expect(heard).toBe("At any rate.");
    }
  });
});
