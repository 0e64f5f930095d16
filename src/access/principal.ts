import { type IpNetwork, readNetwork } from "../base/ip-network.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { strictestPolicy, type UnpricedPolicy } from "../canon/billable.ts";
import { GatewayError } from "../canon/error.ts";
import type { Sharing } from "../canon/ownership.ts";
import type { RoutingSettings } from "../canon/routing-settings.ts";
import { unionOfTags } from "../canon/tags.ts";
import type { StoredKey } from "../storage/tables/keys.ts";
import type { Discounts } from "./discounts.ts";
import { readKeyRouting } from "./key-routing.ts";
import { type Level, levelsOf } from "./level.ts";
import { type Limits, readLimits } from "./limits.ts";

/** Who is calling, and what it may do. */
export interface Principal {
  keyId: string;
  keyName: string;
  project: string;
  /** Globs of model ids; `*` matches any run of characters. */
  models: readonly string[];
  /** Without it, every protocol. */
  protocols?: readonly string[];
  /** The key's own, which the keys that it makes inherit. */
  limits: Limits;
  /** What limits its calls, innermost first: itself, its project, the gateway, where they have limits. */
  levels: readonly Level[];
  /** Calls that cannot be honoured exactly are refused, not approximated. */
  strict?: boolean;
  /** How its calls are served where they do not say otherwise. */
  routing?: RoutingSettings;
  expiresAtMs?: number;
  /** What its project pays less than the listed prices. */
  discounts?: Discounts;
  /** Where it may be used from; without them, from everywhere. */
  networks?: readonly IpNetwork[];
  /** What it may do beside calling models. */
  scopes?: readonly string[];
  /** What its calls are marked with, beside what they bring; the maker's are among them. */
  tags?: readonly string[];
  /** The bodies of its calls are kept for a while, as its maker's are. */
  capture?: boolean;
  /** Its requests may name objects in providers' accounts. */
  providerObjects?: boolean;
  /** What it stores, no other key may see. */
  privateObjects?: boolean;
  /** What becomes of its requests for what has no known price: the strictest of what it, its maker and its project set. */
  unpriced?: UnpricedPolicy;
  /** The key that made it: what that may not do now, this may not either (S05). */
  maker?: Principal;
}

/** What a project means for its keys. */
interface ProjectSurroundings extends Pick<Level, "id" | "name" | "limits"> {
  discounts?: Discounts | undefined;
  providerObjects?: boolean | undefined;
  objects?: Sharing | undefined;
  unpriced?: UnpricedPolicy | undefined;
}

/** What surrounds a key: who made it, its project, and what limits all of them. */
export interface Surroundings {
  maker?: Principal | undefined;
  project?: ProjectSurroundings | undefined;
  gateway: Limits;
}

const ALONE: Surroundings = { gateway: {} };

type KnownKey = Omit<StoredKey, "hash" | "previousHash" | "hint" | "createdAtMs" | "routing"> & {
  routing?: RoutingSettings | undefined;
};

/** Throws if the key has a limit or a setting that this program does not know, and so could not enforce. */
export function principalOf(key: Omit<StoredKey, "hash">, surroundings: Surroundings = ALONE): Principal {
  const { routing, ...rest } = key;
  return makePrincipal({ ...rest, routing: routing === undefined ? undefined : readKeyRouting(routing) }, surroundings);
}

/** The same for a key that is not stored. */
export function makePrincipal(key: KnownKey, { maker, project, gateway }: Surroundings): Principal {
  const limits = readLimits(key.limits);
  return withoutAbsent({
    keyId: key.id,
    keyName: key.name,
    project: key.project,
    models: key.models,
    protocols: key.protocols,
    limits,
    levels: levelsOf({ id: key.id, name: key.name, limits }, { maker, project, gateway }),
    expiresAtMs: key.expiresAtMs,
    strict: key.strict ? true : undefined,
    routing: key.routing,
    networks: key.networks?.map(networkOf),
    scopes: key.scopes,
    tags: unionOfTags(maker?.tags, key.tags),
    capture: key.capture || maker?.capture ? true : undefined,
    providerObjects: mayNameObjects(key, { maker, project }) ? true : undefined,
    privateObjects: isPrivate(key, { maker, project }) ? true : undefined,
    discounts: project?.discounts,
    unpriced: strictestPolicy(key.unpriced, maker?.unpriced, project?.unpriced),
    maker,
  });
}

/** A key that a key has made loses what its maker loses (S05); what a project allows, all of its keys may do. */
function mayNameObjects(key: KnownKey, { maker, project }: Omit<Surroundings, "gateway">): boolean {
  if (project?.providerObjects) return true;
  return key.providerObjects === true && (maker === undefined || maker.providerObjects === true);
}

/** A project that is private makes every key of it private. */
function isPrivate(key: KnownKey, { maker, project }: Omit<Surroundings, "gateway">): boolean {
  if (project?.objects === "private" || key.objects === "private") return true;
  return key.objects === undefined && (maker !== undefined || key.madeBy !== undefined);
}

function networkOf(written: string): IpNetwork {
  const network = readNetwork(written);
  if (network === undefined) throw new GatewayError("internal", `"${written.slice(0, 100)}" is no network.`);
  return network;
}

/** Who may see what it stores. */
export const sharingOf = ({ privateObjects }: Principal): Sharing => (privateObjects ? "private" : "project");
