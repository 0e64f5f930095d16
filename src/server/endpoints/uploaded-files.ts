import { Type } from "../../base/type.ts";
import { typeOfUpload } from "../../files/type-of-name.ts";
import type { UploadedFile } from "../../objects/uploaded-files.ts";
import { receiveUpload } from "../../relay/request/read-form.ts";
import { mayDelete } from "../may-delete.ts";
import { noSuchObject } from "../no-such-object.ts";
import { DeletedFileAnswer, FileAnswer, FileListAnswer } from "../openapi/file-answers.ts";
import { file, json } from "../openapi/operation.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { fileFormOf } from "./file-forms.ts";
import { ownerOf } from "./owner-of.ts";
import { BESIDE_V1, dropInPath, versionedPath } from "./paths.ts";
import { withCaller } from "./with-caller.ts";

const uploaded = Type.Unsafe<string>({ type: "string", format: "binary", description: "The file." });

export const uploadFile: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/files"),
  id: "uploadFile",
  summary: "Upload a file that later requests can name, with any model",
  dialect: "chat",
  shared: true,
  form: Type.Object(
    { file: uploaded, purpose: Type.Optional(Type.String()), expires_in_seconds: Type.Optional(Type.Integer()) },
    { title: "FileForm" },
  ),
  answers: [json(FileAnswer, "The file.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const { uploads } = gateway;
    const form = fileFormOf(routed.dialect);
    const received = await receiveUpload(
      routed.request,
      {
        field: "file",
        maxBytes: uploads.limits.maxFileBytes,
        keep: (content, atLeast) => uploads.write(principal.project, content, atLeast),
        discard: (blob) => uploads.discard([blob]),
      },
      gateway,
    );
    const { name, mimeType, fields, kept } = received;
    try {
      const description = { name, mimeType: typeOfUpload(mimeType, name), ...form.describe(fields) };
      const stored = await uploads.create(ownerOf(principal, routed), description, [kept]);
      return Response.json(form.entry(stored, gateway.publicUrl()));
    } catch (refusal) {
      await uploads.discard([kept]).catch(() => undefined);
      throw refusal;
    }
  }),
};

export const listFiles: ClientEndpoint = {
  method: "GET",
  paths: dropInPath("/v1/files"),
  id: "listFiles",
  summary: "List files, newest first",
  dialect: "chat",
  shared: true,
  answers: [json(FileListAnswer, "A page of the files that this key may use.")],
  handle: withCaller(async (principal, { dialect, query }, { gateway }) => {
    const form = fileFormOf(dialect);
    const { files, hasMore } = await gateway.uploads.list(principal, form.readPage(query));
    const entries = files.map((each) => form.entry(each, gateway.publicUrl()));
    return Response.json(form.list(entries, { ids: files.map(form.id), hasMore }));
  }),
};

export const showFile: ClientEndpoint = {
  method: "GET",
  paths: dropInPath("/v1/files/{id}"),
  id: "getUploadedFile",
  summary: "Show a file's name, type and size",
  dialect: "chat",
  shared: true,
  parameters: ["uploaded-file-id"],
  answers: [json(FileAnswer, "The file.")],
  handle: withFile((found, { dialect }, { gateway }) =>
    Response.json(fileFormOf(dialect).entry(found, gateway.publicUrl())),
  ),
};

export const readFile: ClientEndpoint = {
  method: "GET",
  paths: dropInPath("/v1/files/{id}/content"),
  id: "readFile",
  summary: "Read the content of a file",
  dialect: "chat",
  shared: true,
  parameters: ["uploaded-file-id"],
  answers: [file(200, "The bytes of the file.")],
  handle: withFile(async (found, routed, { gateway }) => {
    routed.connection.hold();
    const content = await gateway.uploads.open(found).finally(() => routed.connection.rest());
    if (content === undefined) throw noSuchObject("file", idOf(routed));
    return new Response(content, {
      headers: {
        // Content from a client must not run as a page of this origin.
        "content-type": "application/octet-stream",
        "content-disposition": "attachment",
        "x-content-type-options": "nosniff",
        "content-length": String(found.size),
      },
    });
  }),
};

export const deleteFile: ClientEndpoint = {
  method: "DELETE",
  paths: dropInPath("/v1/files/{id}"),
  id: "deleteFile",
  summary: "Delete a file",
  dialect: "chat",
  shared: true,
  parameters: ["uploaded-file-id"],
  answers: [json(DeletedFileAnswer, "The file is deleted.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const id = idOf(routed);
    if (!(await gateway.uploads.delete(id, mayDelete(principal, gateway)))) throw noSuchObject("file", idOf(routed));
    return Response.json(fileFormOf(routed.dialect).deleted(id));
  }),
};

/** The same files in the protocol that has its own base path. */
const inGenai = (endpoint: ClientEndpoint, path: string): ClientEndpoint => ({
  ...endpoint,
  paths: versionedPath(path, { versions: BESIDE_V1 }),
  id: `${endpoint.id}Genai`,
  dialect: "genai",
  shared: false,
});

export const listGenaiFiles = inGenai(listFiles, "/files");
export const showGenaiFile = inGenai(showFile, "/files/{id}");
export const deleteGenaiFile = inGenai(deleteFile, "/files/{id}");

type FileHandler = (found: UploadedFile, routed: RoutedRequest, context: ServerContext) => Response | Promise<Response>;

/** A file that the caller may not see looks as if it did not exist (S09). */
function withFile(handle: FileHandler): Handler {
  return withCaller(async (principal, routed, context) => {
    const found = await context.gateway.uploads.find(principal, idOf(routed));
    if (found === undefined) throw noSuchObject("file", idOf(routed));
    return handle(found, routed, context);
  });
}

/** Clients of one protocol have the prefix of the id in the path. */
function idOf({ parameters, dialect }: RoutedRequest): string {
  const id = parameters["id"] ?? "";
  return dialect.name === "genai" && !id.includes("/") ? `files/${id}` : id;
}
