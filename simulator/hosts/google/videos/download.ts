import type { Exchange } from "../../../exchange.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { linkLifeMs } from "../../../media/play-outcome.ts";
import { callerOf } from "../caller.ts";
import { googleError } from "../text/errors.ts";
import { videoOf } from "./veo.ts";
import type { VeoRequest } from "./veo-request.ts";

const KEPT_MS = 3_600_000;
const DOWNLOAD_PATH = "/gemini/download";

/** Gemini's files: the URL in an operation requires the key, and redirects to another that has the bytes. */
export function sendToVideo(exchange: Exchange, context: MediaContext, file: string): Response {
  const caller = callerOf(exchange, context, "gemini");
  const job = context.jobs.recall<VeoRequest>("gemini", file.slice(0, -1), caller);
  const index = Number(file.slice(-1));
  const made = job === undefined || job.outcome === "fails" ? 0 : job.request.count - job.request.heldBack;
  if (job === undefined || context.jobs.phase(job) !== "ended" || !(index < made)) {
    const message = `You do not have permission to access the File ${file} or it may not exist.`;
    throw googleError(403, "PERMISSION_DENIED", message);
  }
  const base = `${context.baseUrl}${DOWNLOAD_PATH}`;
  const make = (): Promise<Uint8Array> => videoOf(job.request, index, context);
  const location = context.links.publish(base, make, "video/mp4", linkLifeMs(job.outcome, KEPT_MS));
  return new Response(null, { status: 302, headers: { location } });
}

/** The download needs no key, and unlike other storage it accepts one: it is the same host. */
export function sendVideo(context: MediaContext, path: string): Promise<Response> {
  return context.links.send(path.slice(path.indexOf("/results/")), new Headers());
}
