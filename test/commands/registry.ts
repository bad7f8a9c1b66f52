/**
 * A registry of npm on the loopback, which has the packed package under its own name. For every
 * other package it sends npm to the registry of this machine.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Registry {
  readonly url: string;
  close(): void;
}

/**
 * @param tarball path of the packed package
 * @param manifest its package.json
 * @param upstream address of the registry with the other packages
 */
export async function startRegistry(
  tarball: string,
  manifest: { readonly name: string; readonly version: string },
  upstream: string,
): Promise<Registry> {
  const { name, version } = manifest;
  const bytes = readFileSync(tarball);
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const file = `/${name}/-/${name}-${version}.tgz`;
  const server = createServer(({ url = '/' }, response) => {
    if (url === file) return void response.end(bytes);
    if (url !== `/${name}`)
      return void response.writeHead(302, { location: new URL(url.slice(1), upstream).href }).end();
    const dist = { integrity, tarball: `${address}${file}` };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        name,
        'dist-tags': { latest: version },
        versions: { [version]: { ...manifest, dist } },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${address}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
