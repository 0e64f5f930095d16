import { GatewayError } from "../../canon/error.ts";
import type { FileClaim } from "../../files/files.ts";
import { parseObjectId } from "../../objects/object-id.ts";
import { countedCaller } from "../counted-caller.ts";
import { credentialOf } from "../credential.ts";
import { file } from "../openapi/operation.ts";
import type { RoutedRequest, ServerContext } from "../routed-request.ts";
import { sendFile } from "../send-file.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { ownPath } from "./paths.ts";
import { readFile } from "./uploaded-files.ts";

const served = "The file.";

export const FILE_ANSWERS = [
  file(200, served),
  file(206, "The requested range of the file."),
  { status: 304, description: "The file matches `if-none-match`." },
  { status: 416, description: "The range starts after the end of the file." },
];

export const getFile: ClientEndpoint = {
  method: "GET",
  paths: ownPath("/files/{id}"),
  id: "getFile",
  summary: "Fetch a generated file",
  dialect: "chat",
  access: "signed",
  parameters: ["file-id", "expires", "signature", "range"],
  answers: FILE_ANSWERS,
  failures: ["404"],
  handle: serveFile,
};

export const headFile: ClientEndpoint = {
  ...getFile,
  method: "HEAD",
  paths: ownPath("/files/{id}"),
  id: "headFile",
  summary: "Get the headers of a generated file",
  parameters: ["file-id", "expires", "signature"],
  answers: [{ status: 200, description: "The file exists; the headers have its type and length." }],
  handle: serveFile,
};

/**
 * Google's SDKs download a video by the last part of its URL. They know only https URLs; of another they send the whole, which then
 * follows `files/`.
 */
const DOWNLOAD =
  /^(?:\/download)?\/(?:v1|v1alpha|v1beta)\/files\/(?:https?:\/\/.*\/files\/(?<linked>[\w-]+)|(?<id>[\w-]+):download)$/;

export const downloadFile: ClientEndpoint = {
  ...getFile,
  paths: [{ door: "dropin", path: DOWNLOAD, documented: [{ path: "/v1beta/files/{id}:download", suffix: "" }] }],
  id: "downloadFile",
  summary: "Download a generated video, or the results of a batch",
  dialect: "genai",
  parameters: ["file-id", "range"],
  handle: (routed, context) => {
    const isUploaded = parseObjectId(`files/${routed.parameters["id"] ?? ""}`)?.kind === "file";
    return isUploaded ? readFile.handle(routed, context) : serveFile(routed, context);
  },
};

/** `GET` and `HEAD /files/{id}`: generated media, for the holder of a signed URL or of a key of the file's project. */
async function serveFile(routed: RoutedRequest, context: ServerContext): Promise<Response> {
  const { gateway } = context;
  const { id, linked } = routed.parameters;
  const record = await gateway.files.read(id ?? linked ?? "", await claimsOf(routed, context), gateway.clock.nowMs());
  return sendFile(record, routed, gateway);
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
