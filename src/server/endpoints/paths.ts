import { CHAT_ROOTS } from "../../dialects/chat/endpoints.ts";
import { DOCUMENTED_ROOTS, verbPaths } from "../../dialects/genai/endpoints.ts";
import { patternOf } from "../route-table.ts";
import type { EndpointPath } from "./client-endpoint.ts";

/** A path of the gateway itself, as documents write it: `/files/{id}`. */
export const ownPath = (template: string): EndpointPath[] => [
  { door: "contract", path: patternOf(template), documented: [{ path: template, suffix: "" }] },
];

/** A path that the strict base URLs do not have: they have only what the contract lists (choices 12). */
export const dropInPath = (path: string): EndpointPath[] => [
  { door: "dropin", path: patternOf(path), documented: [{ path, suffix: "" }] },
];

/** Paths of the protocol whose clients choose a version. `v1` is left out where another protocol has the same path. */
export const versionedPath = (rest: string, { before = "", versions = GENAI_VERSIONS } = {}): EndpointPath[] => [
  {
    door: "dropin",
    path: new RegExp(`^${before}/(?:${versions.join("|")})${rest.replaceAll("{id}", "(?<id>[^/:]+)")}$`),
    documented: [{ path: `${before}/v1beta${rest}`, suffix: "" }],
  },
];
const GENAI_VERSIONS: readonly string[] = ["v1", "v1alpha", "v1beta"];
export const BESIDE_V1: readonly string[] = ["v1alpha", "v1beta"];

/** A path below the roots of chat completions, at both doors. */
export const chatPaths = (rest: string): EndpointPath[] =>
  CHAT_ROOTS.map(([door, root, suffix]) => {
    const path = `${root}${rest}`;
    return { door, path: patternOf(path), documented: [{ path, suffix }] };
  });

/** The same at the drop-in door only. */
export const dropInChatPaths = (rest: string): EndpointPath[] =>
  chatPaths(rest).filter(({ door }) => door === "dropin");

/** A verb of the protocol that has its model in the path, at both doors. */
export const verbEndpointPaths = (verb: string): EndpointPath[] =>
  verbPaths(verb).map(([door, path]) => ({
    door,
    path,
    documented: DOCUMENTED_ROOTS[door].map(([root, suffix]) => ({ path: `${root}:${verb}`, suffix })),
  }));
