import { isWithin } from "../base/ip-network.ts";
import { GatewayError } from "../canon/error.ts";
import { CREATE_KEYS } from "./key-checks.ts";
import { LIMIT_NAMES, wireName } from "./limits.ts";
import { matches } from "./model-glob.ts";
import type { Principal } from "./principal.ts";

type Scopes = Pick<
  Principal,
  "project" | "models" | "protocols" | "expiresAtMs" | "limits" | "networks" | "scopes" | "providerObjects" | "unpriced"
>;

/** Refuses a key that could do more than its maker (S05). */
export function checkSubset(child: Scopes, maker: Scopes): void {
  if (child.project !== maker.project) refuse("project", `it must stay in the project "${maker.project}"`);
  for (const pattern of child.models) {
    // The maker's star also matches a star of the child as a plain character, so it covers whatever the child's star matches.
    if (!maker.models.some((allowed) => matches(allowed, pattern))) {
      refuse("models", `"${pattern}" is not covered by ${maker.models.join(", ")}`);
    }
  }
  // Depth has no use, and each further key would be one more place to count its calls in.
  if (child.scopes?.includes(CREATE_KEYS)) refuse("scopes", "a key that was made by a key cannot make keys itself");
  if (child.providerObjects && !maker.providerObjects) refuse("provider_objects", "the key that makes it lacks it");
  const { protocols, expiresAtMs, networks } = maker;
  if (protocols !== undefined && !child.protocols?.every((name) => protocols.includes(name))) {
    refuse("protocols", `it may only have ${protocols.join(", ")}`);
  }
  if (expiresAtMs !== undefined && (child.expiresAtMs ?? Number.POSITIVE_INFINITY) > expiresAtMs) {
    refuse("expires_at", `it must end by ${new Date(expiresAtMs).toISOString()}`);
  }
  if (networks !== undefined) {
    const outside = child.networks?.find((network) => !networks.some((allowed) => isWithin(network, allowed)));
    if (child.networks === undefined || outside !== undefined) {
      refuse("networks", `it may only be used from ${networks.map(({ text }) => text).join(", ")}`);
    }
  }
  if (child.unpriced === "mark" && maker.unpriced !== "mark") {
    refuse("billing.unpriced", "only an operator lets requests without a known price pass");
  }
  for (const name of LIMIT_NAMES) {
    const most = maker.limits[name];
    if (most !== undefined && (child.limits[name] ?? Number.POSITIVE_INFINITY) > most) {
      refuse(`limits.${wireName(name)}`, `it may be at most ${most}`);
    }
  }
}

function refuse(path: string, reason: string): never {
  throw new GatewayError("forbidden", `A key cannot make a stronger key: \`${path}\`: ${reason}.`, { path });
}
