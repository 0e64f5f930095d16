import { GatewayError } from "../../canon/error.ts";
import type { Usage } from "../../canon/usage.ts";
import { type DecodedRerank, decodeRerank } from "../../services/rerank/decode-rerank.ts";
import { encodeRerank } from "../../services/rerank/encode-rerank.ts";
import { estimateRerank } from "../../services/rerank/estimate-rerank.ts";
import { mergeRankings, type RerankPart, splitDocuments } from "../../services/rerank/merge-rankings.ts";
import type { RerankReply } from "../../services/rerank/rerank-call.ts";
import { answerHeaders } from "../answer/answer-headers.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { unreadExtras } from "../media/unread-extras.ts";
import { readBody } from "../request/read-body.ts";
import { answerService } from "./answer-service.ts";
import { askParts } from "./ask-parts.ts";
import { estimateService } from "./estimate-service.ts";
import type { ServiceAttempt } from "./service-attempt.ts";
import { admitService, type Service, type ServiceCall } from "./service-call.ts";

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

type Attempt = ServiceAttempt<"rerank">;

/** Serves a call to rank documents. */
export async function relayRerank(incoming: IncomingRequest, gateway: Gateway): Promise<Response> {
  const { call, targets } = await admitService(incoming, gateway, SERVICE);
  const done = new Map<string, RerankReply[]>();
  const answer = await answerService(
    call,
    gateway,
    targets,
    (attempt) => rank(call, attempt, done),
    (reply) => encodeRerank(reply, call.request, { id: call.receiptId, model: call.modelInAnswer }),
  );
  const answered = JSON.stringify(answer);
  call.capture?.answered(answered);
  return identifiedResponse(answered, answerHeaders(call, "application/json"));
}

const SERVICE: Service<"rerank", DecodedRerank> = {
  name: "rerank",
  read: async (request, memory, gateway) => {
    const received = await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
    const { body } = received;
    const decoded = decodeRerank(body);
    return { sent: received, request: decoded, body, notes: decoded.notes };
  },
  // Each host charges for one of the two.
  estimate: ({ call }) => {
    const usage = { ...estimateRerank(call, "tokens"), ...estimateRerank(call, "searches") };
    return estimateService(() => usage);
  },
};

/** The ranking from one offer, with as many requests as its host needs. */
async function rank(
  { request: { call } }: ServiceCall<DecodedRerank, "rerank">,
  attempt: Attempt,
  done: Map<string, RerankReply[]>,
): Promise<RerankReply> {
  const { adapter, id } = attempt.target;
  const parts = splitDocuments(call, adapter.maxDocuments);
  const unread = unreadExtras(call, (watched) => adapter.submit(watched, attempt.context));
  const unlimited = call.maxTokensPerDocument !== undefined && !adapter.limitsDocuments;
  attempt.note([
    ...(unlimited ? [{ path: "max_tokens_per_doc", action: "dropped", reason: NO_LIMIT } as const] : []),
    ...unread,
  ]);
  const replies = done.get(id) ?? [];
  done.set(id, replies);
  await askParts(parts, replies, (part) => rankPart(part, attempt));
  return mergeRankings(call, parts, replies);
}

const NO_LIMIT = "this model's provider does not support a token limit for documents";

async function rankPart(part: RerankPart, attempt: Attempt): Promise<RerankReply> {
  const { adapter } = attempt.target;
  const request = adapter.submit(part, attempt.context);
  const expected = estimateRerank(part, adapter.billedBy);
  const work = attempt.begin(expected);
  try {
    const reply = adapter.read(await attempt.ask(request, MAX_ANSWER_BYTES), part);
    const usage = attempt.done(work, reply.usage, { isPlausible: (reported) => ranksAll(reported, expected) });
    requireRanking(reply, part);
    return { ...reply, usage };
  } finally {
    attempt.failed(work);
  }
}

/** A search has a maximum number of documents, and fewer if they are long. Each host counts tokens in its own way. */
const ranksAll = (reported: Usage, expected: Usage): boolean =>
  reported.searches === undefined || reported.searches >= (expected.searches ?? 0);

/** Each result must refer to a different document, and there must be as many as requested. */
function requireRanking({ results }: RerankReply, { documents, topN = documents.length }: RerankPart): void {
  const places = new Set(results.map(({ index }) => index));
  const isWhole = places.size === results.length && results.length >= Math.min(topN, documents.length);
  const isKnown = results.every(({ index, score }) => documents[index] !== undefined && Number.isFinite(score));
  if (!isWhole || !isKnown) {
    throw new GatewayError("upstream_failed", "The provider's ranking does not match the documents that it was sent.");
  }
}
