import { GatewayError } from "./error.ts";

/** The maximum number of tags in a header or on a key. */
export const MAX_TAGS = 10;
export const MAX_TAG_LENGTH = 64;
export const TAG_PATTERN = `^[A-Za-z0-9_.:=/-]{1,${MAX_TAG_LENGTH}}$`;
const TAGS_HEADER = "x-trivium-tags";

const TAG = new RegExp(TAG_PATTERN);
const RIGHT = `at most ${MAX_TAGS} tags, each with 1 to ${MAX_TAG_LENGTH} letters, digits or \`_ . : = / -\`, such as \`team-a\` or \`feature=search\``;

/** The tags of a call, or undefined if there are none. They are case-sensitive, because ids may differ only in case. */
export function readTagsHeader(headers: Headers): readonly string[] | undefined {
  const written = headers.get(TAGS_HEADER);
  if (written === null || written === "") return undefined;
  const tags = written.split(",", MAX_TAGS + 1).map((tag) => tag.trim());
  return checked(tags, (place) => {
    const which = place === undefined ? "has too many tags" : `is invalid at tag ${place}`;
    const message = `The header \`${TAGS_HEADER}\` ${which}. It accepts ${RIGHT}, separated by commas.`;
    return new GatewayError("invalid_request", message, { path: TAGS_HEADER });
  });
}

/** The tags of a key, or undefined if there are none. */
export function checkTags(tags: readonly string[]): readonly string[] | undefined {
  if (tags.length === 0) return undefined;
  return checked(tags, (place) => {
    const path = place === undefined ? "tags" : `tags[${place - 1}]`;
    return new GatewayError("invalid_request", `\`${path}\` is invalid: a key can have ${RIGHT}.`, { path });
  });
}

/** Removes duplicates and keeps the order. */
function checked(tags: readonly string[], wrong: (place: number | undefined) => GatewayError): readonly string[] {
  const place = tags.findIndex((tag) => !TAG.test(tag));
  if (place >= 0) throw wrong(place + 1);
  const distinct = [...new Set(tags)];
  if (tags.length > MAX_TAGS) throw wrong(undefined);
  return distinct;
}

/** The tags of a key and those of a call. */
export function unionOfTags(
  first: readonly string[] | undefined,
  more: readonly string[] | undefined,
): readonly string[] | undefined {
  if (first === undefined || more === undefined) return first ?? more;
  const added = more.filter((tag) => !first.includes(tag));
  return added.length === 0 ? first : [...first, ...added];
}
