import { objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { FileParts } from "../request/file-parts.ts";

export const genaiFileParts: FileParts = {
  idOf: (part) => stringAt(objectAt(part, "fileData"), "fileUri"),
  inline: ({ fileData, ...rest }, { mimeType, base64 }) => ({
    ...rest,
    inlineData: withoutAbsent({
      mimeType: stringAt(fileData, "mimeType") ?? mimeType,
      data: base64,
      displayName: stringAt(fileData, "displayName"),
    }),
  }),
  rename: (part, fileUri, { mimeType }) => {
    const fileData = objectAt(part, "fileData");
    return { ...part, fileData: { ...fileData, mimeType: stringAt(fileData, "mimeType") ?? mimeType, fileUri } };
  },
};
