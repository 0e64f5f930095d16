import type { KeptMedia } from "./kept-media.ts";
import { mediaTypeOf } from "./media-type.ts";

/** Replaces a credential. */
const SECRET = "[secret]";

/**
 * Fields that hold a credential, whatever it looks like. Not `token`, which depends on its value: a list of
 * probabilities has one for each word.
 */
const SECRET_NAMES =
  "(?:proxy-)?authorization|authorization[_-]token|(?:x-)?(?:[a-z]+-)?api[_-]?key|(?:access|refresh|id|session|auth|bearer)[_-]?token|(?:client[_-]?|aws[_-]?)?secret(?:[_-]?(?:access[_-]?)?key)?|private[_-]?key|access[_-]?key|passw(?:or)?d|passphrase|(?:set-)?cookie|credentials?";
const SECRET_NAME = new RegExp(`^(?:${SECRET_NAMES})$`, "i");
/** A field of this name holds a credential if it is longer than a model's word and has no white space. */
const TOKEN_NAME = /^(?:[a-z]+[_-])?tokens?$/i;
const TOKEN_VALUE = /^(?=.*\d)[\w.~+/=:-]{16,}$/;
/** The same in JSON within a string, like the arguments of tools. */
const NESTED_SECRET = new RegExp(`(\\\\+"(?:${SECRET_NAMES})\\\\+"\\s*:\\s*\\\\+")((?:[^"\\\\])+)`, "gi");

