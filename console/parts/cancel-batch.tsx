import { change } from "../api/client.ts";
import type { BatchItem } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { Dialog } from "./dialog.tsx";
import { FormProblem, useSending } from "./key-forms.tsx";

/** Asks for confirmation, and cancels a batch. */
export function CancelBatch({ item, onDone, onClose }: { item: BatchItem; onDone: () => void; onClose: () => void }) {
  const { running, waiting } = item.progress;
  const { submit, error, busy } = useSending(
    () => change("POST", `/api/batches/${encodeURIComponent(item.id)}/cancel`),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title="Cancel batch" onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          <strong>{item.id}</strong> of the project {item.project}: {counted(waiting, "request")} will not be run.{" "}
          {running > 0 && `${counted(running, "running request")} will be finished and billed. `}
          This cannot be undone.
        </p>
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Keep it
          </button>
          <button type="submit" class="danger main" disabled={busy}>
            Cancel batch
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
