/** One part of a form. Only files have a file name. */
export interface FormPart {
  name: string;
  fileName: string | undefined;
  mimeType: string;
  bytes: Buffer;
}

const LINE = "\r\n";

/**
 * The parts of a form; undefined if it is not a form. The simulator has its own reader: the gateway's would share the bugs
 * that it should find, and the runtime's guesses the type of a file by its name.
 */
export function readForm(body: Uint8Array, contentType: string): readonly FormPart[] | undefined {
  const boundary = /^multipart\/form-data;.*\bboundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) return undefined;
  // Latin-1 has one character for each byte.
  const text = LINE + Buffer.from(body).toString("latin1");
  const sections = text.split(`${LINE}--${boundary}`).slice(1);
  if (!sections.pop()?.startsWith("--")) return undefined;
  const parts = sections.map(readPart);
  return parts.includes(undefined) ? undefined : (parts as FormPart[]);
}

function readPart(section: string): FormPart | undefined {
  const headEnd = section.indexOf(LINE + LINE);
  if (!section.startsWith(LINE) || headEnd < 0) return undefined;
  const head = Buffer.from(section.slice(0, headEnd), "latin1").toString();
  const disposition = /\r\ncontent-disposition: *form-data;(.*)/i.exec(head)?.[1] ?? "";
  const name = quoted(disposition, "name");
  if (name === undefined) return undefined;
  return {
    name,
    fileName: quoted(disposition, "filename"),
    mimeType: /\r\ncontent-type: *([^\r;]+)/i.exec(head)?.[1]?.toLowerCase() ?? "application/octet-stream",
    bytes: Buffer.from(section.slice(headEnd + 2 * LINE.length), "latin1"),
  };
}

const quoted = (disposition: string, key: string): string | undefined =>
  new RegExp(`[; ]${key}="([^"]*)"`).exec(disposition)?.[1]?.replaceAll("%22", '"');
