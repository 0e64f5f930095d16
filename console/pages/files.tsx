import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { ObjectItem, Page } from "../api/types.ts";
import { bytes } from "../format/numbers.ts";
import { ago, full } from "../format/time.ts";
import { Empty, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem, useSending } from "../parts/key-forms.tsx";
import { OwnerCells, OwnerFilter, ownerFilter } from "../parts/owner-filter.tsx";
import { Pager } from "../parts/pager.tsx";
import { useData } from "../parts/use-data.ts";
import { place } from "../state/router.ts";

const PAGE_SIZE = 50;

function DeleteFile({ item, onDone, onClose }: { item: ObjectItem; onDone: () => void; onClose: () => void }) {
  const { submit, error, busy } = useSending(
    () => change("DELETE", `/api/objects/${encodeURIComponent(item.id)}`),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title="Delete file" onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          <strong>{item.name || item.id}</strong> of the project {item.project} will be deleted. Requests that name it
          will fail. This cannot be undone.
        </p>
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Keep it
          </button>
          <button type="submit" class="danger main" disabled={busy}>
            Delete file
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const Row = ({ item, onDelete }: { item: ObjectItem; onDelete: (() => void) | undefined }) => (
  <tr>
    <th scope="row" class="name" title={item.name ?? undefined}>
      {item.name || <span class="muted">no name</span>}
      <span class="muted small block">{item.id}</span>
    </th>
    <td title={full(item.created_at)}>{ago(item.created_at)}</td>
    <td class="number">{bytes(item.bytes)}</td>
    <td>{item.type ?? "–"}</td>
    <td>{item.purpose ?? "–"}</td>
    <OwnerCells path="/files" project={item.project} name={item.key} />
    <td>{item.objects === "private" ? "only its key" : "its project"}</td>
    <td>{item.expires_at === null ? <span class="muted">never</span> : ago(item.expires_at)}</td>
    <td class="acts">
      {onDelete !== undefined && (
        <button type="button" class="quiet danger" onClick={onDelete} aria-label={`Delete ${item.name || item.id}`}>
          Delete
        </button>
      )}
    </td>
  </tr>
);

export function Files() {
  const after = place.value.query.get("after") ?? undefined;
  const filter = ownerFilter();
  const [deleting, setDeleting] = useState<ObjectItem | undefined>(undefined);
  const { data, error, reload } = useData(JSON.stringify([filter, after]), (abort) =>
    ask<Page<ObjectItem>>("/api/objects", { kind: "file", limit: PAGE_SIZE, ...filter, after }, abort),
  );
  const mayDelete = session.value?.role !== "viewer";
  const isNarrowed = Object.keys(filter).length > 0 || after !== undefined;
  return (
    <>
      <PageHead title="Files" />
      <OwnerFilter />
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : data.data.length === 0 ? (
        <Nothing isNarrowed={isNarrowed} />
      ) : (
        <>
          <section class="wide" tabIndex={0} aria-label="Files table">
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Created</th>
                  <th scope="col" class="number">
                    Size
                  </th>
                  <th scope="col">Type</th>
                  <th scope="col">Purpose</th>
                  <th scope="col">Project</th>
                  <th scope="col">Key</th>
                  <th scope="col">Visible to</th>
                  <th scope="col">Expires</th>
                  <th scope="col">
                    <span class="unseen">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.data.map((item) => (
                  <Row key={item.id} item={item} onDelete={mayDelete ? () => setDeleting(item) : undefined} />
                ))}
              </tbody>
            </table>
          </section>
          <Pager page={data} of="files" />
        </>
      )}
      {deleting && <DeleteFile item={deleting} onDone={reload} onClose={() => setDeleting(undefined)} />}
    </>
  );
}

const Nothing = ({ isNarrowed }: { isNarrowed: boolean }) =>
  isNarrowed ? (
    <Empty title="No matching files">
      <p>
        They may have expired or been deleted. <a href="/files">Clear the filter</a>
      </p>
    </Empty>
  ) : (
    <Empty title="No files">
      <p>Files that clients upload, and the results of batches, are listed here. Operators cannot read them.</p>
    </Empty>
  );
