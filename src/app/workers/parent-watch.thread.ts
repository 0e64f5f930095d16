/** Runs in a separate thread: see parent-watch.ts. */

const LOOK_MS = 50;
/** For the receipts of the calls that it cuts. */
const RECEIPTS_MS = 700;

const parent = Number(process.argv.at(-1));

const looking = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(looking);
  setTimeout(() => process.kill(process.pid, "SIGKILL"), RECEIPTS_MS);
}, LOOK_MS);

export {};
