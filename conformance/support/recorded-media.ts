import { bytesOf, everyRecording, type Recording, textOf } from "../../testing/recordings.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

interface MediaHost {
  kind: string;
  suffix: string;
  /** The model that the host used if a recorded request named none. */
  usualModel: string;
  settings?: Record<string, string>;
}

/** By the protocol and the provider of a recording. */
const MEDIA_HOSTS: Readonly<Record<string, MediaHost>> = {
  "openai-images openai": { kind: "openai", suffix: "/v1", usualModel: "dall-e-2" },
  "openai-images xai": { kind: "x-ai", suffix: "/v1", usualModel: "grok-imagine-image" },
  "gemini-images google": { kind: "gemini", suffix: "", usualModel: "imagen-3.0-generate-002" },
  "gemini-images vertex": {
    kind: "vertex",
    suffix: "",
    usualModel: "imagen-3.0-generate-002",
    settings: { project: "recorded-project", location: "us-central1" },
  },
  "video google": { kind: "gemini", suffix: "", usualModel: "veo-3.1-lite-generate-preview" },
};

const MEDIA_PROTOCOLS: readonly string[] = ["openai-images", "gemini-images", "video"];

/** Recordings of requests that the gateway never sends. */
export const MEDIA_LEFT_OUT: Readonly<Record<string, string>> = {
  "ruby-llm.image-edit-functionality-with--age-edits-images-passed-via-with":
    "an aggregator's own endpoint and fields, which no provider kind speaks",
};

export interface MediaCase {
  recording: Recording;
  id: string;
  host: MediaHost;
  upstreamModel: string;
}

export const mediaRecordings = everyRecording.filter(({ dialect }) => MEDIA_PROTOCOLS.includes(dialect));

export const mediaCases: readonly MediaCase[] = mediaRecordings.flatMap((recording, index) => {
  const host = MEDIA_HOSTS[`${recording.dialect} ${recording.provider}`];
  if (host === undefined || recording.case in MEDIA_LEFT_OUT) return [];
  return [{ recording, id: `media-${index}`, host, upstreamModel: recording.model || host.usualModel }];
});

/** The one recording whose name begins so. */
export function mediaCase(beginning: string): MediaCase {
  const [found, second] = mediaCases.filter(({ recording }) => recording.case.startsWith(beginning));
  if (found === undefined || second !== undefined) throw new Error(`${beginning} does not name one recording`);
  return found;
}

const usd = (value: number, unit: string) => [{ value, unit, currency: "USD" }];
const BY_TOKENS = {
  prompt: usd(1, "perMTokens"),
  completion: usd(2, "perMTokens"),
  image: usd(4, "perMTokens"),
};
const BY_NUMBER = { image: usd(0.04, "perCount"), audio_and_video: usd(0.05, "perSecond") };

/** Models that report tokens are priced by them, the others by the number of images or the length of videos. */
const pricingsOf = ({ upstreamModel }: MediaCase) => (/^g(?:emini|pt)-/.test(upstreamModel) ? BY_TOKENS : BY_NUMBER);

const makesOf = ({ upstreamModel, recording }: MediaCase): string[] => {
  if (recording.dialect === "video") return ["video", "audio"];
  return upstreamModel.startsWith("gemini-") ? ["text", "image"] : ["image"];
};

const LINK = /https:\/\/[\w.-]+(?=\/)/g;
const SIGNATURES = { png: "\x89PNG\r\n\x1a\n", jpeg: "\xff\xd8\xff\xe0" } as const;

/** What is at a recorded URL: the beginning of an image of its type, then the URL, so that no two are alike. */
export function imageAt(path: string): Buffer {
  const signature = SIGNATURES[new URL(path, "http://host").pathname.endsWith(".jpeg") ? "jpeg" : "png"];
  return Buffer.concat([Buffer.from(signature, "latin1"), Buffer.from(path)]);
}

export interface MediaHarness {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  stop(): Promise<void>;
}

interface MediaHarnessOptions {
  /** Which recording answers the request, if a case is more than one exchange. */
  choose?: (found: MediaCase, method: string, path: string) => Recording | undefined;
  /** What is at the URLs that answers name. */
  kept?: (path: string) => Uint8Array;
}

/**
 * A gateway whose model `recorded/<id>` answers with that recording. The recorded result URLs have long expired: in
 * the responses they become URLs of the harness, with the same path.
 */
export async function startMediaHarness({ choose, kept = imageAt }: MediaHarnessOptions = {}): Promise<MediaHarness> {
  const upstream = await startScriptedUpstream();
  upstream.play(async ({ method, path }, response) => {
    const [, id, keptPath] = /^\/(media-\d+)(?:\/kept(.*))?/.exec(path) ?? [];
    const found = mediaCases.find((one) => one.id === id);
    if (found === undefined) return void response.writeHead(404).end();
    if (keptPath !== undefined) return void response.writeHead(200).end(kept(keptPath));
    const recording = choose?.(found, method, path) ?? found.recording;
    const { stream, status } = recording;
    response.writeHead(status, { "content-type": stream ? "text/event-stream" : "application/json" });
    const bytes = namesUrls(recording)
      ? Buffer.from(textOf(recording).replaceAll(LINK, `${upstream.url}/${id}/kept`))
      : bytesOf(recording);
    for (let at = 0; at < bytes.length; at += 977) {
      response.write(bytes.slice(at, at + 977));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  const gateway = await startTestGateway({
    timings: { mediaPollFactor: 0.005 },
    config: {
      providers: Object.fromEntries(
        mediaCases.map(({ id, host: { kind, suffix, settings } }) => [
          id,
          { kind, base_url: `${upstream.url}/${id}${suffix}`, api_key: keyOf(id), ...settings },
        ]),
      ),
      models: mediaCases.map((one) => ({
        id: `recorded/${one.id}`,
        max_output_tokens: 64_000,
        output_modalities: makesOf(one),
        pricings: pricingsOf(one),
        offers: [{ provider: one.id, model: one.upstreamModel }],
      })),
    },
  });
  return {
    gateway,
    upstream,
    stop: async () => {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

/** Grounding contains URLs too, but those are part of the response's text. */
const namesUrls = ({ dialect, features }: Recording): boolean => dialect === "video" || features.includes("url");

/** The credential of a case's provider. */
export const keyOf = (id: string): string => `upstream-key-of-${id}`;
