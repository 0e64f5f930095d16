/**
 * Whether what some tests need is here, for `skipIf`. Where it is not, the reason is printed, and the test runner repeats it at its end;
 * under CI it is a failure.
 */
export function isPresent(found: boolean, reason: string): boolean {
  if (found) return true;
  if (process.env["CI"] === "true") throw new Error(reason);
  console.log(`skipped: ${reason}`);
  return false;
}
