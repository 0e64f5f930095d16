/** One part of a form, as it was sent. */
export interface FormPart {
  name: string;
  /** Files have a name of their own, and fields have none. */
  fileName?: string;
  /** As declared; empty where it was not. The runtime's own reader guesses it from the name and the bytes instead. */
  contentType: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const MOST_PARTS = 100;
const BLANK_LINE = "\r\n\r\n";

function readPart(part: Buffer): FormPart | undefined {
  const headersEnd = part.indexOf(BLANK_LINE);
  if (headersEnd < 0) return undefined;
  const headers = part.toString("utf8", 0, headersEnd);
  const disposition = /^content-disposition:\s*form-data;(.*)$/im.exec(headers)?.[1] ?? "";
  const name = /(?:^|[\s;])name="([^"]*)"/i.exec(disposition)?.[1];
  const fileName = /(?:^|[\s;])filename="([^"]*)"/i.exec(disposition)?.[1];
  if (name === undefined) return undefined;
  return {
    name,
    ...(fileName === undefined ? {} : { fileName }),
    contentType: /^content-type:\s*([^;\r\n]*)/im.exec(headers)?.[1]?.trim().toLowerCase() ?? "",
    bytes: new Uint8Array(part.subarray(headersEnd + BLANK_LINE.length)),
  };
}

/** The parts of a form in their order; undefined where the bytes are no form. */
export function readMultipart(bytes: Uint8Array, contentType: string): FormPart[] | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return undefined;
  // The first boundary may stand at the very beginning; all others end the line before them.
  const body = Buffer.concat([Buffer.from("\r\n"), bytes]);
  const mark = `\r\n--${boundary}`;
  const parts: FormPart[] = [];
  let from = body.indexOf(mark);
  while (from >= 0 && parts.length < MOST_PARTS) {
    const begin = from + mark.length;
    if (body.toString("latin1", begin, begin + 2) === "--") return parts;
    const end = body.indexOf(mark, begin);
    const part = end < 0 ? undefined : readPart(body.subarray(begin + 2, end));
    if (part === undefined) return undefined;
    parts.push(part);
    from = end;
  }
  return undefined;
}
