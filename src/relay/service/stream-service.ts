import { asGatewayError } from "../../canon/error.ts";
import type { ServiceTarget } from "../../routing/target.ts";
import type { ServiceName } from "../../services/service-adapters.ts";
import { streamHeaders } from "../answer/answer-headers.ts";
import { ClientOutput, commitsEarly, streamedBody } from "../answer/client-output.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import { observeBreak } from "../attempt/observe-attempt.ts";
import { ClientDisconnectedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { guardServiceParts, type ServiceStop } from "../guard/guard-service.ts";
import { capturedController } from "../settle/capture-call.ts";
import type { ServiceAttempt } from "./service-attempt.ts";
import type { ServiceCall } from "./service-call.ts";
import { failService, settleService } from "./settle-service.ts";
import { tryService } from "./try-service.ts";

/** A part of the output: the text of events, or bytes. */
export type StreamPart = string | Uint8Array;

/** The response of one attempt, as it arrives. */
export interface ServiceStream {
  contentType: string;
  /** Must be read to its end or returned; throws what broke it. */
  parts: AsyncGenerator<StreamPart>;
}

/** How a response is streamed. */
interface StreamedAnswer<Name extends ServiceName> {
  /** Events can carry errors and keep-alives. Bytes cannot: their connection is broken instead. */
  form: "events" | "bytes";
  open(attempt: ServiceAttempt<Name>): Promise<ServiceStream>;
  /** How a response ends that a guard stops; an error if absent. */
  stop?: ServiceStop;
}

interface Opened<Name extends ServiceName> extends ServiceStream {
  attempt: ServiceAttempt<Name>;
  first: IteratorResult<StreamPart>;
}

const EVENTS = "text/event-stream";

/** A streamed answer. Until its first part, another offer can still replace one that failed. */
export async function streamService<Name extends ServiceName, Request>(
  call: ServiceCall<Request, Name>,
  gateway: Gateway,
  targets: readonly ServiceTarget<Name>[],
  { form, open, stop }: StreamedAnswer<Name>,
): Promise<Response> {
  const opening = tryService(call, gateway, targets, async (attempt): Promise<Opened<Name>> => {
    const opened = await open(attempt);
    // Sound has no texts.
    const parts =
      call.guards === undefined || form === "bytes"
        ? opened.parts
        : guardServiceParts(call, gateway, opened.parts, stop);
    return { ...opened, parts, attempt, first: await parts.next() };
  });
  // The headers declare the type of the bytes, which only the offer that answers knows.
  const early = form === "events" && (await commitsEarly(call, gateway, opening));
  const contentType = early ? EVENTS : (await opened(call, gateway, opening)).contentType;
  const output = new ClientOutput(
    call.client,
    gateway,
    form === "events" ? call.incoming.dialect.http.keepAlive : undefined,
    call.timer,
  );
  const { capture } = call;
  if (capture !== undefined && form === "bytes") capture.answer.mediaType = contentType;
  const body = streamedBody(call.client, async (controller) => {
    output.commit(capture === undefined ? controller : capturedController(controller, capture), !early);
    const whole = await writeParts(call, gateway, opening, { output, form });
    if (whole || form === "events" || call.client.disconnected) return output.close();
    // The runtime then breaks the connection. It would log a reason.
    output.breakOff();
    return Promise.reject();
  });
  return identifiedResponse(body, streamHeaders(call, contentType));
}

async function opened<Name extends ServiceName>(
  call: ServiceCall,
  gateway: Gateway,
  opening: Promise<Opened<Name>>,
): Promise<Opened<Name>> {
  try {
    return await opening;
  } catch (thrown) {
    throw await failService(call, gateway, thrown);
  }
}

interface Writing {
  output: ClientOutput;
  form: StreamedAnswer<never>["form"];
}

/**
 * Writes the stream to its end, even after the client disconnects, and returns whether it was complete. Its last part waits until
 * the ledger's row is committed.
 */
async function writeParts<Name extends ServiceName>(
  call: ServiceCall,
  gateway: Gateway,
  opening: Promise<Opened<Name>>,
  { output, form }: Writing,
): Promise<boolean> {
  let attempt: ServiceAttempt<Name> | undefined;
  let firstContentAtMs: number | undefined;
  let last: StreamPart | undefined;
  try {
    const { first, parts, ...found } = await opening;
    attempt = found.attempt;
    call.timer.to("stream");
    firstContentAtMs = gateway.clock.nowMs();
    for (let next = first; !next.done; next = await parts.next()) {
      const before = last;
      last = next.value;
      if (before !== undefined) await send(output, before);
    }
  } catch (thrown) {
    const error = asGatewayError(call.client.disconnected ? new ClientDisconnectedError() : thrown);
    attempt?.close();
    if (attempt !== undefined) observeBreak(gateway, attempt, error);
    // It arrived before the failure, and only the end of a response waits for its row.
    if (last !== undefined && !call.client.disconnected) await send(output, last);
    const shown = attempt?.target.provider.redactError(error) ?? error;
    await settleService(call, gateway, {
      outcome: error.kind,
      error: shown,
      ...(firstContentAtMs === undefined ? {} : { firstContentAtMs }),
    });
    if (error.kind === "internal" && !(error instanceof ClientDisconnectedError))
      gateway.log.error({ err: error.cause ?? error }, "internal error in a stream");
    const failed = { incoming: { ...call.incoming, options: undefined }, body: {}, modelInAnswer: call.modelInAnswer };
    if (form === "events") await output.fail(shown, failed);
    return false;
  }
  await settleService(call, gateway, { outcome: "ok", firstContentAtMs });
  if (last !== undefined) await send(output, last);
  return true;
}

async function send(output: ClientOutput, part: StreamPart): Promise<void> {
  if (typeof part === "string") return output.sendText(part);
  const { buffer } = output;
  buffer.putBytes(part);
  if (!output.send(buffer)) await output.taken();
}
