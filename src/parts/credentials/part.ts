/** Credentials as a part of a registry: tokens of the principal, for the tools that need them. */

import type { CredentialResolver } from '../../api/credentials.ts';
import type { ToolResult } from '../../api/result.ts';
import type { ToolGates } from '../../core/call/ports.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import type { ReadNeeds } from '../../core/tool/read-needs.ts';
import { fn, readOptions, required, type TableOf, text } from '../../values/options/index.ts';
import { fileResolver, hasResolver } from './file-tokens.ts';
import { obtain } from './obtain.ts';
import { unavailable } from './refusals.ts';

export type { TokenExchangeOptions } from './token-exchange.ts';
export { tokenExchange } from './token-exchange.ts';

/**
 * The part that adds `credentials` of tools and the option `credentials` of a registry. It needs
 * the part `secrets()`, which keeps the tokens out of events, errors and logs.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { credentials } from 'host-tools/credentials';
 * import { secrets } from 'host-tools/secrets';
 *
 * declare function tokenOf(user: string | undefined, service: string): Promise<string>;
 * const registry = new HostToolRegistry({
 *   parts: [credentials(), secrets()],
 *   credentials: async ({ principal, name }) => ({ token: await tokenOf(principal, name) }),
 * });
 * ```
 */
export function credentials(): Part {
  return part;
}

const part = definePart({
  name: 'credentials',
  options: { registry: { credentials: fn<CredentialResolver>() } },
  install(ports, registry, { credentials: given }) {
    const own = given as CredentialResolver | undefined;
    hasResolver.set(registry, own !== undefined);
    const resolver = (): CredentialResolver | undefined => own ?? fileResolver(registry);
    ports.tools.definitions.push((definition) => {
      // What is not hidden would be in the first event.
      if (internalsOf(definition).credentials !== undefined && ports.calls.masking === undefined)
        throw registry.parts.missing(
          'registry',
          'redact',
          `Tool \`${definition.name}\`: \`credentials\``,
        );
    });
    ports.methods.set('credentials.granted', (state, login: Login) => granted(state, login));
    const gates = new WeakMap<ReadNeeds, ToolGates>();
    ports.tools.gates.push((_session, { internals }) => {
      const needs = internals.credentials;
      if (needs === undefined) return undefined;
      let found = gates.get(needs);
      if (found === undefined) {
        found = gatesFor(needs, resolver);
        gates.set(needs, found);
      }
      return found;
    });
  },
});

interface Login {
  readonly principal: string;
  readonly name: string;
}

const loginTable = {
  principal: required(text(1, 1_024)),
  name: required(text(1, 64)),
} satisfies TableOf<Login>;

/** @throws (rejects with) MisuseError `invalid_option`, `missing_part`. */
async function granted(registry: RegistryState, given: Login): Promise<readonly ToolResult[]> {
  const where = 'credentials.granted';
  const login = readOptions(where, given, loginTable);
  const { loggedIn } = registry.ports;
  if (loggedIn === undefined) throw registry.parts.missing('registry', 'approvals', `${where}()`);
  return loggedIn(registry, login);
}

function gatesFor(needs: ReadNeeds, resolver: () => CredentialResolver | undefined): ToolGates {
  return {
    start: (call) => obtain(call, needs, resolver()),
    // Nobody is asked for a token. What nobody gives is known without that.
    tryStart: async () => {
      const [name = ''] = needs.keys();
      const error =
        resolver() === undefined
          ? unavailable(name, 'the host has nothing that gives it')
          : undefined;
      return { stage: 'credentials', error, shown: {} };
    },
  };
}
