/** Who may call the tools of `serve --http`. */
import { authorizationOf } from '../surfaces/gateway/authorization.ts';
import type { McpAuthorization } from '../surfaces/mcp/index.ts';
import { metadataPath } from '../surfaces/mcp/server/authorization.ts';
import { describe, messageOf } from '../values/errors/index.ts';
import { isScopeName } from '../values/options/scope-names.ts';
import { usageFault } from './fault.ts';
import type { Options } from './options.ts';

/** What the options say about tokens; undefined without `--issuer`. @throws CliFault 2 */
export function authorizationBy({
  oauth: { issuer, audience, jwksUrl, scopes },
}: Options): McpAuthorization | undefined {
  if (issuer === undefined) {
    const other = [
      ['--audience', audience],
      ['--jwks-url', jwksUrl],
      ['--scopes', scopes],
    ].find(([, value]) => value !== undefined);
    if (other !== undefined) throw usageFault(`\`${other[0]}\` needs \`--issuer URL\`.`);
    return undefined;
  }
  if (audience === undefined)
    throw usageFault(
      '`--issuer` needs `--audience`: without it, a token for another server would be taken.',
    );
  const names = scopes?.split(',');
  const wrong = names?.find((name) => !isScopeName(name));
  if (wrong !== undefined)
    throw usageFault(
      'Expected `--scopes` to be scopes of OAuth with a comma between them, and without blanks, ' +
        `got ${describe(wrong)}.`,
    );
  try {
    return authorizationOf({ issuer, audience, jwksUrl, scopes: names });
  } catch (error) {
    throw usageFault(messageOf(error));
  }
}

/**
 * The paths at which clients look for the metadata; none if anybody may call.
 * @param path Where this process serves MCP. A proxy may have another path for it.
 */
export function metadataPaths(
  authorization: McpAuthorization | undefined,
  path: string,
): readonly string[] {
  if (authorization === undefined) return [];
  const { resource } = authorization;
  const known = resource === undefined ? path : new URL(resource).pathname;
  return [metadataPath, metadataPath + known];
}
