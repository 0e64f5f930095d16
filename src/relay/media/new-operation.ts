import type { Principal } from "../../access/principal.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Random } from "../../base/sources.ts";
import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Operation } from "../../canon/operation.ts";
import type { Model } from "../../catalogue/model.ts";
import type { VideoTarget } from "../../routing/target.ts";
import { mediaOf } from "./exchange.ts";
import type { fitVideo } from "./fit-video.ts";

/** An operation fails after this time, even if the provider is still working. */
const DEADLINE_MS = 3 * 3_600_000;

type FittedVideo = ReturnType<typeof fitVideo>;

/** An operation before its first save. */
export function newOperation(
  principal: Principal,
  model: Model,
  { provider, offer }: VideoTarget,
  { call: { seconds, resolution, audio, count }, notes, size }: FittedVideo,
  requestDigest: string,
  { createdAtMs, nowMs, random }: { createdAtMs: number; nowMs: number; random: Random },
): Operation {
  return {
    id: random.id(),
    project: principal.project,
    keyId: principal.keyId,
    receiptId: RECEIPT_PREFIX + timePrefix(createdAtMs) + random.id(),
    model: model.id,
    provider: provider.name,
    credential: mediaOf(provider).credential,
    state: "submitting",
    job: {
      upstreamModel: offer.upstreamModel,
      count,
      seconds,
      resolution,
      audio,
      pricings: offer.pricings as JsonObject,
      notes,
      offers: [],
      ...withoutAbsent({ size }),
    },
    parts: [],
    requestDigest,
    claimed: false,
    createdAtMs,
    deadlineAtMs: Math.round(nowMs) + DEADLINE_MS,
    dueAtMs: Math.round(nowMs),
  };
}
