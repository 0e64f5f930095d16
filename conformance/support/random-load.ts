import type { ServerResponse } from "node:http";
import { wire } from "../../testing/upstream-wire.ts";
import { type SeenRequest, sendJson, sleep, startEvents } from "./scripted-upstream.ts";

export type Draw = (below: number) => number;

/** Numbers that look random and follow from the seed. */
export function drawer(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export const oneOf = <Item>(draw: Draw, items: readonly [Item, ...Item[]]): Item =>
  items[draw(items.length)] ?? items[0];

/** What the upstream does with a call. The prompt says so, so the order of calls does not matter. */
interface Plan {
  /** Statuses by the provider's model name, for those that fail. */
  fails: Record<string, number>;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
  /** The stream ends in its midst. */
  cut: boolean;
  /** Before the second half of a stream. */
  pauseMs: number;
}

const PLANNED = /plan=(\{.*\})=plan/;

const DIALECTS = ["chat", "messages", "genai"] as const;
export const LOAD_TAGS = ["team-a", "Team-A", "feature=search", "customer/7"] as const;
/** The first has a second offer; the last has no price. */
export const LOAD_MODELS = ["acme/first", "acme/second", "acme/third", "acme/unpriced"] as const;

export interface PlannedCall {
  dialect: (typeof DIALECTS)[number];
  model: string;
  /** Index among the keys of the load. */
  key: number;
  stream: boolean;
  tags: string[];
  prompt: string;
  /** The client disconnects at the first bytes of the response. */
  leaves: boolean;
}

export function drawCall(draw: Draw, keys: number): PlannedCall {
  const rare = (one: number) => draw(one) === 0;
  const stream = draw(2) === 0;
  const leaves = stream && rare(6);
  const fails: Plan["fails"] = {};
  if (rare(4)) fails["first-at-chat"] = oneOf(draw, [500, 503, 429]);
  if (rare(8)) fails["first-at-messages"] = oneOf(draw, [500, 529]);
  if (rare(8)) fails["second"] = oneOf(draw, [400, 413, 500]);
  const plan: Plan = {
    fails,
    input: draw(5_000),
    cacheRead: rare(3) ? draw(9_000) : 0,
    cacheWrite: rare(3) ? draw(2_000) : 0,
    output: 1 + draw(3_000),
    reasoning: rare(3) ? draw(1_000) : 0,
    cut: stream && rare(7),
    pauseMs: leaves ? 40 : 0,
  };
  return {
    dialect: oneOf(draw, DIALECTS),
    // Some are misspelt: such a request does not become a call.
    model: rare(20) ? "acme/misspelt" : oneOf(draw, LOAD_MODELS),
    key: draw(keys),
    stream,
    tags: LOAD_TAGS.filter(() => rare(3)),
    prompt: `plan=${JSON.stringify(plan)}=plan`,
    leaves,
  };
}

/** Answers as the prompt says, in the dialect of the call. */
export async function playPlan({ path, body }: SeenRequest, response: ServerResponse): Promise<void> {
  const request = JSON.parse(body) as { model: string; stream?: boolean };
  const plan = readPlan(request);
  const status = plan.fails[request.model];
  if (status !== undefined) return void sendJson(response, { error: { message: "as planned" } }, status);
  const dialect = path.includes("messages") ? MESSAGES : CHAT;
  if (request.stream !== true) return void sendJson(response, dialect.whole(plan));
  startEvents(response);
  response.write(dialect.begin(plan));
  if (plan.pauseMs > 0) await sleep(plan.pauseMs);
  if (plan.cut) response.end();
  else response.end(dialect.rest(plan));
}

function readPlan(request: object): Plan {
  for (const text of textsOf(request)) {
    const [, plan] = PLANNED.exec(text) ?? [];
    if (plan !== undefined) return JSON.parse(plan) as Plan;
  }
  throw new Error("the request has lost its plan");
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) yield* textsOf(part);
}

const chatUsage = ({ input, cacheRead, output, reasoning }: Plan) => ({
  prompt_tokens: input + cacheRead,
  completion_tokens: output + reasoning,
  total_tokens: input + cacheRead + output + reasoning,
  prompt_tokens_details: { cached_tokens: cacheRead },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

const CHAT = {
  whole: (plan: Plan) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "upstream",
    choices: [{ index: 0, message: { role: "assistant", content: "As planned." }, finish_reason: "stop" }],
    usage: chatUsage(plan),
  }),
  begin: (_: Plan) => wire.chatChunk({ role: "assistant", content: "As " }),
  rest: (plan: Plan) =>
    wire.chatChunk({ content: "planned." }) + wire.chatChunk({}, "stop") + wire.chatUsage(chatUsage(plan)) + wire.done,
};

const messagesUsage = ({ input, cacheRead, cacheWrite, output }: Plan) => ({
  input_tokens: input,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite,
  output_tokens: output,
});

const MESSAGES = {
  whole: (plan: Plan) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "upstream",
    content: [{ type: "text", text: "As planned." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: messagesUsage(plan),
  }),
  begin: (plan: Plan) => wire.messageStart({ ...messagesUsage(plan), output_tokens: 1 }) + wire.textBlock("As "),
  rest: ({ output }: Plan) => wire.messageEnd({ output_tokens: output }),
};

/** Providers and models of the load, at that upstream. */
export function loadConfig(upstreamUrl: string): Record<string, unknown> {
  const timeout_ms = { first_byte: 10_000, idle: 5_000 };
  const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
  const model = (id: string, pricings: object, ...offers: [provider: string, model: string][]) => ({
    id,
    display_name: id,
    context_length: 200_000,
    max_output_tokens: 8192,
    input_modalities: ["text"],
    output_modalities: ["text"],
    reasoning: true,
    pricings,
    offers: offers.map(([provider, name]) => ({ provider, model: name })),
  });
  const odd = {
    prompt: price(0.7),
    completion: price(3.33),
    input_cache_read: price(0.07),
    input_cache_write: price(0.875),
  };
  return {
    providers: {
      "at-chat": { kind: "openai-compatible", base_url: `${upstreamUrl}/v1`, api_key: "upstream-secret", timeout_ms },
      "at-messages": { kind: "anthropic", base_url: upstreamUrl, api_key: "upstream-secret", timeout_ms },
      "at-other": { kind: "openai-compatible", base_url: `${upstreamUrl}/v1`, api_key: "upstream-secret", timeout_ms },
    },
    models: [
      model("acme/first", odd, ["at-chat", "first-at-chat"], ["at-messages", "first-at-messages"]),
      model("acme/second", { prompt: price(1.1), completion: price(2.2) }, ["at-other", "second"]),
      model("acme/third", { prompt: price(15), completion: price(75) }, ["at-messages", "third"]),
      model("acme/unpriced", {}, ["at-chat", "unpriced"]),
    ],
  };
}
