import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { findSession, hasEnded, session } from "./api/client.ts";
import { outage, probe, recoveries } from "./connection/connection.ts";
import { OutageBanner } from "./connection/outage-banner.tsx";
import { WaitingForGateway } from "./connection/waiting.tsx";
import { Empty, Problem, Waiting } from "./parts/basics.tsx";
import { Shell } from "./parts/shell.tsx";
import { place } from "./state/router.ts";

type Loader = () => Promise<ComponentType>;

/** Each page's code is loaded on first visit. */
const PAGES: Readonly<Record<string, Loader>> = {
  "": async () => (await import("./pages/overview.tsx")).Overview,
  calls: async () => (await import("./pages/calls.tsx")).Calls,
  "in-flight": async () => (await import("./pages/in-flight.tsx")).InFlight,
  refused: async () => (await import("./pages/refused.tsx")).Refused,
  play: async () => (await import("./pages/play.tsx")).Play,
  usage: async () => (await import("./pages/usage.tsx")).Usage,
  keys: async () => (await import("./pages/keys.tsx")).Keys,
  "end-users": async () => (await import("./pages/end-users.tsx")).EndUsers,
  "end-user": async () => (await import("./pages/end-user.tsx")).OneEndUser,
  projects: async () => (await import("./pages/projects.tsx")).Projects,
  providers: async () => (await import("./pages/providers.tsx")).Providers,
  catalogue: async () => (await import("./pages/catalogue.tsx")).Catalogue,
  models: async () => (await import("./pages/models.tsx")).Models,
  operations: async () => (await import("./pages/operations.tsx")).Operations,
  live: async () => (await import("./pages/live.tsx")).Live,
  batches: async () => (await import("./pages/batches.tsx")).Batches,
  caches: async () => (await import("./pages/caches.tsx")).Caches,
  files: async () => (await import("./pages/files.tsx")).Files,
  config: async () => (await import("./pages/config.tsx")).Config,
  exports: async () => (await import("./pages/exports.tsx")).Exports,
  guards: async () => (await import("./pages/guards.tsx")).Guards,
  alerts: async () => (await import("./pages/alerts.tsx")).Alerts,
  people: async () => (await import("./pages/people.tsx")).People,
  audit: async () => (await import("./pages/audit.tsx")).Audit,
  bodies: async () => (await import("./pages/bodies.tsx")).BodiesOfCall,
  call: async () => (await import("./pages/call.tsx")).OneCall,
  batch: async () => (await import("./pages/batch.tsx")).OneBatch,
  key: async () => (await import("./pages/key.tsx")).OneKey,
  model: async () => (await import("./pages/model.tsx")).OneModel,
  project: async () => (await import("./pages/project.tsx")).OneProject,
  provider: async () => (await import("./pages/provider.tsx")).OneProvider,
};

/** The page of one thing: `/calls/rcp_…` is a different page from `/calls`. */
const PAGES_OF_ONE: Readonly<Record<string, string>> = {
  calls: "call",
  batches: "batch",
  keys: "key",
  "end-users": "end-user",
  models: "model",
  projects: "project",
  providers: "provider",
};

function pageOf(path: string): string {
  const [, first = "", second = ""] = path.split("/");
  // Project operators see only the keys and usage of their project.
  if (first === "" && session.value?.role === "project") return "usage";
  return second === "" ? first : (PAGES_OF_ONE[first] ?? first);
}

function Page() {
  const name = pageOf(place.value.path);
  const [shown, setShown] = useState<{ name: string; page?: ComponentType; error?: Error }>();
  const recovered = recoveries.value;
  const failed = shown?.error !== undefined;
  useEffect(() => {
    let isWanted = true;
    const load = PAGES[name];
    if (load === undefined) {
      setShown({ name });
      return;
    }
    load().then(
      (page) => isWanted && setShown({ name, page }),
      (error: Error) => {
        if (isWanted) setShown({ name, error });
        // Code of a page that cannot be loaded is the first sign of an outage.
        void probe();
      },
    );
    return () => {
      isWanted = false;
    };
  }, [name, failed ? recovered : 0]);
  if (shown === undefined || shown.name !== name) return <Waiting />;
  if (shown.error) return <Problem error={shown.error} retry={() => location.reload()} />;
  if (shown.page) return <shown.page />;
  return (
    <Empty title="Page not found">
      <p>
        <a href="/">Go to the overview</a>
      </p>
    </Empty>
  );
}

type LoginPages = typeof import("./pages/login.tsx");

/** Most visits begin with a session and end before it does, so this code is loaded when it is needed. */
function LoggingIn({ by }: { by: keyof Pick<LoginPages, "Login" | "SessionEnded"> }) {
  const [pages, setPages] = useState<LoginPages | undefined>(undefined);
  const recovered = recoveries.value;
  useEffect(() => {
    import("./pages/login.tsx").then(setPages, () => void probe());
  }, [recovered]);
  const Shown = pages?.[by];
  return Shown === undefined ? null : <Shown />;
}

export function App() {
  const recovered = recoveries.value;
  useEffect(() => {
    if (recovered > 0 && session.value === undefined) void findSession();
  }, [recovered]);
  if (session.value === undefined && outage.value === undefined) return null;
  return (
    <>
      <OutageBanner />
      {session.value === undefined && <WaitingForGateway />}
      {session.value === null && <LoggingIn by="Login" />}
      {session.value && (
        <Shell>
          <Page />
        </Shell>
      )}
      {hasEnded.value && <LoggingIn by="SessionEnded" />}
    </>
  );
}
