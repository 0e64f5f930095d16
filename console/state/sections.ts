import type { Session } from "../api/types.ts";
import type { IconName } from "../parts/icon.tsx";

export type Role = Session["role"];

export interface PageEntry {
  path: string;
  name: string;
  /** Query parameters that are kept when the reader goes to this page. */
  keeps?: readonly string[];
  /** Absent: every role. */
  roles?: readonly Role[];
  /** Other words that find it. */
  also?: string;
}

export interface Section {
  name: string;
  icon: IconName;
  pages: readonly PageEntry[];
}

interface Group {
  name: string;
  sections: readonly Section[];
}

const RANGE = ["range", "from", "to", "zone"];
const KEPT = ["q", ...RANGE];
const OPERATORS: readonly Role[] = ["admin", "viewer"];

/** The pages of the console, as the side bar shows them. */
export const GROUPS: readonly Group[] = [
  {
    name: "Watch",
    sections: [
      {
        name: "Overview",
        icon: "overview",
        pages: [{ path: "/", name: "Overview", keeps: RANGE, roles: OPERATORS, also: "home status" }],
      },
      {
        name: "Calls",
        icon: "calls",
        pages: [
          { path: "/calls", name: "Calls", keeps: KEPT, roles: OPERATORS, also: "receipts log requests" },
          { path: "/bodies", name: "Bodies", roles: ["project"], also: "captured" },
          { path: "/in-flight", name: "In flight", also: "running now stop" },
          { path: "/live", name: "Live sessions", also: "realtime voice websocket" },
        ],
      },
      {
        name: "Refused",
        icon: "refused",
        pages: [{ path: "/refused", name: "Refused", keeps: RANGE, also: "401 402 403 404 429 rejected" }],
      },
      {
        name: "Usage",
        icon: "usage",
        pages: [
          { path: "/usage", name: "Usage", keeps: KEPT, also: "cost spend money tokens budget" },
          { path: "/end-users", name: "End users", also: "customers limits" },
        ],
      },
    ],
  },
  {
    name: "Run",
    sections: [
      {
        name: "Keys",
        icon: "keys",
        pages: [
          { path: "/keys", name: "Keys", also: "api key token budget" },
          { path: "/projects", name: "Projects", also: "teams" },
        ],
      },
      {
        name: "Providers",
        icon: "providers",
        pages: [{ path: "/providers", name: "Providers", roles: OPERATORS, also: "health breaker credentials" }],
      },
      {
        name: "Models",
        icon: "models",
        pages: [
          { path: "/models", name: "Models", roles: OPERATORS, also: "prices offers" },
          { path: "/catalogue", name: "Catalogue", roles: OPERATORS, also: "price updates" },
        ],
      },
      {
        name: "Jobs",
        icon: "operations",
        pages: [
          { path: "/operations", name: "Operations", roles: OPERATORS, also: "videos background" },
          { path: "/batches", name: "Batches" },
          { path: "/files", name: "Files", also: "uploads" },
          { path: "/caches", name: "Caches", also: "cachedContents" },
        ],
      },
      {
        name: "Playground",
        icon: "play",
        pages: [{ path: "/play", name: "Playground", roles: ["admin"], also: "try chat" }],
      },
    ],
  },
  {
    name: "Govern",
    sections: [
      {
        name: "Guards",
        icon: "guards",
        pages: [{ path: "/guards", name: "Guards", roles: OPERATORS, also: "pii secrets moderation" }],
      },
      {
        name: "Alerts",
        icon: "alerts",
        pages: [{ path: "/alerts", name: "Alerts", roles: OPERATORS, also: "webhooks" }],
      },
      {
        name: "Settings",
        icon: "config",
        pages: [
          { path: "/config", name: "Configuration", roles: OPERATORS, also: "yaml settings reload" },
          { path: "/exports", name: "Exports", roles: OPERATORS, also: "parquet focus s3" },
          { path: "/people", name: "People", roles: OPERATORS, also: "operators sessions oidc logins subjects" },
          { path: "/audit", name: "Audit", roles: OPERATORS, also: "history changes who" },
        ],
      },
    ],
  },
];

const mayOpen = ({ roles }: PageEntry, role: Role): boolean => roles === undefined || roles.includes(role);

/** The groups as a role sees them, without what it cannot open. */
export const groupsFor = (role: Role): Group[] =>
  GROUPS.map(({ name, sections }) => ({
    name,
    sections: sections
      .map((section) => ({ ...section, pages: section.pages.filter((page) => mayOpen(page, role)) }))
      .filter(({ pages }) => pages.length > 0),
  })).filter(({ sections }) => sections.length > 0);

export const isAt = (path: string, entry: string): boolean =>
  entry === "/" ? path === "/" : path === entry || path.startsWith(`${entry}/`);

/** The section that a path belongs to. */
export const sectionOf = (groups: readonly Group[], path: string): Section | undefined =>
  groups.flatMap(({ sections }) => sections).find(({ pages }) => pages.some((page) => isAt(path, page.path)));

/** The address of a page, with what it keeps of the current query. */
export function addressOf({ path, keeps = [] }: PageEntry, query: URLSearchParams): string {
  const kept = keeps.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value]];
  });
  return kept.length === 0 ? path : `${path}?${new URLSearchParams(kept)}`;
}
