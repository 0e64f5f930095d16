const ANYTHING = "application/octet-stream";

/**
 * Images, audio and video. An image in XML is a page: it can contain a script, which would run on the gateway's
 * origin.
 */
const MEDIA = /^(?:image|video|audio)\/(?!.*xml)[a-z0-9][a-z0-9.+-]{0,60}$/;

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/gif": "gif",
  "video/mp4": "mp4",
  "video/webm": "webm",
  "video/quicktime": "mov",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
};

/** The type under which a file may be served: its own if it is media, otherwise one that no browser opens. */
export function servedType(said: string): string {
  const type = (said.split(";")[0] ?? "").trim().toLowerCase();
  return MEDIA.test(type) ? type : ANYTHING;
}

export const fileName = (id: string, mimeType: string): string => `${id}.${EXTENSIONS[mimeType] ?? "bin"}`;
