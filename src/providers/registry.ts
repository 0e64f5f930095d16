import type { DialectRegistry } from "../dialects/registry.ts";
import type { ProviderDeclaration } from "./provider.ts";

/** The dialects and kinds of providers of a gateway. */
export interface Registry {
  readonly dialects: DialectRegistry;
  /** Every kind of provider that a configuration can name. */
  readonly kinds: ReadonlyMap<string, ProviderDeclaration>;
}

/** Every word for a family of hosts that reads its own opaque values: a dialect's, or a kind's. Hosts' own words are not among them. */
export const originsOf = ({ dialects, kinds }: Registry): ReadonlySet<string> =>
  new Set([...dialects.upstreamNames, ...kinds.keys()]);

/** The vendors' words for themselves as owners of objects that every account has. */
export const publicOwnersOf = ({ kinds }: Pick<Registry, "kinds">): ReadonlySet<string> =>
  new Set([...kinds.values()].flatMap(({ publicOwner }) => publicOwner ?? []));

/** The hosts where vendors store the files that were uploaded to them. */
export const filesHostsOf = ({ kinds }: Pick<Registry, "kinds">): readonly RegExp[] =>
  [...kinds.values()].flatMap(({ filesHost }) => filesHost ?? []);
