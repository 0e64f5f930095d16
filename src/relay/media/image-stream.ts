import { withoutAbsent } from "../../base/without-absent.ts";
import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import { sumUsage, type Usage } from "../../canon/usage.ts";
import type { ImageReply, ImageResult } from "../../media/image-reply.ts";
import { createImageEventEncoder, type ImageEventEncoder } from "../../media/images-api/image-events.ts";
import type { ImageTarget } from "../../routing/target.ts";
import { streamHeaders } from "../answer/answer-headers.ts";
import { ClientOutput, commitsEarly, streamedBody } from "../answer/client-output.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import { observeBreak } from "../attempt/observe-attempt.ts";
import { tryOffers } from "../attempt/try-offers.ts";
import { ClientDisconnectedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { capturedController } from "../settle/capture-call.ts";
import { failImages, settleImages } from "./answer-images.ts";
import { inClientWords } from "./client-words.ts";
import type { ImageRelay } from "./image-attempt.ts";
import { beginImages, type ImageAttempt, type ImagesMade } from "./image-attempt.ts";
import { type ImageStep, imageSteps } from "./image-events.ts";
import { failureOf, nothingMade } from "./image-failures.ts";
import { batchFor, fitFor, requestSent } from "./make-at-offer.ts";

interface OpenImages {
  attempt: ImageAttempt;
  steps: AsyncGenerator<ImageStep>;
  first: IteratorResult<ImageStep>;
}

/** Contract 2.14: a streamed answer. Until its first event, another offer can still replace one that failed. */
export async function streamImages(
  call: ImageRelay,
  gateway: Gateway,
  plan: readonly ImageTarget[],
): Promise<Response> {
  const opening = tryOffers(call, gateway, plan, beginImages(call, gateway), (attempt) =>
    openAt(call, gateway, attempt),
  );
  const early = await commitsEarly(call, gateway, opening);
  if (!early) {
    await opening.catch(async (thrown: unknown) => {
      throw await failImages(call, gateway, thrown);
    });
  }
  const output = new ClientOutput(call.client, gateway, call.incoming.dialect.http.keepAlive, call.timer);
  const body = streamedBody(call.client, async (controller) => {
    const { capture } = call;
    output.commit(capture === undefined ? controller : capturedController(controller, capture), !early);
    try {
      await writeEvents(call, gateway, opening, output);
    } finally {
      output.close();
    }
  });
  return identifiedResponse(body, streamHeaders(call, "text/event-stream"));
}

async function openAt(call: ImageRelay, gateway: Gateway, attempt: ImageAttempt): Promise<OpenImages> {
  const fitted = await fitFor(call, attempt);
  const steps = imageSteps(fitted, call.request.partialImages, batchFor(call, gateway, attempt));
  return { attempt, steps, first: await steps.next() };
}

/** Writes the stream to its end, even after the client disconnects. Its end waits until the ledger's row is committed. */
async function writeEvents(
  call: ImageRelay,
  gateway: Gateway,
  opening: Promise<OpenImages>,
  output: ClientOutput,
): Promise<void> {
  const createdSeconds = Math.floor(gateway.clock.wallMs() / 1000);
  let opened: OpenImages | undefined;
  let encoder = createImageEventEncoder(call.request, createdSeconds);
  let ending: string[];
  try {
    opened = await opening;
    call.timer.to("stream");
    // Only now is it known which offer answers and what it was sent.
    encoder = createImageEventEncoder(requestSent(call), createdSeconds);
    ending = await passOn(call, opened, encoder, output);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    const shown = toClient(error, call, opened);
    await breakOff(call, gateway, error, shown, opened?.attempt);
    await output.sendText(encoder.error(shown));
    return;
  }
  await settleImages(call, gateway, "ok");
  for (const text of ending) await output.sendText(text);
}

/** Sends images as they arrive. Returns what is to be sent once the row is committed. */
async function passOn(
  call: ImageRelay,
  opened: OpenImages,
  encoder: ImageEventEncoder,
  output: ClientOutput,
): Promise<string[]> {
  const { attempt, steps, first } = opened;
  const results: ImageResult[] = [];
  const reply: ImageReply = { results };
  const made: ImagesMade = { reply, whole: false };
  attempt.made = made;
  let held: MadeStep | undefined;
  for (let next = first; !next.done; next = await steps.next()) {
    const step = next.value;
    if (step.kind === "partial") {
      await output.sendText(encoder.partial(step.image, step.settings));
      continue;
    }
    // Some providers report usage image by image, others once at the end.
    if (step.usage !== undefined) reply.usage = sumUsage(reply.usage ?? {}, step.usage);
    if (step.kind === "usage") continue;
    results.push(step.result);
    if (step.result.kind !== "made") continue;
    if (step.settings !== undefined) reply.settings ??= step.settings;
    const image = { ...step, result: step.result };
    if (results.length < call.request.call.count) await output.sendText(completed(image, encoder));
    else {
      if (held) await output.sendText(completed(held, encoder));
      held = image;
    }
  }
  made.whole = true;
  const notMade = results.filter((result) => result.kind !== "made");
  if (notMade.length === results.length) throw nothingMade(results);
  const last = held === undefined ? [] : [completed(held, encoder, reply.usage)];
  // Clients stop reading at an error, so all generated images precede it.
  const [failed] = notMade;
  return failed === undefined ? last : [...last, encoder.error(toClient(failureOf(failed), call, opened))];
}

/** An error as the client may see it. Errors before an offer answered had the provider's secrets removed already (S10). */
function toClient(error: GatewayError, { request }: ImageRelay, opened: OpenImages | undefined): GatewayError {
  return inClientWords(opened?.attempt.target.provider.redactError(error) ?? error, request.paths);
}

async function breakOff(
  call: ImageRelay,
  gateway: Gateway,
  error: GatewayError,
  shown: GatewayError,
  attempt: ImageAttempt | undefined,
): Promise<void> {
  attempt?.close();
  if (attempt !== undefined) observeBreak(gateway, attempt, error);
  await settleImages(call, gateway, error.kind, shown);
  if (error.kind === "internal" && !(error instanceof ClientDisconnectedError))
    gateway.log.error({ err: error.cause ?? error }, "internal error in a stream");
}

type Made = Extract<ImageResult, { kind: "made" }>;
type MadeStep = Omit<Extract<ImageStep, { kind: "result" }>, "result"> & { result: Made };

function completed({ result, settings, usage }: MadeStep, encoder: ImageEventEncoder, last?: Usage): string {
  const used = usage ?? last;
  return encoder.completed(result.image, withoutAbsent({ settings, usage: used }));
}
