import { GatewayError } from "../canon/error.ts";
import { readByteRange } from "../files/byte-range.ts";
import { fileName } from "../files/media-type.ts";
import type { Gateway } from "../relay/gateway.ts";
import type { StoredFile } from "../storage/tables/files.ts";
import type { RoutedRequest } from "./routed-request.ts";

/** Sends a file that the caller may read. Undefined means that there is no such file, or none for this caller. */
export async function sendFile(
  record: StoredFile | undefined,
  { request, connection }: Pick<RoutedRequest, "request" | "connection">,
  { files, clock }: Pick<Gateway, "files" | "clock">,
): Promise<Response> {
  if (!record) throw noSuchFile();
  const headers = headersOf(record, clock.nowMs());
  if (request.headers.get("if-none-match") === headers["etag"]) return new Response(null, { status: 304, headers });
  if (request.method === "HEAD") return whole(null, record, headers);

  const range = isRangeWanted(request, headers["etag"])
    ? readByteRange(request.headers.get("range"), record.size)
    : "whole";
  if (range === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { ...headers, "content-range": `bytes */${record.size}` } });
  }
  // An authorized client may wait for a slow store.
  connection.hold();
  const opened = await files.open(record, range === "whole" ? undefined : range).finally(() => connection.rest());
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
