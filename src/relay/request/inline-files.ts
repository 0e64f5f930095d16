import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { findObjects } from "../../dialects/reading/find-objects.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import {
  type FileToSend,
  type NamedFile,
  replaceFileParts,
  visitFileParts,
} from "../../dialects/request/file-parts.ts";
import { parseObjectId } from "../../objects/object-id.ts";
import type { IncomingRequest } from "../call.ts";
import { fileGone, readFile } from "../files/read-file.ts";
import { MAX_INLINE_BYTES, tooLarge } from "../files/ways-to-send.ts";
import type { Gateway } from "../gateway.ts";
import type { EnteredRequest } from "./enter-request.ts";

/** Files that fit into a request to every host. Together, they are inserted before a target is chosen. */
const SMALL_BYTES = 8 * 1024 * 1024;

/** The beginnings of file ids in all forms. An id without one is no file of this gateway. */
const SIGN = /\bfile[-_s]/;

/** Whether a request may name an uploaded file. Most do not, and cost no more than this. The text of a large body is not decoded for it. */
export const mayNameFiles = (request: ReceivedRequest): boolean =>
  request.mayNameObjects !== false &&
  (request.bytes === undefined ? SIGN.test(request.text) : request.bytes.includes("file"));

interface Caller {
  incoming: Pick<IncomingRequest, "dialect">;
  entered: Pick<EnteredRequest, "memory" | "principal">;
}

/**
 * Inserts the files that a request names, so that every model can read them. Large ones are left to the targets, if those can send
 * them in several ways. Undefined if it names none of this gateway.
 */
export async function inlineFiles(
  request: ReceivedRequest,
  { incoming, entered }: Caller,
  { uploads, snapshot }: Pick<Gateway, "uploads" | "snapshot">,
  targets: "choose" | "inline only" = "inline only",
): Promise<ReceivedRequest | undefined> {
  const { fileParts, objects } = incoming.dialect.requests;
  if (fileParts === undefined || objects === undefined) return undefined;
  const paths = new Map<string, string[]>();
  visitFileParts(request.body, fileParts, objects.opaque, (id, path) => {
    if (parseObjectId(id)?.kind !== "file") return;
    const known = paths.get(id);
    if (known === undefined) paths.set(id, [path]);
    else known.push(path);
  });
  const named = new Map<string, NamedFile>();
  let size = 0;
  for (const [id, [path = "", ...others]] of paths) {
    const file = await uploads.find(entered.principal, id);
    if (file === undefined) {
      // It may be a file of the provider's account, whose ids can have the same form.
      if (entered.principal.providerObjects) continue;
      throw fileGone(id, path);
    }
    const parts = 1 + others.length;
    named.set(id, { ...file, path, parts });
    size += file.size * parts;
  }
  const isLeft = targets === "choose" && size > SMALL_BYTES;
  if (!isLeft && size > MAX_INLINE_BYTES) throw tooLarge(named);
  const files = new Map<string, FileToSend>();
  for (const [id, file] of isLeft ? [] : named) {
    // As base64, and once more in the request.
    entered.memory.add(Math.ceil(file.size / 3) * 4 * (1 + file.parts));
    files.set(id, await readFile(file, file.path, uploads));
  }
  const replace = (part: JsonObject, id: string, path: string): JsonObject => {
    const file = files.get(id);
    if (file === undefined) return part;
    const inlined = fileParts.inline(part, file);
    if (inlined === undefined) throw wrongType(id, path, file);
    return inlined;
  };
  const body = files.size === 0 ? request.body : replaceFileParts(request.body, fileParts, objects.opaque, replace);
  const left = isLeft ? [...paths.values()].flat() : [];
  for (const { id, path } of findObjects(body, objects, snapshot)) {
    if (left.some((part) => path.startsWith(`${part}.`))) continue;
    const isOwn = parseObjectId(id)?.kind === "file" && (await uploads.find(entered.principal, id)) !== undefined;
    if (isOwn) throw unusable(id, path);
  }
  if (named.size === 0) return undefined;
  if (isLeft) return { ...request, files: named, outline: undefined };
  return withoutAbsent({ text: JSON.stringify(body), body, adapted: request.adapted });
}

const unusable = (id: string, path: string) =>
  new GatewayError(
    "invalid_request",
    `${path} names the file ${JSON.stringify(id)}, which can only be used in the content of a message.`,
    { path },
  );

const wrongType = (id: string, path: string, { mimeType }: FileToSend) =>
  new GatewayError("invalid_request", `${path} cannot contain the file ${JSON.stringify(id)} of type ${mimeType}.`, {
    path,
  });
