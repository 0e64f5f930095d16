import { useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { Key, Page, Project } from "../api/types.ts";
import { ago, full } from "../format/time.ts";
import { Empty, PageHead, Problem, State, Waiting } from "../parts/basics.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { CreateKey, EditKey, RevokeKey, RotateKey } from "../parts/key-forms.tsx";
import { Spend } from "../parts/spend.tsx";
import { useData } from "../parts/use-data.ts";
import { budgetsOf, rateWords } from "../state/limits.ts";

type Act = "edit" | "rotate" | "revoke";

function stateOf({ revoked_at, expires_at }: Key): { kind: "good" | "bad" | "idle"; name: string } {
  if (revoked_at !== null) return { kind: "idle", name: "revoked" };
  if (expires_at !== null && Date.parse(expires_at) < Date.now()) return { kind: "idle", name: "expired" };
  return { kind: "good", name: "active" };
}

function Row({ item, onAct }: { item: Key; onAct: ((act: Act) => void) | undefined }) {
  const state = stateOf(item);
  const isActive = state.name === "active";
  return (
    <tr>
      <th scope="row" class="name">
        <a href={callsWith({ key: item.id }, "30d")}>{item.name}</a>
        <span class="muted small block">
          …{item.hint}
          {item.capture && " · captures bodies"}
          {item.provider_objects && " · provider objects"}
          {item.objects === "private" && " · private objects"}
          {item.from === "file" && " · from the configuration file"}
        </span>
        {item.tags.length > 0 && <span class="muted small block">{item.tags.join(" ")}</span>}
      </th>
      <td class="name">{item.project}</td>
      <td>
        <State kind={state.kind}>{state.name}</State>
      </td>
      {budgetsOf(item.spent_nano_usd, item.limits).map((budget) => (
        <Spend key={budget.name} budget={budget} />
      ))}
      <td class="name">
        {rateWords(item.limits) || <span class="muted">no rate limits</span>}
        {item.models.join() !== "*" && <span class="muted small block">{item.models.join(", ")}</span>}
      </td>
      <td title={item.last_used_at === null ? undefined : full(item.last_used_at)}>
        {item.last_used_at === null ? (
          <span class="muted">{item.from === "file" ? "not recorded" : "never"}</span>
        ) : (
          ago(item.last_used_at)
        )}
        {item.expires_at !== null && <span class="muted small block">expires {ago(item.expires_at)}</span>}
      </td>
      <td class="acts">
        {onAct !== undefined && isActive && item.from === "storage" && (
          <>
            <button type="button" class="quiet" onClick={() => onAct("edit")} aria-label={`Edit ${item.name}`}>
              Edit
            </button>
            <button type="button" class="quiet" onClick={() => onAct("rotate")} aria-label={`Rotate ${item.name}`}>
              Rotate
            </button>
            <button
              type="button"
              class="quiet danger"
              onClick={() => onAct("revoke")}
              aria-label={`Revoke ${item.name}`}
            >
              Revoke
            </button>
          </>
        )}
      </td>
    </tr>
  );
}

export function Keys() {
  const keys = useData("keys", (abort) => ask<Page<Key>>("/api/keys", { limit: 500 }, abort));
  const projects = useData("projects", (abort) => ask<Page<Project>>("/api/projects", { limit: 500 }, abort));
  const [open, setOpen] = useState<{ item: Key; act: Act } | undefined>(undefined);
  const [creating, setCreating] = useState(false);
  const [withRevoked, setWithRevoked] = useState(false);
  const mayChange = session.value?.role !== "viewer";
  const close = () => {
    setOpen(undefined);
    setCreating(false);
  };
  const all = keys.data?.data ?? [];
  const shown = all.filter((item) => withRevoked || stateOf(item).name === "active");
  return (
    <>
      <PageHead title="Keys">
        {shown.length < all.length || withRevoked ? (
          <button type="button" aria-pressed={withRevoked} onClick={() => setWithRevoked(!withRevoked)}>
            Show revoked and expired
          </button>
        ) : null}
        <a class="button" href="/projects">
          Projects
        </a>
        {mayChange && (
          <button type="button" class="main" onClick={() => setCreating(true)}>
            <Icon name="plus" size={15} /> Create key
          </button>
        )}
      </PageHead>
      {keys.error && <Problem error={keys.error} retry={keys.reload} />}
      {keys.data === undefined ? (
        !keys.error && <Waiting />
      ) : shown.length === 0 ? (
        <Empty title="No active keys">
          <p>Clients need an API key to call models. Each key has its own limits, budgets and history.</p>
        </Empty>
      ) : (
        <section class="wide" tabIndex={0} aria-label="Keys table">
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Project</th>
                <th scope="col">Status</th>
                <th scope="col" class="number">
                  Today
                </th>
                <th scope="col" class="number">
                  This month
                </th>
                <th scope="col" class="number">
                  Total
                </th>
                <th scope="col">Limits</th>
                <th scope="col">Last used</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((item) => (
                <Row key={item.id} item={item} onAct={mayChange ? (act) => setOpen({ item, act }) : undefined} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {creating && <CreateKey projects={projects.data?.data ?? []} onDone={keys.reload} onClose={close} />}
      {open?.act === "edit" && <EditKey item={open.item} onDone={keys.reload} onClose={close} />}
      {open?.act === "rotate" && <RotateKey item={open.item} onDone={keys.reload} onClose={close} />}
      {open?.act === "revoke" && <RevokeKey item={open.item} onDone={keys.reload} onClose={close} />}
    </>
  );
}
