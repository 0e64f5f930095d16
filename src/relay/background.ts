import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { StoredAnswers } from "../dialects/answer/stored-answers.ts";
import type { DialectRegistry } from "../dialects/registry.ts";
import type { BackgroundLease } from "../operations/background-leases.ts";
import { answerHeaders, streamHeaders } from "./answer/answer-headers.ts";
import type { EventLog } from "./answer/background-events.ts";
import { followEvents } from "./answer/follow-events.ts";
import { identifiedResponse } from "./answer/identity-headers.ts";
import { RelayError } from "./answer/relay-error.ts";
import { type Call, type ClientConnection, ClientPresence } from "./call.ts";
import { withinDeadline } from "./derived/while-running.ts";
import type { Gateway } from "./gateway.ts";
import type { AnswerSaver } from "./settle/answer-saver.ts";

/** The client knows that a response will follow, and its connection is free for other requests. */
export const NO_CONNECTION: ClientConnection = {
  address: "",
  trusted: true,
  hold: () => {},
  rest: () => {},
  hangUp: () => {},
};

/**
 * Responds at once and generates the response in the background. A leased row of the operations table records that this process
 * works on it. If the process dies, another one marks it as failed, because it is then unknown whether a provider was working.
 */
export async function answerInBackground(
  call: Call,
  saver: AnswerSaver,
  gateway: Gateway,
  answer: (call: Call) => Promise<Response>,
): Promise<Response> {
  const stored = storedBy(call);
  const id = saver.answerId;
  const createdAtSeconds = Math.floor(gateway.clock.wallMs() / 1000);
  const shell = { id, model: call.modelInAnswer, createdAtSeconds };
  const queued = stored.encodePending(call.body, { ...shell, begun: false });
  const pending = stored.encodePending(call.body, { ...shell, begun: true });
  const controller = new AbortController();
  const client = new ClientPresence(controller, NO_CONNECTION, gateway.watchdog);
  client.answerBegun = true;
  const begun = begin(call, { id, pending, createdAtMs: createdAtSeconds * 1000 }, saver, gateway, () => {
    controller.abort();
    client.markDisconnected();
  });
  const time = { startedAtMs: call.startedAtMs, deadlineMs: call.routing.deadlineMs };
  const lease = await withinDeadline(begun, time, gateway.clock).catch((thrown: unknown) => {
    client.release();
    // A response that is stored too late is marked as failed when its lease expires. No client knows its id.
    begun.then(
      (late) => late.leave(),
      () => {},
    );
    throw thrown;
  });
  saver.pending = true;
  call.client.release();
  const running = gateway.calls.find(call.receiptId);
  if (running !== undefined) gateway.calls.replace(call.client, { ...running, client });
  const { request: received, connection } = call.incoming;
  const request = new Request(received.url, { headers: received.headers, signal: controller.signal });
  const { address, session } = connection;
  const incoming = { ...call.incoming, request, connection: { ...NO_CONNECTION, address, session } };
  const work = answer({ ...call, client, incoming });
  const log = call.stream ? gateway.backgroundEvents.open(saver.call.project, id) : undefined;
  const made = log === undefined ? work : readStream(work, log, call, pending);
  const finished = finish(made, { id, pending }, { saver, stored }, gateway).then(lease.release);
  finished.catch((err: unknown) => {
    lease.leave();
    gateway.log.error({ err, response: id }, "background response could not be stored");
  });
  if (log === undefined) return identifiedResponse(queued, answerHeaders(call, "application/json"));
  const { http } = call.incoming.dialect;
  const reader = { after: -1, connection: call.incoming.connection, comment: http.keepAlive };
  const streamed = streamHeaders(call, http.streamType(call.incoming.options));
  return identifiedResponse(followEvents(log, reader, gateway), streamed);
}

/** Records the events of a stream, including those of a failure. Throws if the response did not finish. */
async function readStream(work: Promise<Response>, log: EventLog, call: Call, pending: string): Promise<void> {
  const { dialect, options, requestId } = call.incoming;
  const stored = storedBy(call);
  try {
    await log.take(await work, stored.numberOf);
    const failure = stored.failureIn(log.last);
    if (failure !== undefined) throw failure;
  } catch (thrown) {
    const error = asGatewayError(thrown instanceof RelayError ? thrown.error : thrown);
    if (!stored.hasEnded(log.last)) {
      const position = stored.positionOf(pending, log.next);
      const writes = dialect.errors.encodeInStream(error, requestId, { options, begun: log.next > 0, position });
      for (const { text } of writes) log.push(text, stored.numberOf);
    }
    throw error;
  } finally {
    log.end();
  }
}

function storedBy({ incoming: { dialect } }: Call): StoredAnswers {
  if (dialect.stored === undefined) throw new Error(`the ${dialect.name} dialect has no background responses`);
  return dialect.stored;
}

interface Pending {
  id: string;
  pending: string;
}

async function begin(
  { receiptId, model, incoming, principal }: Call,
  { id, pending, createdAtMs }: Pending & { createdAtMs: number },
  { call: { project, keyId, share, own, history, conversation } }: AnswerSaver,
  { background, answers }: Gateway,
  stop: () => void,
): Promise<BackgroundLease> {
  const dialect = incoming.dialect.name;
  const lease = await background.begin(
    { id, project, keyId: principal.keyId, receiptId, model: model.id, dialect, createdAtMs },
    stop,
  );
  try {
    const kept = { id, project, keyId, share, history, conversation, input: own, answer: pending, itemIds: [] };
    await answers.keep(kept, "pending");
  } catch (thrown) {
    // It may have been stored although the reply was lost. The cleanup of abandoned work then ends it.
    lease.leave();
    throw thrown;
  }
  return lease;
}

/** The settlement has stored the response. If there is none, the failure is stored instead. */
async function finish(
  made: Promise<unknown>,
  { id, pending }: Pending,
  { saver, stored }: { saver: AnswerSaver; stored: StoredAnswers },
  { answers, log }: Gateway,
): Promise<void> {
  const error = await made.then(
    () => undefined,
    (thrown: unknown) => asGatewayError(thrown instanceof RelayError ? thrown.error : thrown),
  );
  if (error?.kind === "internal") log.error({ err: error.cause ?? error, response: id }, "internal error");
  if (saver.saved) return;
  const { call } = saver;
  const failure = error ?? new GatewayError("internal", "The gateway could not store the response.");
  const answer = stored.encodeFailed(pending, failure);
  await answers.end({ id, project: call.project, answer, itemIds: [] }, "failed");
}

/** Marks responses as failed whose process died while generating them. */
export async function buryAbandonedAnswers(
  { background, answers }: Pick<Gateway, "background" | "answers">,
  dialects: DialectRegistry,
): Promise<void> {
  const message = "The gateway stopped while it generated this response. Create the response again.";
  await background.buryAbandoned(async ({ id, project, keyId, dialect }) => {
    const { stored } = dialects.get(dialect);
    const kept = await answers.find({ project, keyId }, id, () => {});
    if (stored === undefined || kept === undefined) return;
    const answer = stored.encodeFailed(kept.answer, new GatewayError("upstream_failed", message));
    await answers.end({ id, project, answer, itemIds: [] }, "failed");
  });
}
