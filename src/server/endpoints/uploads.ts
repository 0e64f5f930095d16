import { type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { Type } from "../../base/type.ts";
import { GatewayError } from "../../canon/error.ts";
import { typeOfUpload } from "../../files/type-of-name.ts";
import { objectId } from "../../objects/object-id.ts";
import type { PartialUpload } from "../../objects/partial-uploads.ts";
import type { UploadedFile } from "../../objects/uploaded-files.ts";
import type { Gateway } from "../../relay/gateway.ts";
import { readArriving, readSmallBody } from "../../relay/request/read-body.ts";
import { receiveUpload } from "../../relay/request/read-form.ts";
import { countedCaller, countedHolder } from "../counted-caller.ts";
import { presentsCredential } from "../credential.ts";
import { noSuchObject } from "../no-such-object.ts";
import { FileAnswer, UploadAnswer, UploadPartAnswer } from "../openapi/file-answers.ts";
import { json } from "../openapi/operation.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";
import { wrongField } from "../wrong-field.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { fileFormOf } from "./file-forms.ts";
import { ownerOf } from "./owner-of.ts";
import { dropInPath, versionedPath } from "./paths.ts";
import { withCaller } from "./with-caller.ts";

const MAX_BODY_BYTES = 1024 * 1024;

export const createUpload: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/uploads"),
  id: "createUpload",
  summary: "Begin to upload a file in parts",
  dialect: "chat",
  request: Type.Object(
    {
      bytes: Type.Integer({ minimum: 0 }),
      filename: Type.String(),
      mime_type: Type.String(),
      purpose: Type.String(),
    },
    { title: "UploadRequest" },
  ),
  answers: [json(UploadAnswer, "The upload. Add its parts within an hour.")],
  handle: withCaller(async (principal, { request, dialect }, { gateway }) => {
    const body = await readSmallBody(request, MAX_BODY_BYTES, principal, gateway);
    const announced = numberAt(body, "bytes");
    if (announced === undefined || !Number.isInteger(announced) || announced < 0)
      throw wrongField("bytes", "must be a whole number of bytes");
    const name = stringAt(body, "filename") ?? wanted("filename");
    const mimeType = typeOfUpload(stringAt(body, "mime_type") ?? wanted("mime_type"), name);
    const description = { name, mimeType, ...fileFormOf(dialect).describe(fieldsOf(body)) };
    const owner = ownerOf(principal, { request, dialect });
    return Response.json(encode(await gateway.partialUploads.begin(owner, description, announced)));
  }),
};

export const addUploadPart: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/uploads/{id}/parts"),
  id: "addUploadPart",
  summary: "Add a part to an upload",
  dialect: "chat",
  parameters: ["upload-id"],
  form: Type.Object({ data: Type.Unsafe<string>({ type: "string", format: "binary" }) }, { title: "UploadPartForm" }),
  answers: [json(UploadPartAnswer, "The part. Name it when you complete the upload.")],
  handle: withUpload(async (upload, { request }, { gateway }) => {
    const { kept: part } = await receiveUpload(
      request,
      {
        field: "data",
        maxBytes: gateway.uploads.limits.maxFileBytes,
        keep: (content, atLeast) => gateway.partialUploads.add(upload, content, { atLeast }),
        discard: () => Promise.resolve(),
      },
      gateway,
    );
    return Response.json({
      id: part.id,
      object: "upload.part",
      created_at: Math.floor(part.createdAtMs / 1000),
      upload_id: objectId("upload", "chat", upload.id),
    });
  }),
};

