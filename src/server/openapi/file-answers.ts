import { Type } from "../../base/type.ts";

const ChatFile = Type.Object(
  {
    id: Type.String({ pattern: "^file-" }),
    object: Type.Literal("file"),
    bytes: Type.Integer(),
    created_at: Type.Integer(),
    expires_at: Type.Optional(Type.Integer()),
    filename: Type.String(),
    purpose: Type.String(),
    status: Type.Literal("processed"),
  },
  { title: "ChatFile" },
);

const MessagesFile = Type.Object(
  {
    id: Type.String({ pattern: "^file_" }),
    type: Type.Literal("file"),
    filename: Type.String(),
    mime_type: Type.String(),
    size_bytes: Type.Integer(),
    created_at: Type.String({ format: "date-time" }),
    downloadable: Type.Boolean(),
    expires_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
  },
  { title: "MessagesFile" },
);

const GenaiFile = Type.Object(
  {
    name: Type.String({ pattern: "^files/" }),
    displayName: Type.Optional(Type.String()),
    mimeType: Type.String(),
    sizeBytes: Type.String(),
    createTime: Type.String({ format: "date-time" }),
    updateTime: Type.String({ format: "date-time" }),
    expirationTime: Type.Optional(Type.String({ format: "date-time" })),
    sha256Hash: Type.Optional(Type.String()),
    uri: Type.String(),
    state: Type.Literal("ACTIVE"),
    source: Type.Literal("UPLOADED"),
  },
  { title: "GenaiFile" },
);

export const UploadAnswer = Type.Object(
  {
    id: Type.String({ pattern: "^upload_" }),
    object: Type.Literal("upload"),
    bytes: Type.Integer(),
    created_at: Type.Integer(),
    expires_at: Type.Integer(),
    filename: Type.String(),
    purpose: Type.String(),
    status: Type.Enum(["pending", "completed", "cancelled"]),
    file: Type.Union([ChatFile, Type.Null()]),
  },
  { title: "Upload" },
);

export const UploadPartAnswer = Type.Object(
  {
    id: Type.String({ pattern: "^part_" }),
    object: Type.Literal("upload.part"),
    created_at: Type.Integer(),
    upload_id: Type.String(),
  },
  { title: "UploadPart" },
);

/** In the form of the client's protocol. */
export const FileAnswer = Type.Union([ChatFile, MessagesFile, GenaiFile], { title: "UploadedFile" });

const paged = { first_id: Type.Union([Type.String(), Type.Null()]), last_id: Type.Union([Type.String(), Type.Null()]) };

export const FileListAnswer = Type.Union(
  [
    Type.Object({ object: Type.Literal("list"), data: Type.Array(ChatFile), has_more: Type.Boolean(), ...paged }),
    Type.Object({
      data: Type.Array(MessagesFile),
      has_more: Type.Boolean(),
      ...paged,
      next_page: Type.Union([Type.String(), Type.Null()]),
    }),
    Type.Object({ files: Type.Array(GenaiFile), nextPageToken: Type.Optional(Type.String()) }),
  ],
  { title: "UploadedFileList" },
);

export const DeletedFileAnswer = Type.Union(
  [
    Type.Object({ id: Type.String(), object: Type.Literal("file"), deleted: Type.Literal(true) }),
    Type.Object({ id: Type.String(), type: Type.Literal("file_deleted") }),
    Type.Object({}),
  ],
  { title: "DeletedFile" },
);
