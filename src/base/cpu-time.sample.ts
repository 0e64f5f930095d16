/**
 * CPU time of this process in milliseconds. For tests that limit work: other programs on the machine slow a test down without
 * adding to it.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
