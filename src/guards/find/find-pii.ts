import { net } from "../../base/node-net.ts";
import { IBAN_LENGTHS } from "./iban-lengths.ts";
import type { TextFinder, TextMatch } from "./text-match.ts";

/** Data about people, checked beyond their form where a check exists: Luhn, mod 97, possible numbers. */
export const piiFinder: TextFinder = {
  find: (text) => [
    ...findEmails(text),
    ...(DIGIT.test(text) ? [...findNumbers(text), ...findIbans(text), ...findIpv4(text)] : []),
    ...(text.includes(":") ? findIpv6(text) : []),
  ],
};

const DIGIT = /\d/;

const LOCAL = /[\p{L}\p{M}\p{N}]/u;
const LOCAL_ASCII = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]/;
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,62})(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,62}))+/u;
const TOP_LEVEL = /^(?:\p{L}[\p{L}\p{M}]+|xn--[a-z\d-]+)$/iu;
const LONGEST_LOCAL = 64;
const LONGEST_DOMAIN = 255;

function findEmails(text: string): TextMatch[] {
  const found: TextMatch[] = [];
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    const local = text.slice(localStart(text, at), at).replace(/^[.'`*{|(]+/, "");
    if (!local || local.endsWith(".")) continue;
    const domain = domainOf(DOMAIN.exec(text.slice(at + 1, at + 1 + LONGEST_DOMAIN))?.[0] ?? "");
    if (domain !== undefined) found.push({ start: at - local.length, end: at + 1 + domain.length, label: "email" });
  }
  return found;
}

/** Where the local part begins that ends at an offset. */
function localStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && end - start < LONGEST_LOCAL) {
    const code = text.charCodeAt(start - 1);
    const isLow = code >= 0xdc00 && code <= 0xdfff && start > 1;
    const character = isLow ? text.slice(start - 2, start) : text.charAt(start - 1);
    if (!(code < 0x80 ? LOCAL_ASCII : LOCAL).test(character)) break;
    start -= character.length;
  }
  return start;
}

/** Without what follows the top-level domain: `a@b.org.2` names `b.org`. Undefined if there is none. */
function domainOf(written: string): string | undefined {
  const labels = written.split(".");
  while (labels.length > 1 && !TOP_LEVEL.test(labels.at(-1) ?? "")) labels.pop();
  return labels.length > 1 ? labels.join(".") : undefined;
}

