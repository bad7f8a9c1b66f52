// A module that never ends to set itself up.
export function setupHostTools(): Promise<void> {
  process.stderr.write('stuck\n');
  return new Promise(() => {});
}
