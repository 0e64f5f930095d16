import type { DialectName } from "../src/canon/dialect-name.ts";
import type { Attack } from "./hostile/attack.ts";
import { CHAT_ANSWERS, CHAT_STREAMS } from "./hostile/chat.ts";
import { CONVERSE_ANSWERS, CONVERSE_STREAMS, FRAMED_STREAMS } from "./hostile/converse.ts";
import { GENAI_ANSWERS, GENAI_STREAMS } from "./hostile/genai.ts";
import { INTERACTIONS_ANSWERS, INTERACTIONS_STREAMS } from "./hostile/interactions.ts";
import { MESSAGES_ANSWERS, MESSAGES_STREAMS } from "./hostile/messages.ts";
import { RESPONSES_ANSWERS, RESPONSES_STREAMS } from "./hostile/responses.ts";
import { modelsOfEveryDialect } from "./scripted-models.ts";

/** `framed`: the Messages protocol in the binary frames of the hosts that speak Converse. */
export type HostileHost = DialectName | "converse" | "framed";

/** A response that no well-behaved host sends. */
export interface HostileAnswer extends Attack {
  host: HostileHost;
  stream: boolean;
}

const ATTACKS: Readonly<Record<HostileHost, { streams: readonly Attack[]; answers: readonly Attack[] }>> = {
  chat: { streams: CHAT_STREAMS, answers: CHAT_ANSWERS },
  messages: { streams: MESSAGES_STREAMS, answers: MESSAGES_ANSWERS },
  genai: { streams: GENAI_STREAMS, answers: GENAI_ANSWERS },
  responses: { streams: RESPONSES_STREAMS, answers: RESPONSES_ANSWERS },
  interactions: { streams: INTERACTIONS_STREAMS, answers: INTERACTIONS_ANSWERS },
  converse: { streams: CONVERSE_STREAMS, answers: CONVERSE_ANSWERS },
  framed: { streams: FRAMED_STREAMS, answers: [] },
};

export const HOSTILE_HOSTS = Object.keys(ATTACKS) as readonly HostileHost[];

export const HOSTILE_ANSWERS: readonly HostileAnswer[] = HOSTILE_HOSTS.flatMap((host) => [
  ...ATTACKS[host].streams.map((attack) => ({ ...attack, host, stream: true })),
  ...ATTACKS[host].answers.map((attack) => ({ ...attack, host, stream: false })),
]);

/** A response of about this many bytes. */
export function hostileBytes({ head = "", part, tail = "", wrap = (text) => text }: Attack, bytes: number): Buffer {
  const parts = [head];
  for (let index = 0, length = head.length + tail.length; length < bytes; index++) {
    const next = part(index);
    parts.push(next);
    length += next.length;
  }
  parts.push(tail);
  return Buffer.from(wrap(parts.join("")), "latin1");
}

export function hostileType({ host, stream }: HostileAnswer): string {
  if (!stream) return "application/json";
  return host === "converse" || host === "framed" ? "application/vnd.amazon.eventstream" : "text/event-stream";
}

/** A model of each host, `test/<host>`. */
export function hostileModels(
  upstreamUrl: string,
  timeout_ms: { first_byte: number; idle: number },
): Record<string, unknown> {
  const scripted = modelsOfEveryDialect(upstreamUrl, timeout_ms);
  const models = scripted["models"] as object[];
  const bedrock = { kind: "bedrock", base_url: upstreamUrl, api_key: "k", timeout_ms };
  const at = (id: string, model: string, dialect: string) => ({
    ...models[0],
    id: `test/${id}`,
    offers: [{ provider: "up-converse", model, dialect }],
  });
  return {
    ...scripted,
    providers: { ...(scripted["providers"] as object), "up-converse": bedrock },
    models: [
      ...models,
      at("converse", "amazon.nova-pro-v1:0", "converse"),
      at("framed", "anthropic.claude-sonnet-4-v1:0", "messages"),
    ],
  };
}
