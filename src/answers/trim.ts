import type { Storage } from "../storage/storage.ts";
import { deleteAnswers, selectOldestAnswers, sumAnswerSizes } from "../storage/tables/answers.ts";

const ROWS_AT_ONCE = 200;
/** Enough for any store; the rest is deleted the next time. */
const MAX_ROUNDS = 1_000;

/** Deletes answers until all of them take at most `maxBytes`: each time the oldest of the largest project. */
export async function trimAnswers(storage: Storage, maxBytes: number): Promise<void> {
  const sizes = await sumAnswerSizes(storage);
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  for (let round = 0; total > maxBytes && round < MAX_ROUNDS; round++) {
    const [first, second] = [...sizes].sort(([, one], [, other]) => other - one);
    if (first === undefined) return;
    const [project, size] = first;
    // A project is trimmed to the size of the next one, and then that one has its turn.
    const enough = Math.max(1, Math.min(total - maxBytes, size - (second?.[1] ?? 0)));
    const oldest = await selectOldestAnswers(storage, project, ROWS_AT_ONCE);
    let freed = 0;
    const gone: string[] = [];
    for (const answer of oldest) {
      if (freed >= enough) break;
      freed += answer.size;
      gone.push(answer.id);
    }
    if (gone.length === 0) return;
    await deleteAnswers(storage, project, gone);
    total -= freed;
    sizes.set(project, size - freed);
  }
}
