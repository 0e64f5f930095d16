import type { Clock } from "../base/clock.ts";
import type { Storage } from "../storage/storage.ts";
import { type Instance, selectInstances } from "../storage/tables/instances.ts";
import { deleteQuestion, insertQuestion, selectAnswers } from "../storage/tables/questions.ts";

interface AwaitOptions {
  storage: Storage;
  clock: Clock;
  /** Whether a process, by its name, runs on this machine. */
  isHere: (process: string) => boolean;
  /** Called once with those that take long. */
  onSlow: (places: readonly string[]) => void;
  /** Called with those that are not awaited any longer. */
  onSilent: (places: readonly string[]) => void;
}

const LOOK_MS = 20;
/** Several polls of a process that is well. */
const SLOW_MS = 1_000;
const SILENT_MS = 15_000;
const STATEMENT_MS = 5_000;

/**
 * Waits until what this program has committed holds in every process of this machine. It asks them a question: a process reads all changes
 * before it answers, whatever it answers (choices 9).
 */
export async function awaitProcesses({ storage, clock, isHere, onSlow, onSilent }: AwaitOptions): Promise<void> {
  let missing = (await selectInstances(storage)).filter(({ process }) => isHere(process));
  if (missing.length === 0) return;
  const question = { asker: "command line", kind: "catch-up", details: "{}" };
  const asked = await insertQuestion(storage, question, clock.wallMs(), STATEMENT_MS);
  const places = () => missing.map(({ place }: Instance) => place);
  const beganMs = clock.nowMs();
  let isSlow = false;
  while (missing.length > 0) {
    await clock.sleep(LOOK_MS);
    const ids = missing.map(({ id }) => id);
    const answered = new Set((await selectAnswers(storage, asked, ids, STATEMENT_MS)).map(({ instance }) => instance));
    missing = missing.filter(({ id, process }) => !answered.has(id) && isHere(process));
    const takenMs = clock.nowMs() - beganMs;
    if (missing.length > 0 && takenMs >= SLOW_MS && !isSlow) {
      isSlow = true;
      onSlow(places());
    }
    if (takenMs < SILENT_MS) continue;
    if (missing.length > 0) onSilent(places());
    break;
  }
  await deleteQuestion(storage, asked);
}
