import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { logOut, session } from "../api/client.ts";
import { isLive } from "../state/events.ts";
import { place } from "../state/router.ts";
import { SCHEMES, scheme } from "../state/scheme.ts";
import { addressOf, groupsFor, isAt, type Section, sectionOf } from "../state/sections.ts";
import { shownZone } from "../state/zone.ts";
import { Dialog } from "./dialog.tsx";
import { GoTo, openGoTo } from "./go-to.tsx";
import { Icon } from "./icon.tsx";
import { Shortcuts } from "./shortcuts.tsx";

const groups = () => groupsFor(session.value?.role ?? "viewer");

/** `page` on the page itself, `true` on the others of its section. */
function currentIn({ pages }: Section, path: string): "page" | "true" | undefined {
  const at = pages.findIndex((page) => isAt(path, page.path));
  return at === 0 ? "page" : at > 0 ? "true" : undefined;
}

function SideBar() {
  const { path, query } = place.value;
  return (
    <nav aria-label="Pages">
      {groups().map(({ name, sections }) => (
        <section key={name} aria-label={name}>
          <h2>{name}</h2>
          <ul>
            {sections.map((section) => {
              const [first] = section.pages;
              return (
                first !== undefined && (
                  <li key={section.name}>
                    <a href={addressOf(first, query)} aria-current={currentIn(section, path)}>
                      <Icon name={section.icon} />
                      {section.name}
                    </a>
                  </li>
                )
              );
            })}
          </ul>
        </section>
      ))}
    </nav>
  );
}

/** The pages of the current section, if it has several. */
function SectionTabs() {
  const { path, query } = place.value;
  const section = sectionOf(groups(), path);
  if (section === undefined || section.pages.length < 2) return null;
  return (
    <nav class="tabs" aria-label={section.name}>
      <ul>
        {section.pages.map((page) => (
          <li key={page.path}>
            <a href={addressOf(page, query)} aria-current={isAt(path, page.path) ? "page" : undefined}>
              {page.name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** All pages, for narrow screens, where there is no side bar. */
function Menu({ onClose }: { onClose: () => void }) {
  const { path, query } = place.value;
  return (
    <Dialog title="Pages" onClose={onClose}>
      <nav class="menu" aria-label="All pages">
        {groups().map(({ name, sections }) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <ul>
              {sections
                .flatMap(({ pages }) => pages)
                .map((page) => (
                  <li key={page.path}>
                    <a
                      href={addressOf(page, query)}
                      aria-current={isAt(path, page.path) ? "page" : undefined}
                      onClick={onClose}
                    >
                      {page.name}
                    </a>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </nav>
      <p class="muted small">All times are in {shownZone}.</p>
    </Dialog>
  );
}

const SCHEME_ICONS = { system: "system", light: "sun", dark: "moon" } as const;

function Foot() {
  const next = SCHEMES[(SCHEMES.indexOf(scheme.value) + 1) % SCHEMES.length] ?? "system";
  return (
    <div class="side-foot">
      <span class="who" title={session.value?.role}>
        <i class={isLive.value ? "dot live" : "dot"} aria-hidden="true" />
        <span>
          {session.value?.operator}
          <small title="All times are in this zone">{shownZone}</small>
        </span>
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
export function Shell({ children }: { children: ComponentChildren }) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { path } = place.value;
  useEffect(() => setMenuOpen(false), [path]);
  return (
    <div class="shell">
      <a class="skip" href="#page">
        Skip to content
      </a>
      <aside class="side">
        <a class="brand" href="/">
          <Mark />
          Trivium
        </a>
        <button type="button" class="search-all" title="Go to…" onClick={openGoTo}>
          <Icon name="search" size={15} />
          <span>Go to…</span>
          <kbd>Ctrl K</kbd>
        </button>
        <button type="button" class="quiet square open-menu" aria-label="Menu" onClick={() => setMenuOpen(true)}>
          <Icon name="menu" />
        </button>
        <SideBar />
        <Foot />
      </aside>
      <main id="page">
        <SectionTabs />
        {children}
      </main>
      <Shortcuts />
      <GoTo />
      {isMenuOpen && <Menu onClose={() => setMenuOpen(false)} />}
    </div>
  );
}
