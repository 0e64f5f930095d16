import { ANTHROPIC_BATCHES } from "./anthropic.ts";
import type { BatchApi, BatchHost, LostBatch } from "./batch-api.ts";
import { GEMINI_BATCHES } from "./gemini.ts";
import { OPENAI_BATCHES } from "./openai.ts";

/** A batch API that the simulator has, and where. */
interface Part {
  root: string;
  api: BatchApi;
  /** What the simulator's ids of its batches begin with. */
  prefix: string;
}

const PARTS: readonly Part[] = [
  { root: "/openai/v1", api: OPENAI_BATCHES, prefix: "batch_" },
  { root: "/anthropic", api: ANTHROPIC_BATCHES, prefix: "msgbatch_" },
  { root: "/gemini", api: GEMINI_BATCHES, prefix: "batches/" },
];

const partOf = (is: (part: Part) => boolean): Part => {
  const part = PARTS.find(is);
  if (part === undefined) throw new Error("the simulator has no such batch API");
  return part;
};
const forEndpoint = (endpoint: string) => partOf(({ api }) => Object.values(api.endpoints).includes(endpoint));
const forId = (id: string) => partOf(({ prefix }) => id.startsWith(prefix));

const below = (host: BatchHost, { root }: Part): BatchHost => ({
  ask: (request) => host.ask({ ...request, url: root + request.url }),
  lines: (request) => host.lines({ ...request, url: root + request.url }),
});

/** The batch APIs of the built-in simulator: each protocol's lines go to the API of its vendor. */
export const SIMULATOR_BATCHES: BatchApi = {
  endpoints: Object.assign({}, ...PARTS.map(({ api }) => api.endpoints)) as BatchApi["endpoints"],
  sharedHeaders: PARTS.flatMap(({ api }) => api.sharedHeaders),
  // As the simulator accepts them.
  maxLines: 10_000,
  maxBytes: GEMINI_BATCHES.maxBytes,
  line: (id, body, endpoint) => forEndpoint(endpoint).api.line(id, body, endpoint),
  submit: (host, batch, beforeCreation) => {
    const part = forEndpoint(batch.endpoint);
    return part.api.submit(below(host, part), batch, beforeCreation);
  },
  find: async (host: BatchHost, batch: LostBatch) => {
    let isUnclear = false;
    for (const part of PARTS) {
      const found = await part.api.find(below(host, part), batch);
      if (found === "unclear") isUnclear = true;
      else if (found !== undefined) return found;
    }
    return isUnclear ? "unclear" : undefined;
  },
  poll: async (host, id) => {
    const part = forId(id);
    const progress = await part.api.poll(below(host, part), id);
    return progress.state === "ended" ? { ...progress, results: [part.prefix, ...progress.results] } : progress;
  },
  cancel: (host, id) => {
    const part = forId(id);
    return part.api.cancel(below(host, part), id);
  },
  results: (host, [prefix, ...results]) => {
    const part = partOf((one) => one.prefix === prefix);
    return part.api.results(below(host, part), results);
  },
};
