/** The option `code` of a session, and what a file says for all sessions of a registry. */

import type { CodeOptions } from '../../api/code.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { Slot } from '../../core/slot.ts';
import {
  duration,
  type OptionValues,
  oneOf,
  readOptions,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import { checkToolName } from '../../values/text/names.ts';

const table = {
  name: withDefault(text(1, 64), 'run_code'),
  show: withDefault(oneOf('code', 'both'), 'code'),
  timeoutMs: withDefault(duration, 30_000),
  cpuMs: withDefault(duration, 5_000),
  memoryMb: withDefault(wholeNumber(16, 1_024), 64),
  maxCalls: withDefault(wholeNumber(1, 10_000), 100),
  maxParallel: withDefault(wholeNumber(1, 100), 8),
  maxSourceChars: withDefault(wholeNumber(1, 1_000_000), 65_536),
  maxDeclarationTokens: withDefault(wholeNumber(100), 8_000),
  journalTtlMs: withDefault(wholeNumber(60_000), 86_400_000),
} satisfies TableOf<CodeOptions>;

export type CodeSettings = OptionValues<typeof table>;

/** Names that mean something else in a program. */
export const takenNames: readonly string[] = ['sleep', 'find', 'then', 'toJSON'];

/**
 * @returns undefined for no programs.
 * @throws MisuseError `invalid_option`, which names the option.
 */
export function readCode(options: CodeOptions | boolean, where: string): CodeSettings | undefined {
  if (options === false) return undefined;
  const read = readOptions(where, options === true ? {} : options, table, { path: 'code' });
  checkToolName(read.name);
  return read;
}

/** Code mode for the sessions of a registry that do not say otherwise. */
export interface SharedCode {
  /** The file that says so. */
  readonly file: string;
  readonly settings: CodeSettings;
}

const sharedSlot = new Slot<SharedCode>();

export function sharedCode(registry: RegistryState): SharedCode | undefined {
  return sharedSlot.of(registry);
}

/**
 * Sets code mode for the sessions that open from now on. No tool can take a name any more that
 * means something else there, or one tool of an MCP server could keep every session from opening.
 */
export function shareCode(registry: RegistryState, code: SharedCode | undefined): void {
  const { reserved } = registry.ports.tools;
  const before = sharedSlot.of(registry);
  if (before !== undefined) for (const name of namesOf(before)) reserved.delete(name);
  if (code === undefined) return sharedSlot.delete(registry);
  sharedSlot.set(registry, code);
  for (const name of namesOf(code))
    reserved.set(name, 'it has a meaning in code mode, which `code` of a file turns on.');
}

export function namesOf({ settings }: SharedCode): readonly string[] {
  return [settings.name, ...takenNames];
}
