/** A text that is written in a form which hosts decode before a model reads it. */
export interface EncodedText {
  readonly text: string;
  readonly encode: (text: string) => string;
}

/** Shorter ones are words and ids. */
const LEAST_BASE64 = 16;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const DATA_URL = /^data:([^,]{0,200}),/i;
const IN_BASE64 = /;\s*base64\s*$/i;
const TEXT_TYPE = /^(?:$|;|text\/|[\w.+-]+\/[\w.-]*(?:json|xml|yaml|csv|javascript|html|markdown))/i;
const SAMPLE = 512;
/** Of a file in another encoding, or with a stray byte. Compressed media have less than half. */
const LEAST_SHOWN = 0.9;

/** A text in base64 or in a data URL; `media` if it is one of something else; undefined if it stands as it is. */
export function encodedText(value: string): EncodedText | "media" | undefined {
  const [head, type = ""] = DATA_URL.exec(value.slice(0, 220)) ?? [];
  if (head === undefined)
    return value.length >= LEAST_BASE64 && BASE64.test(value) ? inBase64("", value, false) : undefined;
  const body = value.slice(head.length);
  if (IN_BASE64.test(type)) return inBase64(head, body, TEXT_TYPE.test(type)) ?? "media";
  return { text: unescaped(body), encode: (text) => head + encodeURIComponent(text) };
}

/** What it is decides, not what it is called: a host may read a text of any type. */
function inBase64(head: string, body: string, isText: boolean): EncodedText | undefined {
  if (!isText && !mayBeText(sampleOf(body, 0)) && !mayBeText(sampleOf(body, body.length / 2))) return undefined;
  const bytes = Buffer.from(body, "base64");
  const text = utf8Of(bytes);
  if (text === undefined && !isText && (head !== "" || bytes.subarray(0, 5).toString("latin1") === "%PDF-"))
    return undefined;
  // Bytes that are not UTF-8 are kept one by one.
  const encoding = text === undefined ? "latin1" : "utf8";
  return {
    text: text ?? bytes.toString("latin1"),
    encode: (left) => head + Buffer.from(left, encoding).toString(/[-_]/.test(body) ? "base64url" : "base64"),
  };
}

const sampleOf = (body: string, from: number): Buffer => {
  const start = Math.floor(from / 4) * 4;
  return Buffer.from(body.slice(start, start + SAMPLE), "base64");
};

function mayBeText(sample: Buffer): boolean {
  let ascii = 0;
  let control = 0;
  for (const byte of sample) {
    if ((byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d)) ascii++;
    else if (byte < 0x20 || byte === 0x7f) control++;
  }
  if (sample.length === 0) return false;
  if (ascii >= LEAST_SHOWN * sample.length) return true;
  if (control > 0) return false;
  // The sample may begin or end within a character.
  const text = sample.toString("utf8").replace(/^\ufffd{1,3}|\ufffd{1,3}$/g, "");
  return text !== "" && !text.includes("\ufffd");
}

function utf8Of(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Escapes that are no UTF-8 stay. */
function unescaped(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
