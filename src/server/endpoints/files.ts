import { GatewayError } from "../../canon/error.ts";
import { readByteRange } from "../../files/byte-range.ts";
import type { FileClaim } from "../../files/files.ts";
import { fileName } from "../../files/media-type.ts";
import type { StoredFile } from "../../storage/tables/files.ts";
import { countedCaller } from "../counted-caller.ts";
import { credentialOf } from "../credential.ts";
import { file } from "../openapi/operation.ts";
import type { RoutedRequest, ServerContext } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { ownPath } from "./paths.ts";

const served = "The file.";

export const getFile: ClientEndpoint = {
  method: "GET",
  paths: ownPath("/files/{id}"),
  id: "getFile",
  summary: "Fetch a generated file",
  dialect: "chat",
  access: "signed",
  parameters: ["file-id", "expires", "signature", "range"],
  answers: [
    file(200, served),
    file(206, "The requested range of the file."),
    { status: 304, description: "The file matches `if-none-match`." },
    { status: 416, description: "The range starts after the end of the file." },
  ],
  failures: ["404"],
  handle: sendFile,
};

export const headFile: ClientEndpoint = {
  ...getFile,
  method: "HEAD",
  paths: ownPath("/files/{id}"),
  id: "headFile",
  summary: "Get the headers of a generated file",
  parameters: ["file-id", "expires", "signature"],
  answers: [{ status: 200, description: "The file exists; the headers have its type and length." }],
  handle: sendFile,
};

/** `GET` and `HEAD /files/{id}`: generated media, for the holder of a signed URL or of a key of the file's project. */
async function sendFile(routed: RoutedRequest, context: ServerContext): Promise<Response> {
  const { request, parameters } = routed;
  const { gateway } = context;
  const { files } = gateway;
  const nowMs = gateway.clock.nowMs();
  const record = await files.read(parameters["id"] ?? "", await claimsOf(routed, context), nowMs);
  if (!record) throw noSuchFile();
  const headers = headersOf(record, nowMs);
  if (request.headers.get("if-none-match") === headers["etag"]) return new Response(null, { status: 304, headers });
  if (request.method === "HEAD") return whole(null, record, headers);

  const range = isRangeWanted(request, headers["etag"])
    ? readByteRange(request.headers.get("range"), record.size)
    : "whole";
  if (range === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { ...headers, "content-range": `bytes */${record.size}` } });
  }
  // An authorized client may wait for a slow store.
  routed.connection.hold();
  const opened = await files
    .open(record, range === "whole" ? undefined : range)
    .finally(() => routed.connection.rest());
  // Another instance may have just removed it.
  if (!opened) throw noSuchFile();
  if (range === "whole") return whole(opened.stream, record, headers);
  const { start, end } = range;
  return new Response(opened.stream, {
    status: 206,
    headers: {
      ...headers,
      "content-length": String(end - start),
      "content-range": `bytes ${start}-${end - 1}/${record.size}`,
    },
  });
}

/** A wrong key or half a signature authorizes nothing: the response is the same as for every stranger (S09). */
async function claimsOf(
  { request, dialect, connection, query }: RoutedRequest,
  { gateway }: ServerContext,
): Promise<FileClaim[]> {
  const claims: FileClaim[] = [];
  const [expires, signature] = [query.get("expires"), query.get("signature")];
  if (expires !== null && signature !== null) claims.push({ expires, signature });
  const caller = { request, dialect, connection, query: undefined };
  if (credentialOf(request, undefined, dialect) !== undefined) {
    try {
      claims.push({ project: (await countedCaller(caller, gateway)).project });
    } catch (thrown) {
      if (!(thrown instanceof GatewayError && thrown.kind === "unauthenticated")) throw thrown;
    }
  }
  return claims;
}

/** A file never changes under its id, so the id is its tag. */
function headersOf({ id, mimeType, expiresAtMs }: StoredFile, nowMs: number): Record<string, string> {
  return {
    "content-type": mimeType,
    "content-disposition": `inline; filename="${fileName(id, mimeType)}"`,
    "x-content-type-options": "nosniff",
    "cache-control": `private, max-age=${Math.max(0, Math.floor((expiresAtMs - nowMs) / 1000))}`,
    "accept-ranges": "bytes",
    etag: `"${id}"`,
  };
}

/** With `if-range`, the range applies only if the client already has a part of this version. */
function isRangeWanted({ headers }: Request, tag: string | undefined): boolean {
  const condition = headers.get("if-range");
  return condition === null || condition === tag;
}

function whole(
  body: ReadableStream<Uint8Array> | null,
  { size }: StoredFile,
  headers: Record<string, string>,
): Response {
  return new Response(body, { headers: { ...headers, "content-length": String(size) } });
}

function noSuchFile(): GatewayError {
  return new GatewayError(
    "not_found",
    "This file does not exist or has expired. Fetch a file from the URL in the response before it expires.",
    { code: "file_not_found" },
  );
}
