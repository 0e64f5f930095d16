import type { Role } from "../canon/role.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Door } from "../dialects/reading/check.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

export type Method = (typeof METHODS)[number];

/** One row of the route table. The access rule is part of the row, so no handler is reachable without one (S04). */
export interface Route<Handler> {
  method: Method;
  /** A literal path, or a pattern over the percent-decoded path whose named groups become parameters. */
  path: string | RegExp;
  access: "open" | "key" | "signed" | "admin";
  /** With `admin`: the allowed roles. Absent: none. */
  roles?: readonly Role[];
  dialect: string;
  /** Clients of other dialects use it too: a header that only they send distinguishes them (choices 1). */
  shared?: boolean;
  door: Door;
  handle: Handler;
  /** How errors are encoded, if not as in the dialect. */
  errors?: Pick<Dialect["errors"], "encode"> | undefined;
}

export interface RouteMatch<Handler> {
  route: Route<Handler>;
  parameters: Readonly<Record<string, string>>;
}

/** A documented path, such as `/api/keys/{id}`, as a pattern over the decoded path. */
export function patternOf(path: string, mayHaveSlashes = false): string | RegExp {
  if (!path.includes("{")) return path;
  const value = mayHaveSlashes ? ".+" : "[^/]+";
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{(\w+)\}/g, `(?<$1>${value})`)}$`);
}

const NO_PARAMETERS: Readonly<Record<string, string>> = {};

export class RouteTable<Handler> {
  readonly #literal: Readonly<Record<string, Map<string, Route<Handler>>>> = Object.fromEntries(
    METHODS.map((method) => [method, new Map()]),
  );
  readonly #patterns: Route<Handler>[] = [];

  constructor(routes: readonly Route<Handler>[]) {
    for (const route of routes) {
      if (typeof route.path === "string") this.#literal[route.method]?.set(route.path, route);
      else this.#patterns.push(route);
    }
  }

  find(method: string, path: string): RouteMatch<Handler> | undefined {
    const literal = this.#literal[method]?.get(path);
    if (literal) return { route: literal, parameters: NO_PARAMETERS };
    const decoded = decode(path);
    if (decoded === undefined) return undefined;
    for (const route of this.#patterns) {
      if (route.method !== method || typeof route.path === "string") continue;
      const match = route.path.exec(decoded);
      if (match) return { route, parameters: match.groups ?? NO_PARAMETERS };
    }
    return undefined;
  }

  /** The methods of a path, for a helpful error about the wrong one. */
  methodsOf(path: string): Method[] {
    return METHODS.filter((method) => this.find(method, path) !== undefined);
  }
}

function decode(path: string): string | undefined {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    // A malformed escape matches no route.
    return undefined;
  }
}