/** The same for a field called `token`. */
const NESTED_TOKEN = /(\\+"(?:[a-z]+[_-])?tokens?\\+"\s*:\s*\\+")(?=[^"\\]*\d)([\w.~+/=:-]{16,8192})(?=\\+")/gi;

/** Credentials by their form: keys of this gateway, of providers and clouds, tokens, and private keys in text form. */
const SECRET_SHAPES =
  /\b(?:trv|sk|pk|rk|gsk|xai|key)[-_](?=[\w-]{0,40}\d)[\w-]{16,}|\b(?:AIza|ya29\.|AKIA|ASIA|hf_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-)[\w.-]{12,}|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:(?!-----END)[^"])*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g;
/** Passwords in URLs, and credentials in their queries. */
const URL_PASSWORD = /\b([a-z][a-z\d+.-]{1,20}:(?:\\?\/){2}[^\s"/@:?#]{0,100}:)[^\s"/@]{1,200}@/gi;
const URL_CREDENTIAL =
  /([?&](?:api[_-]?key|key|(?:access|auth|id|refresh|session|security)?[_-]?token|(?:client[_-]?)?secret|sig(?:nature)?|x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|password|passwd|pwd)=)[^&\s"#\\]{4,}/gi;
/**
 * A secret key of AWS has no distinctive prefix: forty characters of base64 after a word that names it, or after the
 * id of its pair.
 */
const AWS_SECRET =
  /(aws.{0,20}(?:secret|key).{0,20}?[^\w/+]|secret.?access.?key.{0,10}?[^\w/+]|\b(?:AKIA|ASIA)[A-Z\d]{16}.{0,20}?[^\w/+])([A-Za-z\d/+]{40})(?![\w/+=])/gis;
const BEARER = /\b(Bearer|Basic)(\s+)(?=[\w.~+/=-]*\d)[\w.~+/=-]{12,}/gi;

/** The longest token. */
const MAX_TOKEN = 8192;
/** Shorter texts are not searched for media. */
const MIN_MEDIA = 64;
/** The minimum length of a text that is entirely base64 to count as data, and of a run of it within other text. */
const MIN_BASE64 = 200;
const MIN_RUN = 512;
/** How much of the beginning, the middle and the end is checked to decide whether all of a text is base64. */
const SAMPLE = 256;
/** A match may begin before a cut and end after it. */
const OVERLAP = 4096;

const DATA_URL_HEAD = /data:([\w.+-]{1,60}\/[\w.+-]{1,80})?(?:;[\w.+=-]{1,60}){0,5}$/;
const ENCODED = ";base64,";
/** The longest head of a data URL. */
const MAX_HEAD = 400;
const NOT_BASE64 = /[^\w+/=-]/g;
/** Greedy: the longest run at each position, so that a long text is read once. */
const RUN = /[A-Za-z0-9+/_=-]{16,}/g;

/** A redacted body, and whether its end is missing. */
export interface RedactedBody {
  text: string;
  cut: boolean;
}

/**
 * Replaces media by their type and size, and credentials by a placeholder, in JSON or in events that contain JSON. The
 * text is not parsed and reserialised: numbers, white space and the order of fields are preserved. The rest is cut to
 * `maxLength` characters. `media` receives the media to show; the text refers to them by number.
 */
export function redactBody(text: string, maxLength: number, media?: KeptMedia): RedactedBody {
  const most = maxLength + OVERLAP;
  let kept = "";
  let from = 0;
  let name = "";
  for (let at = text.indexOf('"'); at >= 0 && kept.length + at - from <= most; ) {
    const end = endOfString(text, at + 1);
    const value = text.slice(at + 1, end);
    if (isName(text, end)) name = value;
    else {
      const shown = redactValue(value, name, media);
      if (shown !== value) {
        kept += text.slice(from, at + 1) + shown;
        from = end;
      }
    }
    at = text.indexOf('"', end + 1);
  }
  kept += text.slice(from, from + Math.max(0, most - kept.length));
  const shown = kept
    .replace(AWS_SECRET, `$1${SECRET}`)
    .replace(SECRET_SHAPES, SECRET)
    .replace(BEARER, `$1$2${SECRET}`)
    .replace(URL_PASSWORD, `$1${SECRET}@`)
    .replace(URL_CREDENTIAL, `$1${SECRET}`);
  // Text beyond `most` was not searched, so it is not kept either.
  return shown.length <= maxLength ? { text: shown, cut: kept.length >= most } : cutAt(shown, maxLength);
}

/** Never cuts between the two halves of a surrogate pair. */
function cutAt(text: string, length: number): RedactedBody {
  const isHalf = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return { text: text.slice(0, isHalf ? length - 1 : length), cut: true };
}

/** The position of the closing quote of the string that begins at `from`, or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= from && text[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\t" || text[at] === "\r") at++;
  return text[at] === ":";
}

function redactValue(value: string, name: string, media?: KeptMedia): string {
  if (value !== "" && name.length <= 40 && SECRET_NAME.test(name)) return SECRET;
  if (value.length <= MAX_TOKEN && TOKEN_NAME.test(name) && TOKEN_VALUE.test(value)) return SECRET;
  const shown = value.length < MIN_MEDIA ? value : withoutMedia(value, media);
  if (!shown.includes('\\"')) return shown;
  return shown.replace(NESTED_SECRET, `$1${SECRET}`).replace(NESTED_TOKEN, `$1${SECRET}`);
}

function withoutMedia(value: string, media?: KeptMedia): string {
  if (value.length >= MIN_BASE64 && isBase64(value)) return mediaOf(undefined, value, media);
  const shown = value.includes(ENCODED) ? withoutDataUrls(value, media) : value;
  if (shown.length < MIN_RUN) return shown;
  return shown.replace(RUN, (run) => (run.length >= MIN_RUN && isBase64(run) ? mediaOf(undefined, run, media) : run));
}

function withoutDataUrls(value: string, media?: KeptMedia): string {
  let kept = "";
  let from = 0;
  for (let at = value.indexOf(ENCODED); at >= 0; at = value.indexOf(ENCODED, Math.max(from, at + 1))) {
    const head = DATA_URL_HEAD.exec(value.slice(Math.max(from, at - MAX_HEAD), at));
    if (head === null) continue;
    const end = endOfBase64(value, at + ENCODED.length);
    kept += value.slice(from, at - head[0].length) + mediaOf(head[1], value.slice(at + ENCODED.length, end), media);
    from = end;
  }
  return kept + value.slice(from);
}

function endOfBase64(value: string, from: number): number {
  NOT_BASE64.lastIndex = from;
  for (let found = NOT_BASE64.exec(value); found !== null; found = NOT_BASE64.exec(value)) {
    // An escaped slash is a slash.
    if (found[0] !== "\\" || value[found.index + 1] !== "/") return found.index;
  }
  return value.length;
}

/** Hosts escape the slash and the equals sign of base64. */
function isBase64(value: string): boolean {
  const middle = value.length >> 1;
  const sample = value.slice(0, SAMPLE) + value.slice(middle, middle + SAMPLE) + value.slice(-SAMPLE);
  return /^[\w+/=\\-]+$/.test(sample) && /[a-z]/.test(sample) && /[A-Z]/.test(sample) && /[\d+/]/.test(sample);
}

function mediaOf(told: string | undefined, data: string, media?: KeptMedia): string {
  const type = told ?? mediaTypeOf(data) ?? "base64";
  const padding = /(?:=|\\u003d)*$/.exec(data.slice(-12))?.[0].length ?? 0;
  const number = media?.add(data);
  const kept = number === undefined ? undefined : media?.list[number - 1];
  if (kept !== undefined) return `[${type}, ${kept.bytes} bytes, medium ${number}]`;
  return `[${type}, ${Math.floor(((data.length - padding) * 3) / 4)} bytes]`;
}
