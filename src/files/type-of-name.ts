const ANYTHING = "application/octet-stream";

const TYPES: Readonly<Record<string, string>> = {
  avi: "video/x-msvideo",
  c: "text/x-c",
  cpp: "text/x-c++",
  css: "text/css",
  csv: "text/csv",
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  flac: "audio/flac",
  gif: "image/gif",
  go: "text/x-golang",
  heic: "image/heic",
  html: "text/html",
  java: "text/x-java",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  jsonl: "application/jsonl",
  m4a: "audio/mp4",
  md: "text/markdown",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  mpeg: "video/mpeg",
  ogg: "audio/ogg",
  opus: "audio/opus",
  pdf: "application/pdf",
  png: "image/png",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  py: "text/x-python",
  rb: "text/x-ruby",
  rtf: "application/rtf",
  sh: "application/x-sh",
  tex: "text/x-tex",
  ts: "text/x-typescript",
  txt: "text/plain",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  xls: "application/vnd.ms-excel",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  xml: "text/xml",
  zip: "application/zip",
};

/** The type of an uploaded file: as its sender says, or else by its name. Many clients send no type. */
export function typeOfUpload(said: string, name: string): string {
  const type = (said.split(";")[0] ?? "").trim().toLowerCase();
  if (type !== "" && type !== ANYTHING) return type;
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  return (Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined) ?? ANYTHING;
}
