/**
 * Milliseconds of processor time that this process has taken. For tests that bound work: other programs on the machine make a
 * test wait, and do not make it work.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
