import type { Random } from "../base/sources.ts";
import type { ObjectKind } from "../canon/ownership.ts";

/** How each protocol writes the id of a kind, if it has that kind. The random part is the same in all of them. */
const FORMS = {
  file: { chat: "file-", messages: "file_", genai: "files/" },
  batch: { chat: "batch_", messages: "msgbatch_", genai: "batches/" },
  conversation: { chat: "conv_" },
  cache: { genai: "cachedContents/" },
  upload: { chat: "upload_" },
  completion: { chat: "chatcmpl-" },
} as const satisfies Readonly<Record<ObjectKind, Readonly<Record<string, string>>>>;

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH = 22;

const KIND_OF_PREFIX = new Map<string, ObjectKind>(
  Object.entries(FORMS).flatMap(([kind, forms]) =>
    Object.values<string>(forms).map((prefix): [string, ObjectKind] => [prefix, kind as ObjectKind]),
  ),
);

/** An id in any form, alone or at the end of a URL; that of a cache also below a cloud project. One protocol names them so. */
const ID = new RegExp(
  `^(?:https?://[^?#]*/|projects/[^/]+/locations/[^/]+/(?=${FORMS.cache.genai}))?(?<prefix>${[...KIND_OF_PREFIX.keys()].join("|")})(?<random>[0-9A-Za-z]{${LENGTH}})$`,
);

/** The parts of an id, whatever its form. */
export interface ParsedObjectId {
  kind: ObjectKind;
  /** The part that the object is stored under. */
  random: string;
}

/** Unguessable characters: 62 to the power of 22 is 131 bits. */
export function newObjectRandom(random: Random): string {
  let made = "";
  while (made.length < LENGTH) {
    // Bytes from 248 on would make the first letters more likely than the others.
    for (const byte of random.bytes(LENGTH)) if (byte < 248 && made.length < LENGTH) made += LETTERS[byte % 62];
  }
  return made;
}

/** The id of an object in the form of one protocol. */
export const objectId = <Kind extends ObjectKind>(
  kind: Kind,
  form: keyof (typeof FORMS)[Kind] & string,
  random: string,
): string => `${(FORMS[kind] as Readonly<Record<string, string>>)[form]}${random}`;

/** The id of an object in one of its forms, for operators. */
export const anyForm = (kind: ObjectKind, random: string): string => `${Object.values(FORMS[kind])[0]}${random}`;

/** The id of a batch in any form, as clients of a protocol know it. */
export function batchIdFor(written: string, client: string): string {
  const random = parseObjectId(written)?.random;
  const forms: Readonly<Record<string, string>> = FORMS.batch;
  return random === undefined ? written : `${forms[client] ?? FORMS.batch.chat}${random}`;
}

/** Undefined for strings that cannot be an id of this gateway. */
export function parseObjectId(written: string): ParsedObjectId | undefined {
  const { prefix = "", random = "" } = ID.exec(written)?.groups ?? {};
  const kind = KIND_OF_PREFIX.get(prefix);
  return kind === undefined ? undefined : { kind, random };
}
