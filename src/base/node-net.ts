/** `node:net`, loaded where an address or a network is first read: few starts need it, and it takes a tenth of one. */
export const net = () => require("node:net") as typeof import("node:net");
