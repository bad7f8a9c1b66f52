/** The login of a server that runs elsewhere. */
import { basename } from 'node:path';
import { bearerOf } from '../mcp/client/oauth.ts';
import type { NamedServer } from './server-connection.ts';
import { tokenFile } from './token-file.ts';

/**
 * What gives the token of a login. Undefined for a server to which the file says how to sign in.
 */
export function authOf({
  name,
  file,
  entry,
  ports,
}: NamedServer): ReturnType<typeof bearerOf> | undefined {
  const { url, headers = {} } = entry;
  if (url === undefined || Object.keys(headers).some((one) => /^authorization$/i.test(one)))
    return undefined;
  const shown = basename(file);
  const where = shown === 'gateway.yaml' ? '' : ` --host-tools ${shown}`;
  const told = new Set<string>();
  return bearerOf(url, tokenFile(ports.tokens(), name, url), {
    hint: `Run \`host-tools gateway login ${name}${where}\`.`,
    told(secret) {
      if (told.has(secret)) return;
      // Each renewal brings new ones. Those of long ago count no more.
      if (told.size >= 64) told.clear();
      told.add(secret);
      ports.keepSecret(secret);
    },
  });
}
