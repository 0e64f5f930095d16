let waiting: (() => void)[] = [];

function runAll(): void {
  const due = waiting;
  waiting = [];
  for (const run of due) run();
}

/** Runs it when the runtime has handled everything that arrived in this turn of the event loop. One timer serves all. `run` must not throw. */
export function atEndOfTurn(run: () => void): void {
  if (waiting.length === 0) setImmediate(runAll);
  waiting.push(run);
}
