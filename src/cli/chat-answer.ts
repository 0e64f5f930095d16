import { arrayAt, type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../base/json.ts";
import { GatewayError } from "../canon/error.ts";
import { EventSplitter, readFrames } from "../wire/sse.ts";
import { type GatewayClient, responseChunks } from "./gateway-client.ts";

export interface PromptMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** The result of one question. */
export interface ChatAnswer {
  model: string;
  content: string;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  costUsd: number | undefined;
  receipt: string | null;
  /** The user interrupted it. */
  stopped: boolean;
}

interface Asking {
  client: GatewayClient;
  model: string;
  messages: readonly PromptMessage[];
  signal: AbortSignal;
  onText: (text: string) => void;
}

const TIMEOUT_MS = 30 * 60_000;
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/** Sends a prompt and passes the response on as it arrives. A cancelled prompt returns what has arrived so far. */
export async function askModel({ client, model, messages, signal, onText }: Asking): Promise<ChatAnswer> {
  const body = { model, messages, stream: true, stream_options: { include_usage: true }, usage: { include: true } };
  const answer: ChatAnswer = {
    model,
    content: "",
    inputTokens: undefined,
    outputTokens: undefined,
    costUsd: undefined,
    receipt: null,
    stopped: false,
  };
  try {
    const response = await client.post("/v1/chat/completions", body, { signal, timeoutMs: TIMEOUT_MS });
    answer.receipt = response.headers.get("x-trivium-receipt");
    const splitter = new EventSplitter(MAX_EVENT_BYTES);
    for await (const chunk of responseChunks(response, signal)) {
      for (const { data } of readFrames(splitter.push(chunk))) {
        const event = data === undefined ? undefined : parseObject(data);
        if (event) take(event, answer, onText);
      }
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    answer.stopped = true;
  }
  return answer;
}

function take(event: JsonObject, answer: ChatAnswer, onText: (text: string) => void): void {
  const error = objectAt(event, "error");
  if (error) throw new GatewayError("upstream_failed", stringAt(error, "message") ?? "The response was interrupted.");
  const [choice] = arrayAt(event, "choices");
  const text = stringAt(objectAt(choice, "delta"), "content") ?? "";
  if (text !== "") {
    answer.content += text;
    onText(text);
  }
  const usage = objectAt(event, "usage");
  if (!usage) return;
  answer.inputTokens = numberAt(usage, "prompt_tokens");
  answer.outputTokens = numberAt(usage, "completion_tokens");
  answer.costUsd = numberAt(usage, "cost");
}
