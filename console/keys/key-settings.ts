import type { Key, ListedKey, Project } from "../api/types.ts";
import { full } from "../format/time.ts";
import { LIMIT_NAMES, LIMITS } from "../state/limits.ts";
import type { Group } from "./key-input.ts";

/** A setting that applies to calls of a key, and where it comes from. */
export interface Setting {
  name: string;
  value: string;
  source: string;
  /** Whether the key itself has it. */
  isOwn: boolean;
}

/** What a key inherits from. What cannot be read, or does not exist, is absent. */
export interface Heritage {
  parent?: ListedKey | undefined;
  project?: Project | undefined;
  /** Sections of the configuration in force. */
  gateway?: { limits?: Record<string, number>; billing?: { unpriced?: string } } | undefined;
}

const OWN = "this key";
const GATEWAY = "gateway";

const own = (name: string, value: string): Setting => ({ name, value, source: OWN, isOwn: true });
const from = (source: string, name: string, value: string): Setting => ({ name, value, source, isOwn: false });

const projectName = ({ project }: Heritage): string => (project === undefined ? "project" : `project ${project.name}`);
const parentName = ({ parent }: Heritage): string =>
  parent === undefined ? "parent key" : `parent key ${parent.name}`;

const shown = (value: unknown): string =>
  Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value);

/** Every limit that counts its calls: each level has its own, and the tightest one decides. */
function limitsOf(key: Key, heritage: Heritage): Setting[] {
  const listed = (limits: Readonly<Record<string, number>> | undefined, source: string): Setting[] =>
    LIMIT_NAMES.flatMap((name) => {
      const value = limits?.[name];
      if (value === undefined) return [];
      const text = value.toLocaleString("en-US");
      return [{ name: LIMITS[name].name, value: text, source, isOwn: source === OWN }];
    });
  const all = [
    ...listed(key.limits, OWN),
    ...(key.made_by === null
      ? []
      : listed(heritage.parent?.limits, `${parentName(heritage)}, with all its child keys`)),
    ...listed(heritage.project?.limits, `${projectName(heritage)}, all its keys together`),
    ...listed(heritage.gateway?.limits, "gateway, all calls together"),
  ];
  return all.length > 0 ? all : [from(GATEWAY, "Limits", "none")];
}

function accessOf(key: Key, heritage: Heritage): Setting[] {
  const { parent } = heritage;
  const restricted = (
    name: string,
    value: readonly string[] | null,
    ofParent: readonly string[] | null | undefined,
  ) => [
    value === null ? from(GATEWAY, name, "all") : own(name, shown(value)),
    ...(ofParent == null ? [] : [from(parentName(heritage), `${name} of the parent`, shown(ofParent))]),
  ];
  const models = (patterns: readonly string[]) => (patterns.join() === "*" ? null : patterns);
  return [
    ...restricted("Models", models(key.models), parent && models(parent.models)),
    ...restricted("Protocols", key.protocols, parent?.protocols),
    ...restricted("Networks", key.networks, parent?.networks),
    key.scopes.length === 0
      ? from(GATEWAY, "Child keys", "may not create any")
      : own("Scopes", `${shown(key.scopes)} (may create child keys)`),
  ];
}

function objectsOf({ objects, made_by }: Key, heritage: Heritage): Setting {
  const name = "Files, batches, conversations";
  if (heritage.project?.objects === "private")
    return from(projectName(heritage), name, "seen by the key that stored them");
  if (objects === "private") return own(name, "seen by this key only");
  if (objects === "project") return own(name, "seen by all keys of its project");
  return made_by !== null
    ? from(parentName(heritage), name, "seen by this key only, as for every child key")
    : from(projectName(heritage), name, "seen by all keys of its project");
}

function unpricedOf({ billing }: Key, heritage: Heritage): Setting {
  const name = "Usage without a known price";
  const words = (policy: string) => (policy === "refuse" ? "refused" : "allowed and marked");
  const levels: [string, string | null | undefined][] = [
    [OWN, billing.unpriced],
    [parentName(heritage), heritage.parent?.billing.unpriced],
    [projectName(heritage), heritage.project?.billing.unpriced],
  ];
  // The strictest of them applies; the gateway's only if there is none.
  const set = levels.filter(([, policy]) => policy != null);
  const [source, policy] = set.find(([, one]) => one === "refuse") ??
    set[0] ?? [GATEWAY, heritage.gateway?.billing?.unpriced];
  const value = policy == null ? "refused if a budget applies" : words(policy);
  return { name, value, source, isOwn: source === OWN };
}

