/**
 * Whether the programs that an example calls are here. Where one is missing, the reason is printed and counted by the test
 * runner; under CI it is a failure.
 */
export function programsPresent(purpose: string, ...programs: string[]): boolean {
  const missing = programs.filter((program) => Bun.which(program) === null);
  if (missing.length === 0) return true;
  const reason = `${purpose}: ${missing.join(" and ")} not installed`;
  if (process.env["CI"] === "true") throw new Error(reason);
  console.log(`skipped: ${reason}`);
  return false;
}
