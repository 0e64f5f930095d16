import { withoutAbsent } from "../../base/without-absent.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import { sumUsage } from "../../canon/usage.ts";
import { convertImage } from "../../media/convert-image.ts";
import { type ImageNote, maxPerCall } from "../../media/fit-image-call.ts";
import type { InlineImage, MediaLink } from "../../media/image.ts";
import type { FittedImageCall, ImageCall } from "../../media/image-call.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import type { ImageReply, ImageResult, ImageSettings, UpstreamImageReply } from "../../media/image-reply.ts";
import { type ImageFacts, inspectImage } from "../../media/inspect-image.ts";
import { foldSeed } from "../../media/number-range.ts";
import { failedImage } from "../../providers/media-adapters/failed-job.ts";
import { fetchImage } from "./fetch-result.ts";
import { type ImageUpstream, makeImages } from "./make-images.ts";

/** Concurrent calls to a provider for one call of a client. */
const MAX_CONCURRENT_CALLS = 5;

export interface ImageBatch extends ImageUpstream {
  /** What the client requested; images of another type are converted to the one in it. */
  asked: ImageCall;
  /** Adds a note to the receipt that depends on the generated images. */
  note: (note: ImageNote) => void;
}

type Finishing = Pick<
  ImageBatch,
  | "clock"
  | "send"
  | "streamMedia"
  | "provider"
  | "signal"
  | "traceLines"
  | "asked"
  | "adapter"
  | "upstreamModel"
  | "note"
>;

/**
 * Generates all images of a call, with several requests to the provider if one cannot generate enough. Failures are reported per
 * image, unless everything failed.
 */
export async function collectImages(call: FittedImageCall, batch: ImageBatch): Promise<ImageReply> {
  const shares = sharesOf(call, batch.adapter.capabilities(batch.upstreamModel));
  const replies = new Array<ImageReply>(shares.length);
  const errors: unknown[] = [];
  const queue = shares.entries();
  const work = async () => {
    for (const [index, share] of queue) {
      try {
        const jobName = shares.length === 1 ? batch.jobName : `${batch.jobName}-${index + 1}`;
        replies[index] = await finish(withMissing(await makeImages(share, { ...batch, jobName }), share), batch);
      } catch (thrown) {
        batch.signal.throwIfAborted();
        errors.push(thrown);
        replies[index] = { results: new Array<ImageResult>(share.count).fill(failedImage(asGatewayError(thrown))) };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_CALLS, shares.length) }, work));
  if (errors.length === shares.length) throw errors[0];
  const reply = join(replies);
  const [first] = reply.results;
  // No image was generated or blocked by moderation: another offer may do better.
  if (first?.kind === "failed" && reply.results.every(({ kind }) => kind === "failed")) throw first.error;
  return reply;
}

/** Each share has its own seed, because the same seed would generate the same image. */
function sharesOf(call: FittedImageCall, capabilities: ImageCapabilities): FittedImageCall[] {
  const perCall = maxPerCall(call, capabilities);
  const shares: FittedImageCall[] = [];
  for (let made = 0; made < call.count; made += perCall) {
    const count = Math.min(perCall, call.count - made);
    shares.push({
      ...call,
      count,
      ...(call.seed === undefined ? {} : { seed: foldSeed(call.seed + made, capabilities.seeds) }),
    });
  }
  return shares;
}

/** Some hosts silently leave out images that they did not generate. */
function withMissing(reply: UpstreamImageReply, { count }: FittedImageCall): UpstreamImageReply {
  return { ...reply, results: [...reply.results, ...missingImages(count - reply.results.length)] };
}

export function missingImages(count: number): ImageResult<never>[] {
  const problem = "The provider generated fewer images than requested and gave no reason.";
  return Array.from({ length: Math.max(0, count) }, () => ({
    kind: "failed",
    error: new GatewayError("upstream_failed", problem),
  }));
}

/** Fetches links and converts types. */
async function finish(reply: UpstreamImageReply, batch: ImageBatch): Promise<ImageReply> {
  const results = await Promise.all(reply.results.map((result) => finishResult(result, batch)));
  const settings = await withRealSize(
    reply.settings,
    results.find(({ kind }) => kind === "made"),
  );
  return { ...reply, results, ...(settings === undefined ? {} : { settings }) };
}

/** The settings with the size that the image's bytes have: providers round, and few say to what. */
export async function withRealSize(
  settings: ImageSettings | undefined,
  result: ImageResult | undefined,
): Promise<ImageSettings | undefined> {
  const facts = result?.kind === "made" ? await factsOf(result.image) : undefined;
  return facts === undefined ? settings : { ...settings, size: `${facts.width}x${facts.height}` };
}

async function factsOf({ base64 }: InlineImage): Promise<ImageFacts | undefined> {
  try {
    return await inspectImage(base64);
  } catch (error) {
    // The image has more pixels than the gateway would decode. It was generated all the same, and is not decoded here.
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

export async function finishResult(
  result: ImageResult<InlineImage | MediaLink>,
  batch: Finishing,
): Promise<ImageResult> {
  if (result.kind !== "made") return result;
  try {
    const image = "url" in result.image ? await fetchImage(result.image, batch) : result.image;
    return { ...result, image: await asAsked(image, batch) };
  } catch (thrown) {
    batch.signal.throwIfAborted();
    return { kind: "failed", error: asGatewayError(thrown) };
  }
}

/** Contract 2.4 `outputOptions`: converted where the provider gave another type, compressed where it cannot. */
async function asAsked(image: InlineImage, { asked, adapter, upstreamModel, note }: Finishing): Promise<InlineImage> {
  const { outputMimeType = image.mimeType, compression } = asked;
  const compress =
    compression !== undefined && outputMimeType !== "image/png" && !adapter.capabilities(upstreamModel).compresses;
  if (outputMimeType === image.mimeType && !compress) return image;
  try {
    return await convertImage(image, outputMimeType, compression);
  } catch (error) {
    // It was generated and will be billed: an image of another type is better than none, and it declares its type.
    if (!(error instanceof GatewayError) || error.kind !== "upstream_failed") throw error;
    note({
      field: "outputMimeType",
      action: "dropped",
      reason: `the provider's ${image.mimeType} image could not be converted`,
    });
    return image;
  }
}

function join(replies: readonly ImageReply[]): ImageReply {
  const [first] = replies;
  if (replies.length === 1 && first) return first;
  const settings = replies.find((reply) => reply.settings !== undefined)?.settings;
  const usages = replies.flatMap((reply) => (reply.usage ? [reply.usage] : []));
  const usage = usages.length === 0 ? undefined : usages.reduce(sumUsage);
  return withoutAbsent({
    results: replies.flatMap((reply) => reply.results),
    usage,
    settings,
  });
}
