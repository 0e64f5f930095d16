import type { JsonObject } from "../../base/json.ts";
import type { ObjectKind } from "../../canon/ownership.ts";

/** Whether a string names an object. `filesHosts` match the hosts where vendors store the files that were uploaded to them. */
type ObjectTest = (text: string, filesHosts: readonly RegExp[]) => boolean;

/** A field in which a request can name an object that a provider stores in its account. */
export interface ObjectField {
  /** Its name, wherever it occurs in a request; `container.id` is the member `id` of an object in `container`. */
  field: string;
  /** What it names, for messages. */
  what: string;
  /** Only strings that match name an object; if absent, every string does. */
  like?: ObjectTest;
  /** The kind of gateway object that it can name; absent if there is none. */
  kind?: ObjectKind;
  /** The member of the same object that names the owner. Every account can use objects that a vendor owns. */
  owner?: string;
}

/** An item that only refers to one that the provider stores, unless it has content itself. */
export interface BareItem {
  type: string;
  field: string;
  what: string;
  isWhole: (item: Readonly<Record<string, unknown>>) => boolean;
}

interface ObjectTable {
  fields: readonly ObjectField[];
  /** Fields with content that the client defines: schemas, tool arguments, metadata. Nothing in them is looked up. */
  opaque: readonly string[];
  /** Objects of these types repeat part of a response: ids in them are only text to the model. */
  repeated?: readonly string[];
  bare?: readonly BareItem[];
  echoed?: EchoedItems;
  /** A field that makes a host store its response, and the fields that hosts accept only together with it. */
  storing?: StoringSwitch;
  /** The field of a request in which it can name a cache of the gateway. */
  cache?: string;
}

/** Items that repeat calls of an earlier response. Hosts would use the objects that their ids name, so the ids are removed. */
interface EchoedItems {
  /** The request field that lists them. */
  field: string;
  /** Returns undefined for an item that is sent unchanged. */
  rewrite: (item: JsonObject) => RewrittenItem | undefined;
}

interface RewrittenItem {
  /** The replacement; absent if the item is dropped. */
  item?: JsonObject;
  /** What was lost, relative to the item. */
  lost: string;
  reason: string;
}

interface StoringSwitch {
  field: string;
  needs?: readonly string[];
}

/** The same, indexed for one walk over a request. */
export interface ObjectFields {
  readonly fields: ReadonlyMap<string, ObjectField>;
  /** By the name of the object that they are members of. */
  readonly members: ReadonlyMap<string, ReadonlyMap<string, ObjectField>>;
  readonly opaque: ReadonlySet<string>;
  readonly repeated: ReadonlySet<string>;
  readonly bare: ReadonlyMap<string, BareItem>;
  readonly storing: StoringSwitch | undefined;
  readonly echoed: EchoedItems | undefined;
  readonly cache: string | undefined;
  /** A request without any of these names refers to no object: most requests need no walk. */
  readonly names: ReadonlySet<string>;
}

/** A URL of this scheme names an object in a bucket, which hosts open with an account's permissions. */
const BUCKET = /^(?:gs|s3):$/;
const FILES_PATH = /(?:^|[/\\])files[/\\]/i;
const FILES_NAME = /^\s*files[/\\]/i;
const DATA = /^\s*data:/i;
/** A path that is encoded more often has no meaning to a host. */
const MAX_ENCODINGS = 3;

/**
 * Whether a URL names something that was uploaded to a host. It is interpreted as a host does, whatever its spelling. Other URLs
 * are public.
 */
export function isStoredUrl(url: string, filesHosts: readonly RegExp[]): boolean {
  // Most images are sent inline, and are long.
  if (DATA.test(url)) return false;
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return FILES_NAME.test(decoded(url));
  }
  if (BUCKET.test(parsed.protocol)) return true;
  return filesHosts.some((host) => host.test(parsed.hostname)) && FILES_PATH.test(decoded(parsed.pathname));
}

function decoded(path: string): string {
  let plain = path;
  for (let times = 0; times < MAX_ENCODINGS && plain.includes("%"); times++) {
    plain = plain.replaceAll(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  }
  return plain;
}

/** Fields for URLs in all protocols: something fetches each, and some hosts open more than public URLs. */
export const URL_FIELDS: readonly ObjectField[] = ["url", "image_url", "file_url", "video_url", "audio_url", "uri"].map(
  (field) => ({ field, what: "a stored file", like: isStoredUrl, kind: "file" }),
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
  cache,
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
    cache,
    // A bare item has the name of its type only as a value, so its field is the sign.
    names: new Set([...plain.keys(), ...members.keys(), ...bare.map(({ field }) => field)]),
  };
}
