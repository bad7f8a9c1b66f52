/**
 * Loads the optional package with the SDK of the protocol on first use. It loads synchronously,
 * because a client is made and connected synchronously.
 */
import type * as Sdk from '@agentclientprotocol/sdk/unstable';
import { packageFault, requirePackage } from '../../values/packages/missing-package.ts';

/** The parts of `@agentclientprotocol/sdk` that are used. */
export type AcpSdk = Pick<
  typeof Sdk,
  'client' | 'McpOverAcpProvider' | 'parseMcpOutcome' | 'RequestError'
>;

const name = '@agentclientprotocol/sdk';

/**
 * Loads the package.
 * @throws MisuseError `missing_dependency` if it is not installed, or has not what is needed.
 * @param load Loads a module of the package.
 */
export function loadSdk(load: (specifier: string) => unknown = requirePackage): AcpSdk {
  try {
    const sdk = load(`${name}/unstable`) as AcpSdk;
    if (typeof sdk.client !== 'function' || typeof sdk.McpOverAcpProvider !== 'function')
      throw new TypeError('It has no `McpOverAcpProvider`, which came with version 2.4');
    return sdk;
  } catch (error) {
    throw packageFault(name, 'speaks the Agent Client Protocol', error);
  }
}
