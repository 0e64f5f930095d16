/** `--config` wins over TRIVIUM_CONFIG; without either, ./trivium.yaml is read where it exists. */
export function configPath(flag: string | undefined): { configPath?: string } {
  const path = flag ?? process.env["TRIVIUM_CONFIG"];
  return path ? { configPath: path } : {};
}
