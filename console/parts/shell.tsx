import type { ComponentChildren } from "preact";
import { logOut, session } from "../api/client.ts";
import { isLive } from "../state/events.ts";
import { place } from "../state/router.ts";
import { SCHEMES, scheme } from "../state/scheme.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Shortcuts } from "./shortcuts.tsx";

interface Entry {
  path: string;
  name: string;
  icon: IconName;
  /** Query parameters that are kept when the reader goes to this page. */
  keeps?: readonly string[];
  roles?: readonly string[];
}

const KEPT = ["q", "range", "from", "to", "zone"];

const ENTRIES: readonly (readonly Entry[])[] = [
  [
    { path: "/", name: "Overview", icon: "overview", roles: ["admin", "viewer"] },
    { path: "/calls", name: "Calls", icon: "calls", keeps: KEPT, roles: ["admin", "viewer"] },
    { path: "/usage", name: "Usage", icon: "usage", keeps: KEPT },
    { path: "/bodies", name: "Bodies", icon: "audit", roles: ["project"] },
  ],
  [
    { path: "/play", name: "Playground", icon: "play", roles: ["admin"] },
    { path: "/models", name: "Models", icon: "models", roles: ["admin", "viewer"] },
    { path: "/providers", name: "Providers", icon: "providers", roles: ["admin", "viewer"] },
    { path: "/operations", name: "Operations", icon: "operations", roles: ["admin", "viewer"] },
    { path: "/live", name: "Live sessions", icon: "live" },
    { path: "/batches", name: "Batches", icon: "batches" },
    { path: "/files", name: "Files", icon: "files" },
    { path: "/caches", name: "Caches", icon: "caches" },
  ],
  [
    { path: "/keys", name: "Keys", icon: "keys" },
    { path: "/people", name: "People", icon: "people", roles: ["admin", "viewer"] },
    { path: "/guards", name: "Guards", icon: "guards", roles: ["admin", "viewer"] },
    { path: "/end-users", name: "End users", icon: "users" },
    { path: "/alerts", name: "Alerts", icon: "alerts", roles: ["admin", "viewer"] },
    { path: "/exports", name: "Exports", icon: "exports", roles: ["admin", "viewer"] },
    { path: "/config", name: "Configuration", icon: "config", roles: ["admin", "viewer"] },
    { path: "/audit", name: "Audit", icon: "audit", roles: ["admin", "viewer"] },
  ],
];

const isHere = (path: string, entry: string): boolean =>
  entry === "/" ? path === "/" : path === entry || path.startsWith(`${entry}/`);

function addressOf({ path, keeps = [] }: Entry): string {
  const { query } = place.value;
  const kept = keeps.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value]];
  });
  return kept.length === 0 ? path : `${path}?${new URLSearchParams(kept)}`;
}

function Navigation() {
  const { path } = place.value;
  const role = session.value?.role ?? "viewer";
  return (
    <nav aria-label="Pages">
      {ENTRIES.map((group) => (
        <ul key={group[0]?.path}>
          {group
            .filter(({ roles }) => roles === undefined || roles.includes(role))
            .map((entry) => (
              <li key={entry.path}>
                <a href={addressOf(entry)} aria-current={isHere(path, entry.path) ? "page" : undefined}>
                  <Icon name={entry.icon} />
                  {entry.name}
                </a>
              </li>
            ))}
        </ul>
      ))}
    </nav>
  );
}

const SCHEME_ICONS = { system: "system", light: "sun", dark: "moon" } as const;

function Foot() {
  const next = SCHEMES[(SCHEMES.indexOf(scheme.value) + 1) % SCHEMES.length] ?? "system";
  return (
    <div class="side-foot">
      <span class="who" title={session.value?.role}>
        <i class={isLive.value ? "dot live" : "dot"} aria-hidden="true" />
        {session.value?.operator}
        <span class="unseen">{isLive.value ? ", receiving live updates" : ""}</span>
      </span>
      <button
        type="button"
        class="quiet square"
        aria-label={`Colour scheme: ${scheme.value}. Switch to ${next}.`}
        title={`Colour scheme: ${scheme.value}`}
        onClick={() => {
          scheme.value = next;
        }}
      >
        <Icon name={SCHEME_ICONS[scheme.value]} />
      </button>
      <button type="button" class="quiet square" aria-label="Log out" title="Log out" onClick={() => void logOut()}>
        <Icon name="exit" />
      </button>
    </div>
  );
}

export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" focusable="false">
    <path d="M16 27V16M16 16 7 7M16 16l9-9" />
    <circle cx="16" cy="16" r="3.6" />
  </svg>
);

/** The frame around every page. */
export const Shell = ({ children }: { children: ComponentChildren }) => (
  <div class="shell">
    <a class="skip" href="#page">
      Skip to content
    </a>
    <aside class="side">
      <a class="brand" href="/">
        <Mark />
        Trivium
      </a>
      <Navigation />
      <Foot />
    </aside>
    <main id="page">{children}</main>
    <Shortcuts />
  </div>
);
