import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { Page, Project } from "../api/types.ts";
import { full } from "../format/time.ts";
import { PageHead, Problem, State, Waiting } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import {
  CacheFields,
  cacheOf,
  FormProblem,
  LimitFields,
  PartLimitFields,
  partLimitsOf,
  useSending,
} from "../parts/key-forms.tsx";
import { Spend } from "../parts/spend.tsx";
import { useData } from "../parts/use-data.ts";
import { budgetsOf, rateWords, readLimits } from "../state/limits.ts";

function ProjectForm({
  item,
  onDone,
  onClose,
}: {
  item: Project | undefined;
  onDone: () => void;
  onClose: () => void;
}) {
  const { submit, error, busy } = useSending(
    (form) => {
      const name = String(form.get("name") ?? "").trim();
      const limits = readLimits(form, item?.limits);
      const megabytes = String(form.get("project_mb") ?? "");
      if (item === undefined)
        return change("POST", "/api/projects", {
          id: String(form.get("id") ?? "").trim(),
          ...(name === "" ? {} : { name }),
          limits,
          ...partLimitsOf(form),
          ...(megabytes === "" ? {} : { project_mb: Number(megabytes) }),
          ...cacheOf(form),
        });
      const status = form.get("suspended") === null ? "active" : "suspended";
      const project_mb = megabytes === "" ? null : Number(megabytes);
      return change("PATCH", `/api/projects/${encodeURIComponent(item.id)}`, {
        name,
        limits,
        ...partLimitsOf(form, item),
        status,
        project_mb,
        ...cacheOf(form, item),
      });
    },
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title={item === undefined ? "Create project" : `Edit ${item.name}`} onClose={onClose}>
      <form onSubmit={submit}>
        {item === undefined && (
          <label>
            ID (cannot be changed later)
            <input name="id" required maxLength={100} placeholder="team-a" />
          </label>
        )}
        <label>
          Name
          <input name="name" maxLength={100} required={item !== undefined} defaultValue={item?.name ?? ""} />
        </label>
        <LimitFields limits={item?.limits ?? {}} />
        <PartLimitFields item={item} />
        <label>
          Storage for files and batches in MB (empty for the default)
          <input name="project_mb" type="number" min="0" step="any" defaultValue={item?.project_mb ?? ""} />
        </label>
        <CacheFields cache={item?.cache} />
        {item !== undefined && (
          <label class="check">
            <input type="checkbox" name="suspended" defaultChecked={item.status === "suspended"} />
            Suspended (rejects calls from all its keys)
          </label>
        )}
        <FormProblem error={error} />
        <footer>
          <button type="submit" class="main" disabled={busy}>
            {item === undefined ? "Create" : "Save"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function Projects() {
  const { data, error, reload } = useData("projects", (abort) =>
    ask<Page<Project>>("/api/projects", { limit: 500 }, abort),
  );
  const [open, setOpen] = useState<{ item: Project | undefined } | undefined>(undefined);
  const mayChange = session.value?.role === "admin";
  return (
    <>
      <PageHead title="Projects">
        <a class="button" href="/keys">
          Keys
        </a>
        {mayChange && (
          <button type="button" class="main" onClick={() => setOpen({ item: undefined })}>
            <Icon name="plus" size={15} /> Create project
          </button>
        )}
      </PageHead>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : (
        <section class="wide" tabIndex={0} aria-label="Projects table">
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Name</th>
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
                <th scope="col">Created</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.data.map((item) => (
                <tr key={item.id}>
                  <th scope="row" class="name">
                    <a href={callsWith({ project: item.id }, "30d")}>{item.name}</a>
                    <span class="muted small block">{item.id}</span>
                  </th>
                  <td>
                    <State kind={item.status === "active" ? "good" : "warn"}>{item.status}</State>
                  </td>
                  {budgetsOf(item.spent_nano_usd, item.limits).map((budget) => (
                    <Spend key={budget.name} budget={budget} />
                  ))}
                  <td>{rateWords(item.limits) || <span class="muted">no rate limits</span>}</td>
                  <td>{item.created_at === null ? "from the configuration file" : full(item.created_at)}</td>
                  <td class="acts">
                    {mayChange && item.from === "storage" && (
                      <button
                        type="button"
                        class="quiet"
                        aria-label={`Edit ${item.name}`}
                        onClick={() => setOpen({ item })}
                      >
                        Edit
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {open && <ProjectForm item={open.item} onDone={reload} onClose={() => setOpen(undefined)} />}
    </>
  );
}
