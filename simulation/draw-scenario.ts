import type { ScriptedDialect } from "../testing/sampled-dialects.ts";
import { countsMoney, MODELS, PROVIDERS } from "./configuration.ts";
import { MAX_TOKENS } from "./requests.ts";
import {
  type AskedRouting,
  type Behaviour,
  type CallPlan,
  FAULTS,
  type Fault,
  type Reading,
  type Scenario,
  SERVICES,
  type ServicePlan,
  STORE_FAULTS,
  type Step,
  VIDEO_FAULTS,
  type VideoFault,
  type VideoPlan,
} from "./scenario.ts";
import { SeededRandom } from "./seeded-random.ts";

const DIALECTS: readonly ScriptedDialect[] = ["chat", "messages", "genai", "responses"];
const STATUSES = [400, 401, 403, 404, 408, 409, 413, 422, 429, 429, 500, 502, 503, 504, 529] as const;
/** Average time between two calls. */
const BETWEEN_CALLS_MS = 40;
const SHARE_OF_KEY = { free: 10, rated: 2, metered: 2, narrow: 2, poor: 3, bound: 2, parted: 5 };

/** Share of calls that are for videos. */
const VIDEOS = 0.03;
/** Share of calls that are for services. */
const SERVICE_CALLS = 0.15;
/** What a service may cost beyond its estimate: parts may be requested twice, which no budget reserves. */
const SHARE_OF_SERVICE_KEY = { free: 6, rated: 1, metered: 1, narrow: 1 };

type ShareOfKey = Readonly<Record<string, number>>;

interface ScenarioOptions {
  seed: number;
  calls: number;
  /** Share of calls that each key makes. */
  shareOfKey?: ShareOfKey;
}

/** How rough the world of a seed is. Some are calm, to show what only long quiet periods reveal. */
interface Weather {
  /** Probability that a request to a provider fails. */
  faults: number;
  /** Probability that a client does not simply read its response. */
  odd: number;
  /** Average number of calls between two of them. */
  callsPerOutage: number;
  callsPerStoreFault: number;
  callsPerKill: number;
}

/** Everything that happens in a run, drawn from one seed before it begins. */
export function drawScenario({ seed, calls, shareOfKey = SHARE_OF_KEY }: ScenarioOptions): Scenario {
  const random = new SeededRandom(seed);
  const weather: Weather = {
    faults: random.pick([0, 0.05, 0.2, 0.5]),
    odd: random.pick([0, 0.05, 0.3]),
    callsPerOutage: random.pick([50, 200, Number.POSITIVE_INFINITY]),
    callsPerStoreFault: random.pick([60, 300, Number.POSITIVE_INFINITY]),
    callsPerKill: random.pick([150, 600, Number.POSITIVE_INFINITY]),
  };
  const steps: Step[] = [];
  let atMs = 0;
  for (let id = 1; id <= calls; id++) {
    atMs += drawPause(random);
    if (random.chance(1 / weather.callsPerOutage)) steps.push(drawOutage(random, atMs));
    if (random.chance(1 / weather.callsPerStoreFault)) {
      steps.push({ kind: "store", atMs, forMs: random.between(20, 15_000), fault: random.pick(STORE_FAULTS) });
    }
    if (random.chance(1 / weather.callsPerKill)) {
      steps.push({ kind: "kill", atMs, downMs: random.between(1, 3_000) });
    }
    steps.push(drawRequest(random, id, weather, shareOfKey, atMs));
  }
  return { seed, steps };
}

function drawRequest(random: SeededRandom, id: number, weather: Weather, shareOfKey: ShareOfKey, atMs: number): Step {
  if (random.chance(VIDEOS)) return { kind: "video", atMs, video: drawVideo(random, id, weather) };
  if (random.chance(SERVICE_CALLS)) return { kind: "service", atMs, service: drawService(random, id, weather) };
  return { kind: "call", atMs, call: drawCall(random, id, weather, shareOfKey) };
}

/** Calls come in bursts and one after another. */
function drawPause(random: SeededRandom): number {
  return random.chance(0.3) ? 0 : random.between(1, 2 * BETWEEN_CALLS_MS);
}

function drawCall(random: SeededRandom, id: number, weather: Weather, shareOfKey: ShareOfKey): CallPlan {
  const dialect = random.pick(DIALECTS);
  const words = random.between(1, 12);
  const model = random.pick(Object.keys(MODELS));
  const key = random.weighted(shareOfKey);
  // A budget holds for prompts that cost what they appear to: only the provider knows their real size.
  const tool = random.chance(0.15);
  const isHonest = countsMoney(key);
  const padding = !isHonest && random.chance(0.01) ? random.between(20_000, 60_000) : 0;
  // Some use their whole limit: they cost exactly what was reserved.
  const plainOutput = words * 3 + Math.ceil((words * padding) / 128) + (tool ? 11 : 0);
  const background = dialect === "responses" && random.chance(0.15);
  const stream = random.chance(0.6) && !background;
  // Streams rarely break where they can be continued, so most of them ask to survive.
  const others = Object.keys(MODELS).filter((other) => other !== model);
  const fallbackModel = random.chance(key === "parted" ? 0.7 : 0.05) ? random.pick(others) : undefined;
  const survive = stream && !isHonest && random.chance(0.5);
  return {
    id,
    key,
    dialect,
    door: random.chance(0.7) ? "contract" : "dropin",
    model,
    stream,
    words,
    padding,
    tool,
    input: random.between(1, isHonest ? 5 : 400),
    cached: !isHonest && random.chance(0.3) ? random.between(1, 200) : 0,
    ...(dialect === "responses" ? { store: random.chance(0.6), builds: random.chance(0.5) } : {}),
    ...(background ? { background, store: true, builds: false } : {}),
    output: isHonest && random.chance(0.6) ? MAX_TOKENS : plainOutput,
    routing: {
      ...(random.chance(0.25) ? drawRouting(random, MODELS[model] ?? [], isHonest) : {}),
      ...(survive ? { survive } : {}),
      ...(fallbackModel === undefined ? {} : { fallbackModel, fallback: undefined }),
    },
    reading: random.chance(weather.odd) ? drawReading(random) : {},
    providers: drawBehaviours(random, weather.faults),
  };
}

