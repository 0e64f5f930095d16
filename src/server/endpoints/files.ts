import { GatewayError } from "../../canon/error.ts";
import { parseObjectId } from "../../objects/object-id.ts";
import { countedCaller, countedHolder } from "../counted-caller.ts";
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
  parameters: ["file-id", "expires", "signature", "holder", "range"],
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
  parameters: ["file-id", "expires", "signature", "holder"],
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
  const id = routed.parameters["id"] ?? routed.parameters["linked"] ?? "";
  const record = await gateway.files.read(id, await projectsOf(id, routed, context), gateway.clock.nowMs());
  return sendFile(record, routed, gateway);
}

/** A wrong key or half a signature authorizes nothing: the response is the same as for every stranger (S09). */
async function projectsOf(id: string, routed: RoutedRequest, { gateway }: ServerContext): Promise<string[]> {
  const { request, dialect, connection, query } = routed;
  if (credentialOf(request, undefined, dialect) !== undefined) {
    try {
      return [(await countedCaller({ request, dialect, connection, query: undefined }, gateway)).project];
    } catch (thrown) {
      if (!(thrown instanceof GatewayError && thrown.kind === "unauthenticated")) throw thrown;
    }
  }
  const [expires, signature, holder] = ["expires", "signature", "holder"].map((name) => query.get(name) ?? "");
  if (!expires || !signature || !holder) return [];
  const payer = await gateway.files.holderOf(id, { expires, signature, holder }, gateway.clock.nowMs());
  return payer === undefined ? [] : [(await countedHolder(payer, routed, gateway)).project];
}
