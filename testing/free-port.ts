/**
 * Below the range that systems take the ports of outgoing connections from (Linux 32768–60999, macOS 49152–65535): a port from that
 * range can become the source of any connection while a test restarts the program that listens on it.
 */
const FIRST = 10_240;
const LAST = 32_767;
const BLOCK = 64;
const BLOCKS = Math.floor((LAST - FIRST + 1) / BLOCK);

let next = 0;
let end = 0;

/** A port of loopback that no other process of the test run gets, and that this process gets once. */
export function freePort(): number {
  for (;;) {
    if (next === end) claimBlock();
    const port = next++;
    const probe = listen(port);
    if (probe === undefined) continue;
    probe.stop(true);
    return port;
  }
}

/** Listening on the first port of a block claims the others. The claim ends with the process, however that ends. */
function claimBlock(): void {
  const start = Math.floor(Math.random() * BLOCKS);
  for (let tried = 0; tried < BLOCKS; tried++) {
    const first = FIRST + ((start + tried) % BLOCKS) * BLOCK;
    const claim = listen(first);
    if (claim === undefined) continue;
    claim.unref();
    next = first + 1;
    end = first + BLOCK;
    return;
  }
  throw new Error(`No block of ports is free between ${FIRST} and ${LAST}`);
}

/** Undefined if the port is in use. */
function listen(port: number): Bun.TCPSocketListener | undefined {
  try {
    return Bun.listen({ hostname: "127.0.0.1", port, exclusive: true, socket: { data: () => undefined } });
  } catch {
    return undefined;
  }
}
