/** Installs the coding agents before their tests, so that no two files install the same one. */
import { adapters, installed, type ProgramName, pinned } from './programs.ts';

export default async function install(): Promise<void> {
  const names = Object.keys({ ...pinned, ...adapters }) as (ProgramName | keyof typeof adapters)[];
  const next = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) await installed(name);
  };
  // What npm waits for is the network.
  await Promise.all([next(), next(), next()]);
}