export const completeUpload: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/uploads/{id}/complete"),
  id: "completeUpload",
  summary: "Make a file of the parts of an upload",
  dialect: "chat",
  parameters: ["upload-id"],
  request: Type.Object(
    {
      part_ids: Type.Array(Type.String()),
      md5: Type.Optional(Type.String({ description: "Of the file, in hexadecimal digits. Another file is refused." })),
    },
    { title: "CompleteUploadRequest" },
  ),
  answers: [json(UploadAnswer, "The upload with its file.")],
  handle: withUpload(async (upload, { request, dialect }, { gateway }, principal) => {
    const body = await readSmallBody(request, MAX_BODY_BYTES, principal, gateway);
    const { part_ids: parts, md5 = null } = body;
    const isList = (value: unknown): value is string[] =>
      Array.isArray(value) && value.every((part) => typeof part === "string");
    if (!isList(parts)) throw wrongField("part_ids", "must be an array of part ids");
    if (md5 !== null && typeof md5 !== "string") throw wrongField("md5", "must be a string of hexadecimal digits");
    const stored = await gateway.partialUploads.complete(upload, parts, md5 ?? undefined);
    const file = fileFormOf(dialect).entry(stored, gateway.publicUrl());
    return Response.json({ ...encode({ ...upload, state: "completed" }), file });
  }),
};

export const cancelUpload: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/uploads/{id}/cancel"),
  id: "cancelUpload",
  summary: "Cancel an upload, and remove its parts",
  dialect: "chat",
  parameters: ["upload-id"],
  answers: [json(UploadAnswer, "The cancelled upload.")],
  handle: withUpload(async (upload, _routed, { gateway }) => {
    await gateway.partialUploads.cancel(upload);
    return Response.json(encode({ ...upload, state: "cancelled" }));
  }),
};

/** The resumable protocol of one vendor: a request that begins an upload, and requests to the URL that it returns. */
export const resumeUpload: ClientEndpoint = {
  method: "POST",
  paths: versionedPath("/files", { before: "/upload" }),
  id: "resumeUpload",
  summary: "Upload a file with the resumable protocol",
  dialect: "genai",
  // The URL of a begun upload is unguessable, and some clients send no key with it: it stands for the key that began.
  access: "signed",
  answers: [json(Type.Object({ file: FileAnswer }), "The file, once its last bytes have arrived.")],
  handle: (routed, context) => {
    const begun = routed.query.get("upload_id");
    return begun === null ? beginResumable(routed, context) : continueResumable(begun, routed, context);
  },
};

const STATUS = "x-goog-upload-status";

const beginResumable: Handler = withCaller(async (principal, { request, dialect }, { gateway }) => {
  const { headers } = request;
  if (headers.get("x-goog-upload-protocol") !== "resumable" || headers.get("x-goog-upload-command") !== "start") {
    const message =
      "Begin the upload with the headers X-Goog-Upload-Protocol: resumable and X-Goog-Upload-Command: start.";
    throw new GatewayError("invalid_request", message, { path: "X-Goog-Upload-Protocol" });
  }
  const written = headers.get("x-goog-upload-header-content-length");
  const announced = Number(written ?? Number.NaN);
  if (!Number.isInteger(announced) || announced < 0) {
    throw wrongField("X-Goog-Upload-Header-Content-Length", "must be the size of the file in bytes");
  }
  const isBare = request.headers.get("content-length") === "0";
  const body = isBare ? {} : await readSmallBody(request, MAX_BODY_BYTES, principal, gateway);
  const file = objectAt(body, "file");
  const name = stringAt(file, "displayName") ?? headers.get("x-goog-upload-file-name") ?? "";
  const said = stringAt(file, "mimeType") ?? headers.get("x-goog-upload-header-content-type") ?? "";
  const description = { name, mimeType: typeOfUpload(said, name), purpose: "user_data" };
  const owner = ownerOf(principal, { request, dialect });
  const upload = await gateway.partialUploads.begin(owner, description, announced);
  const base = gateway.publicUrl().replace(/\/+$/, "");
  const url = `${base}/upload/v1beta/files?upload_id=${objectId("upload", "chat", upload.id)}&upload_protocol=resumable`;
  return new Response(null, { headers: { "x-goog-upload-url": url, [STATUS]: "active" } });
});

