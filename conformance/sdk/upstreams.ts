import type { SampledDialect } from "../../testing/sampled-dialects.ts";
import type { Kind } from "./support.ts";

/** Host behaviour that clients can observe, in whatever protocol they speak. */
interface Upstream {
  /** Whether client and host speak the same protocol. */
  native: boolean;
  /** The host's own word for a complete response. */
  endWord: string;
  /** What the host reports when its stream breaks with an error, and when it begins with one. */
  streamError: Trouble;
  firstError: Trouble;
  /** In seconds, for its rate limit; the gateway's own if the host reports none. */
  retryAfter: string;
  /** The host counts tokens; elsewhere the gateway estimates, and the receipt says so. */
  counts: boolean;
  /** Whether it signs its thoughts, so that they are returned to it whole or not at all. */
  signs: "thoughts" | "calls" | "nothing";
}

export type Trouble = "failed" | "overloaded" | "rate-limited";

type Wire = "chat" | "messages" | "genai" | "converse";

const WIRES: Readonly<Record<Wire, Omit<Upstream, "native">>> = {
  chat: {
    endWord: "stop",
    streamError: "failed",
    firstError: "failed",
    retryAfter: "1",
    counts: false,
    signs: "nothing",
  },
  messages: {
    endWord: "end_turn",
    streamError: "overloaded",
    firstError: "overloaded",
    retryAfter: "1",
    counts: true,
    signs: "thoughts",
  },
  genai: {
    endWord: "STOP",
    streamError: "overloaded",
    firstError: "overloaded",
    retryAfter: "1",
    counts: true,
    signs: "calls",
  },
  converse: {
    endWord: "end_turn",
    streamError: "failed",
    firstError: "rate-limited",
    retryAfter: "5",
    counts: false,
    signs: "nothing",
  },
};

const WIRE_OF: Readonly<Record<Exclude<Kind, "simulator">, Wire>> = {
  openai: "chat",
  "openai-compatible": "chat",
  anthropic: "messages",
  gemini: "genai",
  vertex: "genai",
  bedrock: "converse",
};

/** The upstream of the models of a kind, as clients of a protocol see it. The simulator answers each in its own protocol. */
export function upstreamOf(kind: Kind, client: SampledDialect): Upstream {
  const wire = kind === "simulator" ? client : WIRE_OF[kind];
  return { native: wire === client, ...WIRES[wire] };
}
