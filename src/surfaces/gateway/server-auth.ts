/** The login of a remote server. */
import { basename } from 'node:path';
import { bearerOf } from '../mcp/client/oauth.ts';
import type { NamedServer } from './server-connection.ts';
import { tokenFile } from './token-file.ts';

/** The source of a login's token. Undefined if the file says how to sign in to the server. */
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
    hint: `Run \`npx host-tools gateway login ${name}${where}\`.`,
    told(secret) {
      if (told.has(secret)) return;
      // Each renewal brings new tokens. Old ones no longer count.
      if (told.size >= 64) told.clear();
      told.add(secret);
      ports.keepSecret(secret);
    },
  });
}