async function continueResumable(id: string, routed: RoutedRequest, { gateway }: ServerContext): Promise<Response> {
  const { request, query } = routed;
  const isBare = !presentsCredential(request, query);
  const holder = isBare ? await gateway.partialUploads.holderOf(id) : undefined;
  if (isBare && holder === undefined) throw noSuchObject("upload", id);
  const reader = await (holder === undefined ? countedCaller(routed, gateway) : countedHolder(holder, routed, gateway));
  const upload = await gateway.partialUploads.find(reader, id);
  if (upload === undefined) throw noSuchObject("upload", id);
  if (upload.fileId !== undefined) {
    // The client lost the response to its last request.
    const stored = await gateway.uploads.find(reader, objectId("file", "genai", upload.fileId));
    if (stored !== undefined) return finished(stored, routed, gateway);
  }
  const commands = (request.headers.get("x-goog-upload-command") ?? "").split(",").map((command) => command.trim());
  if (commands.includes("query")) return active(upload.received);
  if (commands.includes("cancel")) {
    await gateway.partialUploads.cancel(upload);
    return new Response(null, { headers: { [STATUS]: "cancelled" } });
  }
  let { received } = upload;
  if (commands.includes("upload")) {
    const offset = Number(request.headers.get("x-goog-upload-offset") ?? 0);
    if (offset !== received) {
      const message = `The next part of this upload begins at byte ${received}, not ${offset}.`;
      throw new GatewayError("invalid_request", message, { path: "X-Goog-Upload-Offset" });
    }
    routed.connection.hold();
    const add = async (body: AsyncIterable<Uint8Array>, atLeast: number) => {
      const counted = async function* () {
        for await (const chunk of body) {
          received += chunk.length;
          yield chunk;
        }
      };
      await gateway.partialUploads.add(upload, counted(), { atLeast, offset });
    };
    await readArriving(request, gateway.uploads.limits.maxFileBytes, add, gateway).finally(() =>
      routed.connection.rest(),
    );
  }
  if (!commands.includes("finalize")) return active(received);
  return finished(await gateway.partialUploads.complete(upload), routed, gateway);
}

const active = (received: number): Response =>
  new Response(null, { headers: { [STATUS]: "active", "x-goog-upload-size-received": String(received) } });

function finished(stored: UploadedFile, { dialect }: RoutedRequest, { publicUrl }: Gateway): Response {
  const file = fileFormOf(dialect).entry(stored, publicUrl());
  return Response.json({ file }, { headers: { [STATUS]: "final" } });
}

type UploadHandler = (
  upload: PartialUpload,
  routed: RoutedRequest,
  context: ServerContext,
  principal: Parameters<Parameters<typeof withCaller>[0]>[0],
) => Promise<Response>;

function withUpload(handle: UploadHandler): Handler {
  return withCaller(async (principal, routed, context) => {
    const id = routed.parameters["id"] ?? "";
    const upload = await context.gateway.partialUploads.find(principal, id);
    if (upload === undefined) throw noSuchObject("upload", id);
    return handle(upload, routed, context, principal);
  });
}

const encode = ({ id, announced, createdAtMs, expiresAtMs, name, purpose, state }: PartialUpload): object => ({
  id: objectId("upload", "chat", id),
  object: "upload",
  bytes: announced,
  created_at: Math.floor(createdAtMs / 1000),
  expires_at: Math.floor(expiresAtMs / 1000),
  filename: name,
  purpose,
  status: state,
  file: null,
});

/** The fields of a JSON body as those of a form, which says the same. */
function fieldsOf(body: JsonObject): Map<string, string> {
  const expires = objectAt(body, "expires_after");
  const entries = [
    ["purpose", body["purpose"]],
    ["expires_after[anchor]", expires?.["anchor"]],
    ["expires_after[seconds]", expires?.["seconds"]],
  ];
  return new Map(entries.flatMap(([name, value]) => (value == null ? [] : [[String(name), String(value)]])));
}

function wanted(path: string): never {
  throw wrongField(path, "must be a string");
}
