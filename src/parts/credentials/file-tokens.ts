/** Static tokens, which files bring for the tools of a registry. */
import type { CredentialResolver } from '../../api/credentials.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { Slot } from '../../core/slot.ts';
import { isToken, safeFault } from './answer.ts';

/** Tokens by the names of credentials. */
export type FileTokens = ReadonlyMap<string, string>;

/** Whether the host has given the registry a resolver. */
export const hasResolver: Slot<boolean> = new Slot();

const slot = new Slot<Map<string, FileTokens>>();

/** What the files of a registry give, by their paths. */
export function fileTokensOf(registry: RegistryState): ReadonlyMap<string, FileTokens> {
  return slot.of(registry) ?? noFiles;
}

const noFiles: ReadonlyMap<string, FileTokens> = new Map();

/** Replaces what a file gave before. */
export function setFileTokens(
  registry: RegistryState,
  file: string,
  tokens: FileTokens | undefined,
): void {
  const files = slot.of(registry) ?? new Map<string, FileTokens>();
  slot.set(registry, files);
  if (tokens === undefined) files.delete(file);
  else files.set(file, tokens);
}

/** Gives what the files have, the same for everybody; undefined if no file has anything. */
export function fileResolver(registry: RegistryState): CredentialResolver | undefined {
  const files = fileTokensOf(registry);
  if (files.size === 0) return undefined;
  return ({ name }) => {
    for (const tokens of files.values()) {
      const token = tokens.get(name);
      if (token !== undefined) return { token };
    }
    throw safeFault(`No file has a credential of the name \`${name}\`.`);
  };
}

/**
 * The token that a variable of the environment holds.
 * @throws Error that says what is wrong with it, and never quotes it
 */
export function tokenIn(name: string, variable: string): string {
  const value = process.env[variable];
  if (value === undefined || value === '')
    throw new Error(`\`${name}\`: set the environment variable \`${variable}\``);
  if (!isToken(value))
    throw new Error(
      `\`${name}\`: expected \`${variable}\` to hold 4 to 16 384 visible ASCII characters`,
    );
  return value;
}
