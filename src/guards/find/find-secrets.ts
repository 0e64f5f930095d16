import { hasTokenChecksum } from "./has-token-checksum.ts";
import { textEntropy } from "./text-entropy.ts";
import type { TextFinder, TextMatch } from "./text-match.ts";

interface KeyForm {
  readonly label: string;
  /** Begins with a literal. Every repetition is of one class, so that no text is read twice. */
  readonly pattern: string;
  /** For forms that also match ordinary words or placeholders. */
  readonly isReal?: (key: string) => boolean;
}

/** The least entropy of a key, in bits per character. `sk-your-api-key-goes-here` and `ghp_xxxx…` have less. */
const LEAST_ENTROPY = 3.3;
const LEAST_HEX_ENTROPY = 2.5;

const isRandom = (key: string): boolean => textEntropy(key) >= LEAST_ENTROPY && /\d/.test(key);
const isRandomHex = (key: string): boolean => textEntropy(key) >= LEAST_HEX_ENTROPY;
const isChecked = (key: string): boolean => hasTokenChecksum(key) || isRandom(key);

const FORMS: readonly KeyForm[] = [
  { label: "aws_key", pattern: "(?:AKIA|ASIA|ABIA|ACCA|AIDA|AROA)[A-Z2-7]{16}(?![A-Z0-9])" },
  { label: "google_key", pattern: "AIza[\\w-]{35}" },
  { label: "google_token", pattern: "ya29\\.[\\w-]{20,}" },
  { label: "google_secret", pattern: "GOCSPX-[\\w-]{28}" },
  { label: "github_token", pattern: "gh[pousr]_[A-Za-z0-9]{36,}", isReal: isChecked },
  { label: "github_token", pattern: "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", isReal: isChecked },
  { label: "gitlab_token", pattern: "glpat-[\\w-]{20,}", isReal: isRandom },
  { label: "slack_token", pattern: "xox[abeoprs]-[A-Za-z0-9-]{10,}", isReal: (key) => /\d/.test(key) },
  { label: "slack_token", pattern: "xapp-\\d-[A-Za-z0-9-]{10,}" },
  { label: "slack_webhook", pattern: "hooks\\.slack\\.com/(?:services|workflows)/[\\w/-]{20,}" },
  { label: "stripe_key", pattern: "[sr]k_(?:live|test)_[A-Za-z0-9]{16,}" },
  { label: "stripe_secret", pattern: "whsec_[A-Za-z0-9+/]{24,}" },
  { label: "anthropic_key", pattern: "sk-ant-[\\w-]{20,}", isReal: isRandom },
  { label: "gateway_key", pattern: "sk-trv-[\\w-]{43,}" },
  { label: "api_key", pattern: "(?:sk|gsk|xai|pplx|nvapi|r8)[-_][\\w-]{20,}", isReal: isRandom },
  { label: "huggingface_token", pattern: "hf_[A-Za-z0-9]{30,}", isReal: isRandom },
  { label: "npm_token", pattern: "npm_[A-Za-z0-9]{36}", isReal: isChecked },
  { label: "pypi_token", pattern: "pypi-[\\w-]{50,}" },
  { label: "sendgrid_key", pattern: "SG\\.[\\w-]{22}\\.[\\w-]{43}" },
  { label: "digitalocean_token", pattern: "do[opr]_v1_[a-f0-9]{64}" },
  { label: "twilio_key", pattern: "SK[0-9a-f]{32}(?![0-9a-f])", isReal: isRandomHex },
];

/** One pattern for all forms: a text is searched once, and the group tells which form matched. */
const KEYS = new RegExp(`(?<![A-Za-z0-9])(?:${FORMS.map(({ pattern }) => `(${pattern})`).join("|")})`, "g");

