import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { findObjects } from "../../dialects/reading/find-objects.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import { type FileToSend, replaceFileParts, visitFileParts } from "../../dialects/request/file-parts.ts";
import { parseObjectId } from "../../objects/object-id.ts";
import type { UploadedFile } from "../../objects/uploaded-files.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { EnteredRequest } from "./enter-request.ts";

/** The limit for all files of a call: they are held in memory, and no host accepts a larger request. */
const MAX_BYTES = 64 * 1024 * 1024;

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

/** Inserts the files that a request names, so that every model can read them. Undefined if it names none of this gateway. */
export async function inlineFiles(
  request: ReceivedRequest,
  { incoming, entered }: Caller,
  { uploads, snapshot }: Pick<Gateway, "uploads" | "snapshot">,
): Promise<ReceivedRequest | undefined> {
  const { fileParts, objects } = incoming.dialect.requests;
  if (fileParts === undefined || objects === undefined) return undefined;
  const named = new Map<string, string>();
  visitFileParts(request.body, fileParts, objects.opaque, (id, path) => {
    if (parseObjectId(id)?.kind === "file" && !named.has(id)) named.set(id, path);
  });
  const files = new Map<string, FileToSend>();
  let size = 0;
  for (const [id, path] of named) {
    const file = await uploads.find(entered.principal, id);
    if (file === undefined) {
      // It may be a file of the provider's account, whose ids can have the same form.
      if (entered.principal.providerObjects) continue;
      throw gone(id, path);
    }
    size += file.size;
    if (size > MAX_BYTES) throw tooLarge(path);
    // As base64, and once more in the request.
    entered.memory.add(Math.ceil(file.size / 3) * 8);
    files.set(id, await read(file, path, uploads));
  }
  const replace = (part: JsonObject, id: string, path: string): JsonObject => {
    const file = files.get(id);
    if (file === undefined) return part;
    const inlined = fileParts.inline(part, file);
    if (inlined === undefined) throw wrongType(id, path, file);
    return inlined;
  };
  const body = files.size === 0 ? request.body : replaceFileParts(request.body, fileParts, objects.opaque, replace);
  for (const { id, path } of findObjects(body, objects, snapshot)) {
    const isOwn = parseObjectId(id)?.kind === "file" && (await uploads.find(entered.principal, id)) !== undefined;
    if (isOwn) throw unusable(id, path);
  }
  if (files.size === 0) return undefined;
  return withoutAbsent({ text: JSON.stringify(body), body, adapted: request.adapted });
}

async function read(file: UploadedFile, path: string, uploads: Gateway["uploads"]): Promise<FileToSend> {
  const { name, mimeType } = file;
  const content = await uploads.open(file);
  if (content === undefined) throw gone(name, path);
  const bytes = Buffer.from(await new Response(content).arrayBuffer());
  const text = isText(mimeType) ? bytes.toString() : undefined;
  return { name, mimeType, base64: bytes.toString("base64"), text };
}

const isText = (type: string): boolean =>
  type.startsWith("text/") || /^application\/(?:json|jsonl|xml|x-sh|rtf|javascript)$/.test(type);

const gone = (id: string, path: string) =>
  new GatewayError("invalid_request", `${path} names the file ${JSON.stringify(id)}, which has expired.`, { path });

const tooLarge = (path: string) =>
  new GatewayError("too_large", `The files of this request add up to more than ${MAX_BYTES} bytes.`, { path });

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
