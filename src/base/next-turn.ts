/** Resolves in the next turn of the event loop: what waits is served between two parts of long work. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
