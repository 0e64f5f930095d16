import { expect } from "bun:test";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { SIMULATED_TEXT_MODELS } from "../../src/catalogue/simulated-models.ts";
import { buildCall } from "../../testing/build-call.ts";
import { eventually } from "../../testing/eventually.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** The provider kinds of the suite, each with the URL at which the simulator plays that vendor's host. */
const HOSTS = {
  simulator: "",
  openai: "/openai/v1",
  "openai-compatible": "/openai/v1",
  anthropic: "/anthropic",
  gemini: "/gemini",
  vertex: "/vertex",
  bedrock: "/bedrock",
} as const;

/** A model is called `<kind>/<simulated model>`: its one offer is at a provider of that kind. */
export type Kind = keyof typeof HOSTS;

/** A model that is silent for many seconds is offered by a provider whose timeout is shorter. */
const SILENT_MODEL = "slow-first-byte";
const IMPATIENT_MS = 200;

/** One call at a time: a second one gets a 429 with `retry-after: 1`. */
export const NARROW_KEY = `sk-trv-${"ConformanceNarrowKey".padEnd(43, "x")}`;
export const WRONG_KEY = `sk-trv-${"z".repeat(43)}`;

const MAX_BODY_MB = 1;
/** More than the gateway accepts, and less than what makes the server drop the connection. */
export const TOO_LARGE_TEXT = "x".repeat(1.5 * 1024 * 1024);

export interface SimulatedGateway {
  gateway: TestGateway;
  simulator: Simulator;
  stop(): Promise<void>;
}

/**
 * The whole gateway with the simulator as its upstream, as itself and as every vendor that it simulates. Without a
 * pause between the chunks a response would arrive in one read, and nothing could break in the middle of it.
 */
export async function startSimulatedGateway({ tokenDelayMs = 1 } = {}): Promise<SimulatedGateway> {
  const simulator = await startSimulator({ tokenDelayMs });
  const kinds = Object.keys(HOSTS) as Kind[];
  const gateway = await startTestGateway({
    config: {
      server: { drain_seconds: 0, max_body_mb: MAX_BODY_MB },
      providers: Object.fromEntries(kinds.flatMap((kind) => providersOf(kind, simulator.url))),
      models: kinds.flatMap(modelsOf),
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "narrow", key: NARROW_KEY, limits: { concurrent: 1 } },
      ],
    },
    // Too short to finish: the simulator is slow, and clients that disconnect must stop it.
    timings: { readOnMs: 100 },
  });
  return {
    gateway,
    simulator,
    stop: async () => {
      await gateway.stop();
      await simulator.stop();
    },
  };
}

const patient = (kind: Kind) => `patient-${kind}`;
const impatient = (kind: Kind) => `impatient-${kind}`;

function providersOf(kind: Kind, simulatorUrl: string): [string, object][] {
  const settings = { kind, base_url: `${simulatorUrl}${HOSTS[kind]}`, api_key: "upstream-secret-of-the-suite" };
  return [
    [patient(kind), settings],
    [impatient(kind), { ...settings, timeout_ms: { first_byte: IMPATIENT_MS } }],
  ];
}

function modelsOf(kind: Kind): object[] {
  return SIMULATED_TEXT_MODELS.map((model) => ({
    id: `${kind}/${model.name}`,
    display_name: model.displayName,
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    reasoning: model.reasoning,
    pricings: {},
    offers: [{ provider: model.name === SILENT_MODEL ? impatient(kind) : patient(kind), model: model.name }],
  }));
}

/** A receipt by its id. That of a call whose client has disconnected is written a moment later. */
export async function receiptOf({ gateway }: SimulatedGateway, id: string | null | undefined): Promise<ReceiptData> {
  expect(id).toMatch(/^rcp_/);
  const headers = { "x-trivium-receipt": id ?? "" };
  return eventually(`the receipt ${id}`, () => gateway.receipt(new Response(null, { headers })).catch(() => undefined));
}

/** Runs a call that breaks off, and checks that the gateway stops its upstream too (H13). */
export async function expectUpstreamStopped(
  { simulator }: SimulatedGateway,
  leave: () => Promise<void>,
): Promise<void> {
  const isQuiet = () => simulator.stats().openRequests === 0;
  await eventually("quiet upstream", isQuiet);
  const before = simulator.stats();
  await leave();
  await eventually("quiet upstream", isQuiet);
  expect(simulator.stats()).toMatchObject({ requests: before.requests + 1, aborted: before.aborted + 1 });
}

/** Resolves when a call has reached its upstream. */
export const hasReachedUpstream = ({ simulator }: SimulatedGateway): Promise<unknown> =>
  eventually("a call upstream", () => simulator.stats().openRequests > 0);

/** Makes a call while its key is busy with another, which is ended as soon as the call was refused once. */
export async function callWithBusyKey<T>(
  { gateway }: SimulatedGateway,
  call: () => Promise<T>,
  refused: () => boolean,
) {
  const controller = new AbortController();
  const [url, request] = buildCall(gateway.url, "chat", NARROW_KEY, {
    model: "simulator/stall-mid-stream",
    stream: true,
    signal: controller.signal,
  });
  const busy = await fetch(url, request);
  await busy.body?.getReader().read();
  try {
    const result = call();
    await Promise.race([result, eventually("a refusal", refused)]);
    controller.abort();
    return await result;
  } finally {
    controller.abort();
  }
}

export type ErrorClass = abstract new (...parameters: never[]) => Error;

/** The error of a call that must fail. */
export async function failureOf(call: PromiseLike<unknown>): Promise<Error> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new TypeError(`rejected with ${typeof error}, not an error`);
  }
  throw new Error("the call succeeded");
}

/** A member that a package's types do not name, or that only some generations have. */
export const extra = (holder: object | null | undefined, name: string): unknown => Reflect.get(holder ?? {}, name);

/** A header of an error: the packages keep them as `Headers` or, in older generations, as an object. */
export function headerOf(error: Error, name: string): unknown {
  const headers = extra(error, "headers");
  if (headers instanceof Headers) return headers.get(name);
  return typeof headers === "object" ? extra(headers, name) : undefined;
}

/** Reads a stream to its end and returns what arrived; throws if it ends badly. */
export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

interface SeenAnswer {
  status: number;
  retryAfter: string | null;
}

/** `fetch`, and the list of responses that came through it: how many requests an SDK really sent. */
export function watchedFetch(): { fetch: typeof fetch; answers: SeenAnswer[] } {
  const answers: SeenAnswer[] = [];
  const watched = async (...request: Parameters<typeof fetch>): Promise<Response> => {
    const response = await fetch(...request);
    answers.push({ status: response.status, retryAfter: response.headers.get("retry-after") });
    return response;
  };
  return { fetch: Object.assign(watched, { preconnect: fetch.preconnect }), answers };
}
