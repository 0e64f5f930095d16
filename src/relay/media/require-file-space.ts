import { asGatewayError } from "../../canon/error.ts";
import type { FittedVideoCall } from "../../media/video-call.ts";
import type { Gateway } from "../gateway.ts";

/** What an operator can do about it. */
export const FULL_STORE_CURE =
  "raise retention.max_total_mb or retention.max_project_mb, lower retention.hours, or give the file store more disk";

/** Generous: most videos take half of it. */
const BYTES_PER_SECOND = 1_000_000;
const BYTES_PER_LARGE_SECOND = 4_000_000;
/** An image of the largest size, as PNG. */
export const BYTES_PER_IMAGE = 8_000_000;

/** How much space the videos of a call may take in the file store. */
export function expectedVideoBytes({ seconds, count, resolution }: FittedVideoCall): number {
  const small = /^(480|512|540|720|768)p$/.test(resolution);
  return seconds * count * (small ? BYTES_PER_SECOND : BYTES_PER_LARGE_SECOND);
}

/** Rejects a call whose results could not be stored, before a provider bills for them. */
export async function requireFileSpace(gateway: Gateway, project: string, bytes: number): Promise<void> {
  const { files, log, clock } = gateway;
  try {
    await files.requireSpace(project, bytes, clock.nowMs());
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.kind === "overloaded") log.error({ project }, `${error.message} To fix this, ${FULL_STORE_CURE}.`);
    throw error;
  }
}
