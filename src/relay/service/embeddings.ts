import { GatewayError } from "../../canon/error.ts";
import { sumUsage, type Usage } from "../../canon/usage.ts";
import type { CachedAnswers } from "../../dialects/answer/cached-answers.ts";
import type { EmbeddingProtocol, EmbeddingRequest } from "../../services/embeddings/embedding-protocol.ts";
import type { EmbeddingReply } from "../../services/embeddings/embedding-reply.ts";
import { estimateInputs } from "../../services/embeddings/estimate-embedding.ts";
import { noteEmbeddings, requireEmbeddings } from "../../services/embeddings/fit-embeddings.ts";
import { type SizedBatch, splitBatches } from "../../services/embeddings/split-batches.ts";
import { dimensionsOf } from "../../services/embeddings/vector-form.ts";
import { answerHeaders } from "../answer/answer-headers.ts";
import { chunkedBody } from "../answer/chunked-body.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import { replayAnswer } from "../cached/replay-answer.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { unreadExtras } from "../media/unread-extras.ts";
import { readBody } from "../request/read-body.ts";
import { capturedChunks } from "../settle/capture-call.ts";
import { answerService } from "./answer-service.ts";
import { askParts } from "./ask-parts.ts";
import { estimateInputUse } from "./estimate-service.ts";
import { readsAll } from "./plausible-usage.ts";
import type { ServiceAttempt } from "./service-attempt.ts";
import { admitService, type Service, type ServiceCall } from "./service-call.ts";

/** The vectors of one request, as decimal numbers, take some tens of megabytes. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;

type EmbeddingsCall = ServiceCall<EmbeddingRequest, "embeddings">;
type Attempt = ServiceAttempt<"embeddings">;

/** Serves an embeddings call, with as many requests as the host needs. */
export async function relayEmbeddings(
  incoming: IncomingRequest,
  gateway: Gateway,
  protocol: EmbeddingProtocol,
): Promise<Response> {
  const { call, targets, found } = await admitService(incoming, gateway, serviceOf(protocol));
  if (found !== undefined) return replayAnswer(call, call.service, found, gateway);
  const done = new Map<string, EmbeddingReply[]>();
  const chunks = await answerService(
    call,
    gateway,
    targets,
    (attempt) => embed(call, attempt, done),
    ({ vectors, usage }) => protocol.encode({ vectors, usage, model: call.modelInAnswer }, call.request),
  );
  const { capture, keeper } = call;
  const kept = keeper === undefined ? chunks : keeper.chunks(chunks);
  const sent = capture === undefined ? kept : capturedChunks(kept, capture);
  return identifiedResponse(chunkedBody(sent, call.client, gateway), answerHeaders(call, "application/json"));
}

const CACHED: CachedAnswers = {
  ignored: { user: "identifies the end user, for reports of abuse" },
  ids: [],
  times: [],
};

const serviceOf = (protocol: EmbeddingProtocol): Service<"embeddings", EmbeddingRequest> => ({
  name: "embeddings",
  read: async (request, memory, gateway) => {
    const received = await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
    const { body } = received;
    const decoded = protocol.decode(body);
    const { notes, paths } = decoded;
    return { sent: received, request: decoded, body, notes, paths };
  },
  cached: CACHED,
  estimate: ({ call }) => estimateInputUse(estimateInputs(call.inputs)),
  fit: ({ call }, { adapter, offer, model }) =>
    requireEmbeddings(call, adapter.capabilities(offer.upstreamModel), model.id),
});

/** All vectors from one offer. Vectors from an earlier attempt at the same target are not requested again. */
async function embed(call: EmbeddingsCall, attempt: Attempt, done: Map<string, EmbeddingReply[]>) {
  const { adapter, offer, id } = attempt.target;
  const { call: asked, paths } = call.request;
  const capabilities = adapter.capabilities(offer.upstreamModel);
  const batches = splitBatches(asked, capabilities);
  const [first] = batches;
  const unread = first === undefined ? [] : unreadExtras(first, (batch) => adapter.submit(batch, attempt.context));
  attempt.note([...noteEmbeddings(asked, capabilities, paths), ...unread]);
  const replies = done.get(id) ?? [];
  done.set(id, replies);
  await askParts(batches, replies, (batch) => embedBatch(batch, attempt));
  const usage = replies.reduce<Usage>((sum, reply) => sumUsage(sum, reply.usage ?? {}), {});
  return { vectors: replies.flatMap(({ vectors }) => vectors), usage };
}

async function embedBatch(batch: SizedBatch, attempt: Attempt): Promise<EmbeddingReply> {
  const { adapter } = attempt.target;
  const request = adapter.submit(batch, attempt.context);
  const work = attempt.begin({ input: batch.tokens });
  try {
    const reply = adapter.read(await attempt.ask(request, MAX_ANSWER_BYTES), batch);
    const usage = attempt.done(work, reply.usage, { isPlausible: readsAll(inputCharacters(batch)) });
    requireVectors(reply, batch);
    return { ...reply, usage };
  } finally {
    attempt.failed(work);
  }
}

const inputCharacters = ({ inputs }: SizedBatch): number =>
  inputs.reduce((sum, { content }) => sum + content.length, 0);

/** Requires a vector of the requested size for each input: some hosts silently leave out either. */
function requireVectors({ vectors }: EmbeddingReply, { inputs, settings }: SizedBatch): void {
  const fail = (problem: string): never => {
    throw new GatewayError("upstream_failed", `The provider returned ${problem}.`);
  };
  if (vectors.length !== inputs.length) fail(`${vectors.length} vectors for ${inputs.length} inputs`);
  const wanted = settings.dimensions ?? dimensionsOf(vectors[0]);
  for (const vector of vectors) {
    const size = dimensionsOf(vector) ?? fail("something other than a vector");
    if (size !== wanted) fail(`vectors with ${size} dimensions instead of ${wanted}`);
  }
}
