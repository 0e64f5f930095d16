import { session } from "../api/client.ts";
import { Code, CopyButton } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { clientsUrl } from "../parts/first-call.tsx";
import { useData } from "../parts/use-data.ts";

interface ShownOnceProps {
  secret: string;
  title: string;
  note?: string;
  /** A model that the key may use. */
  model: string;
  onClose: () => void;
}

/** JSON between single quotes of a shell. */
const quoted = (body: object): string => JSON.stringify(body).replaceAll("'", "'\\''");

const USUAL = "http://127.0.0.1:8787";

/** A new secret, with a call to try it. It is not shown again. */
export function ShownOnce({ secret, title, note, model, onClose }: ShownOnceProps) {
  const isOperator = session.value?.role !== "project";
  const { data: base = USUAL } = useData("config", (abort) =>
    isOperator ? clientsUrl(abort) : Promise.resolve("$TRIVIUM_URL"),
  );
  return (
    <Dialog title={title} onClose={onClose} mustAnswer>
      <p>Copy the secret now: it is not shown again. The gateway stores only a hash of it.</p>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} />
      </div>
      {note !== undefined && <p class="muted">{note}</p>}
      <div class="try-it">
        <p class="muted small">To try it:</p>
        <Code
          text={`curl ${base}/v1/chat/completions \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '${quoted({ model, messages: [{ role: "user", content: "Hello" }] })}'`}
        />
      </div>
      <footer>
        <button type="button" class="main" onClick={onClose}>
          I have stored it
        </button>
      </footer>
    </Dialog>
  );
}