/** A secret key without a prefix of its own, after a name that tells what it is. */
const NAMED =
  /(?:aws_?secret|secret_?access_?key|SecretAccessKey|AccountKey|client_?secret)[\w.-]{0,30}["']{0,2}[ \t]{0,3}(?:=>|[:=])[ \t]{0,3}["']?([\w+/~.-]{32,})/gi;

const SCHEME = /[a-z][a-z0-9+.-]{0,19}$/i;
const CREDENTIALS = /^[^\s/:@"'<>]{0,100}:[^\s/@"'<>]{1,200}@/;
const LONGEST_SCHEME = 20;
const LONGEST_CREDENTIALS = 302;

const BEGIN = "-----BEGIN ";
const HEAD = /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const LONGEST_HEAD = 80;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** No private key is longer. What follows is not held back for its end. */
const LONGEST_KEY = 16 * 1024;
/** What a cut-off key consists of: lines of base64, whose ends may be escaped. */
const KEY_BODY = /(?:[A-Za-z0-9+/=]{16,}|\\[nr]|[ \t\r\n]|Proc-Type: 4,ENCRYPTED|DEK-Info: [\w,-]{1,60})*/y;

/** Credentials by their form: keys of common services, of this gateway, private keys, signed tokens, passwords in URLs. */
export const secretFinder: TextFinder = {
  find: (text) => [...findKeys(text), ...findPrivateKeys(text), ...findSignedTokens(text), ...findPasswords(text)],
  openAt: (text) => {
    const at = text.lastIndexOf(BEGIN);
    if (at < 0 || text.length - at > LONGEST_KEY) return undefined;
    const tail = text.slice(at);
    if (!HEAD.test(tail)) return tail.length < LONGEST_HEAD ? at : undefined;
    END.lastIndex = 0;
    return END.test(tail) ? undefined : at;
  },
};

function findKeys(text: string): TextMatch[] {
  const found: TextMatch[] = [];
  for (const match of text.matchAll(KEYS)) {
    const form = FORMS[match.slice(1).findIndex((group) => group !== undefined)];
    if (form === undefined || form.isReal?.(match[0]) === false) continue;
    found.push({ start: match.index, end: match.index + match[0].length, label: form.label });
  }
  for (const match of text.matchAll(NAMED)) {
    const [whole, key = ""] = match;
    if (!isRandom(key)) continue;
    const end = match.index + whole.length;
    found.push({ start: end - key.length, end, label: "secret_key" });
  }
  return found;
}

/** A header without its end counts with the lines of base64 that follow it. */
function findPrivateKeys(text: string): TextMatch[] {
  const found: TextMatch[] = [];
  /** No end is found from here on. */
  let noEndFrom = Number.POSITIVE_INFINITY;
  for (let at = text.indexOf(BEGIN); at >= 0; ) {
    const head = HEAD.exec(text.slice(at, at + LONGEST_HEAD))?.[0];
    if (head === undefined) {
      at = text.indexOf(BEGIN, at + BEGIN.length);
      continue;
    }
    const body = at + head.length;
    const next = text.indexOf(BEGIN, body);
    let end = body;
    if (body < noEndFrom) {
      END.lastIndex = body;
      const tail = END.exec(text);
      if (tail === null) noEndFrom = body;
      else if ((next < 0 || tail.index < next) && tail.index - at <= LONGEST_KEY) end = tail.index + tail[0].length;
    }
    if (end === body) {
      KEY_BODY.lastIndex = body;
      end = body + (KEY_BODY.exec(text)?.[0].trimEnd().length ?? 0);
    }
    found.push({ start: at, end, label: "private_key" });
    at = text.indexOf(BEGIN, end);
  }
  return found;
}

const isTokenCode = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x2d ||
  code === 0x5f;

function endOfRun(text: string, from: number): number {
  let at = from;
  while (isTokenCode(text.charCodeAt(at))) at++;
  return at;
}

const TOKEN_START = "eyJ";

/** JSON Web Tokens: the first part must decode to a header. Each run of characters is measured once. */
function findSignedTokens(text: string): TextMatch[] {
  const found: TextMatch[] = [];
  for (let at = text.indexOf(TOKEN_START); at >= 0; ) {
    const head = endOfRun(text, at);
    const payload = text.charCodeAt(head) === 0x2e ? endOfRun(text, head + 1) : head;
    if (payload - head < 3) {
      at = text.indexOf(TOKEN_START, Math.max(head, at + 1));
      continue;
    }
    const start = headerStart(text, at, head);
    const end = text.charCodeAt(payload) === 0x2e ? endOfRun(text, payload + 1) : payload;
    if (start !== undefined) found.push({ start, end, label: "jwt" });
    at = text.indexOf(TOKEN_START, start === undefined ? head : end);
  }
  return found;
}

const LONGEST_HEADER = 4096;
const MOST_STARTS = 8;

/** Where the header begins in a run of token characters: other text may be joined to it. */
function headerStart(text: string, from: number, end: number): number | undefined {
  let tries = 0;
  for (let at = from; at >= 0 && at < end && tries < MOST_STARTS; at = text.indexOf(TOKEN_START, at + 1), tries++) {
    if (end - at > LONGEST_HEADER) continue;
    const header = Buffer.from(text.slice(at, end), "base64url").toString("latin1");
    if (/^\{\s*"/.test(header) && /"(?:alg|typ|enc|kid)"\s*:/.test(header)) return at;
  }
  return undefined;
}

/** `scheme://user:password@`. */
function findPasswords(text: string): TextMatch[] {
  const found: TextMatch[] = [];
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 3)) {
    const scheme = SCHEME.exec(text.slice(Math.max(0, at - LONGEST_SCHEME), at));
    if (scheme === null) continue;
    const from = at + 3;
    const credentials = CREDENTIALS.exec(text.slice(from, from + LONGEST_CREDENTIALS))?.[0];
    if (credentials !== undefined) found.push({ start: from, end: from + credentials.length - 1, label: "password" });
  }
  return found;
}