/** Digits with at most two separators between them. */
const RUN = /[+(]?\d(?:[ .\-/()\u00a0\u2009\u2010\u2011]{0,2}\d)*/g;
const GROUP = /\+?(\(?)(\d+)(\)?)/g;
/** Card numbers have up to five groups of digits, phone numbers six. */
const MOST_GROUPS = 8;
const FEWEST_DIGITS = 7;
const MOST_DIGITS = 19;
const WORD = /[\p{L}\p{M}_]/u;

/** Card numbers, phone numbers and social security numbers, which share their characters and may stand next to other digits. */
function findNumbers(text: string): TextMatch[] {
  const found: TextMatch[] = [];
  for (const { 0: run, index } of text.matchAll(RUN)) {
    if (run.length < FEWEST_DIGITS) continue;
    const groups = groupsOf(run);
    let first = index > 0 && WORD.test(text.charAt(index - 1)) ? 1 : 0;
    const last = WORD.test(text.charAt(index + run.length)) ? groups.length - 2 : groups.length - 1;
    while (first <= last) {
      const match = longestNumber(run, groups, first, last);
      if (match !== undefined) found.push({ start: index + match.start, end: index + match.end, label: match.label });
      first = match === undefined ? first + 1 : match.next;
    }
  }
  return found;
}

interface Group {
  readonly start: number;
  readonly end: number;
  readonly digits: number;
}

/** A bracket without its other half is not part of a number. */
function groupsOf(run: string): Group[] {
  const groups: Group[] = [];
  for (const { 0: written, 1: open = "", 2: digits = "", 3: close = "", index } of run.matchAll(GROUP)) {
    const start = open !== "" && close === "" ? index + written.length - digits.length : index;
    const end = index + written.length - (close !== "" && open === "" ? 1 : 0);
    groups.push({ start, end, digits: digits.length });
  }
  return groups;
}

/** The longest number of some kind that begins with a group. */
function longestNumber(
  run: string,
  groups: readonly Group[],
  first: number,
  last: number,
): (TextMatch & { next: number }) | undefined {
  const start = groups[first]?.start ?? 0;
  const ends: { at: number; digits: number }[] = [];
  let digits = 0;
  for (let at = first; at <= last && (at < first + MOST_GROUPS || first === 0); at++) {
    digits += groups[at]?.digits ?? 0;
    if (digits > MOST_DIGITS) break;
    if (digits >= FEWEST_DIGITS) ends.push({ at, digits });
  }
  for (const { at, digits: count } of ends.reverse()) {
    const end = groups[at]?.end ?? start;
    const label = labelOf(run.slice(start, end), count, at - first + 1);
    if (label !== undefined) return { start, end, label, next: at + 1 };
  }
  return undefined;
}

const SSN = /^(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}$/;
const E164 = /^\+[1-9][\d ().\-/\u00a0\u2009\u2010\u2011]+$/u;
/** Phone numbers without a country code, as they are written in North America, Britain, France and Germany. */
const NATIONAL = new RegExp(
  [
    /^(?:1[ .-]?)?\(?[2-9]\d{2}\)?[ .-]{1,2}[2-9]\d{2}[ .-]\d{4}$/,
    /^\(?0\d{2,4}\)?[ -]\d{3,4}[ -]?\d{3,4}$/,
    /^0[1-9](?:[ .-]\d{2}){4}$/,
    /^\(?0\d{2,5}\)?[ /-]{1,2}\d{3,8}(?:[ -]\d{1,4})?$/,
  ]
    .map(({ source }) => source)
    .join("|"),
);
const MOST_NATIONAL_GROUPS = 5;

const FEWEST_NATIONAL = 9;
const MOST_NATIONAL = 13;

function labelOf(written: string, count: number, groups: number): string | undefined {
  if (count >= 13 && isCard(written)) return "card";
  if (count === 9 && SSN.test(written)) return "ssn";
  if (written.startsWith("+")) return count <= 15 && E164.test(written) ? "phone" : undefined;
  const mayBeNational = count >= FEWEST_NATIONAL && count <= MOST_NATIONAL && groups <= MOST_NATIONAL_GROUPS;
  return mayBeNational && NATIONAL.test(written) ? "phone" : undefined;
}

/** The first digits that card networks have. */
const NETWORK = /^(?:4|5\D?[0-9]|2\D?[2-7]|3\D?[0-9]|6\D?[0-9]|8\D?[1-9])/;
const NOT_IN_CARD = /[/()+.]|\D{2}/;

function isCard(written: string): boolean {
  if (!NETWORK.test(written) || NOT_IN_CARD.test(written)) return false;
  let sum = 0;
  let count = 0;
  let isVaried = false;
  const last = written.charCodeAt(written.length - 1);
  for (let index = written.length - 1; index >= 0; index--) {
    const code = written.charCodeAt(index);
    const digit = code - 0x30;
    if (digit < 0 || digit > 9) continue;
    sum += count++ % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
    isVaried ||= code !== last;
  }
  return sum % 10 === 0 && isVaried;
}

const IBAN = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ \-\u00a0]?[A-Za-z0-9]){11,30}/g;

function findIbans(text: string): TextMatch[] {
  const found: TextMatch[] = [];
  IBAN.lastIndex = 0;
  for (let match = IBAN.exec(text); match !== null; match = IBAN.exec(text)) {
    const { 0: written, index } = match;
    const length = ibanLength(written);
    const isOne = length !== undefined && !/[A-Za-z0-9]/.test(text.charAt(index + length));
    if (isOne) found.push({ start: index, end: index + length, label: "iban" });
    IBAN.lastIndex = index + (isOne ? length : 4);
  }
  return found;
}

/** Of the IBAN at the start of a text, with its spaces; undefined if there is none. */
function ibanLength(written: string): number | undefined {
  const wanted = IBAN_LENGTHS[written.slice(0, 2).toUpperCase()];
  if (wanted === undefined) return undefined;
  let code = "";
  let end = 0;
  for (; end < written.length && code.length < wanted; end++) {
    const character = written.charAt(end);
    if (/[A-Za-z0-9]/.test(character)) code += character.toUpperCase();
  }
  return code.length === wanted && remainder97(code) === 1 ? end : undefined;
}

function remainder97(code: string): number {
  let rest = 0;
  for (const character of code.slice(4) + code.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}

const OCTET = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";
/** Not part of a longer number such as a version with five parts. */
const IPV4 = new RegExp(`(?<![\\d.])(?:${OCTET}\\.){3}${OCTET}(?![\\d]|\\.\\d)`, "g");

const findIpv4 = (text: string): TextMatch[] =>
  [...text.matchAll(IPV4)].map(({ 0: address, index }) => ({ start: index, end: index + address.length, label: "ip" }));

const IPV6 = /(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F.]{0,15}/g;

function findIpv6(text: string): TextMatch[] {
  const found: TextMatch[] = [];
  for (const { 0: written, index } of text.matchAll(IPV6)) {
    // A full stop, or a colon after the address, ends a sentence.
    const address = written.replace(/\.+$/, "");
    const shown = net().isIPv6(address) ? address : address.replace(/:$/, "");
    if (shown.length > 3 && net().isIPv6(shown)) found.push({ start: index, end: index + shown.length, label: "ip" });
  }
  return found;
}
