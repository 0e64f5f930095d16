import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { openObject, stringLike } from "../../reading/schema-builders.ts";

/** The types that the contract lists. Other image, audio, video and text types are left to the upstream. */
const MEDIA_TYPES = [
  "application/pdf",
  "audio/mpeg",
  "audio/mp3",
  "audio/wav",
  "image/png",
  "image/jpeg",
  "image/webp",
  "text/plain",
  "video/mov",
  "video/mpeg",
  "video/mp4",
  "video/mpg",
  "video/avi",
  "video/wmv",
  "video/mpegps",
  "video/flv",
  "video/x-ms-wmv",
];

const mimeType = stringLike(
  "^(?:application/pdf|(?:image|audio|video|text)/[^\\s/]+.*)$",
  `one of ${MEDIA_TYPES.map((type) => `"${type}"`).join(", ")}, or another image, audio, video or text type`,
);
const displayName = Type.Optional(Type.String());
const duration = Type.Optional(stringLike("^[0-9]+(?:\\.[0-9]{1,9})?s$", 'a duration in seconds such as "1.5s"'));

const PartMediaResolutionLevel = Type.Enum([
  "LOW",
  "MEDIUM",
  "HIGH",
  "ULTRA_HIGH",
  "UNSPECIFIED",
  "MEDIA_RESOLUTION_LOW",
  "MEDIA_RESOLUTION_MEDIUM",
  "MEDIA_RESOLUTION_HIGH",
  "MEDIA_RESOLUTION_ULTRA_HIGH",
  "MEDIA_RESOLUTION_UNSPECIFIED",
]);

export const Blob = Type.Object(
  { mimeType, data: Type.String({ description: "Base64." }), displayName },
  { title: "GenaiBlob" },
);

const FileData = Type.Object(
  { mimeType: Type.Optional(mimeType), fileUri: Type.String({ minLength: 1 }), displayName },
  { title: "GenaiFileData" },
);

const serverSideTool = (description: string) =>
  Type.Object({ id: Type.Optional(Type.String()), toolType: Type.Optional(Type.String()) }, { description });

/** A part has one data field, and no tag says which one, so the rules count them (rules.ts). */
export const Part = Type.Object(
  {
    text: Type.Optional(Type.String()),
    inlineData: Type.Optional(Blob),
    fileData: Type.Optional(FileData),
    functionCall: Type.Optional(
      Type.Object({
        id: Type.Optional(Type.String()),
        name: Type.Optional(Type.String({ minLength: 1 })),
        args: Type.Optional(openObject()),
        partialArgs: Type.Optional(Type.Array(openObject())),
        willContinue: Type.Optional(Type.Boolean()),
      }),
    ),
    functionResponse: Type.Optional(
      Type.Object({
        id: Type.Optional(Type.String()),
        name: Type.String({ minLength: 1 }),
        response: Type.Optional(openObject()),
        parts: Type.Optional(
          Type.Array(Type.Object({ inlineData: Type.Optional(Blob), fileData: Type.Optional(FileData) })),
        ),
        scheduling: Type.Optional(Type.String()),
        willContinue: Type.Optional(Type.Boolean()),
      }),
    ),
    executableCode: Type.Optional(
      Type.Object({ language: Type.Optional(Type.String()), code: Type.Optional(Type.String()) }),
    ),
    codeExecutionResult: Type.Optional(
      Type.Object({ outcome: Type.Optional(Type.String()), output: Type.Optional(Type.String()) }),
    ),
    toolCall: Type.Optional(serverSideTool("The call of a tool that the provider runs, to be returned unchanged.")),
    toolResponse: Type.Optional(serverSideTool("Its result, to be returned unchanged.")),
    videoMetadata: Type.Optional(
      Type.Object({ startOffset: duration, endOffset: duration, fps: Type.Optional(Type.Number({ minimum: 0 })) }),
    ),
    mediaResolution: Type.Optional(
      Type.Union([
        PartMediaResolutionLevel,
        Type.Object({ level: Type.Optional(PartMediaResolutionLevel), numTokens: Type.Optional(Type.Integer()) }),
      ]),
    ),
    thought: Type.Optional(Type.Boolean()),
    thoughtSignature: Type.Optional(Type.String({ description: "Base64. Opaque; return it unchanged." })),
  },
  { title: "GenaiPart" },
);
export type Part = Static<typeof Part>;

const parts = Type.Array(Part, { minItems: 1 });

export const Content = Type.Object(
  { role: Type.Optional(Type.Enum(["user", "model", "function"])), parts },
  { title: "GenaiContent" },
);

/** Clients send any role, and it has no meaning here. */
export const SystemInstruction = Type.Object({ role: Type.Optional(Type.String()), parts });
