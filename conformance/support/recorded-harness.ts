import { bytesOf, everyRecording, type Recording } from "../../testing/recordings.ts";
import type { SampledDialect } from "../../testing/sampled-dialects.ts";
import { converseMeaning } from "./converse-meaning.ts";
import { invokedAsEvents } from "./event-stream-payloads.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Meaning, READERS } from "./sdk-meaning.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

interface RecordedHost {
  kind: string;
  suffix: string;
  /** The protocol of the recording; undefined if it is not one of the clients'. */
  dialect: SampledDialect | undefined;
}

export const RECORDED_HOSTS: Readonly<Record<string, RecordedHost>> = {
  "openai-chat": { kind: "openai-compatible", suffix: "/v1", dialect: "chat" },
  "anthropic-messages": { kind: "anthropic", suffix: "", dialect: "messages" },
  "gemini-generate": { kind: "gemini", suffix: "", dialect: "genai" },
  bedrock: { kind: "bedrock", suffix: "", dialect: undefined },
};

/** Recordings that cannot pass the gateway, each with its reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  "otel.chat-completion-multiple-choices-streaming": "two choices; contract 2.12 allows one",
  "envoy-aigw.chat-text-to-audio": "an answer in sound, which contract 2.12 does not accept",
  "weave.openai-function-call-async-stream":
    "function_call, the form before tools, which contract 2.12 does not accept",
  "firebase-mock.streaming-failure-prompt-blocked-safety":
    "the vendor's own SDK cannot read it: the file's last event has no blank line after it",
  "vercel-ai.cererebras-structured-output-tools-1": "the file holds two answers, one after the other",
  "otel.invoke-model-with-response-str--no-content-tool-call-amazon-nova":
    "InvokeModel in Nova's own form; the gateway calls Nova by Converse",
};
const NOT_AS_EVENTS = "a stream without alt=sse, which the gateway always asks for";

/** Why a recording is excluded; undefined if it is not. */
export function reasonToLeaveOut({ case: name, stream, response_file }: Recording): string | undefined {
  const listed = Object.keys(LEFT_OUT).find((start) => name.startsWith(start));
  if (listed !== undefined) return LEFT_OUT[listed];
  return stream && response_file.endsWith(".json") ? NOT_AS_EVENTS : undefined;
}

/** The recordings of the four protocols that hosts of text models speak. */
export const hostedRecordings = everyRecording.filter(({ dialect }) => dialect in RECORDED_HOSTS);

export interface RecordedCase {
  recording: Recording;
  id: string;
  kind: string;
  suffix: string;
  model: string;
  /** The protocol in which the host answered, if it is one of the clients'. */
  dialect: SampledDialect | undefined;
  /** By Bedrock's InvokeModel, whose body is the vendor's own. */
  invoked: boolean;
}

export const recordedCases: readonly RecordedCase[] = hostedRecordings
  .filter((recording) => reasonToLeaveOut(recording) === undefined)
  .map((recording, index) => {
    const { kind, suffix, dialect } = RECORDED_HOSTS[recording.dialect] ?? { kind: "", suffix: "", dialect: undefined };
    const invoked = recording.dialect === "bedrock" && recording.http.includes("/invoke");
    // If it is only in the URL, the manifest has the vendor's own name of the model.
    const named = invoked ? decodeURIComponent(/model\/([^/]+)/.exec(recording.http)?.[1] ?? "") : recording.model;
    return {
      recording,
      id: `case-${index}`,
      kind,
      suffix,
      model: named || "recorded-model",
      dialect: invoked ? "messages" : dialect,
      invoked,
    };
  });

export interface RecordedHarness {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  stop(): Promise<void>;
}

/** A gateway whose model `recorded/<id>` answers with that recording, whatever the request. */
export async function startRecordedHarness(): Promise<RecordedHarness> {
  const upstream = await startScriptedUpstream();
  upstream.play(async ({ path }, response) => {
    const found = recordedCases[Number(/case-(\d+)/.exec(path)?.[1])];
    if (!found) return;
    const { recording, invoked } = found;
    const recorded = bytesOf(recording);
    // A client without the gateway calls the model's vendor.
    const direct = invoked && recording.stream && path.endsWith("/v1/messages");
    const bytes = direct ? Buffer.from(invokedAsEvents(recorded)) : recorded;
    const binary = recording.dialect === "bedrock" && !direct;
    const streamed = binary ? "application/vnd.amazon.eventstream" : "text/event-stream";
    response.writeHead(recording.status, { "content-type": recording.stream ? streamed : "application/json" });
    for (let at = 0; at < bytes.length; at += 977) {
      response.write(bytes.slice(at, at + 977));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  const gateway = await startTestGateway({
    config: {
      providers: Object.fromEntries(
        recordedCases.map(({ id, kind, suffix, invoked }) => [
          id,
          {
            kind,
            base_url: `${upstream.url}/${id}${suffix}`,
            api_key: `upstream-key-${id}`,
            ...(invoked ? { dialects: ["messages"] } : {}),
          },
        ]),
      ),
      models: recordedCases.map(({ id, model, dialect }) => ({
        id: `recorded/${id}`,
        reasoning: true,
        max_output_tokens: 64_000,
        pricings: {},
        offers: [{ provider: id, model, ...(dialect ? { dialect } : {}) }],
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

const DIRECT: Record<SampledDialect, string> = { chat: "/v1", messages: "", genai: "" };

/** What the vendor's SDK reads from the recording itself, without any gateway between. */
export async function recordedMeaning({ upstream }: RecordedHarness, one: RecordedCase): Promise<Meaning> {
  const { recording, id, model, dialect } = one;
  if (dialect === undefined) return converseMeaning(recording);
  return READERS[dialect]({
    baseUrl: `${upstream.url}/${id}${DIRECT[dialect]}`,
    apiKey: "nobody",
    model,
    stream: recording.stream,
  });
}