function dataOf(key: Key, heritage: Heritage): Setting[] {
  const { parent, project } = heritage;
  const flag = (name: string, isOn: boolean, inherited: string | undefined): Setting =>
    isOn ? own(name, "on") : inherited === undefined ? from(GATEWAY, name, "off") : from(inherited, name, "on");
  return [
    flag("Strict", key.strict, undefined),
    flag("Capture of bodies", key.capture, parent?.capture ? parentName(heritage) : undefined),
    flag(
      "Objects of providers' accounts",
      key.provider_objects,
      project?.provider_objects ? projectName(heritage) : undefined,
    ),
    objectsOf(key, heritage),
    unpricedOf(key, heritage),
    cacheOf(key, heritage),
  ];
}

function cacheOf({ cache }: Key, { parent, project, ...heritage }: Heritage): Setting {
  const name = "Cache of responses";
  const inherited = parent?.cache ?? project?.cache ?? null;
  const value = (of: NonNullable<Key["cache"]>) => `${of.ttl_seconds} s, ${of.max_mb} MB of its project`;
  if (cache !== null) return own(name, value(cache));
  if (inherited === null) return from(GATEWAY, name, "off");
  const source =
    parent?.cache == null
      ? projectName({ parent, project, ...heritage })
      : parentName({ parent, project, ...heritage });
  return from(source, name, value(inherited));
}

const ROUTING_NAMES: Readonly<Record<string, string>> = {
  type: "Strategy",
  primary_factor: "Priority by",
  fallback: "Fallback",
  survive: "Continue broken streams",
  hedge: "Hedge slow calls",
  deadline_ms: "Deadline in ms",
  max_attempts: "Most attempts",
  sticky: "Same offer for cached prompts",
  require: "Required traits",
};

function routingOf({ routing }: Key, heritage: Heritage): Setting[] {
  const set = Object.entries(routing).map(([name, value]) => own(ROUTING_NAMES[name] ?? name, shown(value)));
  const required = (heritage.parent?.routing as Record<string, unknown> | undefined)?.["require"];
  return [
    ...set,
    ...(required === undefined ? [] : [from(parentName(heritage), "Required traits, in addition", shown(required))]),
    ...(set.length === 0 ? [from(GATEWAY, "Routing", "as the gateway routes")] : []),
  ];
}

type Parts = Pick<Key, "end_users" | "limits_by_model" | "limits_by_tag">;

const limitWords = (limits: Readonly<Record<string, number>>): string =>
  Object.entries(limits)
    .map(([name, value]) => `${name}=${value.toLocaleString("en-US")}`)
    .join(", ") || "no limits";

function partsOf(key: Key, heritage: Heritage): Setting[] {
  const listed = ({ end_users, limits_by_model, limits_by_tag }: Parts, source: string): Setting[] => {
    const item = (name: string, value: string): Setting => ({ name, value, source, isOwn: source === OWN });
    return [
      ...(end_users === null ? [] : [item("Each end user", limitWords(end_users.limits))]),
      ...(end_users?.required ? [item("Requests without an end user", "rejected")] : []),
      ...Object.entries(limits_by_model).map(([pattern, limits]) => item(`Model ${pattern}`, limitWords(limits))),
      ...Object.entries(limits_by_tag).map(([pattern, limits]) => item(`Tag ${pattern}`, limitWords(limits))),
    ];
  };
  const all = [
    ...listed(key, OWN),
    ...(heritage.parent === undefined ? [] : listed(heritage.parent, parentName(heritage))),
    ...(heritage.project === undefined ? [] : listed(heritage.project, projectName(heritage))),
  ];
  return all.length > 0 ? all : [from(GATEWAY, "By end user, model and tag", "no limits")];
}

function generalOf(key: Key, heritage: Heritage): Setting[] {
  const inherited = (heritage.parent?.tags ?? []).filter((tag) => key.tags.includes(tag));
  const tags = key.tags.filter((tag) => !inherited.includes(tag));
  return [
    own("Name", key.name),
    tags.length === 0 ? from(GATEWAY, "Tags", "none") : own("Tags", shown(tags)),
    ...(inherited.length === 0 ? [] : [from(parentName(heritage), "Tags of the parent", shown(inherited))]),
    key.expires_at === null ? from(GATEWAY, "Expires", "never") : own("Expires", full(key.expires_at)),
  ];
}

const OF_GROUP: Readonly<Record<Group, (key: Key, heritage: Heritage) => Setting[]>> = {
  general: generalOf,
  limits: limitsOf,
  access: accessOf,
  data: dataOf,
  routing: routingOf,
  parts: partsOf,
};

/** The settings of a group as they apply to calls of the key. */
export const settingsOf = (group: Group, key: Key, heritage: Heritage): Setting[] => OF_GROUP[group](key, heritage);
