/** Code mode, as files turn it on for the sessions of a registry. */
import { registryStateOf } from '../../core/registry/state-of.ts';
import type { HostToolRegistry } from '../../core.ts';
import {
  namesOf,
  readCode,
  type SharedCode,
  shareCode,
  sharedCode,
} from '../../parts/code/settings.ts';
import type { CodeEntry } from './code-format.ts';
import { behind } from './loaded-files.ts';

/**
 * What sessions of the registry get by this file; undefined for no programs.
 * @param trial Has the other tools of the registry, and gets the code mode.
 * @throws an error that says why the registry cannot have it.
 */
export function tryCode(
  registry: HostToolRegistry<never>,
  trial: HostToolRegistry<never>,
  file: string,
  entry: CodeEntry,
): SharedCode | undefined {
  const settings = readCode(entry, file);
  if (settings === undefined) return undefined;
  const state = registryStateOf(behind(registry));
  const other = sharedCode(state);
  if (other !== undefined && other.file !== file)
    throw new Error(`the file \`${other.file}\` already has \`code\``);
  if (!state.parts.has('codeMode')) throw state.parts.missing('session', 'code', '`code`');
  const code = { file, settings };
  const taken = namesOf(code).find((name) => trial.get(name) !== undefined);
  if (taken !== undefined)
    throw new Error(
      `the registry has a tool \`${taken}\`, a name that means something else in programs; ` +
        'rename the tool, or set `name`',
    );
  shareCode(registryStateOf(trial), code);
  return code;
}

/** Replaces what a file has said before. */
export function commitCode(
  registry: HostToolRegistry<never>,
  file: string,
  code: SharedCode | undefined,
  undo: (() => void)[],
): void {
  const state = registryStateOf(behind(registry));
  const before = sharedCode(state);
  if (code === undefined && before?.file !== file) return;
  shareCode(state, code);
  undo.push(() => shareCode(state, before));
}
