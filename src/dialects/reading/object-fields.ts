import type { JsonObject } from "../../base/json.ts";
import type { ObjectKind } from "../../canon/ownership.ts";

/** A field by which a request can name something that a provider keeps in its account. */
export interface ObjectField {
  /** Its name, wherever it occurs in a request; `container.id` is the member `id` of an object in `container`. */
  field: string;
  /** What it names, for people. */
  what: string;
  /** Only texts like this name something; without it, every text does. */
  like?: Pick<RegExp, "test">;
  /** The kind of the gateway's own objects that it can name; absent where there are none. */
  kind?: ObjectKind;
  /** The member of the same object that names the owner. What a vendor owns itself, every account has. */
  owner?: string;
}

/** An item that only names one which the provider keeps, unless it has content of its own. */
export interface BareItem {
  type: string;
  field: string;
  what: string;
  isWhole: (item: Readonly<Record<string, unknown>>) => boolean;
}

interface ObjectTable {
  fields: readonly ObjectField[];
  /** Fields whose content is the client's own: schemas, arguments of its tools, metadata. Nothing in them is looked up. */
  opaque: readonly string[];
  /** Objects of these types repeat what an answer said: ids in them are words to the model. */
  repeated?: readonly string[];
  bare?: readonly BareItem[];
  echoed?: EchoedItems;
  /** A switch of a request that makes a host keep its answer, and what hosts take only together with it. */
  storing?: StoringSwitch;
}

/** Items that repeat calls of an earlier answer. Hosts go on using what the ids in them name, so they are sent without those. */
interface EchoedItems {
  /** The field of a request that lists them. */
  field: string;
  /** Undefined for an item that is sent unchanged. */
  rewrite: (item: JsonObject) => RewrittenItem | undefined;
}

interface RewrittenItem {
  /** What is sent in its place; absent where nothing is. */
  item?: JsonObject;
  /** What was lost, below the item. */
  lost: string;
  reason: string;
}

interface StoringSwitch {
  field: string;
  needs?: readonly string[];
}

/** The same, arranged for one walk over a request. */
export interface ObjectFields {
  readonly fields: ReadonlyMap<string, ObjectField>;
  /** By the name of the object that they are members of. */
  readonly members: ReadonlyMap<string, ReadonlyMap<string, ObjectField>>;
  readonly opaque: ReadonlySet<string>;
  readonly repeated: ReadonlySet<string>;
  readonly bare: ReadonlyMap<string, BareItem>;
  readonly storing: StoringSwitch | undefined;
  readonly echoed: EchoedItems | undefined;
  /** A request without any of these names names no object: most requests need no walk. */
  readonly names: ReadonlySet<string>;
}

/** A URL of this scheme names an object of a bucket, which hosts open with the rights of an account. */
const BUCKET = /^(?:gs|s3):$/;
/** Where one vendor keeps the files that it was given. Public files of its other hosts are not among them. */
const FILES_HOST = /(?:^|[.-])generativelanguage\.(?:[a-z0-9-]+\.)*googleapis\.com\.?$/;
const FILES_PATH = /(?:^|[/\\])files[/\\]/i;
const FILES_NAME = /^\s*files[/\\]/i;
const DATA = /^\s*data:/i;
/** Encoded more than so often, a path means nothing to a host. */
const MAX_ENCODINGS = 3;

/** Whether a URL names what a host was given before. It is read as a host reads it, whatever its spelling; anyone can open the others. */
export function isStoredUrl(url: string): boolean {
  // Most images are sent whole, and are long.
  if (DATA.test(url)) return false;
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return FILES_NAME.test(decoded(url));
  }
  if (BUCKET.test(parsed.protocol)) return true;
  return FILES_HOST.test(parsed.hostname) && FILES_PATH.test(decoded(parsed.pathname));
}

function decoded(path: string): string {
  let plain = path;
  for (let times = 0; times < MAX_ENCODINGS && plain.includes("%"); times++) {
    plain = plain.replaceAll(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  }
  return plain;
}

const STORED_URL = { test: isStoredUrl };

/** The fields of all protocols that take URLs: each is fetched by someone, and some hosts open more than what is public. */
export const URL_FIELDS: readonly ObjectField[] = ["url", "image_url", "file_url", "video_url", "audio_url", "uri"].map(
  (field) => ({ field, what: "a stored file", like: STORED_URL, kind: "file" }),
);

const inSnakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const inCamelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Hosts of one protocol read names in either spelling, and clients send both. */
const spellings = (name: string): string[] => [...new Set([name, inSnakeCase(name), inCamelCase(name)])];

export function defineObjectFields({
  fields,
  opaque,
  repeated = [],
  bare = [],
  storing,
  echoed,
}: ObjectTable): ObjectFields {
  const plain = new Map<string, ObjectField>();
  const members = new Map<string, Map<string, ObjectField>>();
  for (const entry of fields) {
    const [name = "", member] = entry.field.split(".");
    for (const spelling of spellings(name)) {
      if (member === undefined) plain.set(spelling, entry);
      else members.set(spelling, (members.get(spelling) ?? new Map()).set(member, entry));
    }
  }
  return {
    fields: plain,
    members,
    opaque: new Set(opaque.flatMap(spellings)),
    repeated: new Set(repeated),
    bare: new Map(bare.map((item) => [item.type, item])),
    storing,
    echoed,
    // An item that is bare has the name of its type only as a value; its field is as good a sign.
    names: new Set([...plain.keys(), ...members.keys(), ...bare.map(({ field }) => field)]),
  };
}
