/** `node:net`, loaded on first use: few starts need it, and it takes a tenth of the start-up time. */
export const net = () => require("node:net") as typeof import("node:net");
