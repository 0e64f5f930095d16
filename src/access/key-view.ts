import { withoutAbsent } from "../base/without-absent.ts";
import type { UnpricedPolicy } from "../canon/billable.ts";
import type { Sharing } from "../canon/ownership.ts";
import { type AnswerCacheView, answerCacheView } from "../canon/settings/answer-cache-settings.ts";
import type { StoredKey } from "../storage/tables/keys.ts";
import { hintOf } from "./key-hash.ts";
import { type KeyRoutingView, keyRoutingView, readKeyRouting } from "./key-routing.ts";
import { type StaticKey, staticKeyId } from "./known-keys.ts";
import { limitsView } from "./limits.ts";
import { type PartLimitsView, partLimitsView, readPartLimits } from "./parts/part-limits.ts";

/** A stored key without its digests, for display. */
export type KeySummary = Omit<StoredKey, "hash" | "previousHash">;

/** A key as the API and the command line show it: never the key, nor its digest. */
export interface KeyView extends PartLimitsView {
  id: string;
  /** `file`: change it in `trivium.yaml`. */
  from: "file" | "storage";
  name: string;
  project: string;
  /** The key's last characters, so that people can distinguish keys. */
  hint: string;
  models: readonly string[];
  /** `null`: all of them. */
  protocols: readonly string[] | null;
  limits: Record<string, number>;
  strict: boolean;
  /** Settings that differ from the gateway's. */
  routing: KeyRoutingView;
  /** `null`: from everywhere. */
  networks: readonly string[] | null;
  /** What it may do in addition to calling models. */
  scopes: readonly string[];
  /** Tags of its calls. */
  tags: readonly string[];
  /** The bodies of its calls are kept for a while. */
  capture: boolean;
  /** Its requests may name objects in providers' accounts. */
  provider_objects: boolean;
  /** Who may see the objects it stores; `null`: the default. */
  objects: Sharing | null;
  /** `null`: its project, the gateway or its budget decides. */
  billing: { unpriced: UnpricedPolicy | null };
  /** `null`: its parent key or its project decides. */
  cache: AnswerCacheView | null;
  expires_at: string | null;
  /** `null` for a configured key. */
  created_at: string | null;
  made_by: string | null;
  revoked_at: string | null;
  rotated_at: string | null;
  /** Until then the previous secret works as well. */
  previous_until: string | null;
  /** Accurate to some seconds. */
  last_used_at: string | null;
}

const moment = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

/** Configured keys have no creation date. */
export function keyView(key: Omit<KeySummary, "createdAtMs"> & { createdAtMs?: number }): KeyView {
  return {
    id: key.id,
    from: key.createdAtMs === undefined ? "file" : "storage",
    name: key.name,
    project: key.project,
    hint: key.hint,
    models: key.models,
    protocols: key.protocols ?? null,
    limits: limitsView(key.limits),
    ...partLimitsView(readPartLimits(key.partLimits)),
    strict: key.strict === true,
    routing: keyRoutingView(readKeyRouting(key.routing ?? {})),
    networks: key.networks ?? null,
    scopes: key.scopes ?? [],
    tags: key.tags ?? [],
    capture: key.capture === true,
    provider_objects: key.providerObjects === true,
    objects: key.objects ?? null,
    billing: { unpriced: key.unpriced ?? null },
    cache: answerCacheView(key.answerCache),
    expires_at: moment(key.expiresAtMs),
    created_at: moment(key.createdAtMs),
    made_by: key.madeBy ?? null,
    revoked_at: moment(key.revokedAtMs),
    rotated_at: moment(key.rotatedAtMs),
    previous_until: moment(key.previousUntilMs),
    last_used_at: moment(key.lastUsedAtMs),
  };
}

/** The keys of `trivium.yaml` as the API and the command line show them. */
export const configuredKeys = (keys: readonly StaticKey[]): KeyView[] =>
  keys.map(({ key, limits, routing, partLimits, ...rest }) =>
    keyView(
      withoutAbsent({
        ...rest,
        id: staticKeyId(rest.name),
        hint: hintOf(key),
        limits: { ...limits },
        routing: routing && { ...keyRoutingView(routing) },
        partLimits: partLimits && { ...partLimitsView(partLimits) },
      }),
    ),
  );
