/** The login of a server that runs elsewhere. */
import { basename } from 'node:path';
import { bearerOf } from '../mcp/client/oauth.ts';
import type { NamedServer } from './server-connection.ts';
import { tokenFile } from './token-file.ts';

/** What gives the token of a login. Undefined for a server to which the file says how to sign in. */
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
  let told: string | undefined;
  return bearerOf(url, tokenFile(ports.tokens(), name, url), {
    hint: `Run \`host-tools gateway login ${name}${where}\`.`,
    told(token) {
      if (token !== told) ports.keepSecret(token);
      told = token;
    },
  });
}
