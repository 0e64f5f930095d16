/** Resolves in the next turn of the event loop, so that long work lets other calls proceed. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
