import { type IpNetwork, readNetwork } from "../base/ip-network.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { strictestPolicy, type UnpricedPolicy } from "../canon/billable.ts";
import { GatewayError } from "../canon/error.ts";
import { addRequirements } from "../canon/offer-traits.ts";
import type { Sharing } from "../canon/ownership.ts";
import { NO_PREFERENCE } from "../canon/preference.ts";
import type { RoutingSettings } from "../canon/routing-settings.ts";
import type { AnswerCacheSettings } from "../canon/settings/answer-cache-settings.ts";
import { unionOfTags } from "../canon/tags.ts";
import type { KeySettings, StoredKey } from "../storage/tables/keys.ts";
import type { Discounts } from "./discounts.ts";
import { readKeyRouting } from "./key-routing.ts";
import { type Level, levelsOf } from "./level.ts";
import { type Limits, readLimits } from "./limits.ts";
import { type PartLimits, type PartScope, partScopesOf, readPartLimits } from "./parts/part-limits.ts";

/** The caller, and what it may do: the settings of its key, narrowed by those of its parent key and its project. */
export interface Principal extends Omit<KeySettings, "name" | "networks" | "objects"> {
  keyId: string;
  keyName: string;
  /** The key's own limits, which its children inherit. */
  limits: Limits;
  /** The levels that limit its calls, innermost first: the key, its project and the gateway, if they have limits. */
  levels: readonly Level[];
  /** Which of these, and of its parent key, limit end users, models or tags; absent if none does. */
  parts?: readonly PartScope[];
  /** The end user that its credential names, which wins over what a request says. */
  user?: string | undefined;
  /** How its calls are served by default. */
  routing?: RoutingSettings;
  /** Its project's discounts on the list prices. */
  discounts?: Discounts;
  /** Where it may be used from; absent: from everywhere. */
  networks?: readonly IpNetwork[];
  /** No other key may see what it stores. */
  privateObjects?: boolean;
  /** The parent key: what it may not do now, this key may not do either (S05). */
  maker?: Principal;
  /** For a client's token in place of a key: whose it is. */
  subject?: TokenSubject;
}

interface TokenSubject {
  id: string;
  issuer: string;
  issuedAtMs: number;
}

/** The project's settings that apply to its keys. */
interface ProjectSurroundings extends Pick<Level, "id" | "name" | "limits"> {
  discounts?: Discounts | undefined;
  providerObjects?: boolean | undefined;
  objects?: Sharing | undefined;
  unpriced?: UnpricedPolicy | undefined;
  partLimits?: PartLimits | undefined;
  answerCache?: AnswerCacheSettings | undefined;
}

/** The context of a key: its parent, its project, and the gateway's limits. */
export interface Surroundings {
  maker?: Principal | undefined;
  project?: ProjectSurroundings | undefined;
  gateway: Limits;
  gatewayParts?: PartLimits | undefined;
}

const ALONE: Surroundings = { gateway: {} };

type KnownKey = Omit<StoredKey, "hash" | "previousHash" | "hint" | "createdAtMs" | "routing" | "partLimits"> & {
  routing?: RoutingSettings | undefined;
  partLimits?: PartLimits | undefined;
};

/** Throws if the key has a limit or a setting that this program does not know, and so could not enforce. */
export function principalOf(key: Omit<StoredKey, "hash">, surroundings: Surroundings = ALONE): Principal {
  const { routing, partLimits, ...rest } = key;
  const read = {
    routing: routing === undefined ? undefined : readKeyRouting(routing),
    partLimits: readPartLimits(partLimits),
  };
  return makePrincipal({ ...rest, ...read }, surroundings);
}

/** The same for a key that is not stored. */
export function makePrincipal(key: KnownKey, { maker, project, gateway, gatewayParts }: Surroundings): Principal {
  const limits = readLimits(key.limits);
  return withoutAbsent({
    keyId: key.id,
    keyName: key.name,
    project: key.project,
    models: key.models,
    protocols: key.protocols,
    limits,
    levels: levelsOf({ id: key.id, name: key.name, limits }, { maker, project, gateway }),
    parts: partScopesOf(key, { maker, project, gateway: gatewayParts }),
    expiresAtMs: key.expiresAtMs,
    strict: key.strict ? true : undefined,
    routing: withParent(key.routing, maker?.routing),
    networks: key.networks?.map(networkOf),
    scopes: key.scopes,
    tags: unionOfTags(maker?.tags, key.tags),
    capture: key.capture || maker?.capture ? true : undefined,
    providerObjects: mayNameObjects(key, { maker, project }) ? true : undefined,
    privateObjects: isPrivate(key, { maker, project }) ? true : undefined,
    discounts: project?.discounts,
    answerCache: cacheOf(key.answerCache ?? maker?.answerCache, project?.answerCache),
    unpriced: strictestPolicy(key.unpriced, maker?.unpriced, project?.unpriced),
    maker,
  });
}

/** Keys may have their own time. The space is that of the project, which all of its keys share. */
function cacheOf(
  own: AnswerCacheSettings | undefined,
  project: AnswerCacheSettings | undefined,
): AnswerCacheSettings | undefined {
  if (own === undefined || project === undefined) return own ?? project;
  return { ttlSeconds: own.ttlSeconds, maxMb: project.maxMb };
}

/** A child key loses what its parent loses (S05); what a project allows, all of its keys may do. */
function mayNameObjects(key: KnownKey, { maker, project }: Pick<Surroundings, "maker" | "project">): boolean {
  if (project?.providerObjects) return true;
  return key.providerObjects === true && (maker === undefined || maker.providerObjects === true);
}

/** A child key requires what its parent requires, and may require more. */
function withParent(own: RoutingSettings | undefined, parent: RoutingSettings | undefined) {
  const require = addRequirements(own?.require, parent?.require);
  return require === own?.require ? own : { preference: NO_PREFERENCE, ...own, require };
}

/** A private project makes all of its keys private. */
function isPrivate(key: KnownKey, { maker, project }: Pick<Surroundings, "maker" | "project">): boolean {
  if (project?.objects === "private" || key.objects === "private") return true;
  return key.objects === undefined && (maker !== undefined || key.madeBy !== undefined);
}

function networkOf(written: string): IpNetwork {
  const network = readNetwork(written);
  if (network === undefined) throw new GatewayError("internal", `"${written.slice(0, 100)}" is not a network.`);
  return network;
}

/** Who may see what it stores. */
export const sharingOf = ({ privateObjects }: Principal): Sharing => (privateObjects ? "private" : "project");
