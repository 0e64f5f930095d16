import type { FileToSend, NamedFile } from "../../dialects/request/file-parts.ts";
import type { TextTarget } from "../../routing/target.ts";
import type { Call } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { HeldRequest } from "../request/held-request.ts";
import { type PlacedFile, PlacedFiles } from "./placed-files.ts";
import { tooLarge, waysToSend } from "./ways-to-send.ts";

const HOUR_MS = 3_600_000;
/** For a call. */
const CALL_MS = HOUR_MS;
/** For a line of a batch, which its provider may run a day later. */
const LINE_MS = 25 * HOUR_MS;

/** Gives a target the files that a request names: their content, or a copy at its provider. */
export async function placeFiles(
  { incoming, memory }: Pick<Call, "incoming" | "memory">,
  request: HeldRequest,
  files: ReadonlyMap<string, NamedFile>,
  target: TextTarget,
  gateway: Pick<Gateway, "filesAtProviders" | "uploads">,
  signal: AbortSignal,
): Promise<PlacedFiles> {
  const ways = waysToSend({ files, characters: request.received.text.length }, target);
  if (ways === undefined) throw tooLarge(files);
  const placed = new Map<string, PlacedFile>();
  let uploaded = 0;
  const native = incoming.line?.native;
  const neededMs = native === undefined ? CALL_MS : LINE_MS;
  for (const id of ways.upload) {
    const file = files.get(id);
    if (file === undefined || ways.files === undefined) continue;
    // Its request was sent earlier.
    if (native?.response !== undefined) {
      placed.set(id, { file, providerId: id });
      continue;
    }
    const { id: providerId, isNew } = await gateway.filesAtProviders.ensure(
      { file, files: ways.files, neededMs },
      signal,
    );
    if (isNew) uploaded++;
    placed.set(id, { file, providerId });
  }
  const inline = new Map<string, FileToSend>();
  for (const id of ways.inline) {
    const file = files.get(id);
    if (file !== undefined) inline.set(id, await request.file(id, file, memory, gateway.uploads));
  }
  return new PlacedFiles({ placed, inline, at: ways.files, uploaded });
}
