import { BufferPool } from "../src/base/byte-buffer.ts";
import type { JsonObject } from "../src/base/json.ts";
import { Secret } from "../src/base/secret.ts";
import type { FieldNote, Receipt } from "../src/canon/receipt.ts";
import { buildCatalogue } from "../src/catalogue/catalogue.ts";
import { DEFAULT_LIVE } from "../src/config/default-live.ts";
import { SealedOrigins } from "../src/dialects/answer/sealed-origins.ts";
import { chat } from "../src/dialects/chat/index.ts";
import { EventHub } from "../src/observe/event-hub.ts";
import { createLog } from "../src/observe/log.ts";
import { BUILT_IN, createProvider } from "../src/providers/index.ts";
import { filesHostsOf, publicOwnersOf } from "../src/providers/registry.ts";
import { BackgroundEvents } from "../src/relay/answer/background-events.ts";
import { Watchdog } from "../src/relay/attempt/watchdog.ts";
import { type Call, ClientPresence, type IncomingCall } from "../src/relay/call.ts";
import type { Gateway } from "../src/relay/gateway.ts";
import { HeldRequest } from "../src/relay/request/held-request.ts";
import { MemoryBudget } from "../src/relay/request/memory-budget.ts";
import { RunningCalls } from "../src/relay/running-calls.ts";
import { CallTimer } from "../src/relay/settle/call-timer.ts";
import { DEFAULT_TIMINGS } from "../src/relay/settle/timings.ts";
import { type CallRouting, DEFAULT_ROUTING, RoutingDefaults } from "../src/routing/call-routing.ts";
import { Conversations } from "../src/routing/conversations.ts";
import { Health } from "../src/routing/health/health.ts";
import { Slots } from "../src/routing/slots.ts";
import type { TextTarget } from "../src/routing/target.ts";
import { Targets } from "../src/routing/targets.ts";
import { CallMetrics } from "../src/telemetry/call-metrics.ts";
import { MemoryNetwork, type Script as NetworkScript } from "./memory-network.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** How a scripted host answers one request: with an answer, with a failure, or never. */
export interface Script {
  status?: number;
  headers?: Record<string, string>;
  /** The chunks that it sends; a number is a pause in milliseconds. Without an end it hangs. */
  body?: readonly (string | number)[];
  hangs?: true;
  /** Its connection breaks when all of it was sent. */
  breaks?: true;
}

const KEY = "key-of-the-gateway";
/** Any offer may be called. */
const ANY_OFFER = { begin: () => undefined };

/** A gateway without sockets: hosts answer what the test scripts, one script for each request, and time is the test's. */
export function scriptedGateway(scripts: readonly Script[] = []) {
  const clock = new VirtualClock();
  const network = new MemoryNetwork(clock);
  network.play(...[...scripts, { hangs: true as const }].map((script) => played(script, clock)));
  const sources = { clock, random: { id: () => "id", bytes: (length: number) => new Uint8Array(length) } };
  const settings = { kind: "openai-compatible", apiKey: new Secret(KEY) };
  const providers = new Map(
    ["one", "two"].map((name) => [
      name,
      [createProvider({ name, ...settings, baseUrl: `http://${name}.test/v1` }, sources)],
    ]),
  );
  const catalogue = buildCatalogue({
    providers: ["one", "two"].map((name) => ({ name, publishers: [] })),
    models: [
      { id: "acme/model", pricings: {}, offers: ["one", "two"].map((provider) => ({ provider, model: "upstream" })) },
    ],
  });
  const receipts: Receipt[] = [];
  const gateway: Gateway = {
    instance: "instance_test",
    sharedLimits: undefined,
    intents: false,
    ...sources,
    snapshot: {
      catalogue,
      providers,
      targets: new Targets(catalogue.list(), providers, BUILT_IN),
      routing: new RoutingDefaults(),
      maxBodyBytes: 1024 * 1024,
      maxJsonKeys: 250_000,
      publicModels: true,
      live: DEFAULT_LIVE,
      imageLimits: { rounds: 8, images: 16 },
      publicOwners: publicOwnersOf(BUILT_IN),
      filesHosts: filesHostsOf(BUILT_IN),
    },
    unpriced: { note: () => {}, blocked: () => undefined } as never,
    keys: undefined as never,
    changes: undefined as never,
    admissions: undefined as never,
    files: undefined as never,
    answers: undefined as never,
    answerCache: undefined as never,
    storedConversations: undefined as never,
    objects: undefined as never,
    uploads: undefined as never,
    filesAtProviders: undefined as never,
    batches: undefined as never,
    caches: undefined as never,
    partialUploads: undefined as never,
    captures: undefined as never,
    refusals: undefined as never,
    background: undefined as never,
    ledger: {
      write: (receipt: Receipt) => {
        receipts.push(receipt);
        return Promise.resolve();
      },
    } as never,
    health: new Health(sources, new RoutingDefaults()),
    conversations: new Conversations(),
    sealed: new SealedOrigins(),
    backgroundEvents: new BackgroundEvents(),
    slots: new Slots(clock),
    watchdog: new Watchdog(clock),
    memory: new MemoryBudget(1024 * 1024),
    buffers: new BufferPool(),
    events: new EventHub(),
    metrics: new CallMetrics(),
    tracing: undefined,
    log: createLog({ clock, level: "silent" }),
    send: network.send,
    connect: () => {
      throw new Error("no script was provided for this connection");
    },
    fetchMedia: () => Promise.reject(new Error("this gateway does not fetch media")),
    streamMedia: () => Promise.reject(new Error("this gateway does not fetch media")),
    publicUrl: () => "http://gateway.test",
    timings: DEFAULT_TIMINGS,
    runningCalls: 0,
    calls: new RunningCalls(),
    orphanedTexts: 0,
    orphanedImages: 0,
    closing: false,
  };
  const { model, offers } = catalogue.resolve("acme/model");
  const { list } = gateway.snapshot.targets.text(model, offers, "chat");
  const targets: readonly TextTarget[] = list.flatMap((candidate) => candidate.targets);
  return { gateway, clock, network, receipts, targets };
}

