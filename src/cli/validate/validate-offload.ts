/**
 * Checks that profiles with tools that offload their outputs also list the tool that reads them.
 * Otherwise the outputs are cut, although nothing is wrong.
 */

import { registryStateOf } from '../../core/registry/state-of.ts';
import type { HostToolRegistry } from '../../core.ts';
import { outputsOf } from '../../parts/offload/outputs-of.ts';
import type { Findings } from './validate-checks.ts';

/** A profile, and where it was written. */
export interface WrittenProfile {
  readonly id: string;
  /** The place, such as ``profiles[0], line 9 `ci` ``. */
  readonly place: string;
  /** Its `tools` are a map of names instead of a list. */
  readonly listsByName?: boolean;
}

/** Does nothing for profiles that did not load, and where a tool of the host has that name. */
export function checkOffload(
  registry: HostToolRegistry,
  written: readonly WrittenProfile[],
  findings: Findings,
): void {
  const state = registryStateOf(registry);
  const { tools, profiles } = state;
  const readerName = outputsOf(state).reader?.name;
  if (readerName === undefined) return;
  let offloads = false;
  const wrong = written.flatMap(({ id, place, listsByName = false }) => {
    const profile = profiles.get(id);
    if (profile === undefined) return [];
    const names = [...profile.resolved.tools.keys()].filter(
      (name) => tools.get(name)?.internals.outputStrategy === 'offload',
    );
    if (names.length > 0) offloads = true;
    if (names.length === 0 || profile.resolved.tools.has(readerName)) return [];
    return [{ id, place, names, listsByName, parents: profile.given.extends ?? [] }];
  });
  const ids = new Set(wrong.map(({ id }) => id));
  for (const { place, names, listsByName, parents } of wrong) {
    // What its parent lacks is said of the parent.
    if ([parents].flat().some((parent) => ids.has(parent))) continue;
    const entry = listsByName
      ? `${readerName}: { optional: true, knobs: {} }`
      : `{ name: ${readerName}, optional: true }`;
    const listed = names.map((name) => `\`${name}\``).join(', ');
    findings.fail(
      'offload_readable',
      `${place}: ${listed} ` +
        `${names.length === 1 ? 'offloads its output' : 'offload their outputs'}, but the ` +
        `profile does not list \`${readerName}\`, so long outputs are cut. Add ` +
        `\`${entry}\` to its \`tools\`.`,
    );
  }
  if (offloads && wrong.length === 0)
    findings.note('offload_readable', undefined, 'Offloaded outputs can be read.');
}
