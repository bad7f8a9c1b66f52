/** Static tokens of credentials, as files give them to a registry. */
import { registryStateOf } from '../../core/registry/state-of.ts';
import type { HostToolRegistry } from '../../core.ts';
import {
  type FileTokens,
  fileTokensOf,
  hasResolver,
  setFileTokens,
  tokenIn,
} from '../../parts/credentials/file-tokens.ts';
import { behind } from './loaded-files.ts';
import type { CredentialsEntry } from './single-sections.ts';

/**
 * Reads the tokens that this file gives, from the environment of the process.
 * @throws an error that says why the registry cannot have them.
 */
export function tryCredentials(
  registry: HostToolRegistry<never>,
  file: string,
  entry: CredentialsEntry,
): FileTokens {
  const state = registryStateOf(behind(registry));
  if (!state.parts.has('credentials'))
    throw state.parts.missing('registry', 'credentials', '`credentials`');
  if (hasResolver.of(state))
    throw new Error(
      'the registry has a resolver of its own, `new HostToolRegistry({ credentials })`, which ' +
        'gives every token: leave out this key',
    );
  for (const [other, tokens] of fileTokensOf(state)) {
    const name = Object.keys(entry).find((one) => other !== file && tokens.has(one));
    if (name !== undefined) throw new Error(`the file \`${other}\` already gives \`${name}\``);
  }
  return new Map(Object.entries(entry).map(([name, { env }]) => [name, tokenIn(name, env)]));
}

/** Replaces what the file gave before. */
export function commitCredentials(
  registry: HostToolRegistry<never>,
  file: string,
  tokens: FileTokens | undefined,
  undo: (() => void)[],
): void {
  const state = registryStateOf(behind(registry));
  const before = fileTokensOf(state).get(file);
  if (tokens === undefined && before === undefined) return;
  setFileTokens(state, file, tokens);
  undo.push(() => setFileTokens(state, file, before));
}
