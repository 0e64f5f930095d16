import { traitsOf } from "./traits.ts";

export type SimulatedModality = "text" | "image" | "file" | "audio" | "video";

export interface ModelFacts {
  name: string;
  displayName: string;
  description: string;
  reasoning: boolean;
  contextLength: number;
  maxOutputTokens: number;
  inputModalities: readonly SimulatedModality[];
  outputModalities: readonly SimulatedModality[];
}

function facts(name: string, description: string): ModelFacts {
  const words = name.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return {
    name,
    displayName: `Simulator ${words.join(" ")}`,
    description: `A simulator, not a model: ${description}.`,
    reasoning: traitsOf(name)?.thinks !== undefined,
    contextLength: 200_000,
    maxOutputTokens: 64_000,
    inputModalities: ["text", "image", "file", "audio"],
    outputModalities: ["text"],
  };
}

/** The listed names. Names with a number at their end take any other number too. */
export const SIMULATED_MODELS: readonly ModelFacts[] = [
  facts("standard", "answers from what the request holds, always the same for the same request"),
  facts("thinker", "as standard, with thinking when it is asked for"),
  facts("strict-thinker", "as thinker, and demands its thinking and signatures back in tool turns"),
  facts("reasoner-strict", "thinks unseen, and refuses sampling parameters"),
  facts("slow", "as standard, at 40 tokens a second"),
  facts("agent", "plays a model for coding agents: reads a file, writes another, demands its thinking back"),
  facts("fail-400", "answers HTTP 400"),
  facts("fail-401", "answers HTTP 401"),
  facts("fail-403", "answers HTTP 403"),
  facts("fail-404", "answers HTTP 404"),
  facts("fail-413", "answers HTTP 413"),
  facts("fail-429", "answers HTTP 429 with a hint to retry after one second"),
  facts("fail-429-quota", "answers HTTP 429 that says the account is out of quota"),
  facts("fail-500", "answers HTTP 500"),
  facts("fail-503", "answers HTTP 503"),
  facts("fail-529", "answers HTTP 529"),
  facts("slow-first-byte", "sends nothing at all for 20 seconds, then answers"),
  facts("slow-first-byte-3", "sends nothing at all for 3 seconds, then answers"),
  facts("slow-headers-3", "sends its headers after 3 seconds, with the answer"),
  facts("silent-3", "sends its headers and one byte, is silent for 3 seconds, then answers"),
  facts("stall-mid-stream", "stops in the middle of its answer and waits until the caller leaves"),
  facts("cut-before-first", "drops the connection before it has answered anything"),
  facts("cut-mid-event", "drops the connection in the middle of an event"),
  facts("cut-mid-stream", "drops the connection between two events"),
  facts("close-mid-stream", "ends its answer politely, without the terminal event"),
  facts("error-in-stream", "sends an error event in the middle of its answer"),
  facts("error-first-event", "answers HTTP 200 and an error as its first event"),
  facts("garbage", "answers HTTP 200 with a page of HTML"),
  facts("garbage-in-stream", "sends a frame that is not JSON in the middle of its answer"),
  facts("empty", "answers nothing, and says that it is done"),
  facts("refusal", "declines to answer"),
  facts("blocked-prompt", "says that the prompt was blocked"),
  facts("max-tokens", "is cut short by its output limit"),
  facts("huge", "answers two million characters"),
  facts("drip", "sends its answer one byte at a time"),
  facts("crlf", "ends its lines with CR LF"),
  facts("flaky-1", "fails with HTTP 503 once for each key, then works once, and so on"),
  facts("flaky-2", "fails with HTTP 503 twice for each key, then works once, and so on"),
  facts("echo-request", "answers with a JSON summary of the request that arrived"),
  facts("parallel-same-index", "calls tools in parallel, all with index 0, on the chat wire"),
  facts("no-usage", "never says what was used"),
  facts("no-done", "leaves out the last [DONE] on the chat wire"),
];

/** The model of that name, its number filled in where it has one; `undefined` if there is none. */
export function findModel(name: string): ModelFacts | undefined {
  const listed = SIMULATED_MODELS.find((model) => model.name === name);
  if (listed !== undefined) return listed;
  return traitsOf(name) === undefined ? undefined : facts(name, "a listed behaviour with another number");
}