function drawService(random: SeededRandom, id: number, weather: Weather): ServicePlan {
  const service = random.pick(SERVICES);
  const isLarge = (service === "embeddings" || service === "rerank") && random.chance(0.3);
  return {
    id,
    key: service === "transcriptions" && random.chance(0.4) ? "parted" : random.weighted(SHARE_OF_SERVICE_KEY),
    service,
    size: isLarge ? random.between(97, 700) : random.between(1, 12),
    stream: (service === "transcriptions" || service === "completions") && random.chance(0.5),
    routing: {
      ...(random.chance(0.1) ? { fallback: random.chance(0.5) } : {}),
      ...(random.chance(0.1) ? { deadlineMs: random.between(20, 8_000) } : {}),
    },
    reading: random.chance(weather.odd) ? drawReading(random) : {},
    providers: isLarge ? drawForBatches(random, weather.faults) : drawBehaviours(random, weather.faults),
  };
}

/** Any of several requests may fail. */
const drawForBatches = (random: SeededRandom, faults: number): Behaviour[] =>
  Array.from({ length: 12 }, () => drawBehaviour(random, random.chance(faults / 2)));

/** Each option is one line. */
function drawRouting(random: SeededRandom, offers: readonly string[], isHonest: boolean): AskedRouting {
  return {
    ...(random.chance(0.4) ? { type: random.pick(["priority", "round_robin", "least_latency"] as const) } : {}),
    ...(random.chance(0.3) ? { primaryFactor: random.pick(["cost", "speed", "quality"] as const) } : {}),
    ...(random.chance(0.3) ? { providers: offers.filter(() => random.chance(0.6)).reverse() } : {}),
    ...(random.chance(0.3) ? { fallback: random.chance(0.5) } : {}),
    ...(random.chance(0.2) ? { deadlineMs: random.between(20, 8_000) } : {}),
    // Requests sent twice are paid for twice, and a budget reserves for one response.
    ...(!isHonest && random.chance(0.2) ? { hedge: true } : {}),
  };
}

function drawReading(random: SeededRandom): Reading {
  switch (random.weighted({ time: 3, chunks: 3, stall: 2 })) {
    case "time":
      return { leavesAfterMs: random.chance(0.2) ? random.between(1, 12_000) : random.between(0, 150) };
    case "chunks":
      return { leavesAfterChunks: random.between(1, 8) };
    case "stall":
      return { stallsMs: random.chance(0.05) ? random.between(200_000, 400_000) : random.between(10, 20_000) };
  }
}

/** For the first requests of a call; later ones succeed. */
function drawBehaviours(random: SeededRandom, faults: number): Behaviour[] {
  const behaviours: Behaviour[] = [drawBehaviour(random, random.chance(faults))];
  while (behaviours.length < 6 && behaviours.at(-1)?.fault !== undefined) {
    behaviours.push(drawBehaviour(random, random.chance(0.5)));
  }
  return behaviours;
}

function drawBehaviour(random: SeededRandom, isFaulty: boolean): Behaviour {
  const behaviour: Behaviour = {
    delayMs: random.chance(0.02) ? random.between(1_000, 14_000) : random.between(0, 80),
    gapMs: random.chance(0.02) ? random.between(100, 3_000) : random.between(0, 12),
    eventsPerChunk: random.between(0, 5),
    usage: random.weighted({ true: 90, none: 3, zero: 3, twice: 4 }),
  };
  if (random.chance(0.3)) behaviour.continues = random.pick(["from the start", "with a repetition"]);
  if (!isFaulty) return behaviour;
  const fault: Fault = random.pick(FAULTS);
  behaviour.fault = fault;
  if (fault === "status") {
    behaviour.status = random.pick(STATUSES);
    if (random.chance(0.5)) behaviour.retryAfterSeconds = random.between(0, 20);
  }
  behaviour.at = random.between(0, 16);
  return behaviour;
}

function drawVideo(random: SeededRandom, id: number, { faults, odd }: Weather): VideoPlan {
  const drawFaults = (): (VideoFault | "well")[] => {
    const drawn: (VideoFault | "well")[] = [];
    while (drawn.length < 12 && random.chance(faults)) drawn.push(random.pick([...VIDEO_FAULTS, "well"]));
    return drawn;
  };
  return {
    id,
    key: random.pick(["free", "free", "bound"]),
    seconds: random.between(4, 12),
    takesMs: random.between(500, 90_000),
    fails: random.chance(0.1),
    submits: drawFaults(),
    polls: drawFaults(),
    ...(random.chance(odd) ? { leavesAfterMs: random.between(0, 60) } : {}),
    isIdempotent: random.chance(0.8),
  };
}

function drawOutage(random: SeededRandom, atMs: number): Step {
  const provider = random.pick(Object.keys(PROVIDERS));
  return { kind: "outage", atMs, forMs: random.between(100, 30_000), provider, behaviour: drawBehaviour(random, true) };
}
