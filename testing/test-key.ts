/** The one key of a gateway under test. */
export const TEST_KEY = `sk-trv-${"ConformanceSuiteKey".padEnd(43, "x")}`;
