/** The number in a name such as `wan2.6-t2v` or `wanx2.1-t2i-turbo`; 0 where there is none. */
export function wanVersion(model: string): number {
  return Number(/^wanx?(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0);
}