/** The script as the network plays it. */
const played =
  ({ status, headers, body = [], hangs, breaks }: Script, clock: VirtualClock): NetworkScript =>
  async (reply) => {
    if (hangs && body.length === 0) return;
    reply.head(status, headers);
    for (const step of body) {
      if (typeof step === "number") await clock.sleep(step);
      else await reply.write(step);
    }
    if (breaks) reply.fail("broken");
    else if (!hangs) reply.end();
  };

/** A call that was admitted, with what is left of its client in the test's hands. */
export function sampleCall(
  gateway: Gateway,
  body: JsonObject = {},
  adapted: readonly FieldNote[] = [],
  routing: Partial<CallRouting> = {},
) {
  const client = new AbortController();
  const request = new Request("http://gateway.test/", { signal: client.signal });
  const connection = { address: "127.0.0.1", trusted: false, hold: () => {}, rest: () => {}, hangUp: () => {} };
  const incoming: IncomingCall = {
    request,
    requestId: "req_1",
    connection,
    credential: undefined,
    dialect: chat,
    door: "contract",
    verb: "generate",
    naming: { vendorNames: false },
    options: undefined,
    strict: false,
  };
  const asked: JsonObject = { model: "acme/model", messages: [{ role: "user", content: "Hello" }], ...body };
  const owner = { keyId: "key_1", keyName: "test" };
  const released: object[] = [];
  /** How often the key has as much left again. */
  const left = { extensions: Number.POSITIVE_INFINITY };
  const call: Call = {
    incoming,
    receiptId: "rcpt_1",
    principal: { ...owner, project: "default" } as Call["principal"],
    admission: {
      atMs: 0,
      endUser: undefined,
      latest: ANY_OFFER,
      model: undefined,
      ...ANY_OFFER,
      refusalOf: () => undefined,
      isCountedAt: () => false,
      addRateHeaders: () => {},
      grow: () => {},
      extend: () => (left.extensions-- > 0 ? ANY_OFFER : undefined),
      release: (used) => void released.push(used),
    },
    model: gateway.snapshot.catalogue.resolve("acme/model").model,
    modelInAnswer: "acme/model",
    request: new HeldRequest({ text: JSON.stringify(asked), body: asked }),
    body: asked,
    outline: asked,
    stream: asked["stream"] === true,
    startedAtMs: gateway.clock.nowMs(),
    timer: new CallTimer(gateway.clock.nowMs, gateway.clock.nowMs()),
    routing: { ...DEFAULT_ROUTING, ...routing },
    adapted,
    billables: [],
    client: new ClientPresence(request, connection, gateway.watchdog),
    memory: gateway.memory.open(owner),
    offersTried: [],
    capture: undefined,
    conversation: undefined,
    plan: undefined,
    continued: undefined,
    saver: undefined,
    cache: undefined,
    hedged: false,
    trace: undefined,
    attempt: undefined,
  };
  gateway.runningCalls++;
  return { call, released, left, disconnect: () => client.abort() };
}
