/** One thing that a response body does. A wait of 0 only gives way to others. */
export type Step = { send: Uint8Array } | { wait: number } | { cut: true };

export type Ending = "finished" | "client gone";

/** Resolves after so many milliseconds, or when the client has left. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

/** Waits, but not longer than the client does. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener("abort", wake);
  });
}

export function giveWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Plays the steps as a response body. It stops as soon as the client disconnects, and reports its end once. */
export function play(
  steps: Iterator<Step>,
  signal: AbortSignal,
  ended: (how: Ending) => void,
  wait: Wait,
): ReadableStream<Uint8Array> {
  let reported = false;
  const report = (how: Ending): void => {
    if (!reported) ended(how);
    reported = true;
  };
  signal.addEventListener("abort", () => report("client gone"));
  if (signal.aborted) report("client gone");
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      while (!signal.aborted) {
        const next = steps.next();
        if (next.done) {
          report("finished");
          controller.close();
          return;
        }
        const step = next.value;
        if ("send" in step) {
          controller.enqueue(step.send);
          return;
        }
        if ("cut" in step) {
          report("finished");
          // An error in the body makes the server drop the connection; without a reason it logs nothing.
          controller.error(undefined);
          return;
        }
        await (step.wait === 0 ? giveWay() : wait(step.wait, signal));
      }
      report("client gone");
    },
    cancel() {
      report("client gone");
    },
  });
}
